"""How much of a picture is the data's, and how much its seed's: the same points drawn again from other seeds.

N points, D numbers per vector, k neighbours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np

from ctxemb.analysis.neighbourhoods import nearest, overlap, trustworthiness
from ctxemb.analysis.projection import NEIGHBOURS_JUDGED, ProjectionConfig, num_judged, prepare_vectors, project
from ctxemb.background import OnProgress, no_progress

REMARKS = {
    "pca": "PCA leaves nothing to chance: every seed gives the same picture.",
    "t-sne": "The further pictures start from random places: from the PCA, t-SNE hardly depends on its seed.",
    "umap": "",
}


@dataclass(frozen=True)
class SeedPicture:
    """One of several pictures of the same points.

    Attributes:
        seed: of it.
        overlap: mean share of a point's k nearest neighbours in the full space that are so in the picture.
        trustworthiness: of it, 0 to 1.
    """

    seed: int
    overlap: float
    trustworthiness: float


@dataclass(frozen=True)
class Stability:
    """How much of a picture is the data's, and how much its seed's.

    Attributes:
        pictures: one a seed, that of the configuration first.
        agreement: mean share of a point's k nearest neighbours that two pictures have in common, over all pairs.
        chance: what both kinds of share would be by chance, k / (N - 1).
        k: number of neighbours.
        notes: a sentence for all that was changed, and for what the seeds change.
    """

    pictures: tuple[SeedPicture, ...]
    agreement: float
    chance: float
    k: int
    notes: tuple[str, ...]


def stability(
    vectors_ND: np.ndarray,
    config: ProjectionConfig,
    seeds: Sequence[int],
    k: int = NEIGHBOURS_JUDGED,
    on_progress: OnProgress = no_progress,
) -> Stability:
    """Draw the picture again from other seeds, and see which neighbourhoods stay.

    From the PCA a t-SNE hardly depends on its seed, whatever the data; its further pictures start at random places.

    Args:
        vectors_ND: (N, D).
        config: of the first picture.
        seeds: of the others.
        k: number of neighbours that are looked at, cut to fewer than half of the points.
        on_progress: called with a fraction that never falls, and a stage.

    Raises:
        ValueError: as `project`; or if there is no other seed.
    """
    others = [seed for seed in dict.fromkeys(seeds) if seed != config.seed]
    if not others:
        raise ValueError(f"give a seed other than {config.seed}: one picture has nothing to be held against")
    configs = [config, *(config.model_copy(update={"seed": seed, "init": "random"}) for seed in others)]

    def on_own_progress(fraction: float, stage: str) -> None:
        on_progress((len(drawn) + fraction) / len(configs), f"picture {len(drawn) + 1} of {len(configs)}: {stage}")

    drawn = []
    for one in configs:
        drawn.append(project(vectors_ND, one, on_own_progress))
    full_ND, _ = prepare_vectors(vectors_ND, config.metric)
    k = num_judged(len(full_ND), k)
    full_Nk = nearest(full_ND, k)
    neighbours = [nearest(picture.points_NK, k) for picture in drawn]
    return Stability(
        pictures=tuple(
            SeedPicture(one.seed, overlap(full_Nk, own_Nk), trustworthiness(full_ND, own_Nk))
            for one, own_Nk in zip(configs, neighbours, strict=True)
        ),
        agreement=fmean(overlap(first_Nk, second_Nk) for first_Nk, second_Nk in combinations(neighbours, 2)),
        chance=k / (len(full_ND) - 1),
        k=k,
        notes=tuple(note for note in (*drawn[0].notes, REMARKS[drawn[0].config.method]) if note),
    )
