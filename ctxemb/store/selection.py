"""Which occurrences of a corpus go into a store.

By default those of content words: known words of letters that are no function words (English: a closed list; Chinese:
by rjieba's parts of speech). Of a word with more occurrences than the limit, a random sample of all of them is kept,
drawn by the seed and the word alone: the same whatever is interrupted, and on any number of processes.

V vocabulary, N occurrences in a row.
"""

import re
from collections.abc import Sequence

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ctxemb.examples import example_words
from ctxemb.store.about import StoreError
from ctxemb.text import NUM_SPECIAL, UNK, Language, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus

LETTERS = re.compile(r"[^\W\d_]+")
TOKENS_PER_BLOCK = 1 << 22
ORDINAL_BITS = 40
NUM_WORDS_SHOWN = 5
FUNCTION_WORDS = frozenset(
    """
    about above across after again against all almost along already also although always am among an and another
    any are around as at back be because been before being below between both but by can cannot could d did do
    does doing done down during each either else enough even ever every few for from further had has have having
    he hence her here hers herself him himself his how however if in indeed instead into is it its itself just
    least less ll many may maybe me might mine more most much must my myself neither never nevertheless no nor not
    now of off often on once one only onto or other others otherwise our ours ourselves out over own per perhaps
    quite rather re s same shall she should since so some sometimes somewhat still such t than that the their
    theirs them themselves then there therefore these they this those though through throughout thus to together
    too toward towards under until up upon us ve very via was we well were what whatever when where whereas
    whether which while who whole whom whose why will with within without would yet you your yours yourself
    yourselves two three four five six seven eight nine ten first second third
    """.split()  # noqa: SIM905
)
# rjieba's tags: conjunctions, adverbs, numbers, prepositions, pronouns, particles and the like
CHINESE_FUNCTION_TAGS = frozenset("cdefhkmopqruwxyz")


class SelectionConfig(BaseModel):
    """Which occurrences of a corpus are kept, and how many of each word."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    words: tuple[str, ...] | None = Field(default=None, description="Only these words; None: all content words")
    max_per_word: int | None = Field(default=200, ge=1, description="Of each word and corpus at most this many")
    seed: int = Field(default=0, ge=0, description="Which ones, where there are more")


class Selection:
    """Says of every occurrence, asked for in the order of the text, whether it is kept."""

    def __init__(
        self, config: SelectionConfig, tokenizer: WordTokenizer, corpus: TokenizedCorpus, language: Language
    ) -> None:
        num_words = len(tokenizer)
        counts_V = np.zeros(num_words, dtype=np.int64)
        for start in range(0, len(corpus.ids), TOKENS_PER_BLOCK):
            counts_V += np.bincount(corpus.ids[start : start + TOKENS_PER_BLOCK], minlength=num_words)
        self._is_wanted_V = np.zeros(num_words, dtype=bool)
        listed = config.words
        wanted = content_ids(tokenizer, language) if listed is None else named_ids(listed, tokenizer)
        self._is_wanted_V[wanted] = True
        limit = config.max_per_word
        self._is_limited_V = self._is_wanted_V & (counts_V > limit) if limit else np.zeros(num_words, dtype=bool)
        # at most V x limit numbers, however long the corpus; ascending
        drawn = [
            (int(word) << ORDINAL_BITS) + _draw(int(counts_V[word]), limit, config.seed, int(word))
            for word in np.flatnonzero(self._is_limited_V)
            if limit
        ]
        self._drawn = np.concatenate([np.zeros(0, np.int64), *drawn])
        self._num_seen_V = np.zeros(num_words, dtype=np.int64)
        kept_V = np.minimum(counts_V, limit) if limit else counts_V
        self.num_kept = int(kept_V[self._is_wanted_V].sum())

    def keep(self, ids_N: np.ndarray) -> np.ndarray:
        """(N,) bool for the next N occurrences of the corpus."""
        order = np.argsort(ids_N, kind="stable")
        ids, first, counts = np.unique(ids_N[order], return_index=True, return_counts=True)
        ordinal_N = np.empty(len(ids_N), dtype=np.int64)
        ordinal_N[order] = np.arange(len(ids_N)) - np.repeat(first - self._num_seen_V[ids], counts)
        self._num_seen_V[ids] += counts
        keys_N = (ids_N.astype(np.int64) << ORDINAL_BITS) + ordinal_N
        places_N = np.searchsorted(self._drawn, keys_N)
        is_drawn_N = np.append(self._drawn, -1)[places_N] == keys_N
        return self._is_wanted_V[ids_N] & (~self._is_limited_V[ids_N] | is_drawn_N)


def _draw(num_occurrences: int, limit: int, seed: int, word_id: int) -> np.ndarray:
    """Which occurrences of a word are kept, ascending, counted from 0 in the order of the text."""
    return np.sort(np.random.default_rng([seed, word_id]).choice(num_occurrences, limit, replace=False))


def named_ids(words: Sequence[str], tokenizer: WordTokenizer) -> list[int]:
    """Ids of words that somebody lists; unknown ones are left out.

    Raises:
        StoreError: if none of them is in the vocabulary.
    """
    ids = [word_id for word in words if (word_id := tokenizer.word_id(word.strip())) >= NUM_SPECIAL]
    if not ids:
        shown = ", ".join(words[:NUM_WORDS_SHOWN]) + (" ..." if len(words) > NUM_WORDS_SHOWN else "")
        raise StoreError(
            f"none of the {len(words)} words ({shown or 'an empty list'}) is in the checkpoint's vocabulary; "
            "list others, or leave the list out to take all content words"
        )
    return ids


def unknown_words(words: Sequence[str], tokenizer: WordTokenizer) -> list[str]:
    """Those of a list that are not in the vocabulary."""
    return [word for word in words if tokenizer.word_id(word.strip()) == UNK]


def content_ids(tokenizer: WordTokenizer, language: Language) -> list[int]:
    """Ids of content words, and of the words with example sentences."""
    is_content = _is_chinese_content if language == "zh" else _is_english_content
    ids = [word_id for word_id in range(NUM_SPECIAL, len(tokenizer)) if is_content(tokenizer.word(word_id))]
    examples = (tokenizer.word_id(word) for word in example_words(language))
    return sorted({*ids, *(word_id for word_id in examples if word_id >= NUM_SPECIAL)})


def _is_english_content(word: str) -> bool:
    return len(word) > 1 and LETTERS.fullmatch(word) is not None and word.lower() not in FUNCTION_WORDS


def _is_chinese_content(word: str) -> bool:
    import rjieba  # a fifth of a second, and English needs none of it

    tags = rjieba.tag(word)
    # a word that its dictionary has not, a name mostly, falls into several
    return LETTERS.fullmatch(word) is not None and (len(tags) > 1 or tags[0][1][0] not in CHINESE_FUNCTION_TAGS)
