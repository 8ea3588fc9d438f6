"""How a set of vectors fills its space: its spectrum, IsoScore, self-similarity, alignment and uniformity.

What can be done about it is in `corrections.py`. The cosine of some random pairs is in `similarity.py`; here it is that
of all pairs, as the level that self-similarity is read from.

N vectors or pairs, W words, D numbers per vector, R = min(N, D) directions.
"""

from dataclasses import dataclass

import numpy as np

from ctxemb.analysis.similarity import unit_vectors

CELLS = 1 << 23  # numbers of one block of a pairwise matrix
MIN_VECTORS = 3  # two always lie on a line


@dataclass(frozen=True)
class Spectrum:
    """Singular values of vectors from which their mean was subtracted.

    Attributes:
        values_R: (R,) the largest first.
        num_dimensions: D.
    """

    values_R: np.ndarray
    num_dimensions: int

    @property
    def energies(self) -> np.ndarray:
        """(R,) share of each direction in the sum of squared singular values."""
        squares_R = self.values_R**2
        return squares_R / squares_R.sum()

    @property
    def cumulative_energies(self) -> np.ndarray:
        """(R,) share of the first 1, 2, ... directions; ends at 1."""
        return self.energies.cumsum()

    @property
    def participation_ratio(self) -> float:
        """Over how many directions the energy is spread: 1 (a line) to D (a ball)."""
        return float(1 / (self.energies**2).sum())

    @property
    def isoscore(self) -> float:
        """IsoScore, roughly the share of dimensions that are evenly used: 0 (a line) to 1 (a ball); NaN if D is 1.

        Knows neither the mean nor the scale of the vectors, and does not change when they are turned.

        Source: Rudman et al. 2022, arXiv:2108.07344, algorithm 1.
        """
        num_dimensions = self.num_dimensions
        if num_dimensions < 2:
            return np.nan
        variances_D = np.zeros(num_dimensions)
        variances_D[: len(self.values_R)] = self.energies  # the other directions have none
        root = np.sqrt(num_dimensions)
        normalized_D = root * variances_D / np.linalg.norm(variances_D)
        defect = np.linalg.norm(normalized_D - 1) / np.sqrt(2 * (num_dimensions - root))
        used = (num_dimensions - defect**2 * (num_dimensions - root)) ** 2 / num_dimensions**2
        return float((num_dimensions * used - 1) / (num_dimensions - 1))

    def share(self, k: int) -> float:
        """Energy of the k main directions, 0 to 1; in a ball it is k / D."""
        return float(self.energies[:k].sum())


@dataclass(frozen=True)
class SelfSimilarity:
    """Mean cosine of pairs of vectors of one word, and of pairs of different words.

    Attributes:
        own: mean over words of the mean cosine of a word's own pairs; NaN if no word has two vectors.
        random: mean over all pairs of different words; NaN with a single word.
        num_words: the words that have two vectors.
    """

    own: float
    random: float
    num_words: int

    @property
    def above_random(self) -> float:
        """What is left of self-similarity once the level of random words is subtracted."""
        return self.own - self.random


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


def checked_vectors(vectors_ND: np.ndarray) -> np.ndarray:
    """The vectors in double precision, if they have a shape to be measured.

    Raises:
        ValueError: if there are fewer than three, if some number is NaN or infinite, or if all are equal.
    """
    if len(vectors_ND) < MIN_VECTORS:
        raise ValueError(f"{len(vectors_ND)} vectors have no shape to speak of: give at least {MIN_VECTORS}")
    vectors_ND = vectors_ND.astype(np.float64)
    if not np.isfinite(vectors_ND).all():
        rows = np.flatnonzero(~np.isfinite(vectors_ND).all(axis=1))
        raise ValueError(f"{len(rows)} vectors hold NaN or infinity, the first in row {rows[0]}: leave them out")
    if np.ptp(vectors_ND, axis=0).max(initial=0) <= 1e-12 * max(1.0, np.abs(vectors_ND).max(initial=0)):
        raise ValueError("all vectors are equal, so they have no shape: give some that differ")
    return vectors_ND


def spectrum(vectors_ND: np.ndarray) -> Spectrum:
    """Singular values of the mean-centred matrix: how long the cloud of vectors is in each of its main directions.

    Raises:
        ValueError: see `checked_vectors`.
    """
    vectors_ND = checked_vectors(vectors_ND)
    values_R = np.linalg.svd(vectors_ND - vectors_ND.mean(axis=0), compute_uv=False)
    return Spectrum(values_R, vectors_ND.shape[1])


def self_similarity(vectors_ND: np.ndarray, words_N: np.ndarray) -> SelfSimilarity:
    """How alike the vectors of one word are in different sentences, beside those of different words.

    Every pair counts, found from sums of unit vectors without making the pairs. Zero vectors are left out.

    Args:
        vectors_ND: (N, D).
        words_N: (N,) the word of each, as a number from 0.

    Source: Ethayarajh 2019, arXiv:1909.00512, sections 3.3 and 3.4 (there the level is that of a sample of pairs).
    """
    unit_ND = unit_vectors(vectors_ND.astype(np.float64))
    has_direction_N = ~np.isnan(unit_ND).any(axis=1)
    unit_ND, words_N = unit_ND[has_direction_N], words_N[has_direction_N]
    if not len(unit_ND):
        return SelfSimilarity(np.nan, np.nan, 0)
    counts_W = np.bincount(words_N)
    sums_WD = np.zeros((len(counts_W), unit_ND.shape[1]))
    np.add.at(sums_WD, words_N, unit_ND)
    squares_W = (sums_WD**2).sum(axis=1)  # the cosines of all ordered pairs of a word, each vector with itself included
    several_W = counts_W > 1
    own_W = (squares_W - counts_W)[several_W] / (counts_W * (counts_W - 1))[several_W]
    num_random = len(unit_ND) ** 2 - (counts_W**2).sum()
    random = ((sums_WD.sum(axis=0) ** 2).sum() - squares_W.sum()) / num_random if num_random else np.nan
    return SelfSimilarity(float(own_W.mean()) if len(own_W) else np.nan, float(random), int(several_W.sum()))


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
