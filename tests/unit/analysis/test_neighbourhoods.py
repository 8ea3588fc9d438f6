import numpy as np
import pytest
import sklearn.manifold

from ctxemb.analysis import neighbourhoods
from ctxemb.analysis.neighbourhoods import nearest, overlap, trustworthiness


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(neighbourhoods, "CELLS", 200)


def test_neighbours_and_overlap_of_a_worked_example():
    line = np.array([[0.0], [1.0], [2.1], [3.3]])
    assert nearest(line, 2).tolist() == [[1, 2], [0, 2], [1, 3], [2, 1]]
    assert overlap(np.array([[1, 2], [0, 2]]), np.array([[2, 1], [3, 2]])) == 3 / 4


def test_a_point_is_not_its_own_neighbour_even_among_equal_ones():
    vectors = np.array([[1.0, 0], [1.0, 0], [1.0, 0], [0, 1]])
    assert all(row not in own for row, own in enumerate(nearest(vectors, 2)))


def test_overlap_of_random_neighbours_is_at_chance():
    rng = np.random.default_rng(0)
    first, second = (nearest(rng.normal(size=(400, 3)), 10) for _ in range(2))
    assert overlap(first, second) == pytest.approx(10 / 399, abs=0.005)
    assert overlap(first, first) == 1


def test_trustworthiness_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 8))
    for points in (vectors[:, :2], rng.normal(size=(60, 2)), vectors):
        for k in (1, 5, 29):
            expected = sklearn.manifold.trustworthiness(vectors, points, n_neighbors=k)
            assert trustworthiness(vectors, nearest(points, k)) == pytest.approx(expected, abs=1e-12)
