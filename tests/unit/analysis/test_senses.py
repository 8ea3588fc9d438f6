import itertools

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from ctxemb.analysis.senses import labelled_pairs, macro_recall, nearest_neighbour_senses, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix

# cosines of four uses: money, money, river, river
COSINES = np.array([[1.0, 0.8, 0.3, 0.5], [0.8, 1.0, 0.1, 0.7], [0.3, 0.1, 1.0, 0.6], [0.5, 0.7, 0.6, 1.0]])
SENSES = ["money", "money", "river", "river"]


def test_a_worked_example():
    pairs = sense_pairs(*labelled_pairs(COSINES, SENSES))
    assert (pairs.num_same, pairs.num_cross) == (2, 4)
    assert pairs.same_mean == pytest.approx((0.8 + 0.6) / 2)
    assert pairs.cross_mean == pytest.approx((0.3 + 0.5 + 0.1 + 0.7) / 4)
    assert pairs.gap == pytest.approx(0.3)
    assert pairs.auc == pytest.approx(7 / 8)  # of 2 x 4 comparisons only .6 against .7 is lost


def test_auc_agrees_with_a_double_loop_and_with_scikit_learn():
    rng = np.random.default_rng(0)
    for num_pairs in (5, 60):
        is_same = rng.permutation(np.arange(num_pairs) % 3 == 0)
        cosines = rng.normal(size=num_pairs).round(1) + 0.2 * is_same  # rounded, so that there are ties
        wins = [
            (same > cross) + 0.5 * (same == cross)
            for same, cross in itertools.product(cosines[is_same].round(6), cosines[~is_same].round(6))
        ]
        auc = sense_pairs(cosines, is_same).auc
        assert auc == pytest.approx(np.mean(wins))
        assert auc == pytest.approx(roc_auc_score(is_same, cosines.round(6)))


def test_auc_depends_on_the_order_alone():
    rng = np.random.default_rng(1)
    cosines, is_same = rng.uniform(-0.9, 0.9, size=40), np.arange(40) < 13
    auc = sense_pairs(cosines, is_same).auc
    assert sense_pairs(cosines**3, is_same).auc == pytest.approx(auc)
    assert sense_pairs(-cosines, is_same).auc == pytest.approx(1 - auc)


def test_uses_that_differ_by_rounding_alone_are_at_chance():
    rng = np.random.default_rng(0)
    uses = rng.normal(size=32) + rng.normal(scale=1e-5, size=(12, 32))
    cosines, is_same = labelled_pairs(cosine_matrix(uses), ["a", "b", "c"] * 4)
    assert len(set(cosines)) > 1
    pairs = sense_pairs(cosines, is_same)
    assert pairs.auc == 0.5
    assert pairs.gap == pytest.approx(0, abs=1e-6)


def test_uses_without_a_label_or_a_direction_form_no_pair():
    cosines, is_same = labelled_pairs(COSINES, ["money", "money", None, "river"])
    assert (cosines.tolist(), is_same.tolist()) == ([0.8, 0.5, 0.7], [True, False, False])
    undefined = COSINES.copy()
    undefined[1] = undefined[:, 1] = np.nan
    cosines, is_same = labelled_pairs(undefined, SENSES)
    assert (cosines.tolist(), is_same.tolist()) == ([0.3, 0.5, 0.6], [False, False, True])


@pytest.mark.parametrize(
    ("senses", "num_same", "num_cross"),
    [
        (["money"] * 4, 6, 0),
        (["a", "b", "c", "d"], 0, 6),
        ([None, None, None, "d"], 0, 0),
    ],
)
def test_what_cannot_be_said_is_nan(senses, num_same, num_cross):
    pairs = sense_pairs(*labelled_pairs(COSINES, senses))
    assert (pairs.num_same, pairs.num_cross) == (num_same, num_cross)
    assert np.isnan([pairs.same_mean, pairs.cross_mean]).tolist() == [num_same == 0, num_cross == 0]
    assert np.isnan([pairs.auc, pairs.gap]).all()


@pytest.mark.parametrize("num_uses", [0, 1])
def test_fewer_than_two_uses_have_no_pair(num_uses):
    cosines, is_same = labelled_pairs(np.ones((num_uses, num_uses)), ["money"] * num_uses)
    assert (len(cosines), len(is_same)) == (0, 0)


def test_senses_far_apart_are_found_and_shuffled_ones_are_not():
    rng = np.random.default_rng(0)
    centres = np.repeat(np.eye(2, 16), 30, axis=0)
    uses, senses = centres + rng.normal(scale=0.1, size=(60, 16)), np.repeat(["money", "river"], 30)
    shuffled = rng.permutation(senses)
    assert sense_pairs(*labelled_pairs(cosine_matrix(uses), shuffled.tolist())).auc == pytest.approx(0.5, abs=0.05)
    assert sense_pairs(*labelled_pairs(cosine_matrix(uses), senses.tolist())).auc > 0.99
    assert macro_recall(senses[::2], nearest_neighbour_senses(uses[1::2], senses[1::2], uses[::2])) > 0.99


def test_nearest_neighbours_agree_with_a_loop():
    rng = np.random.default_rng(0)
    index, queries, senses = rng.normal(size=(25, 6)), rng.normal(size=(40, 6)), rng.choice(["a", "b", "c"], size=25)
    expected = []
    for query in queries:
        cosines = [query @ entry / (np.linalg.norm(query) * np.linalg.norm(entry)) for entry in index]
        expected.append(senses[max(range(25), key=cosines.__getitem__)])
    assert nearest_neighbour_senses(index, senses, queries).tolist() == expected
    lengths = rng.uniform(0.1, 10, size=(25, 1))
    assert nearest_neighbour_senses(lengths * index, senses, 3 * queries).tolist() == expected


def test_a_vector_of_zeros_is_nobodys_nearest_neighbour():
    index = np.array([[0.0, 0.0], [1.0, 0.1]])
    found = nearest_neighbour_senses(index, np.array(["nothing", "right"]), np.array([[1.0, 0.0]]))
    assert found.tolist() == ["right"]


def test_macro_recall_of_a_worked_example():
    true, predicted = np.array(["a", "a", "a", "b"]), np.array(["a", "a", "b", "b"])
    assert macro_recall(true, predicted) == pytest.approx((2 / 3 + 1) / 2)
    assert macro_recall(true, np.array(["a"] * 4)) == 0.5  # always the frequent sense: 3 of 4 right, yet half


def test_macro_recall_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    true, predicted = rng.choice(list("abcd"), p=[0.7, 0.15, 0.1, 0.05], size=(2, 200))
    assert macro_recall(true, predicted) == pytest.approx(balanced_accuracy_score(true, predicted))
