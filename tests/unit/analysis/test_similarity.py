import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from ctxemb.analysis.similarity import cosine_matrix, random_pair_cosine, unit_vectors


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def test_cosines_of_a_worked_example():
    half = np.sqrt(0.5)
    expected = [[1, half, -1, 0], [half, 1, -half, half], [-1, -half, 1, 0], [0, half, 0, 1]]
    np.testing.assert_allclose(cosine_matrix(np.array([[1, 0], [3, 3], [-2, 0], [0, 0.5]])), expected, atol=1e-12)


def test_cosines_agree_with_scikit_learn(rng):
    vectors = rng.normal(size=(20, 7)).astype(np.float32)
    np.testing.assert_allclose(cosine_matrix(vectors), cosine_similarity(vectors.astype(np.float64)), atol=1e-12)


def test_a_zero_vector_has_no_cosine_and_spoils_no_other(rng):
    vectors = rng.normal(size=(4, 5))
    vectors[1] = 0
    cosines = cosine_matrix(vectors)
    assert np.isnan(cosines[1]).all()
    assert np.isnan(cosines[:, 1]).all()
    kept = np.delete(np.arange(4), 1)
    np.testing.assert_allclose(cosines[np.ix_(kept, kept)], cosine_matrix(vectors[kept]))
    np.testing.assert_allclose(np.linalg.norm(unit_vectors(vectors)[kept], axis=1), 1)


def test_cosines_change_neither_by_rotation_nor_by_length(rng):
    vectors = rng.normal(size=(9, 6))
    rotation, _ = np.linalg.qr(rng.normal(size=(6, 6)))
    lengths = rng.uniform(0.1, 1e3, size=(9, 1))
    np.testing.assert_allclose(cosine_matrix(lengths * vectors @ rotation), cosine_matrix(vectors), atol=1e-12)


def test_rounding_leaves_no_cosine_beyond_one(rng):
    cosines = cosine_matrix(np.repeat(rng.normal(size=(50, 33)).astype(np.float32), 2, axis=0))
    assert cosines.max() <= 1
    np.testing.assert_allclose(cosines.diagonal(), 1, atol=1e-12)
    np.testing.assert_array_equal(cosines, cosines.T)


def test_random_pairs_of_an_isotropic_cloud_are_orthogonal(rng):
    pairs = random_pair_cosine(rng.normal(size=(2_000, 64)), np.arange(2_000))
    assert pairs.mean == pytest.approx(0, abs=0.01)
    assert pairs.standard_deviation == pytest.approx(1 / np.sqrt(64), rel=0.05)


def test_random_pairs_of_a_cone_have_the_cosine_of_its_axis(rng):
    """Two vectors m + noise meet at |m|^2 / (|m|^2 + D s^2), the narrower the cone, the closer."""
    for axis_length, expected in ((20, 0.5), (60, 0.9)):
        cloud = rng.normal(size=(2_000, 400))
        cloud[:, 0] += axis_length
        assert random_pair_cosine(cloud, np.arange(2_000)).mean == pytest.approx(expected, abs=0.01)


def test_random_pairs_never_join_two_of_one_group():
    vectors = np.repeat([[1.0, 0.0], [-1.0, 0.0]], 50, axis=0)
    pairs = random_pair_cosine(vectors, np.repeat(["bank", "river"], 50), num_pairs=1_000)
    assert (pairs.mean, pairs.standard_deviation) == (-1, 0)
    assert 400 < pairs.num_pairs < 600  # the other half was drawn from one group, and left out


def test_random_pairs_follow_from_the_seed_and_leave_zero_vectors_out(rng):
    vectors = rng.normal(size=(30, 4))
    assert random_pair_cosine(vectors, np.arange(30)) == random_pair_cosine(vectors, np.arange(30), seed=0)
    assert random_pair_cosine(vectors, np.arange(30)) != random_pair_cosine(vectors, np.arange(30), seed=1)
    vectors[:15] = 0
    pairs = random_pair_cosine(vectors, np.arange(30))
    assert np.isfinite(pairs.mean)
    assert 1_000 < pairs.num_pairs < 1_500  # a quarter of 5,000


def test_random_pairs_need_two_groups():
    with pytest.raises(ValueError, match="at least two different words"):
        random_pair_cosine(np.ones((5, 2)), np.zeros(5))
