"""What a space looks like under one reading.

N uses, W words, P pairs of uses of different words, D numbers per vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ctxemb.analysis.isotropy import SelfSimilarity, Spectrum, self_similarity, spectrum, uniformity
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.geometry.sample import Cloud
from ctxemb.models.reading import Reading

BINS = np.linspace(-1, 1, 81)


@dataclass(frozen=True)
class Shape:
    """How vectors fill their space.

    Attributes:
        spectrum: of the vectors less their mean; has IsoScore and the energy of the main directions.
        uniformity: of directions; 0 (one point) down to -8.
        random_cosine: mean cosine of the P pairs; NaN without one.
        cosine_shares: (80,) share of them in each bin of `BINS`; sums to 1.
    """

    spectrum: Spectrum = field(repr=False)
    uniformity: float
    random_cosine: float
    cosine_shares: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class Norms:
    """Length of the vectors of each word, against its frequency.

    Attributes:
        words: W strings.
        counts_W: (W,) how often the text has each.
        norms_W: (W,) mean length of its vectors.
        rank_correlation: Spearman's of the two, -1 to 1; NaN if all lengths or all counts are equal.
    """

    words: Sequence[str] = field(repr=False)
    counts_W: np.ndarray = field(repr=False)
    norms_W: np.ndarray = field(repr=False)
    rank_correlation: float


@dataclass(frozen=True)
class Geometry:
    """A space under one reading.

    Attributes:
        shape: of all vectors.
        layers: how alike the uses of a word are, layer by layer, 0 first.
        norms: lengths.
        num_uses: N.
    """

    shape: Shape
    layers: Sequence[SelfSimilarity]
    norms: Norms
    num_uses: int


def measure(cloud: Cloud, reading: Reading) -> Geometry:
    """The shape of a cloud.

    Raises:
        ValueError: if the vectors are not finite, or all equal.
    """
    vectors_ND = reading.combine(cloud.layers_LND)
    return Geometry(
        shape=measure_shape(vectors_ND, cloud.words_N),
        layers=[self_similarity(layer_ND, cloud.words_N) for layer_ND in cloud.layers_LND],
        norms=measure_norms(vectors_ND, cloud),
        num_uses=len(vectors_ND),
    )


def measure_shape(vectors_ND: np.ndarray, words_N: np.ndarray) -> Shape:
    """Spectrum, uniformity, and the cosines of all pairs of uses of different words.

    Raises:
        ValueError: if the vectors are not finite, or all equal.
    """
    of_space = spectrum(vectors_ND)
    cosines_P = cosine_matrix(vectors_ND)[np.triu(words_N[:, None] != words_N, k=1)]
    cosines_P = cosines_P[~np.isnan(cosines_P)]  # of zero vectors
    counts, _ = np.histogram(cosines_P, BINS)
    return Shape(
        spectrum=of_space,
        uniformity=uniformity(vectors_ND),
        random_cosine=float(cosines_P.mean()) if len(cosines_P) else np.nan,
        cosine_shares=counts / max(len(cosines_P), 1),
    )


def measure_norms(vectors_ND: np.ndarray, cloud: Cloud) -> Norms:
    """Mean length of each word's vectors, and whether frequent words are longer."""
    lengths_N = np.linalg.norm(vectors_ND.astype(np.float64), axis=1)
    norms_W = np.bincount(cloud.words_N, lengths_N) / np.bincount(cloud.words_N)
    return Norms(cloud.words, cloud.counts_W, norms_W, _rank_correlation(norms_W, cloud.counts_W))


def _rank_correlation(first_W: np.ndarray, second_W: np.ndarray) -> float:
    """Spearman's; scipy's would cost the page a second of imports."""
    # lengths that differ by rounding are equal
    first, second = (pd.Series(values_W).round(6).rank() for values_W in (first_W, second_W))
    if min(first.nunique(), second.nunique()) < 2:
        return np.nan
    return float(np.corrcoef(first, second)[0, 1])
