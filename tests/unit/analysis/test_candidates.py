import numpy as np
import pytest

from ctxemb.analysis.candidates import CandidateConfig, candidates, mutual_neighbours
from ctxemb.analysis.similarity import unit_vectors

ANGLES = {"car": 0, "auto": 10, "sun": 90, "star": 115, "cup": 200}


def at_angles(degrees) -> np.ndarray:
    radians = np.deg2rad(list(degrees))
    return np.stack([np.cos(radians), np.sin(radians)], axis=1)


def test_a_worked_example():
    counts = np.array([10, 20, 30, 40, 50])
    config = CandidateConfig(num_neighbours=1, min_cosine=0.5, is_centred=False)
    first, second = candidates(at_angles(ANGLES.values()), list(ANGLES), counts, config)
    assert (first.a, first.b, first.count_a, first.count_b) == ("car", "auto", 10, 20)
    assert first.cosine == pytest.approx(np.cos(np.deg2rad(10)))
    assert (second.a, second.b) == ("sun", "star")
    assert second.cosine == pytest.approx(np.cos(np.deg2rad(25)))
    assert first.cluster != second.cluster


def test_neighbours_are_mutual_as_in_a_double_loop():
    unit = unit_vectors(np.random.default_rng(0).normal(size=(40, 6)))
    cosines = unit @ unit.T - 2 * np.eye(40)
    nearest = [set(np.argsort(-row)[:3].tolist()) for row in cosines]
    expected = [[i, j] for i in range(40) for j in range(i + 1, 40) if j in nearest[i] and i in nearest[j]]
    assert mutual_neighbours(unit, 3).tolist() == expected


def test_a_chain_of_neighbours_is_cut():
    # Steps of 40 degrees: each link passes 0.7, the two ends are 120 degrees apart.
    config = CandidateConfig(num_neighbours=2, min_cosine=0.7, is_centred=False)
    found = candidates(at_angles([0, 40, 80, 120]), ["a", "b", "c", "d"], np.full(4, 9), config)
    assert {(pair.a, pair.b) for pair in found} == {("a", "b"), ("c", "d")}


def test_planted_synonyms_are_found_and_what_all_share_is_not():
    rng = np.random.default_rng(1)
    topics = np.repeat(rng.normal(size=(30, 50)), 2, axis=0)
    vectors = 10 + topics + 0.2 * rng.normal(size=topics.shape)
    words = [f"w{i}" for i in range(60)]
    found = candidates(vectors, words, np.full(60, 9))
    assert {(pair.a, pair.b) for pair in found} == {(f"w{i}", f"w{i + 1}") for i in range(0, 60, 2)}
    shuffled = rng.permuted(vectors, axis=0)
    assert candidates(shuffled, words, np.full(60, 9)) == []
    assert candidates(shuffled, words, np.full(60, 9), CandidateConfig(is_centred=False))


def test_rare_words_and_words_without_a_vector_are_passed_over():
    vectors = at_angles([0, 1, 2, 3])
    vectors[1], vectors[2] = 0, np.nan
    config = CandidateConfig(is_centred=False)
    found = candidates(vectors, ["a", "b", "c", "d"], np.array([5, 5, 5, 5]), config)
    assert [(pair.a, pair.b) for pair in found] == [("a", "d")]
    with pytest.raises(ValueError, match="1 of 4 words have a vector and were seen 5 times"):
        candidates(vectors, ["a", "b", "c", "d"], np.array([5, 5, 5, 4]), config)


def test_bad_input_is_explained():
    vectors = at_angles([0, 1, 2])
    with pytest.raises(ValueError, match="3 vectors, 2 words and 3 counts"):
        candidates(vectors, ["a", "b"], np.full(3, 9))
    with pytest.raises(ValueError, match="'a' is given twice"):
        candidates(vectors, ["a", "b", "a"], np.full(3, 9))
    config = CandidateConfig(is_centred=False, max_component_words=2)
    with pytest.raises(ValueError, match=r"3 words hang together at a cosine of 0\.6; raise min_cosine"):
        candidates(vectors, ["a", "b", "c"], np.full(3, 9), config)
