import subprocess
import sys

import numpy as np
import pytest
from pydantic import ValidationError
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from ctxemb.analysis import projection as room
from ctxemb.analysis.layouts import fit_umap, import_umap, learning_rate
from ctxemb.analysis.neighbourhoods import nearest, trustworthiness
from ctxemb.analysis.projection import Method, ProjectionConfig, place, project, warm_up

METHODS: tuple[Method, ...] = ("pca", "t-sne", "umap")
WIDTH = 12


def blobs(num_points: int, num_blobs: int = 3, noise: float = 0.3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    blob_N = np.arange(num_points) % num_blobs
    return rng.normal(size=(num_blobs, WIDTH))[blob_N] + noise * rng.normal(size=(num_points, WIDTH)), blob_N


def config(method: Method, **settings) -> ProjectionConfig:
    return ProjectionConfig(method=method, **{"max_iter": 300} | settings)


def nearest_share(points: np.ndarray, blob_N: np.ndarray, others: np.ndarray, other_blob_M: np.ndarray) -> float:
    """How many of the others have a nearest point of their blob."""
    distances = np.linalg.norm(others[:, None] - points[None], axis=2)
    return float((blob_N[distances.argmin(axis=1)] == other_blob_M).mean())


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("num_dimensions", [2, 3])
def test_a_picture_keeps_blobs_and_comes_out_the_same_again(method, num_dimensions):
    vectors, blob_N = blobs(60)
    reports: list[tuple[float, str]] = []
    first = project(vectors, config(method, num_dimensions=num_dimensions), lambda *report: reports.append(report))
    again = project(vectors, config(method, num_dimensions=num_dimensions))
    assert first.points_NK.shape == (60, num_dimensions)
    assert first.points_NK.dtype == np.float32
    assert first.points_NK.tobytes() == again.points_NK.tobytes()
    assert nearest_share(first.points_NK[::2], blob_N[::2], first.points_NK[1::2], blob_N[1::2]) == 1
    assert first.trustworthiness > 0.85
    assert first.k == 10
    fractions = [fraction for fraction, _ in reports]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0
    assert fractions[-1] <= 1
    if method != "pca":
        assert len([stage for _, stage in reports if stage == "moving the points"]) >= 5
    assert "scikit-learn" in first.versions
    assert ("umap-learn" in first.versions) == (method == "umap")


def test_umap_depends_on_its_seed_and_t_sne_only_from_random_starts():
    vectors, _ = blobs(40)

    def differ(**settings) -> bool:
        one, other = (project(vectors, ProjectionConfig(max_iter=250, seed=seed, **settings)) for seed in (0, 1))
        return not np.allclose(one.points_NK, other.points_NK, atol=1e-3)

    assert differ(method="umap")
    assert differ(method="t-sne", init="random")
    assert not differ(method="pca")


def test_some_dozens_of_points_do_not_fly_apart_in_three_dimensions():
    vectors, _ = blobs(60)
    usual = TSNE(3, init="pca", random_state=0, perplexity=59 / 3).fit_transform(vectors.astype(np.float32))
    ours = project(vectors, ProjectionConfig(num_dimensions=3, metric="euclidean"))
    assert ours.trustworthiness > 0.95 > trustworthiness(vectors, nearest(usual, 10)), "scikit-learn's learning rate"
    assert learning_rate(600) == 50
    assert learning_rate(4_800) == 100


def test_a_picture_does_not_depend_on_the_number_of_threads():
    vectors, _ = blobs(40)
    pictures = []
    for num_threads in (1, 2):
        with threadpool_limits(num_threads):
            pictures.append(project(vectors, config("t-sne")).points_NK.tobytes())
    assert pictures[0] == pictures[1]


def test_pca_of_a_worked_example_has_fixed_signs():
    # along (3, 4) / 5 twice as far as across it; the mean is (1, 1, 1)
    along, across = np.array([3.0, 4.0, 0.0]) / 5, np.array([-4.0, 3.0, 0.0]) / 5
    vectors = 1 + np.array([2 * along, -2 * along, across, -across])
    euclidean = config("pca", metric="euclidean")
    for sign in (1, -1):
        picture = project(1 + sign * (vectors - 1), euclidean)
        # of (3, 4) the 4 is positive, of (-4, 3) the 4
        assert picture.points_NK * sign == pytest.approx(np.array([[2, 0], [-2, 0], [0, -1], [0, 1]]), abs=1e-6)
        assert picture.variance_share == pytest.approx(1)
    assert place(picture, np.array([1 + 3 * along])) == pytest.approx(np.array([[3, 0]]), abs=1e-6)


def test_cosine_leaves_length_out():
    vectors, _ = blobs(30)
    longer = vectors * np.random.default_rng(0).uniform(1, 9, size=(30, 1))
    for method in ("pca", "t-sne"):
        assert project(vectors, config(method)).points_NK == pytest.approx(
            project(longer, config(method)).points_NK, abs=1e-2
        )
    assert not np.allclose(
        project(vectors, config("pca", metric="euclidean")).points_NK,
        project(longer, config("pca", metric="euclidean")).points_NK,
        atol=1e-2,
    )


@pytest.mark.parametrize("method", ["pca", "umap"])
def test_further_points_fall_among_their_own(method):
    vectors, blob_N = blobs(90)
    picture = project(vectors[:60], config(method))
    placed = place(picture, vectors[60:])
    assert placed.shape == (30, 2)
    assert nearest_share(picture.points_NK, blob_N[:60], placed, blob_N[60:]) == 1
    assert placed.tobytes() == place(picture, vectors[60:]).tobytes()
    with pytest.raises(ValueError, match="the vectors have 5 numbers, those of the picture 12"):
        place(picture, np.ones((1, 5)))
    with pytest.raises(ValueError, match="row 1 of 1 holds NaN"):
        place(picture, np.full((1, WIDTH), np.nan))


def test_our_search_gives_umap_the_graph_of_its_own():
    vectors = blobs(50)[0].astype(np.float32)
    own = import_umap().UMAP(n_neighbors=10, random_state=0, n_jobs=1).fit(vectors)
    ours = fit_umap(vectors, 2, 10, 0.1, 0, lambda _: None)
    assert ours.graph_.toarray() == pytest.approx(own.graph_.toarray(), abs=1e-4)


def test_t_sne_has_no_place_for_further_points():
    with pytest.raises(ValueError, match="choose UMAP or PCA, or draw the map again"):
        place(project(blobs(20)[0], config("t-sne")), np.ones((1, WIDTH)))


@pytest.mark.parametrize("num_points", [3, 4, 7, 8, 16])
def test_few_points_are_drawn_and_what_was_changed_is_said(num_points):
    vectors = blobs(num_points)[0]
    for method in METHODS:
        picture = project(vectors, config(method))
        assert np.isfinite(picture.points_NK).all()
        assert (picture.config.method == "pca") == (method == "pca" or num_points < room.MIN_POINTS_OF_LAYOUT)
        assert bool(picture.notes) == (method == "t-sne" or (method == "umap" and num_points < 16))
    if num_points == 16:
        picture = project(vectors, config("t-sne"))
        assert (picture.config.perplexity, picture.notes) == (
            5,
            ("Perplexity 5 instead of 30: at most a third of the others.",),
        )
        picture = project(vectors, config("umap", num_neighbors=40))
        assert (picture.config.num_neighbors, picture.notes) == (
            15,
            ("15 neighbours instead of 40: there are no more other points.",),
        )


def test_vectors_of_few_numbers_are_drawn_too():
    line = np.arange(20.0)[:, None]
    picture = project(line, config("umap", metric="euclidean", num_dimensions=3))
    assert picture.config.method == "pca"
    assert picture.notes == ("This is a PCA: UMAP has nothing to do for vectors of 1 numbers.",)
    assert np.ptp(picture.points_NK, axis=0).tolist() == [19, 0, 0]
    assert place(picture, np.array([[21.0]])).shape == (1, 3)


def test_many_points_are_reduced_first_and_it_is_said(monkeypatch):
    monkeypatch.setattr(room, "REDUCED_ABOVE_POINTS", 50)
    monkeypatch.setattr(room, "REDUCED_DIMENSIONS", 5)
    vectors, blob_N = blobs(60)
    picture = project(vectors, config("t-sne", perplexity=10))
    assert "t-SNE read the 5 main directions, which hold" in picture.notes[0]
    assert nearest_share(picture.points_NK[::2], blob_N[::2], picture.points_NK[1::2], blob_N[1::2]) == 1


@pytest.mark.parametrize("method", METHODS)
def test_zero_vectors_and_duplicates_are_drawn(method):
    vectors = blobs(30)[0]
    vectors[:2] = 0
    vectors[2:9] = vectors[10]
    picture = project(vectors, config(method))
    assert np.isfinite(picture.points_NK).all()
    assert picture.notes[0] == "2 vectors are zero: they have no direction, and the same distance from all others."


@pytest.mark.parametrize(
    ("vectors", "metric", "sentence"),
    [
        (np.eye(2), "cosine", "a map needs at least 3 vectors, and there are 2; add some"),
        (np.ones((5, 4)), "euclidean", "all 5 vectors are equal"),
        (np.arange(1, 6)[:, None] * np.ones((5, 4)), "cosine", "all 5 vectors point the same way"),
        (np.zeros((5, 4)), "cosine", "all 5 vectors point the same way"),
        (
            np.array([[0, 1], [1, np.nan], [2, 2], [np.inf, 0]]),
            "cosine",
            "row 2 of 4 holds NaN or an infinity, and 1 more",
        ),
        (np.zeros((4, 0)), "cosine", r"an array of shape \(4, 0\) holds no vectors"),
        (np.zeros(4), "cosine", "give one row of numbers a vector"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_a_sentence(vectors, metric, sentence):
    for method in METHODS:
        with pytest.raises(ValueError, match=sentence):
            project(vectors, config(method, metric=metric))


def test_settings_have_ranges():
    for settings in ({"perplexity": 1}, {"max_iter": 100}, {"num_dimensions": 4}, {"seed": -1}, {"method": "mds"}):
        with pytest.raises(ValidationError):
            ProjectionConfig(**settings)


def test_the_warm_up_has_parts():
    assert len(list(warm_up())) >= 2


def test_importing_the_room_imports_no_library():
    script = (
        "import sys, ctxemb.analysis.projection, ctxemb.analysis.stability, ctxemb.analysis.separation\n"
        "print({'sklearn', 'umap', 'numba', 'scipy'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", script], text=True).strip() == "set()"
