"""A picture turned towards another: a known turn is undone, and nothing is stretched."""

import numpy as np
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import pdist

from ctxemb.analysis.alignment import turned_towards


def test_a_turned_mirrored_and_moved_picture_comes_back() -> None:
    reference_NK = np.random.default_rng(0).normal(size=(20, 2))
    turned_NK = reference_NK @ np.array([[0.6, -0.8], [-0.8, -0.6]]) + [3, -5]
    np.testing.assert_allclose(turned_towards(turned_NK, reference_NK), reference_NK - reference_NK.mean(axis=0))


def test_distances_stay_and_the_turn_is_scipys() -> None:
    rng = np.random.default_rng(1)
    points_NK, reference_NK = rng.normal(size=(2, 30, 3))
    turned_NK = turned_towards(points_NK, reference_NK)
    np.testing.assert_allclose(pdist(turned_NK), pdist(points_NK))
    centred_NK = points_NK - points_NK.mean(axis=0)
    turn, _ = orthogonal_procrustes(centred_NK, reference_NK - reference_NK.mean(axis=0))
    np.testing.assert_allclose(turned_NK, centred_NK @ turn)
