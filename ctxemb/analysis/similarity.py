"""Cosine similarity, and what it is between words picked at random.

N vectors, D numbers per vector.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class RandomPairs:
    """Cosine of random pairs: the level from which any other cosine has to be read (-1 to 1)."""

    mean: float
    standard_deviation: float
    num_pairs: int


def unit_vectors(vectors_ND: np.ndarray) -> np.ndarray:
    """Scale every row to length 1; a zero row has no direction and becomes NaN."""
    norms_N1 = np.linalg.norm(vectors_ND, axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(norms_N1 > 1e-6, vectors_ND / norms_N1, np.nan)


def cosine_matrix(vectors_ND: np.ndarray) -> np.ndarray:
    """Cosine of every pair, (N, N) in [-1, 1]; NaN where a vector is zero and the angle undefined."""
    unit_ND = unit_vectors(vectors_ND.astype(np.float64))
    return np.clip(unit_ND @ unit_ND.T, -1, 1)


def random_pair_cosine(
    vectors_ND: np.ndarray, groups_N: np.ndarray, num_pairs: int = 5_000, seed: int = 0
) -> RandomPairs:
    """Cosine of pairs drawn at random from different groups (say, different words).

    Args:
        vectors_ND: (N, D).
        groups_N: (N,) group of each vector; a pair never joins two of the same.

    Raises:
        ValueError: if there are not two groups.
    """
    if len(np.unique(groups_N)) < 2:
        raise ValueError("random pairs need vectors of at least two different words")
    first, second = np.random.default_rng(seed).integers(len(vectors_ND), size=(2, num_pairs))
    differ = groups_N[first] != groups_N[second]
    unit_ND = unit_vectors(vectors_ND)
    cosines = np.einsum("nd,nd->n", unit_ND[first[differ]], unit_ND[second[differ]])
    cosines = cosines[~np.isnan(cosines)]
    return RandomPairs(float(cosines.mean()), float(cosines.std()), len(cosines))
