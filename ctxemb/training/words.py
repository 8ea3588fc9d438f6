"""Single words that join a batch: synonyms, antonyms, and random words of like frequency. Numbers only, no tensors.

R pairs, M random words, V vocabulary.
"""

from dataclasses import dataclass

import numpy as np

from ctxemb.lexicon import IdLexicon
from ctxemb.text import NUM_SPECIAL

LEXICON_RANKS_AROUND = 50  # among the lexicon's words alone
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
        self._ranks = np.arange(num_words)
        self._rank_V[self._by_frequency] = self._ranks
        self._lexicon_ranks = np.sort(self._rank_V[lexicon.word_ids]) if lexicon is not None else np.zeros(0, np.int64)

    def draw(self, words_R: np.ndarray, rng: np.random.Generator) -> WordChoice:
        """Partners, antonyms and negatives of a batch's words."""
        partners_R, antonyms_R = words_R.astype(np.int64), np.full(len(words_R), NONE)
        if self.lexicon is not None:
            for i, word_id in enumerate(words_R):
                if len(synonyms := self.lexicon.synonyms_of(int(word_id))):
                    partners_R[i] = rng.choice(synonyms)
                if len(antonyms := self.lexicon.antonyms_of(int(word_id))):
                    antonyms_R[i] = rng.choice(antonyms)
        chosen_M = rng.choice(words_R, self.num_negatives)
        num_known = self.num_negatives // 2 if len(self._lexicon_ranks) else 0
        negatives = [
            # having a synonym is no shortcut either
            self._alike_in_frequency(chosen_M[:num_known], self._lexicon_ranks, LEXICON_RANKS_AROUND, rng),
            self._alike_in_frequency(chosen_M[num_known:], self._ranks, RANKS_AROUND, rng),
        ]
        return WordChoice(partners_R, antonyms_R, np.concatenate(negatives))

    def _alike_in_frequency(
        self, words_N: np.ndarray, ranks: np.ndarray, around: int, rng: np.random.Generator
    ) -> np.ndarray:
        """For each word a random one of like frequency, so that frequency is no shortcut.

        Args:
            ranks: of the words to draw from in the order of frequency, ascending.
            around: how many of them on either side of the word are drawn from.
        """
        if len(words_N) == 0:
            return words_N
        places_N = np.searchsorted(ranks, self._rank_V[words_N])
        lowest_N, highest_N = (np.clip(places_N + shift, 0, len(ranks) - 1) for shift in (-around, around))
        return self._by_frequency[ranks[rng.integers(lowest_N, highest_N + 1)]]

    def are_alike(self, one: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Whether words are the same or synonyms, and so no negatives of each other; shapes broadcast."""
        same = one == other
        return same if self.lexicon is None else same | self.lexicon.are_synonyms(one, other)
