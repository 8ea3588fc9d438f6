import numpy as np
import pytest

from ctxemb.analysis.context_bag import SMOOTHING, ContextBag
from ctxemb.text import BOS, EOS, NUM_SPECIAL, PAD, UNK

THE, BANK, RIVER, LOAN = range(NUM_SPECIAL, NUM_SPECIAL + 4)


@pytest.fixture
def vectors() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(NUM_SPECIAL + 20, 5)).astype(np.float32)


@pytest.fixture
def counts() -> np.ndarray:
    """<unk> is frequent, as in any text; the most frequent words come first; the last word was never seen."""
    return np.array([0, 0, 0, 500, *(1_000 // np.arange(1, 20)), 0])


@pytest.fixture
def bag(vectors, counts) -> ContextBag:
    return ContextBag.build(vectors, counts)


def test_a_worked_example():
    """Two words, one three times as frequent, at 1 and 5 on a line: common mean 3.0027."""
    bag = ContextBag.build(np.array([[9.0]] * NUM_SPECIAL + [[1.0], [5.0]]), np.array([0, 0, 0, 0, 1, 3]))
    rare, frequent = 0.001 / 0.251, 0.001 / 0.751
    np.testing.assert_allclose(bag.weights_V, [0, 0, 0, 0, rare, frequent], rtol=1e-6)
    mean = (rare * 0.25 * 1 + frequent * 0.75 * 5) / (rare * 0.25 + frequent * 0.75)
    assert mean == pytest.approx(3.0027, abs=1e-4)
    ids = np.array([4, 5, 4])
    assert bag.vector(ids, 1) == pytest.approx(1 - mean)
    assert bag.vector(ids, 0) == pytest.approx((frequent * (5 - mean) + rare * (1 - mean)) / (frequent + rare))


def test_a_bag_agrees_with_a_loop(bag):
    ids = np.random.default_rng(1).integers(NUM_SPECIAL, NUM_SPECIAL + 20, size=12)
    for position in range(len(ids)):
        total, weight = np.zeros(5), 0.0
        for other, word in enumerate(ids):
            if other != position:
                total += bag.weights_V[word] * bag.vectors_VE[word]
                weight += bag.weights_V[word]
        np.testing.assert_allclose(bag.vector(ids, position), total / weight, rtol=1e-4, atol=1e-6)


def test_the_bag_of_average_text_is_zero(bag, counts):
    shares = counts / counts.sum()
    np.testing.assert_allclose((shares * bag.weights_V) @ bag.vectors_VE, 0, atol=1e-7)
    assert np.abs(shares @ bag.vectors_VE).max() > 0.01  # not the plain mean, in which frequent words count fully


def test_the_rarer_a_word_the_more_it_weighs(bag, counts):
    weights = bag.weights_V[NUM_SPECIAL:]
    assert (np.diff(weights) > 0).all()
    assert weights[-1] == 1
    assert weights[0] == pytest.approx(SMOOTHING / (SMOOTHING + counts[THE] / counts.sum()))


@pytest.mark.parametrize("silent", [PAD, BOS, EOS, UNK])
def test_unknown_words_and_special_ids_weigh_nothing(bag, silent):
    expected = bag.vector(np.array([THE, BANK, RIVER]), 1)
    np.testing.assert_allclose(bag.vector(np.array([silent, THE, BANK, silent, RIVER, silent]), 2), expected)


@pytest.mark.parametrize("ids", [[BANK], [UNK, BANK, UNK]])
def test_a_word_without_known_company_has_no_direction(bag, ids):
    np.testing.assert_array_equal(bag.vector(np.array(ids), ids.index(BANK)), np.zeros(5))


def test_neither_the_order_nor_the_word_itself_matters(bag):
    expected = bag.vector(np.array([THE, BANK, RIVER, LOAN]), 1)
    np.testing.assert_allclose(bag.vector(np.array([LOAN, THE, RIVER, UNK]), 3), expected, rtol=1e-5)
    assert np.abs(bag.vector(np.array([THE, BANK, RIVER, LOAN]), 2) - expected).max() > 0.01


def test_reading_a_bag_changes_no_weight(bag):
    before = bag.weights_V.copy()
    bag.vector(np.array([THE, BANK]), 1)
    np.testing.assert_array_equal(bag.weights_V, before)


def test_a_text_without_counts_is_weighed_evenly(vectors):
    bag = ContextBag.build(vectors, np.zeros(len(vectors), dtype=np.int64))
    assert bag.weights_V[NUM_SPECIAL:].tolist() == [1] * 20
    np.testing.assert_array_equal(bag.vectors_VE, vectors)
