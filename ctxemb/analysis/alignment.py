"""One picture laid over another.

N points, K dimensions.
"""

import numpy as np


def turned_towards(points_NK: np.ndarray, reference_NK: np.ndarray) -> np.ndarray:
    """A picture turned and mirrored, not stretched, to lie as much like another one as it can.

    Source: the orthogonal Procrustes problem, Schönemann 1966.
    """
    centred_NK = points_NK - points_NK.mean(axis=0)
    left, _, right = np.linalg.svd(centred_NK.T @ (reference_NK - reference_NK.mean(axis=0)))
    return centred_NK @ (left @ right)
