import math

import numpy as np
import pytest
from scipy.stats import binom, bootstrap, norm

from ctxemb.evaluation.public.intervals import (
    macro_recall_interval,
    mean_of_groups_interval,
    perplexity_interval,
    share_interval,
    spearman_interval,
)
from ctxemb.evaluation.words import spearman


def answers(num_right: int, num_items: int) -> np.ndarray:
    return np.arange(num_items) < num_right


@pytest.mark.parametrize(("num_right", "num_items"), [(300, 500), (12, 20), (970, 1_000)])
def test_the_interval_of_a_share_is_that_of_the_binomial(num_right, num_items):
    low, high = share_interval(answers(num_right, num_items))
    expected = binom.ppf([0.025, 0.975], num_items, num_right / num_items) / num_items
    assert (low, high) == pytest.approx(expected, abs=1.5 / num_items + 0.002)


def test_a_share_agrees_with_scipys_bootstrap():
    is_right = answers(60, 100)
    found = bootstrap((is_right,), np.mean, n_resamples=4_000, method="percentile", rng=np.random.default_rng(1))
    assert share_interval(is_right) == pytest.approx(tuple(found.confidence_interval), abs=0.015)


def test_intervals_are_the_same_every_time_and_narrow_with_more_items():
    assert share_interval(answers(6, 10)) == share_interval(answers(6, 10))
    (low, high), (lower, higher) = share_interval(answers(600, 1_000)), share_interval(answers(6, 10))
    assert lower < low < 0.6 < high < higher


def test_the_mean_of_groups_draws_within_each():
    groups = np.repeat([0, 1], [100, 400])
    is_right = np.concatenate([answers(50, 100), answers(400, 400)])  # the second group never varies
    low, high = mean_of_groups_interval(is_right, groups)
    half = norm.ppf(0.975) * math.sqrt(0.25 / 100) / 2
    assert (low, high) == pytest.approx((0.75 - half, 0.75 + half), abs=0.01)


def test_macro_recall_agrees_with_a_loop_that_draws_within_each_word():
    rng = np.random.default_rng(0)
    words = np.repeat(["bank", "plant"], [60, 40])
    senses = np.where(rng.random(100) < 0.3, "a", "b")
    is_right = rng.random(100) < 0.7
    resamples = []
    for _ in range(2_000):
        recalls = []
        for word in ("bank", "plant"):
            rows = rng.choice(np.flatnonzero(words == word), size=(words == word).sum())
            recalls.append(np.mean([is_right[rows[senses[rows] == s]].mean() for s in np.unique(senses[rows])]))
        resamples.append(np.mean(recalls))
    expected = tuple(np.quantile(resamples, [0.025, 0.975]))
    assert macro_recall_interval(is_right, senses, words) == pytest.approx(expected, abs=0.012)


def test_a_sense_of_one_use_is_left_out_where_it_is_not_drawn():
    low, high = macro_recall_interval(np.array([True, True, True, False]), np.array(list("aaab")), np.array(["w"] * 4))
    assert (low, high) == (0.5, 1.0)  # without b, only a is averaged


def test_the_correlations_interval_holds_it_and_agrees_with_fishers():
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=400)
    scores = ratings + rng.normal(size=400)
    value, (low, high) = spearman(scores, ratings), spearman_interval(scores, ratings)
    half = norm.ppf(0.975) * math.sqrt((1 + value**2 / 2) / 397)  # Bonett & Wright 2000
    expected = np.tanh([np.arctanh(value) - half, np.arctanh(value) + half])
    assert low < value < high
    assert (low, high) == pytest.approx(tuple(expected), abs=0.02)


def test_ties_are_ranked_as_scipy_ranks_them():
    scores, ratings = np.array([1.0, 1, 2, 2, 3, 3, 4, 5]), np.array([1.0, 2, 2, 3, 3, 3, 5, 4])
    rng = np.random.default_rng(0)
    rows = rng.integers(8, size=(2_000, 8))
    values = [spearman(scores[row], ratings[row]) for row in rows]
    expected = np.nanquantile(values, [0.025, 0.975])
    assert spearman_interval(scores, ratings) == pytest.approx(tuple(expected), abs=0.05)


def test_a_perplexitys_interval_is_that_of_its_sequences():
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 30, size=500)
    nats = sizes * rng.normal(4.5, 0.5, size=500)
    low, high = perplexity_interval(nats, sizes)
    assert low < math.exp(nats.sum() / sizes.sum()) < high
    # delta method for a ratio of means
    ratio = nats.sum() / sizes.sum()
    error = np.std(nats - ratio * sizes) / math.sqrt(500) / sizes.mean()
    expected = np.exp([ratio - 1.96 * error, ratio + 1.96 * error])
    assert (low, high) == pytest.approx(tuple(expected), rel=0.01)


@pytest.mark.parametrize(
    "interval",
    [
        share_interval(np.zeros(0, bool)),
        mean_of_groups_interval(np.zeros(0, bool), np.zeros(0)),
        macro_recall_interval(np.zeros(0, bool), np.zeros(0), np.zeros(0)),
        spearman_interval(np.zeros(2), np.arange(2.0)),
        spearman_interval(np.zeros(9), np.arange(9.0)),
        perplexity_interval(np.ones(1), np.ones(1)),
    ],
)
def test_what_cannot_be_said_is_nan(interval):
    assert np.isnan(interval).all()
