import numpy as np
import pytest
import torch

from ctxemb.analysis import isotropy
from ctxemb.analysis.isotropy import (
    alignment,
    checked_vectors,
    self_similarity,
    spectrum,
    top_energy,
    uniformity,
)
from ctxemb.analysis.similarity import cosine_matrix


def test_energy_of_a_worked_example():
    energy = top_energy(np.diag([4.0, 2.0, 1.0, 1.0]), k=2)
    assert energy.squared == pytest.approx((16 + 4) / 22)
    assert energy.plain == pytest.approx((4 + 2) / 8)


def test_energy_agrees_with_the_eigenvalues_of_the_gram_matrix():
    vectors = np.random.default_rng(0).normal(size=(30, 12)).astype(np.float32)
    values = np.sort(np.linalg.eigvalsh(vectors.T.astype(np.float64) @ vectors))[::-1]
    energy = top_energy(vectors, k=3)
    assert energy.squared == pytest.approx(values[:3].sum() / values.sum())
    assert energy.plain == pytest.approx(np.sqrt(values[:3]).sum() / np.sqrt(values).sum())


def test_energy_knows_no_scale_and_no_rotation_and_more_directions_hold_more():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 16))
    rotation, _ = np.linalg.qr(rng.normal(size=(16, 16)))
    assert top_energy(7 * vectors @ rotation, k=4).squared == pytest.approx(top_energy(vectors, k=4).squared)
    energies = [top_energy(vectors, k=k) for k in range(1, 18)]
    assert all(a.squared < b.squared and a.plain < b.plain for a, b in zip(energies[:15], energies[1:16], strict=True))
    assert all(energy.plain <= energy.squared for energy in energies)
    assert (energies[15].squared, energies[16].plain) == (pytest.approx(1), pytest.approx(1))


def test_a_mean_that_all_share_is_a_main_direction_until_it_is_subtracted():
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(200, 50))
    shared = spread + 20
    assert top_energy(shared, k=1).squared > 0.98
    assert top_energy(shared, k=1, centred=True).squared == pytest.approx(top_energy(spread, 1, centred=True).squared)


@pytest.mark.parametrize(
    ("vectors", "settings", "message"),
    [
        (np.eye(3), {"k": 0}, "k is 0"),
        (np.zeros((3, 2)), {}, "no direction"),
        (np.full((5, 4), 0.1), {"centred": True}, "no direction"),
    ],
)
def test_energy_that_cannot_be_said(vectors, settings, message):
    with pytest.raises(ValueError, match=message):
        top_energy(vectors, **settings)


def test_alignment_of_a_worked_example():
    east, north, west = np.eye(2)[0], np.eye(2)[1], -np.eye(2)[0]
    first, second = np.array([east, east, east]), np.array([3 * east, north, west])
    assert alignment(first, second) == pytest.approx((0 + 2 + 4) / 3)
    assert alignment(first, second, alpha=1) == pytest.approx((0 + np.sqrt(2) + 2) / 3)


def test_uniformity_of_a_worked_example():
    vectors = np.array([[2.0, 0.0], [0.0, 1.0], [-0.5, 0.0]])  # squared distances 2, 4, 2
    assert uniformity(vectors) == pytest.approx(np.log((2 * np.exp(-4) + np.exp(-8)) / 3))
    assert uniformity(np.ones((4, 3))) == pytest.approx(0)


def test_both_agree_with_torch_as_in_the_article(monkeypatch):
    monkeypatch.setattr(isotropy, "CELLS", 150)  # three rows at once
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 50, 8))
    x, y = (torch.nn.functional.normalize(torch.from_numpy(half), dim=1) for half in (first, second))
    assert alignment(first, second) == pytest.approx((x - y).norm(p=2, dim=1).pow(2).mean().item())
    expected = torch.pdist(x, p=2).pow(2).mul(-2).exp().mean().log().item()
    assert uniformity(first) == pytest.approx(expected)


def test_zero_vectors_are_left_out():
    first, second = np.random.default_rng(0).normal(size=(2, 5, 3))
    first[2] = 0
    kept = [0, 1, 3, 4]
    assert alignment(first, second) == pytest.approx(alignment(first[kept], second[kept]))
    assert uniformity(first) == pytest.approx(uniformity(first[kept]))
    assert np.isnan([alignment(first[2:3], second[2:3]), uniformity(first[1:3])]).all()


SQUARE = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])  # longer than wide, with its middle at 0


def rotation(num_dimensions: int) -> np.ndarray:
    turned, _ = np.linalg.qr(np.random.default_rng(3).normal(size=(num_dimensions, num_dimensions)))
    return turned


def test_spectrum_of_a_worked_example():
    found = spectrum(SQUARE + 5)
    np.testing.assert_allclose(found.values_R, [np.sqrt(8), np.sqrt(2)])
    np.testing.assert_allclose(found.energies, [0.8, 0.2])
    np.testing.assert_allclose(found.cumulative_energies, [0.8, 1.0])
    assert found.participation_ratio == pytest.approx(1 / (0.64 + 0.04))
    assert (found.share(1), found.share(2), found.share(9)) == pytest.approx((0.8, 1, 1))
    assert found.num_dimensions == 2


def test_spectrum_agrees_with_the_pca_of_scikit_learn_and_with_top_energy():
    from sklearn.decomposition import PCA

    vectors = np.random.default_rng(0).normal(size=(60, 9)) * np.arange(1, 10) + 3
    found, pca = spectrum(vectors), PCA().fit(vectors)
    np.testing.assert_allclose(found.energies, pca.explained_variance_ratio_)
    np.testing.assert_allclose(found.values_R, pca.singular_values_)
    assert found.share(4) == pytest.approx(top_energy(vectors, 4, centred=True).squared)


def test_isoscore_of_a_worked_example():
    # variances (4, 1) scaled to length sqrt(2); defect and score by the article's six steps
    scaled = np.sqrt(2) * np.array([4, 1]) / np.sqrt(17)
    defect = np.sqrt(((scaled - 1) ** 2).sum()) / np.sqrt(2 * (2 - np.sqrt(2)))
    used = (2 - defect**2 * (2 - np.sqrt(2))) ** 2 / 4
    assert spectrum(SQUARE).isoscore == pytest.approx((2 * used - 1) / 1)
    assert spectrum(SQUARE).isoscore == pytest.approx(8 / 17)


@pytest.mark.parametrize("shape", [(300, 12), (8, 20), (50, 2)])
def test_isoscore_agrees_with_the_package_of_its_authors(shape):
    from IsoScore import IsoScore

    vectors = np.random.default_rng(1).normal(size=shape) * np.linspace(1, 4, shape[1]) + 2
    expected = float(IsoScore.IsoScore(vectors.astype(np.float64)))
    assert spectrum(vectors).isoscore == pytest.approx(expected, abs=1e-5)


def test_a_ball_has_isoscore_1_a_line_0_and_k_even_directions_about_their_share():
    ball = np.concatenate([np.eye(16), -np.eye(16)])
    assert spectrum(ball).isoscore == pytest.approx(1)
    assert spectrum(np.outer(np.arange(5.0), np.arange(1.0, 17))).isoscore == pytest.approx(0, abs=1e-9)
    flat = ball * (np.arange(16) < 4)
    assert spectrum(flat).isoscore == pytest.approx((4 - 1) / (16 - 1))
    assert spectrum(flat).participation_ratio == pytest.approx(4)


def test_shape_knows_no_place_no_scale_and_no_turn():
    vectors = np.random.default_rng(2).normal(size=(40, 6)) * np.arange(1, 7)
    moved = 3 * vectors @ rotation(6) + 10
    np.testing.assert_allclose(spectrum(moved).energies, spectrum(vectors).energies)
    assert spectrum(moved).isoscore == pytest.approx(spectrum(vectors).isoscore)


def test_a_constant_column_is_a_direction_that_is_not_used():
    vectors = np.random.default_rng(2).normal(size=(40, 3))
    with_constant = np.column_stack([vectors, np.full(40, 7.0)])
    assert spectrum(with_constant).values_R[3] == pytest.approx(0, abs=1e-9)
    assert spectrum(with_constant).isoscore < spectrum(vectors).isoscore
    assert np.isnan(spectrum(vectors[:, :1]).isoscore)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.eye(2), "2 vectors have no shape"),
        (np.zeros((0, 4)), "0 vectors have no shape"),
        (np.full((5, 4), 0.1), "all vectors are equal"),
        (np.array([[1.0, 0], [0, np.nan], [0, 1], [np.inf, 0]]), "2 vectors hold NaN or infinity, the first in row 1"),
    ],
)
def test_vectors_without_a_shape(vectors, message):
    for function in (spectrum, checked_vectors):
        with pytest.raises(ValueError, match=message):
            function(vectors)


def test_self_similarity_of_a_worked_example():
    east, north = np.eye(2)
    vectors = np.array([east, 2 * north, east, -east, north, np.zeros(2)])
    words = np.array([0, 0, 1, 1, 3, 1])  # word 2 has no use, and a zero vector no direction
    found = self_similarity(vectors, words)
    assert found.num_words == 2
    assert found.own == pytest.approx((0 + -1) / 2)
    # word 0 with 1: 1, -1, 0, 0; word 0 with 3: 0, 1; word 1 with 3: 0, 0
    assert found.random == pytest.approx(1 / 8)
    assert found.above_random == pytest.approx(-0.5 - 1 / 8)


def test_self_similarity_agrees_with_loops_over_pairs():
    rng = np.random.default_rng(0)
    vectors, words = rng.normal(size=(30, 5)) + 0.5, rng.integers(8, size=30)
    cosines = cosine_matrix(vectors)
    own = {w: [cosines[i, j] for i in range(30) for j in range(i) if words[i] == words[j] == w] for w in range(8)}
    random = [cosines[i, j] for i in range(30) for j in range(i) if words[i] != words[j]]
    found = self_similarity(vectors.astype(np.float32), words)
    assert found.own == pytest.approx(np.mean([np.mean(pairs) for pairs in own.values() if pairs]), abs=1e-6)
    assert found.random == pytest.approx(np.mean(random), abs=1e-6)
    assert self_similarity(3 * vectors @ rotation(5), words).own == pytest.approx(found.own, abs=1e-6)


def test_self_similarity_where_there_are_no_pairs():
    alone = self_similarity(np.eye(3), np.arange(3))
    assert np.isnan(alone.own)
    assert (alone.random, alone.num_words) == (pytest.approx(0), 0)
    assert np.isnan(self_similarity(np.eye(3), np.zeros(3, int)).random)
    assert np.isnan(self_similarity(np.zeros((3, 3)), np.arange(3)).random)
