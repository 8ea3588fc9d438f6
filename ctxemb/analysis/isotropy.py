"""How a set of vectors fills its space: the energy of its main directions, alignment and uniformity.

The cosine of random pairs, the third common measure, is in `similarity.py`.

N vectors or pairs, D numbers per vector.
"""

from dataclasses import dataclass

import numpy as np

from ctxemb.analysis.similarity import unit_vectors

CELLS = 1 << 23  # numbers of one block of a pairwise matrix


@dataclass(frozen=True)
class TopEnergy:
    """Share of the k largest singular values, 0 to 1; articles say "top-k energy" of either.

    Attributes:
        squared: share of the sum of squared singular values, the energy in the strict sense.
        plain: share of the sum of singular values; never above `squared`.
    """

    squared: float
    plain: float
    k: int


def top_energy(vectors_ND: np.ndarray, k: int = 10, centred: bool = False) -> TopEnergy:
    """How much of the vectors lies in k directions; 1 if they need no other.

    Args:
        vectors_ND: (N, D).
        k: number of directions, from 1.
        centred: subtract the mean vector first. If not, a mean that all vectors share is itself a main direction.

    Raises:
        ValueError: if k is below 1, or all vectors are zero (or equal, when centred).
    """
    if k < 1:
        raise ValueError(f"k is {k}; the energy of at least 1 direction can be measured")
    vectors_ND = vectors_ND.astype(np.float64)
    values = np.linalg.svd(vectors_ND - vectors_ND.mean(axis=0) if centred else vectors_ND, compute_uv=False)
    if not values.size or values[0] <= 1e-12 * max(1.0, np.abs(vectors_ND).max()):
        raise ValueError("the vectors have no direction: give some that are not all zero, nor all equal when centred")
    squares = values**2
    return TopEnergy(float(squares[:k].sum() / squares.sum()), float(values[:k].sum() / values.sum()), k)


def alignment(first_ND: np.ndarray, second_ND: np.ndarray, alpha: float = 2) -> float:
    """Mean distance of positive pairs on the unit sphere, to the power of alpha: 0 (together) to 2 ** alpha.

    Pairs with a zero vector are left out; NaN without a pair.

    Args:
        first_ND: (N, D), one half of each pair.
        second_ND: (N, D), the other.
        alpha: 2 in the article's experiments.

    Source: Wang & Isola 2020, arXiv:2005.10242, equation 4.
    """
    differences_ND = unit_vectors(first_ND.astype(np.float64)) - unit_vectors(second_ND.astype(np.float64))
    distances_N = np.linalg.norm(differences_ND, axis=1)
    distances_N = distances_N[~np.isnan(distances_N)]
    return float((distances_N**alpha).mean()) if len(distances_N) else np.nan


def uniformity(vectors_ND: np.ndarray, t: float = 2) -> float:
    """Logarithm of the mean of exp(-t * squared distance) over all pairs on the unit sphere.

    0 where all vectors coincide, the lower the more evenly they are spread (not below -4 t). Zero vectors are left
    out; NaN without a pair.

    Args:
        vectors_ND: (N, D).
        t: 2 in the article's experiments.

    Source: Wang & Isola 2020, arXiv:2005.10242, equation 5.
    """
    unit_ND = unit_vectors(vectors_ND.astype(np.float64))
    unit_ND = unit_ND[~np.isnan(unit_ND).any(axis=1)]
    num_vectors = len(unit_ND)
    if num_vectors < 2:
        return np.nan
    total = 0.0
    num_rows = max(1, CELLS // num_vectors)
    for start in range(0, num_vectors, num_rows):
        squared_distances = 2 - 2 * np.clip(unit_ND[start : start + num_rows] @ unit_ND.T, -1, 1)
        # pairs above the diagonal: each once, and no vector with itself
        total += np.triu(np.exp(-t * squared_distances), k=start + 1).sum()
    return float(np.log(total / (num_vectors * (num_vectors - 1) / 2)))
