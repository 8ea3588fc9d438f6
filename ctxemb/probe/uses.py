"""Which labelled sentences a run is probed with: our examples, or the lab's for a run on the lab corpus."""

from collections.abc import Sequence
from dataclasses import dataclass

from ctxemb.corpora.lab import held_out_sentences
from ctxemb.examples import load_examples
from ctxemb.text import UNK, Language, WordTokenizer

USUAL_WORDS, MAX_WORDS = 12, 24
LAB_SENTENCES_PER_SENSE = 9


@dataclass(frozen=True)
class ProbedUse:
    """A sentence, the word that is looked at in it, its sense, and which occurrence is meant (1 = first)."""

    word: str
    sense: str
    text: str
    occurrence: int = 1


def choose_uses(
    tokenizer: WordTokenizer, language: Language, corpora: Sequence[str], words: Sequence[str] | None = None
) -> list[ProbedUse]:
    """The sentences of some words; if none are named, of the first dozen that the vocabulary holds.

    Args:
        tokenizer: of the run.
        language: of its text.
        corpora: what it is trained on; with `lab`, sentences that are held out of the lab corpus are taken.
        words: which words.

    Raises:
        ValueError: if a named word has no sentences or is not in the vocabulary, or too many are named.
    """
    is_lab = any(name.partition(":")[0] == "lab" for name in corpora)  # of any length: `lab:large`
    uses = _lab_sentences() if is_lab else _example_sentences(language)
    known = list(dict.fromkeys(use.word for use in uses))
    in_vocabulary = [word for word in known if tokenizer.word_id(word) != UNK]
    for word in words or ():
        if word not in known:
            raise ValueError(f"“{word}” has no labelled sentences to probe with; there are: {', '.join(known)}")
        if word not in in_vocabulary:
            raise ValueError(f"“{word}” is not in this run's vocabulary, so it cannot be probed; leave it out")
    if words and len(words) > MAX_WORDS:
        raise ValueError(f"{len(words)} words are too many to probe; name at most {MAX_WORDS}")
    chosen = set(in_vocabulary[:USUAL_WORDS] if words is None else words)
    return [use for use in uses if use.word in chosen]


def _example_sentences(language: Language) -> list[ProbedUse]:
    examples = load_examples(language)
    columns = zip(examples.word, examples.sense, examples.sentence, strict=True)
    return [ProbedUse(word, sense, text) for word, sense, text in columns]


def _lab_sentences() -> list[ProbedUse]:
    found = held_out_sentences(LAB_SENTENCES_PER_SENSE)
    return [ProbedUse(sentence.word, sentence.sense, sentence.text) for sentence in found]
