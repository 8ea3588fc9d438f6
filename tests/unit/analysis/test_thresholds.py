import numpy as np
import pytest

from ctxemb.analysis.thresholds import best_threshold, bootstrap_interval


def num_right(scores: np.ndarray, is_yes: np.ndarray, threshold: float) -> int:
    return int(((scores >= threshold) == is_yes).sum())


def test_the_threshold_of_a_worked_example():
    scores, is_yes = np.array([0.9, 0.2, 0.6, 0.4, 0.3]), np.array([True, False, True, False, True])
    assert best_threshold(scores, is_yes) == pytest.approx(0.25)  # 4 of 5 right; so would 0.5 be, but it is higher


@pytest.mark.parametrize(("is_yes", "threshold"), [([True, True], -np.inf), ([False, False], np.inf)])
def test_one_answer_for_all(is_yes, threshold):
    assert best_threshold(np.array([0.1, 0.2]), np.array(is_yes)) == threshold


def test_equal_scores_are_never_told_apart():
    scores, is_yes = np.array([1.0, 1.0, 1.0, 0.5]), np.array([False, True, True, False])
    assert best_threshold(scores, is_yes) == 0.75


def test_no_other_threshold_is_better():
    rng = np.random.default_rng(0)
    for _ in range(20):
        scores, is_yes = rng.normal(size=30).round(1), rng.random(30) < 0.4
        tried = [num_right(scores, is_yes, t) for t in [-9, *np.unique(scores) + 0.05]]
        assert num_right(scores, is_yes, best_threshold(scores, is_yes)) == max(tried)


def test_unknown_scores_are_left_out():
    scores, is_yes = np.array([np.nan, 0.8, np.nan, 0.2]), np.array([False, True, False, False])
    assert best_threshold(scores, is_yes) == 0.5
    with pytest.raises(ValueError, match="none of the scores is known"):
        best_threshold(scores[[0, 2]], is_yes[[0, 2]])


def test_the_interval_is_that_of_the_normal_approximation():
    values = (np.arange(400) % 4 == 0).astype(float)  # mean 1/4
    low, high = bootstrap_interval(values, seed=1)
    half = 1.96 * np.sqrt(0.25 * 0.75 / 400)
    assert (low, high) == (pytest.approx(0.25 - half, abs=0.006), pytest.approx(0.25 + half, abs=0.006))
    assert bootstrap_interval(values, seed=1) == (low, high)
    narrow = bootstrap_interval(values, confidence=0.5, seed=1)
    assert low < narrow[0] < 0.25 < narrow[1] < high


def test_equal_values_leave_no_doubt():
    assert bootstrap_interval(np.ones(10)) == (1, 1)
