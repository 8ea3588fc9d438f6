import numpy as np
import pytest
from sklearn.metrics import silhouette_samples
from sklearn.metrics.pairwise import cosine_distances

from ctxemb.analysis.separation import cluster, separation, silhouettes


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def at_angles(*degrees: float) -> np.ndarray:
    radians = np.radians(degrees)
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def test_silhouettes_of_a_worked_example():
    # two uses at 0 degrees, two at 90: 0 within a sense, 1 to the other; moved to 60, one is 0.5 from the two
    assert silhouettes(at_angles(0, 0, 90, 90), np.array(list("aabb"))).tolist() == pytest.approx([1, 1, 1, 1])
    within, between = 1 - np.cos(np.radians(30)), 0.5
    found = silhouettes(at_angles(0, 0, 60, 90), np.array(list("aabb")))
    assert found[2] == pytest.approx((between - within) / between)
    assert silhouettes(at_angles(0, 0, 90), np.array(list("aab")))[2] == 0, "a single one has no sense to be near to"


@pytest.mark.parametrize("num_labels", [2, 3, 20])
def test_silhouettes_agree_with_scikit_learn(num_labels):
    rng = np.random.default_rng(0)
    unit_nD, labels = unit(rng.normal(size=(50, 6))), rng.integers(num_labels, size=50)
    unit_nD[7] = 0
    unit_nD[9:11] = unit_nD[8]
    distances = cosine_distances(unit_nD)
    np.fill_diagonal(distances, 0)
    assert silhouettes(unit_nD, labels) == pytest.approx(silhouette_samples(distances, labels, metric="precomputed"))


def test_separated_senses_are_well_above_chance_and_mixed_ones_at_it():
    rng = np.random.default_rng(0)
    senses = ["money", "river"] * 40
    apart = np.where(np.arange(80)[:, None] % 2, 3.0, -3.0) * np.eye(8)[0] + rng.normal(size=(80, 8))
    mixed = rng.normal(size=(80, 8))
    found = separation(np.concatenate([apart, mixed]), ["bank"] * 80 + ["apple"] * 80, senses * 2)
    bank, apple = found.words
    assert (bank.word, bank.num_uses, bank.num_senses, bank.note) == ("bank", 80, 2, "")
    assert bank.accuracy > 0.95
    assert bank.silhouette > 0.3
    assert abs(apple.silhouette - apple.silhouette_chance) < 0.03
    assert abs(apple.accuracy - apple.accuracy_chance) < 0.2
    assert bank.accuracy_chance == apple.accuracy_chance == 39 / 79
    assert bank.most_frequent_share == 0.5
    assert abs(bank.silhouette_chance) < 0.02
    assert found.total.num_uses == 160
    assert found.total.silhouette == pytest.approx((bank.silhouette + apple.silhouette) / 2)
    assert found == separation(np.concatenate([apart, mixed]), ["bank"] * 80 + ["apple"] * 80, senses * 2)


def test_chance_of_accuracy_is_the_mean_over_permutations():
    rng = np.random.default_rng(0)
    vectors, senses = rng.normal(size=(30, 4)), np.array(["a"] * 18 + ["b"] * 12)
    found = separation(vectors, ["w"] * 30, senses.tolist()).words[0]
    dealt = [separation(vectors, ["w"] * 30, rng.permutation(senses).tolist()).words[0].accuracy for _ in range(200)]
    assert np.mean(dealt) == pytest.approx(found.accuracy_chance, abs=0.02)
    assert found.most_frequent_share == 18 / 30


def test_what_is_undefined_says_why():
    words = ["one"] * 3 + ["none"] * 2 + ["single"] * 2 + ["half"] * 3 + ["good"] * 6
    senses = ["x"] * 3 + [None, ""] + ["x", "y"] + ["x", "x", "y"] + ["x", "x", "y", "y", "z", None]
    vectors = np.random.default_rng(0).normal(size=(len(words), 5))
    vectors[0] = 0
    found = separation(vectors, words, senses)
    assert {row.word: row.note for row in found.words} == {
        "one": "Undefined: all uses have one sense, 'x'.",
        "none": "Undefined: no use has a sense.",
        "single": "Undefined: no sense has two uses; single ones: x, y.",
        "half": "Undefined: only one sense has two uses; single ones: y.",
        "good": "Passed over: 1 without a sense; the only use of z.",
    }
    assert [row.is_defined for row in found.words] == [False] * 4 + [True]
    good = found.words[-1]
    assert (good.num_uses, good.num_senses, good.most_frequent_share, good.accuracy_chance) == (4, 2, 0.5, 1 / 3)
    assert found.total.note == "4 words are not counted: each needs two senses with two uses."
    assert (found.total.silhouette, found.total.num_uses) == (good.silhouette, 4)
    nothing = separation(vectors[:3], words[:3], senses[:3]).total
    assert (nothing.num_uses, nothing.is_defined) == (0, False)


def test_lengths_must_agree():
    with pytest.raises(ValueError, match="2 vectors, 1 words and 2 senses"):
        separation(np.eye(2), ["a"], ["x", "y"])


@pytest.mark.parametrize("num_points", [90, 5_000])
def test_clusters_are_found_their_number_too_and_the_largest_comes_first(num_points):
    rng = np.random.default_rng(0)
    blob_N = rng.permutation(
        np.repeat([0, 1, 2, 3], [num_points // 2, num_points // 6, num_points // 6, num_points // 6])
    )
    vectors = 3 * np.eye(6)[blob_N] + 0.2 * rng.normal(size=(len(blob_N), 6))
    labels = cluster(vectors)
    assert len(set(zip(blob_N, labels, strict=True))) == 4
    assert set(labels[blob_N == 0]) == {0}
    assert (cluster(vectors * rng.uniform(1, 5, size=(len(vectors), 1))) == labels).all(), "length does not matter"
    assert len(set(cluster(vectors, num_clusters=2))) == 2


def test_clusters_of_few_vectors():
    same, two = np.ones((4, 3)), np.array([[1.0, 0], [2, 0], [0, 1]])
    assert cluster(same).tolist() == [0] * 4
    assert cluster(same, num_clusters=3).tolist() == [0] * 4
    assert cluster(two).tolist() == cluster(two, num_clusters=5).tolist() == [0, 0, 1]
    assert cluster(two[:1]).tolist() == [0]
    with pytest.raises(ValueError, match="there are no vectors"):
        cluster(np.zeros((0, 3)))
    with pytest.raises(ValueError, match="0 clusters were asked for"):
        cluster(two, num_clusters=0)
