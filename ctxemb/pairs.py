"""One sense per passage: where a corpus uses a word twice in one passage, and batches drawn from that.

Two uses of a word in one passage (paragraph, document) nearly always have one sense; uses in other passages may have
another. That is supervision which costs nothing. What it leaves out: the losses, and words taken from a lexicon.

Source: Gale, Church & Yarowsky 1992, "One sense per discourse".

S sentences, G groups (a word in a passage), W words of a batch, P passages a word, R = W * P pairs, B = 2R sentences.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ctxemb.corpora import CorpusError
from ctxemb.text import NUM_SPECIAL
from ctxemb.tokenized import TokenizedCorpus

MAX_PASSAGES_THAT_COUNT = 2_000  # a word of more passages is drawn no more often


@dataclass(frozen=True)
class PairBatch:
    """Uses of W words, from P passages each, two sentences a passage; uses 2i and 2i + 1 are a pair.

    Attributes:
        sentences: B id arrays, cropped around the use.
        positions_B: where the word stands in each.
        words_R: word of each pair; equal ones stand side by side.
        passages_R: passage of each pair.
    """

    sentences: list[np.ndarray]
    positions_B: np.ndarray
    words_R: np.ndarray
    passages_R: np.ndarray


class PassagePairs:
    """Every word that some passage uses in two sentences, and where."""

    def __init__(
        self,
        corpus: TokenizedCorpus,
        sentences_S: np.ndarray,
        is_target: Callable[[int], bool],
        num_passages: int,
        min_count: int,
        max_share: float,
        favoured: np.ndarray | None = None,
    ) -> None:
        """Find the groups of some sentences.

        Args:
            corpus: the text.
            sentences_S: indices of the sentences to draw from.
            is_target: whether a word id may be a target at all (a number or a comma may not).
            num_passages: P, passages a word must have.
            min_count: rarer words are no targets.
            max_share: neither are words that make up more of the text than this; they have no senses to separate.
            favoured: ids of words that are drawn half of the time together (those a lexicon knows).

        Raises:
            CorpusError: if no word has enough passages with two uses.
        """
        self.corpus, self.num_passages = corpus, num_passages
        counts_V = np.bincount(corpus.ids, minlength=NUM_SPECIAL)
        allowed_V = (counts_V >= min_count) & (counts_V <= max_share * len(corpus.ids))
        allowed_V[:NUM_SPECIAL] = False
        for word_id in np.flatnonzero(allowed_V):
            allowed_V[word_id] = is_target(int(word_id))
        self._sentences, self._positions, words_G, self.passages_G, self._starts = _groups(
            corpus, sentences_S, allowed_V
        )
        # groups are ordered by word: the groups of word w are bounds_V[w] .. bounds_V[w + 1]
        self._bounds_V = np.searchsorted(words_G, np.arange(len(counts_V) + 1))
        num_groups_V = np.diff(self._bounds_V)
        self.words = np.flatnonzero(num_groups_V >= num_passages)
        if len(self.words) == 0:
            raise CorpusError(
                f"no word stands in two sentences of {num_passages} passages each; use more text, "
                "passages of more than one sentence, or fewer passages_per_word"
            )
        # the square root evens out common and rare words, so that frequency is no shortcut
        chances = np.sqrt(np.minimum(num_groups_V[self.words], MAX_PASSAGES_THAT_COUNT))
        if favoured is not None:
            chances = _balanced(chances, np.isin(self.words, favoured))
        self._chances = chances / chances.sum()
        self.num_groups = len(words_G)

    def draw(
        self, num_words: int, max_tokens: int, rng: np.random.Generator, min_tokens: int | None = None
    ) -> PairBatch:
        """A random batch; sentences are cropped around the word.

        Args:
            num_words: W; fewer if there are not so many.
            max_tokens: longer sentences are cropped to this.
            rng: decides everything.
            min_tokens: each sentence is cropped to a random length from here to `max_tokens`; None crops the long ones
                only.
        """
        num_words = min(num_words, len(self.words))
        words_W = rng.choice(self.words, num_words, replace=False, p=self._chances)
        starts_W, num_groups_W = self._bounds_V[words_W], self._bounds_V[words_W + 1] - self._bounds_V[words_W]
        groups_R = np.concatenate(
            [
                start + rng.choice(int(count), self.num_passages, replace=False)
                for start, count in zip(starts_W, num_groups_W, strict=True)
            ]
        )
        sizes_R = self._starts[groups_R + 1] - self._starts[groups_R]
        first_R = rng.integers(sizes_R)
        second_R = (first_R + rng.integers(1, sizes_R)) % sizes_R
        rows_B = (self._starts[groups_R][:, None] + np.stack([first_R, second_R], axis=1)).ravel()
        lengths_B = rng.integers(min_tokens or max_tokens, max_tokens + 1, len(rows_B))
        cropped = [
            crop(self.corpus[int(s)], int(p), int(length))
            for s, p, length in zip(self._sentences[rows_B], self._positions[rows_B], lengths_B, strict=True)
        ]
        return PairBatch(
            sentences=[ids for ids, _ in cropped],
            positions_B=np.array([position for _, position in cropped], dtype=np.int64),
            words_R=np.repeat(words_W, self.num_passages),
            passages_R=self.passages_G[groups_R].astype(np.int64),
        )


def crop(ids: np.ndarray, position: int, max_tokens: int) -> tuple[np.ndarray, int]:
    """At most `max_tokens` of a sentence around a position, and where the position is in them.

    >>> crop(np.arange(9), 7, 4)
    (array([5, 6, 7, 8]), 2)
    """
    start = max(min(position - max_tokens // 2, len(ids) - max_tokens), 0)
    return ids[start : start + max_tokens], position - start


def _balanced(chances: np.ndarray, is_favoured: np.ndarray) -> np.ndarray:
    """Both kinds get the same share, where there are both."""
    sums = chances[is_favoured].sum(), chances[~is_favoured].sum()
    if not all(sums):
        return chances
    return np.where(is_favoured, chances / sums[0], chances / sums[1])


def _groups(
    corpus: TokenizedCorpus, sentences_S: np.ndarray, allowed_V: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Uses ordered by word, then by place; one a sentence; only where a passage has two.

    Returns:
        Sentence and position of each use, word and passage of each group, and the groups' bounds among the uses.
    """
    ids = np.asarray(corpus.ids)
    is_drawn_S = np.zeros(len(corpus), bool)
    is_drawn_S[sentences_S] = True
    places = np.flatnonzero(allowed_V[ids])
    sentences = (np.searchsorted(corpus.offsets, places, side="right") - 1).astype(np.int32)
    places, sentences = (values[is_drawn_S[sentences]] for values in (places, sentences))
    order = np.argsort(ids[places], kind="stable")
    places, sentences = places[order], sentences[order]
    first = _changes(ids[places], sentences)
    places, sentences = places[first], sentences[first]
    group = np.cumsum(_changes(ids[places], corpus.passages[sentences])) - 1
    kept = np.bincount(group, minlength=1)[group] >= 2 if len(group) else np.zeros(0, bool)
    places, sentences = places[kept], sentences[kept]
    words, passages = ids[places], corpus.passages[sentences]
    starts = np.flatnonzero(_changes(words, passages))
    positions = (places - corpus.offsets[sentences]).astype(np.int32)
    return sentences, positions, words[starts], passages[starts], np.append(starts, len(places))


def _changes(*columns: np.ndarray) -> np.ndarray:
    """True at the first row and wherever a column differs from the row before."""
    changed = np.zeros(len(columns[0]), bool)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed
