import numpy as np
import pytest
import torch

from ctxemb.analysis import isotropy
from ctxemb.analysis.isotropy import alignment, top_energy, uniformity


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
