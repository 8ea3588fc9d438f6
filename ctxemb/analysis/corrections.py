"""Making a space rounder: centring, all-but-the-top, whitening. Each is fitted on some vectors and applied to any.

N vectors, D numbers per vector.
"""

from dataclasses import dataclass

import numpy as np

from ctxemb.analysis.isotropy import checked_vectors


@dataclass(frozen=True)
class PrincipalAxes:
    """Mean, main directions and variances of a set of vectors.

    Attributes:
        mean_D: (D,).
        axes_DD: (D, D) one direction of length 1 a column, the longest first.
        variances_D: (D,) variance in each direction (the mean over all vectors, not over one less).
    """

    mean_D: np.ndarray
    axes_DD: np.ndarray
    variances_D: np.ndarray


@dataclass(frozen=True)
class Correction:
    """Subtract a vector, then multiply by a matrix.

    Attributes:
        mean_D: (D,).
        matrix_DD: (D, D) symmetric.
    """

    mean_D: np.ndarray
    matrix_DD: np.ndarray

    def apply(self, vectors_ND: np.ndarray) -> np.ndarray:
        """(N, D) -> (N, D), float64."""
        return (vectors_ND - self.mean_D) @ self.matrix_DD


def principal_axes(vectors_ND: np.ndarray) -> PrincipalAxes:
    """Fit what every correction needs.

    Raises:
        ValueError: if there are fewer than three vectors, if one is not finite, or if all are equal.
    """
    vectors_ND = checked_vectors(vectors_ND)
    mean_D = vectors_ND.mean(axis=0)
    centred_ND = vectors_ND - mean_D
    variances_D, axes_DD = np.linalg.eigh(centred_ND.T @ centred_ND / len(centred_ND))
    return PrincipalAxes(mean_D, axes_DD[:, ::-1], np.maximum(variances_D[::-1], 0))


def centring(axes: PrincipalAxes) -> Correction:
    """Subtract the mean: the tip of a cone moves into its middle."""
    return Correction(axes.mean_D, np.eye(len(axes.mean_D)))


def all_but_the_top(axes: PrincipalAxes, num_directions: int) -> Correction:
    """Subtract the mean, and all that lies in the main directions.

    Args:
        num_directions: 0 (centring) to D - 1; the article advises about D / 100.

    Raises:
        ValueError: if there are not so many directions, or none would be left.

    Source: Mu & Viswanath 2018, arXiv:1702.01417, algorithm 1; projected are the centred vectors.
    """
    num_dimensions = len(axes.mean_D)
    if not 0 <= num_directions < num_dimensions:
        raise ValueError(
            f"{num_directions} directions cannot be removed from vectors of {num_dimensions} numbers; "
            f"choose 0 to {num_dimensions - 1}"
        )
    top_DK = axes.axes_DD[:, :num_directions]
    return Correction(axes.mean_D, np.eye(num_dimensions) - top_DK @ top_DK.T)


def whitening(axes: PrincipalAxes, shrinkage: float = 0.0) -> Correction:
    """Scale every main direction to variance 1, and turn back: of all whitenings, the one that moves vectors least.

    Variances are first drawn towards their mean, because those of rare directions are small by chance and dividing by
    them would blow up noise. Directions without any variance stay empty.

    Args:
        shrinkage: 0 (none) to 1 (only the scale changes); see `learn_shrinkage`.

    Raises:
        ValueError: if the shrinkage is not a share.
    """
    if not 0 <= shrinkage <= 1:
        raise ValueError(f"the shrinkage is {shrinkage}; it is a share, 0 to 1")
    variances_D = (1 - shrinkage) * axes.variances_D + shrinkage * axes.variances_D.mean()
    is_empty_D = variances_D <= 1e-12 * variances_D.max()
    scales_D = np.where(is_empty_D, 0, 1 / np.sqrt(np.where(is_empty_D, 1, variances_D)))
    return Correction(axes.mean_D, (axes.axes_DD * scales_D) @ axes.axes_DD.T)


def learn_shrinkage(vectors_ND: np.ndarray) -> float:
    """How much of the mean variance an estimate from so few vectors should take in, 0 to 1.

    Raises:
        ValueError: see `principal_axes`.

    Source: Ledoit & Wolf 2004, "A well-conditioned estimator for large-dimensional covariance matrices".
    """
    from sklearn.covariance import ledoit_wolf_shrinkage  # a second to import

    return float(ledoit_wolf_shrinkage(checked_vectors(vectors_ND)))
