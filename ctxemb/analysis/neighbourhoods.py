"""How much of a neighbourhood a picture keeps: neighbours in the full space against neighbours in the picture.

Distances are Euclidean; on unit vectors their order is that of the cosine.

N points, D numbers per vector, K dimensions of the picture, k neighbours.
"""

from collections.abc import Iterator

import numpy as np

CELLS = 1 << 22  # distances held at once: 32 MB


def nearest(vectors_ND: np.ndarray, k: int) -> np.ndarray:
    """The k nearest other points of each point, (N, k) rows, the nearest first."""
    from sklearn.neighbors import NearestNeighbors  # here, because it slows every start of the app

    # without a query no row is its own neighbour
    return NearestNeighbors(n_neighbors=k).fit(vectors_ND.astype(np.float64)).kneighbors(return_distance=False)


def overlap(first_Nk: np.ndarray, second_Nk: np.ndarray) -> float:
    """Mean share of a point's k neighbours that are its neighbours in both; by chance k / (N - 1)."""
    both_N2k = np.sort(np.concatenate([first_Nk, second_Nk], axis=1), axis=1)
    return float((both_N2k[:, 1:] == both_N2k[:, :-1]).sum() / first_Nk.size)


def trustworthiness(vectors_ND: np.ndarray, neighbours_Nk: np.ndarray) -> float:
    """Whether neighbours in a picture are near in the full space too, 0 to 1; false ones count by their true rank.

    The measure of `sklearn.manifold.trustworthiness`, without its three matrices of N x N numbers.

    Args:
        vectors_ND: (N, D) the full space.
        neighbours_Nk: (N, k) neighbours in the picture, k below N / 2.

    Source: Venna & Kaski 2001, Neighborhood preservation in nonlinear projection methods.
    """
    num_points, k = neighbours_Nk.shape
    assert k < num_points / 2, "with more neighbours the measure is not normalised"
    excess = 0
    for rows, squares in _squared_distances(vectors_ND):
        for own_squares in np.take_along_axis(squares, neighbours_Nk[rows], axis=1).T:
            ranks = 1 + (squares < own_squares[:, None]).sum(axis=1)
            excess += int(np.maximum(ranks - k, 0).sum())
    return 1 - excess * 2 / (num_points * k * (2 * num_points - 3 * k - 1))


def _squared_distances(vectors_ND: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Rows, and their squared distances to all points; a point is infinitely far from itself."""
    vectors_ND = vectors_ND.astype(np.float64)
    squares_N = np.einsum("nd,nd->n", vectors_ND, vectors_ND)
    num_rows = max(1, CELLS // len(vectors_ND))
    for start in range(0, len(vectors_ND), num_rows):
        rows = slice(start, start + num_rows)
        squares = squares_N[rows, None] + squares_N - 2 * vectors_ND[rows] @ vectors_ND.T
        squares[np.arange(len(squares)), start + np.arange(len(squares))] = np.inf
        yield rows, squares
