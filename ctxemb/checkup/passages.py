"""Pairs of uses that should be close: a word in two sentences of one passage.

One sense per passage (Gale, Church & Yarowsky 1992). Where no text of passages is on the machine, two uses of a word in
one sense of our example sentences stand in for it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ctxemb.calibration import FIRST_CONTENT_WORD, CorpusUse, sample_corpus
from ctxemb.checkup.subject import Subject
from ctxemb.encoder import Encoder
from ctxemb.text import Language, split_sentences

NUM_PAIRS, MIN_PAIRS = 256, 16
MAX_PASSAGES = 5_000  # looked through, so that a text without pairs costs no more than a second or two
MIN_TOKENS, MAX_TOKENS = 5, 100
MIN_LETTERS: dict[Language, int] = {"en": 4, "zh": 2}


@dataclass(frozen=True)
class UsePairs:
    """Pairs of uses, and where they are from, in words."""

    pairs: Sequence[tuple[CorpusUse, CorpusUse]] = field(repr=False)
    source: str


def find_pairs(subject: Subject) -> UsePairs:
    """Pairs of passages of a text on this machine, else of our example sentences."""
    corpus = sample_corpus(subject.language)
    pairs = []
    for passage_number, passage in enumerate(corpus.passages()):
        pairs += _pair_of_passage(subject.encoder, passage, np.random.default_rng(passage_number))
        if len(pairs) == NUM_PAIRS or passage_number == MAX_PASSAGES:
            break
    if len(pairs) >= MIN_PAIRS:
        return UsePairs(pairs, f"a word in two sentences of a passage of {corpus.name}")
    return UsePairs(list(_pairs_of_senses(subject)), "a word in one sense, in our example sentences")


def _pair_of_passage(encoder: Encoder, passage: str, rng: np.random.Generator) -> list[tuple[CorpusUse, CorpusUse]]:
    """One pair of a random word that the passage has in two sentences, or none."""
    language = encoder.config.text.language
    sentences = [tokens.ids for tokens in encoder.tokenizer.encode_batch(split_sentences(passage, language))]
    sentences = [ids for ids in sentences if MIN_TOKENS <= len(ids) <= MAX_TOKENS]
    places: dict[int, list[CorpusUse]] = {}
    for ids in sentences:
        for word_id in dict.fromkeys(ids):
            places.setdefault(word_id, []).append(CorpusUse(np.array(ids), ids.index(word_id)))
    words = [word_id for word_id, uses in places.items() if len(uses) > 1 and _is_content_word(encoder, word_id)]
    if not words:
        return []
    first, second = places[words[rng.integers(len(words))]][:2]
    return [(first, second)]


def _is_content_word(encoder: Encoder, word_id: int) -> bool:
    if word_id < FIRST_CONTENT_WORD:
        return False
    word = encoder.tokenizer.word(word_id)
    return word.isalpha() and len(word) >= MIN_LETTERS[encoder.config.text.language]


def _pairs_of_senses(subject: Subject) -> Iterator[tuple[CorpusUse, CorpusUse]]:
    for uses in subject.uses.values():
        for sense in dict.fromkeys(use.sentence.sense for use in uses):
            same = [CorpusUse(use.encoding.ids, use.position) for use in uses if use.sentence.sense == sense]
            if len(same) > 1:
                yield same[0], same[1]
