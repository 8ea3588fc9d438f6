"""The libraries that draw the maps, with their progress: scikit-learn's PCA and t-SNE, umap-learn's UMAP.

The same input and seed give the same layout, bit for bit: t-SNE and UMAP run in one thread. Imports are in the
functions: they take seconds, and pages that draw no map need none of them.

N points, D numbers per vector, K dimensions of the picture.
"""

import io
import re
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from umap import UMAP

OnFraction = Callable[[float], None]
TSNE_ITERATION = re.compile(r"Iteration (\d+)")
UMAP_EPOCH = re.compile(r"epoch (\d+) of (\d+)")
SHARE_OF_NEIGHBOURS = 0.1  # of the time of a t-SNE or UMAP; the rest moves the points


class Listener(io.TextIOBase):
    """A stream that hands on each line or bar that is written to it, and keeps nothing."""

    def __init__(self, hear: Callable[[str], None]):
        self._hear = hear

    def write(self, text: str) -> int:
        """Hear it."""
        self._hear(text)
        return len(text)


def fit_pca(vectors_ND: np.ndarray, num_dimensions: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The mean (D,), the main directions (K, D) and each one's share of the variance (K,).

    Of a direction and its opposite, that is taken whose largest number is positive.
    """
    from sklearn.decomposition import PCA

    pca = PCA(num_dimensions, svd_solver="full").fit(vectors_ND.astype(np.float64))
    directions_KD = np.asarray(pca.components_)
    signs_K = np.sign(directions_KD[np.arange(num_dimensions), np.abs(directions_KD).argmax(axis=1)])
    return np.asarray(pca.mean_), directions_KD * signs_K[:, None], np.asarray(pca.explained_variance_ratio_)


def fit_tsne(
    vectors_ND: np.ndarray,
    num_dimensions: int,
    perplexity: float,
    max_iter: int,
    init: str,
    seed: int,
    on_fraction: OnFraction,
) -> np.ndarray:
    """(N, K) by Barnes-Hut t-SNE."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    def hear(text: str) -> None:
        if found := TSNE_ITERATION.search(text):
            on_fraction(SHARE_OF_NEIGHBOURS + (1 - SHARE_OF_NEIGHBOURS) * min(int(found[1]) / max_iter, 1))

    tsne = TSNE(
        num_dimensions,
        perplexity=perplexity,
        learning_rate=learning_rate(len(vectors_ND)),  # pyright: ignore[reportArgumentType] (inferred from the default)
        max_iter=max_iter,
        init=init,
        random_state=seed,
        verbose=2,
    )
    # Threads meet several times a step: on busy cores they wait far longer than they work, and the sums depend on their
    # number. scikit-learn has no other way than printing to say how far it is.
    with threadpool_limits(1), redirect_stdout(Listener(hear)):
        return tsne.fit_transform(vectors_ND)


def learning_rate(num_points: int) -> float:
    """Of a t-SNE, in scikit-learn's unit, which is a quarter of that of the articles.

    scikit-learn's own never goes below 50, at which some dozens of points fly apart and end in disorder, above all in
    three dimensions; from 600 points on this is the same.
    """
    return max(2.0, min(num_points / 12, max(num_points / 48, 50.0)))


class ExactSearch:
    """The nearest of the fitted vectors, as UMAP asks its index for them; exact, and with nothing to compile.

    The index that UMAP would build from 4,096 vectors on takes a minute to compile before it finds anything.
    """

    _angular_trees = False  # UMAP reads it

    def __init__(self, vectors_ND: np.ndarray, num_neighbors: int):
        from sklearn.neighbors import NearestNeighbors

        self._search = NearestNeighbors(n_neighbors=num_neighbors, algorithm="brute").fit(vectors_ND)

    def query(self, vectors_MD: np.ndarray, k: int, epsilon: float = 0) -> tuple[np.ndarray, np.ndarray]:
        """Rows (M, k), the nearest first, and their distances; `epsilon` is of inexact searches."""
        distances_Mk, rows_Mk = self._search.kneighbors(vectors_MD, k)
        return rows_Mk.astype(np.int32), distances_Mk.astype(np.float32)


def fit_umap(
    vectors_ND: np.ndarray,
    num_dimensions: int,
    num_neighbors: int,
    min_dist: float,
    seed: int,
    on_fraction: OnFraction,
) -> "UMAP":
    """A fitted UMAP; its `embedding_` is (N, K), its `transform` places further vectors."""
    umap = import_umap()

    def hear(text: str) -> None:
        if found := UMAP_EPOCH.search(text):
            on_fraction(SHARE_OF_NEIGHBOURS + (1 - SHARE_OF_NEIGHBOURS) * int(found[1]) / int(found[2]))

    search = ExactSearch(vectors_ND, num_neighbors)
    rows_Nk, distances_Nk = search.query(vectors_ND, num_neighbors)
    bar = {"disable": False, "file": Listener(hear), "mininterval": 0, "bar_format": "epoch {n_fmt} of {total_fmt}"}
    model = umap.UMAP(
        n_components=num_dimensions,
        n_neighbors=num_neighbors,
        min_dist=min_dist,
        precomputed_knn=(rows_Nk, distances_Nk, search),
        random_state=seed,
        n_jobs=1,
        tqdm_kwds=bar,
    )
    with warnings.catch_warnings():  # it would only use other indexes as it uses this one
        warnings.filterwarnings(
            "ignore", message=r"precomputed_knn\[2\] .* is not an NNDescent object", category=UserWarning
        )
        model.fit(vectors_ND)
    model.tqdm_kwds = {"disable": True}  # a listener is not for keeping
    return model


def import_umap() -> Any:
    """umap-learn, without its remark that the variant that needs Tensorflow is not there."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Tensorflow not installed", category=ImportWarning)
        import umap
    return umap
