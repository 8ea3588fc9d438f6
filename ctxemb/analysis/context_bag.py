"""The bag of context: a use of a word as the mean static vector of the other words in its sentence.

No order, no neural network: the floor that every contextual encoder has to beat. Frequent words are
weighted down as in arXiv:1607.04906 (smooth inverse frequency), and the common mean is subtracted.

V vocabulary, E embedding size.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from ctxemb.text import NUM_SPECIAL

SMOOTHING = 1e-3


@dataclass(frozen=True)
class ContextBag:
    """Static vectors and weights, ready to be averaged.

    Attributes:
        vectors_VE: (V, E) static vectors, centred so that the bag of average text is zero.
        weights_V: (V,) weight of each word, 0 to 1; special ids weigh nothing.
    """

    vectors_VE: np.ndarray
    weights_V: np.ndarray

    @classmethod
    def build(cls, vectors_VE: np.ndarray, counts_V: np.ndarray) -> Self:
        """From static vectors and the words' counts in a corpus."""
        shares_V = counts_V / max(counts_V.sum(), 1)
        weights_V = SMOOTHING / (SMOOTHING + shares_V)
        weights_V[:NUM_SPECIAL] = 0
        mass_V = weights_V * shares_V
        mean_E = mass_V @ vectors_VE / max(mass_V.sum(), 1e-12)
        return cls((vectors_VE - mean_E).astype(np.float32), weights_V.astype(np.float32))

    def vector(self, ids: np.ndarray, position: int) -> np.ndarray:
        """(E,) for the word at `position`; zeros if no other word of the sentence is known."""
        return self.mean(np.delete(ids, position))

    def mean(self, ids: np.ndarray) -> np.ndarray:
        """(E,) weighted mean of words; zeros if none of them is known."""
        weights_T = self.weights_V[ids]
        return weights_T @ self.vectors_VE[ids] / max(float(weights_T.sum()), 1e-12)
