import numpy as np
import pytest

from ctxemb.analysis import neighbours
from ctxemb.analysis.neighbours import leave_one_out_senses, nearest_partner_ranks, three_cos_add


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(neighbours, "CELLS", 64)


def test_a_use_is_never_its_own_neighbour():
    vectors, senses = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]), np.array(["a", "b", "c"])
    assert leave_one_out_senses(vectors, senses).tolist() == ["b", "a", "b"]


def test_leave_one_out_agrees_with_a_loop():
    rng = np.random.default_rng(0)
    vectors, senses = rng.normal(size=(40, 5)), rng.choice(["a", "b", "c"], size=40)
    expected = [
        senses[max((other for other in range(40) if other != use), key=lambda o: cosine(vectors[use], vectors[o]))]
        for use in range(40)
    ]
    assert leave_one_out_senses(vectors, senses).tolist() == expected
    assert leave_one_out_senses(vectors * rng.uniform(1, 9, size=(40, 1)), senses).tolist() == expected


def test_one_use_has_no_other():
    with pytest.raises(ValueError, match="1 uses: a nearest other use needs at least two"):
        leave_one_out_senses(np.ones((1, 2)), np.array(["a"]))


def test_ranks_of_a_worked_example():
    angles = np.radians([0, 10, 25, 90])  # neighbours of word 0: 1, 2, 3; of word 3: 2, 1, 0
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    words, ranks = nearest_partner_ranks(vectors, np.array([(3, 0), (0, 3), (3, 1), (0, 2)]))
    assert (words.tolist(), ranks.tolist()) == ([0, 3], [2, 2])


def test_ranks_agree_with_sorting():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(30, 6))
    pairs = np.array([pair for pair in rng.integers(30, size=(60, 2)) if pair[0] != pair[1]])
    words, ranks = nearest_partner_ranks(vectors, pairs)
    assert words.tolist() == sorted(set(pairs[:, 0].tolist()))
    for word, rank in zip(words, ranks, strict=True):
        others = sorted(set(range(30)) - {word}, key=lambda other: -cosine(vectors[word], vectors[other]))
        assert rank == 1 + min(others.index(partner) for partner in pairs[pairs[:, 0] == word, 1])


def test_a_word_without_a_direction_has_no_near_partner():
    vectors = np.random.default_rng(0).normal(size=(8, 4))
    vectors[0] = 0
    assert nearest_partner_ranks(vectors, np.array([(0, 5)]))[1].tolist() == [7]


def test_no_pair_and_no_question_give_nothing():
    nothing = np.zeros((0, 2), dtype=np.int64)
    assert [len(part) for part in nearest_partner_ranks(np.eye(3), nothing)] == [0, 0]
    assert len(three_cos_add(np.eye(3), np.zeros((0, 3), dtype=np.int64))) == 0


def test_an_analogy_of_a_worked_example():
    # man, woman, king, queen, apple: queen = king - man + woman up to length
    vectors = np.array([[1.0, 0, 0], [0, 1, 0], [1, 0, 1], [0, 2, 2], [0.3, 0, 1]])
    assert three_cos_add(vectors, np.array([(0, 1, 2), (1, 0, 3)])).tolist() == [3, 2]


def test_analogies_agree_with_a_loop():
    rng = np.random.default_rng(0)
    vectors, questions = rng.normal(size=(25, 7)), np.array([rng.permutation(25)[:3] for _ in range(40)])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = []
    for a, b, c in questions:
        others = [word for word in range(25) if word not in (a, b, c)]
        expected.append(max(others, key=lambda word: float(unit[word] @ (unit[b] - unit[a] + unit[c]))))
    assert three_cos_add(vectors, questions).tolist() == expected
