"""Many numbers a vector become two or three: PCA, t-SNE and UMAP, and how far to trust the picture.

Cosine means Euclidean distance between the vectors scaled to length 1: its order is that of the cosine, its square
2 - 2 cos. A zero vector has no direction; it then stands in the centre of the sphere, equally far from all others.

N points, M further points, D numbers per vector, K dimensions of the picture.
"""

import pickle
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ctxemb.analysis.layouts import fit_pca, fit_tsne, fit_umap
from ctxemb.analysis.neighbourhoods import nearest, trustworthiness
from ctxemb.analysis.similarity import unit_vectors
from ctxemb.background import OnProgress, no_progress

Method = Literal["pca", "t-sne", "umap"]
Metric = Literal["cosine", "euclidean"]
MIN_POINTS = 3
MIN_POINTS_OF_LAYOUT = 8  # t-SNE and UMAP have no neighbourhoods to keep among fewer
NEIGHBOURS_JUDGED = 10
REDUCED_ABOVE_POINTS = 10_000  # t-SNE's search for neighbours is quick below
REDUCED_DIMENSIONS = 50


class ProjectionConfig(BaseModel):
    """How the picture is made; a method reads its own settings and passes over those of the others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Method = Field(
        default="t-sne",
        description="PCA turns and flattens the space; t-SNE and UMAP keep neighbourhoods and give up distances",
    )
    num_dimensions: Literal[2, 3] = Field(default=2, description="Of the picture")
    metric: Metric = Field(default="cosine", description="What near means; cosine leaves the length of the vectors out")
    perplexity: float = Field(default=30, ge=2, le=200, description="t-SNE: about how many neighbours a point minds")
    max_iter: int = Field(default=1_000, ge=250, le=5_000, description="t-SNE: steps in which the points are moved")
    init: Literal["pca", "random"] = Field(
        default="pca", description="t-SNE: where the points start; from the PCA the picture hardly depends on the seed"
    )
    num_neighbors: int = Field(default=15, ge=2, le=200, description="UMAP: how many neighbours a point minds")
    min_dist: float = Field(default=0.1, ge=0, le=0.99, description="UMAP: how near points may be put")
    seed: int = Field(default=0, ge=0, le=2**32 - 1, description="Of all that is random; the same gives the same")


@dataclass(frozen=True)
class Projection:
    """A picture, and what is needed to judge it, to make it again and to place further points.

    Attributes:
        points_NK: (N, K) float32.
        config: as used; it may differ from what was asked for.
        notes: a sentence for each setting or value that was changed.
        versions: of the libraries that had a part in it.
        trustworthiness: 0 to 1; whether neighbours in the picture are near in the full space. See `neighbourhoods`.
        k: number of neighbours that it looks at.
        variance_share: of PCA, how much of the variance the picture holds, 0 to 1.
        seconds: how long it took.
        width: D, numbers per vector.
        fitted: for `place` alone; a pickle, so that only a process that places points loads umap-learn. Unpickling
            runs code: take it from no one but your own worker.
    """

    points_NK: np.ndarray
    config: ProjectionConfig
    notes: tuple[str, ...]
    versions: dict[str, str]
    trustworthiness: float
    k: int
    variance_share: float | None
    seconds: float
    width: int
    fitted: bytes


def project(
    vectors_ND: np.ndarray, config: ProjectionConfig | None = None, on_progress: OnProgress = no_progress
) -> Projection:
    """Lay points out in two or three dimensions.

    The same input and seed give the same picture, bit for bit. What cannot be done with so few points is changed, and
    said in the notes.

    Args:
        vectors_ND: (N, D).
        config: method and settings.
        on_progress: called with a fraction that never falls, and a stage.

    Raises:
        ValueError: fewer than three vectors, all of them equal, or a row with NaN or an infinity.
    """
    config = config or ProjectionConfig()
    started = time.perf_counter()
    vectors_ND, vector_notes = prepare_vectors(vectors_ND, config.metric)
    config, config_notes = _fitting(config, vectors_ND)
    notes = [*vector_notes, *config_notes]
    on_progress(0.0, _first_stage(config.method))

    def on_fraction(fraction: float) -> None:
        on_progress(0.05 + 0.85 * fraction, "moving the points")

    variance_share, fitted = None, b""
    if config.method == "pca":
        num_directions = min(config.num_dimensions, *vectors_ND.shape)
        mean_D, directions_KD, shares_K = fit_pca(vectors_ND, num_directions)
        directions_KD = np.pad(directions_KD, ((0, config.num_dimensions - num_directions), (0, 0)))
        points_NK = (vectors_ND - mean_D) @ directions_KD.T
        variance_share, fitted = float(shares_K.sum()), pickle.dumps((mean_D, directions_KD))
    elif config.method == "t-sne":
        reduced_ND = vectors_ND
        if len(vectors_ND) > REDUCED_ABOVE_POINTS and vectors_ND.shape[1] > REDUCED_DIMENSIONS:
            mean_D, directions_KD, shares_K = fit_pca(vectors_ND, REDUCED_DIMENSIONS)
            reduced_ND = (vectors_ND - mean_D) @ directions_KD.T
            notes.append(
                f"Of so many points, t-SNE read the {REDUCED_DIMENSIONS} main directions, which hold "
                f"{shares_K.sum():.0%} of the variance."
            )
        points_NK = fit_tsne(
            reduced_ND.astype(np.float32),
            config.num_dimensions,
            config.perplexity,
            config.max_iter,
            config.init,
            config.seed,
            on_fraction,
        )
    else:
        model = fit_umap(
            vectors_ND.astype(np.float32),
            config.num_dimensions,
            config.num_neighbors,
            config.min_dist,
            config.seed,
            on_fraction,
        )
        points_NK, fitted = np.asarray(model.embedding_), pickle.dumps(model)
    on_progress(0.9, "checking neighbourhoods")
    points_NK = points_NK.astype(np.float32)
    k = num_judged(len(points_NK), NEIGHBOURS_JUDGED)
    return Projection(
        points_NK=points_NK,
        config=config,
        notes=tuple(notes),
        versions=_versions(config.method),
        trustworthiness=trustworthiness(vectors_ND, nearest(points_NK, k)),
        k=k,
        variance_share=variance_share,
        seconds=time.perf_counter() - started,
        width=vectors_ND.shape[1],
        fitted=fitted,
    )


def place(projection: Projection, vectors_MD: np.ndarray, on_progress: OnProgress = no_progress) -> np.ndarray:
    """Where further vectors fall in a picture that stays as it is, (M, K) float32.

    Raises:
        ValueError: if the picture is a t-SNE, which knows no place for further points, or the vectors do not fit.
    """
    if projection.config.method == "t-sne":
        raise ValueError(
            "t-SNE has no place for a further point; choose UMAP or PCA, or draw the map again with the point among "
            "the others"
        )
    vectors_MD, _ = _readable(vectors_MD, projection.config.metric)
    on_progress(0.0, _first_stage(projection.config.method))
    if vectors_MD.shape[1] != projection.width:
        raise ValueError(f"the vectors have {vectors_MD.shape[1]} numbers, those of the picture {projection.width}")
    fitted = pickle.loads(projection.fitted)
    if projection.config.method == "pca":
        mean_D, directions_KD = fitted
        return ((vectors_MD - mean_D) @ directions_KD.T).astype(np.float32)
    return fitted.transform(vectors_MD.astype(np.float32)).astype(np.float32)


def warm_up() -> Iterator[None]:
    """Import and compile what the first pictures would wait for, in parts; for a `background.Worker`."""
    vectors_ND = np.random.default_rng(0).normal(size=(64, 8))
    project(vectors_ND, ProjectionConfig(max_iter=250))
    yield
    place(project(vectors_ND, ProjectionConfig(method="umap")), vectors_ND[:1] + 1)
    yield


def _readable(vectors_ND: np.ndarray, metric: Metric) -> tuple[np.ndarray, list[str]]:
    vectors_ND = np.asarray(vectors_ND, dtype=np.float64)
    if vectors_ND.ndim != 2 or not vectors_ND.shape[1]:
        raise ValueError(f"an array of shape {vectors_ND.shape} holds no vectors; give one row of numbers a vector")
    if len(bad := np.flatnonzero(~np.isfinite(vectors_ND).all(axis=1))):
        more = f", and {len(bad) - 1} more do" if len(bad) > 1 else ""
        raise ValueError(f"row {bad[0] + 1} of {len(vectors_ND)} holds NaN or an infinity{more}; leave it out")
    if metric == "euclidean":
        return vectors_ND, []
    unit_ND = unit_vectors(vectors_ND)
    num_zero = int(np.isnan(unit_ND[:, 0]).sum())
    who = "1 vector is zero: it has" if num_zero == 1 else f"{num_zero} vectors are zero: they have"
    note = f"{who} no direction, and the same distance from all others."
    return np.nan_to_num(unit_ND), [note] if num_zero else []


def prepare_vectors(vectors_ND: np.ndarray, metric: Metric) -> tuple[np.ndarray, list[str]]:
    """The vectors between which Euclidean distance is what the metric means, and what is to be said about them.

    Raises:
        ValueError: as `project`.
    """
    if len(vectors_ND) < MIN_POINTS:
        raise ValueError(f"a map needs at least {MIN_POINTS} vectors, and there are {len(vectors_ND)}; add some")
    vectors_ND, notes = _readable(vectors_ND, metric)
    if np.ptp(vectors_ND, axis=0).max() <= 1e-6 * np.abs(vectors_ND).max():
        what = "point the same way" if metric == "cosine" else "are equal"
        raise ValueError(f"all {len(vectors_ND)} vectors {what}, so there is nothing to see; choose other ones")
    return vectors_ND, notes


def _fitting(config: ProjectionConfig, vectors_ND: np.ndarray) -> tuple[ProjectionConfig, list[str]]:
    """The configuration that so many points allow, and a sentence for each change."""
    num_points, width = vectors_ND.shape
    if config.method != "pca" and (num_points < MIN_POINTS_OF_LAYOUT or width <= config.num_dimensions):
        name = {"t-sne": "t-SNE", "umap": "UMAP"}[config.method]
        why = (
            f"among {num_points} points {name} has no neighbourhoods to keep"
            if num_points < MIN_POINTS_OF_LAYOUT
            else f"{name} has nothing to do for vectors of {width} numbers"
        )
        return config.model_copy(update={"method": "pca"}), [f"This is a PCA: {why}."]
    highest_perplexity = (num_points - 1) / 3
    if config.method == "t-sne" and config.perplexity > highest_perplexity:
        note = f"Perplexity {highest_perplexity:.3g} instead of {config.perplexity:g}: at most a third of the others."
        return config.model_copy(update={"perplexity": highest_perplexity}), [note]
    if config.method == "umap" and config.num_neighbors > num_points - 1:
        note = f"{num_points - 1} neighbours instead of {config.num_neighbors}: there are no more other points."
        return config.model_copy(update={"num_neighbors": num_points - 1}), [note]
    return config, []


def num_judged(num_points: int, k: int) -> int:
    """How many neighbours of so many points can be looked at: fewer than half."""
    return min(k, (num_points - 1) // 2)


def _first_stage(method: Method) -> str:
    if method == "umap" and "umap" not in sys.modules:
        return "compiling UMAP, once: some 20 seconds"
    return "finding neighbours" if method != "pca" else "turning the space"


def _versions(method: Method) -> dict[str, str]:
    names = ["numpy", "scikit-learn", *(["umap-learn"] if method == "umap" else [])]
    return {name: version(name) for name in names}
