import numpy as np
import pytest

from ctxemb.analysis.corrections import (
    all_but_the_top,
    centring,
    learn_shrinkage,
    principal_axes,
    whitening,
)
from ctxemb.analysis.isotropy import spectrum

CROSS = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


@pytest.fixture
def vectors() -> np.ndarray:
    """(200, 8): a cloud that is drawn out, turned, and far from the origin."""
    rng = np.random.default_rng(0)
    turned, _ = np.linalg.qr(rng.normal(size=(8, 8)))
    return rng.normal(size=(200, 8)) * np.geomspace(8, 0.1, 8) @ turned + 5


def test_worked_example():
    axes = principal_axes(CROSS + np.array([3, 4]))
    np.testing.assert_allclose(axes.mean_D, [3, 4])
    np.testing.assert_allclose(axes.variances_D, [2, 0.5])
    np.testing.assert_allclose(np.abs(axes.axes_DD), np.eye(2), atol=1e-12)
    point = np.array([[5.0, 6.0]])
    np.testing.assert_allclose(centring(axes).apply(point), [[2, 2]])
    np.testing.assert_allclose(all_but_the_top(axes, 1).apply(point), [[0, 2]], atol=1e-12)
    np.testing.assert_allclose(whitening(axes).apply(point), [[2 / np.sqrt(2), 2 / np.sqrt(0.5)]])
    # half of the way to the mean variance 1.25: 1.625 and 0.875
    np.testing.assert_allclose(whitening(axes, 0.5).apply(point), [[2 / np.sqrt(1.625), 2 / np.sqrt(0.875)]])


def test_axes_agree_with_the_pca_of_scikit_learn(vectors):
    from sklearn.decomposition import PCA

    axes, pca = principal_axes(vectors.astype(np.float32)), PCA().fit(vectors)
    np.testing.assert_allclose(axes.mean_D, pca.mean_, rtol=1e-5)
    np.testing.assert_allclose(axes.variances_D, pca.explained_variance_ * 199 / 200, rtol=1e-4)
    np.testing.assert_allclose(np.abs(pca.components_ @ axes.axes_DD), np.eye(8), atol=1e-3)


def test_all_but_the_top_agrees_with_the_article_word_by_word(vectors):
    from sklearn.decomposition import PCA

    mean = vectors.mean(axis=0)
    directions = PCA(n_components=3).fit(vectors).components_
    expected = []
    for vector in vectors:
        corrected = vector - mean
        for direction in directions:
            corrected = corrected - (direction @ (vector - mean)) * direction
        expected.append(corrected)
    found = all_but_the_top(principal_axes(vectors), 3).apply(vectors)
    np.testing.assert_allclose(found, expected, atol=1e-9)
    assert (spectrum(found).values_R[5:] < 1e-6).all()


def test_without_directions_it_is_centring_and_each_one_takes_energy(vectors):
    axes = principal_axes(vectors)
    np.testing.assert_allclose(all_but_the_top(axes, 0).matrix_DD, centring(axes).matrix_DD)
    left = [(all_but_the_top(axes, number).apply(vectors) ** 2).sum() for number in range(8)]
    assert (np.diff(left) < 0).all()
    assert left[7] / len(vectors) == pytest.approx(axes.variances_D[7])


def test_whitened_vectors_have_the_identity_as_covariance_and_move_least(vectors):
    correction = whitening(principal_axes(vectors))
    found = correction.apply(vectors)
    np.testing.assert_allclose(np.cov(found.T, bias=True), np.eye(8), atol=1e-9)
    np.testing.assert_allclose(correction.matrix_DD, correction.matrix_DD.T, atol=1e-12)
    assert spectrum(found).isoscore == pytest.approx(1)


def test_shrinkage_leads_from_whitening_to_a_change_of_scale(vectors):
    axes = principal_axes(vectors)
    scores = [spectrum(whitening(axes, share).apply(vectors)).isoscore for share in (0, 0.01, 0.1, 0.5, 1)]
    assert (np.diff(scores) < 0).all()
    assert scores[-1] == pytest.approx(spectrum(vectors).isoscore)


def test_shrinkage_agrees_with_the_estimate_of_scikit_learn(vectors):
    from sklearn.covariance import LedoitWolf

    few = vectors[:12]
    estimate = LedoitWolf().fit(few)
    assert learn_shrinkage(few) == pytest.approx(estimate.shrinkage_)
    assert learn_shrinkage(few) > learn_shrinkage(vectors)
    found = whitening(principal_axes(few), learn_shrinkage(few))
    np.testing.assert_allclose(found.matrix_DD @ found.matrix_DD, estimate.precision_, rtol=1e-6, atol=1e-9)


def test_a_correction_fits_vectors_that_it_was_not_fitted_on(vectors):
    axes = principal_axes(vectors[:100])
    unseen = vectors[100:]
    energy = ((unseen - unseen.mean(axis=0)) ** 2).sum()
    assert (all_but_the_top(axes, 2).apply(unseen) ** 2).sum() < 0.15 * energy
    assert spectrum(whitening(axes).apply(unseen)).isoscore > 0.8 > 0.2 > spectrum(unseen).isoscore


def test_a_constant_column_stays_empty(vectors):
    with_constant = np.column_stack([vectors, np.full(200, 7.0)])
    found = whitening(principal_axes(with_constant)).apply(with_constant)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found[:, 8], 0, atol=1e-6)
    np.testing.assert_allclose(np.cov(found[:, :8].T, bias=True), np.eye(8), atol=1e-6)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.eye(2), "2 vectors have no shape"),
        (np.ones((4, 3)), "all vectors are equal"),
        (np.array([[1.0, 0], [0, np.nan], [0, 1]]), "1 vectors hold NaN"),
    ],
)
def test_vectors_that_nothing_can_be_fitted_on(vectors, message):
    for function in (principal_axes, learn_shrinkage):
        with pytest.raises(ValueError, match=message):
            function(vectors)


def test_settings_that_make_no_sense():
    axes = principal_axes(CROSS)
    for number in (-1, 2, 9):
        with pytest.raises(ValueError, match=f"{number} directions cannot be removed from vectors of 2 numbers"):
            all_but_the_top(axes, number)
    for shrinkage in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="it is a share, 0 to 1"):
            whitening(axes, shrinkage)
