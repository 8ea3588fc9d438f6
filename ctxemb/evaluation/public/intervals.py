"""How sure a score is: 95 % percentile intervals of the bootstrap, seeded.

Shares of right answers are drawn from the exact law of their resamples (binomial, multinomial), which is the ordinary
bootstrap without its loop. Thresholds, indices and vectors are taken as given.

Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 13.3.

N items, S sequences, R resamples.
"""

from collections.abc import Callable

import numpy as np

CONFIDENCE, NUM_RESAMPLES, SEED = 0.95, 2_000, 0
AT_ONCE = 50
TAILS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
Interval = tuple[float, float]
UNKNOWN: Interval = (np.nan, np.nan)


def share_interval(is_right_N: np.ndarray) -> Interval:
    """Of the share of right answers; NaN without an answer."""
    if not len(is_right_N):
        return UNKNOWN
    rng = np.random.default_rng(SEED)
    return _interval(rng.binomial(len(is_right_N), is_right_N.mean(), size=NUM_RESAMPLES) / len(is_right_N))


def mean_of_groups_interval(is_right_N: np.ndarray, groups_N: np.ndarray) -> Interval:
    """Of the mean over groups of their shares of right answers; answers are drawn within each group."""
    rng = np.random.default_rng(SEED)
    shares = [is_right_N[groups_N == group] for group in np.unique(groups_N)]
    means = [rng.binomial(len(share), share.mean(), size=NUM_RESAMPLES) / len(share) for share in shares]
    return _interval(np.mean(means, axis=0)) if means else UNKNOWN


def macro_recall_interval(is_right_N: np.ndarray, senses_N: np.ndarray, words_N: np.ndarray) -> Interval:
    """Of the mean over words of the mean over their senses' recall; uses are drawn within each word.

    A sense that a resample does not draw is left out of its mean.
    """
    rng = np.random.default_rng(SEED)
    of_words_R = []
    for word in np.unique(words_N):
        of_word_N = words_N == word
        _, sense_N = np.unique(senses_N[of_word_N], return_inverse=True)
        counts = np.bincount(2 * sense_N + is_right_N[of_word_N], minlength=2 * (sense_N.max() + 1))
        drawn = rng.multinomial(counts.sum(), counts / counts.sum(), size=NUM_RESAMPLES)
        wrong, right = np.moveaxis(drawn.reshape(NUM_RESAMPLES, -1, 2), -1, 0)
        recall = np.divide(right, right + wrong, out=np.full(right.shape, np.nan), where=right + wrong > 0)
        of_words_R.append(np.nanmean(recall, axis=1))
    return _interval(np.mean(of_words_R, axis=0)) if of_words_R else UNKNOWN


def spearman_interval(scores_N: np.ndarray, ratings_N: np.ndarray) -> Interval:
    """Of Spearman's rank correlation; pairs are drawn. NaN with fewer than three pairs, or if all are alike."""
    from scipy.stats import rankdata

    def spearman(scores_RN: np.ndarray, ratings_RN: np.ndarray) -> np.ndarray:
        first, second = (rankdata(values_RN, axis=1) for values_RN in (scores_RN, ratings_RN))
        first, second = (ranks_RN - ranks_RN.mean(axis=1, keepdims=True) for ranks_RN in (first, second))
        scale_R = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
        return np.divide((first * second).sum(axis=1), scale_R, out=np.full(len(scale_R), np.nan), where=scale_R > 0)

    return _resampled(spearman, scores_N, ratings_N) if len(scores_N) > 2 else UNKNOWN


def perplexity_interval(nats_S: np.ndarray, num_predictions_S: np.ndarray) -> Interval:
    """Of the perplexity of a text; its sequences are drawn."""

    def perplexity(nats_RS: np.ndarray, num_predictions_RS: np.ndarray) -> np.ndarray:
        return np.exp(nats_RS.sum(axis=1) / num_predictions_RS.sum(axis=1))

    return _resampled(perplexity, nats_S, num_predictions_S) if len(nats_S) > 1 else UNKNOWN


def _resampled(statistic: Callable[..., np.ndarray], *samples: np.ndarray) -> Interval:
    """Of a statistic of paired samples that takes many resamples at once, (R, N) each."""
    rng, num_items = np.random.default_rng(SEED), len(samples[0])
    drawn = (rng.integers(num_items, size=(AT_ONCE, num_items)) for _ in range(NUM_RESAMPLES // AT_ONCE))
    return _interval(np.concatenate([statistic(*(sample[rows_RN] for sample in samples)) for rows_RN in drawn]))


def _interval(values_R: np.ndarray) -> Interval:
    values_R = values_R[~np.isnan(values_R)]
    if not len(values_R):
        return UNKNOWN
    low, high = np.quantile(values_R, TAILS)
    return float(low), float(high)
