"""Single words that join a batch: synonyms, antonyms, and random words of like frequency. Numbers only, no tensors.

R pairs, M random words, V vocabulary.
"""

from dataclasses import dataclass

import numpy as np

from ctxemb.lexicon import IdLexicon
from ctxemb.text import NUM_SPECIAL

RANKS_AROUND = 200  # random words are this close to the batch's own in the order of frequency
NONE = -1


@dataclass(frozen=True)
class WordChoice:
    """Words drawn for a batch.

    Attributes:
        partners_R: a synonym of each pair's word; the word itself where it has none.
        antonyms_R: an antonym of each; -1 where it has none.
        negatives_M: random words, shared by all pairs.
    """

    partners_R: np.ndarray
    antonyms_R: np.ndarray
    negatives_M: np.ndarray


class WordSampler:
    """Draws words for the words of a batch, and knows which of them are no negatives of each other."""

    def __init__(self, counts_V: np.ndarray, num_negatives: int, lexicon: IdLexicon | None) -> None:
        """Order the vocabulary by frequency.

        Raises:
            ValueError: if there are more negatives than words.
        """
        num_words = len(counts_V) - NUM_SPECIAL
        if num_negatives > num_words:
            raise ValueError(
                f"num_negatives is {num_negatives}, but the vocabulary has only {num_words} words; "
                "use fewer negatives or more text"
            )
        self.num_negatives, self.lexicon = num_negatives, lexicon
        self._by_frequency = np.argsort(-counts_V[NUM_SPECIAL:], kind="stable") + NUM_SPECIAL
        self._rank_V = np.zeros(len(counts_V), np.int64)
        self._rank_V[self._by_frequency] = np.arange(num_words)

    def draw(self, words_R: np.ndarray, rng: np.random.Generator) -> WordChoice:
        """Partners, antonyms and negatives of a batch's words."""
        partners_R, antonyms_R = words_R.astype(np.int64), np.full(len(words_R), NONE)
        if self.lexicon is not None:
            for i, word_id in enumerate(words_R):
                if len(synonyms := self.lexicon.synonyms_of(int(word_id))):
                    partners_R[i] = rng.choice(synonyms)
                if len(antonyms := self.lexicon.antonyms_of(int(word_id))):
                    antonyms_R[i] = rng.choice(antonyms)
        # neighbours of the batch's words in the order of frequency, so that frequency is no shortcut
        ranks_M = self._rank_V[rng.choice(words_R, self.num_negatives)]
        lowest_M = np.maximum(ranks_M - RANKS_AROUND, 0)
        highest_M = np.minimum(ranks_M + RANKS_AROUND, len(self._by_frequency) - 1)
        return WordChoice(partners_R, antonyms_R, self._by_frequency[rng.integers(lowest_M, highest_M + 1)])

    def are_alike(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Whether words are the same or synonyms, and so no negatives of each other; shapes broadcast."""
        same = one == other
        return same if self.lexicon is None else same | self.lexicon.are_synonyms(one, other)
