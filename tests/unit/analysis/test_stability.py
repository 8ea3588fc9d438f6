import numpy as np
import pytest

from ctxemb.analysis.projection import ProjectionConfig
from ctxemb.analysis.stability import stability


def test_clear_neighbourhoods_stay_and_those_of_noise_do_not():
    rng = np.random.default_rng(0)
    clear = np.repeat(rng.normal(size=(8, 10)), 6, axis=0) + 0.01 * rng.normal(size=(48, 10))
    noise = rng.normal(size=(48, 40))
    for method in ("t-sne", "umap"):
        config = ProjectionConfig(method=method, max_iter=500, perplexity=5, num_neighbors=5)
        of_clear, of_noise = (stability(vectors, config, seeds=[0, 1, 2], k=5) for vectors in (clear, noise))
        assert [picture.seed for picture in of_clear.pictures] == [0, 1, 2], "the configuration's own is not repeated"
        assert of_clear.chance == of_noise.chance == 5 / 47
        assert of_clear.agreement > 0.9 > 0.8 > of_noise.agreement > of_noise.chance
        assert all(
            picture.overlap > 0.9 > 0.7 > other.overlap
            for picture, other in zip(of_clear.pictures, of_noise.pictures, strict=True)
        )
        assert any("start from random places" in note for note in of_clear.notes) == (method == "t-sne")


def test_a_pca_does_not_depend_on_its_seed_and_few_points_cut_k():
    reports: list[float] = []
    found = stability(
        np.random.default_rng(0).normal(size=(9, 5)),
        ProjectionConfig(method="pca", seed=7),
        seeds=[1, 2],
        on_progress=lambda fraction, _: reports.append(fraction),
    )
    assert (found.agreement, found.k, found.chance) == (1, 4, 4 / 8)
    assert len(set(found.pictures)) == 3
    assert len({(picture.overlap, picture.trustworthiness) for picture in found.pictures}) == 1
    assert found.notes == ("PCA leaves nothing to chance: every seed gives the same picture.",)
    assert reports == sorted(reports)


def test_one_seed_is_nothing_to_compare():
    with pytest.raises(ValueError, match="give a seed other than 0"):
        stability(np.eye(9), ProjectionConfig(), seeds=[0])
