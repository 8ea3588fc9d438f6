"""Yes or no from a number: the best threshold, and how sure the resulting accuracy is.

N pairs or answers.
"""

import numpy as np


def best_threshold(scores_N: np.ndarray, is_yes_N: np.ndarray) -> float:
    """The t for which "yes where score >= t" is right most often; the lowest of several equally good.

    It lies halfway between two scores, or is an infinity where always yes or always no is best. NaN scores are
    left out.

    Args:
        scores_N: (N,).
        is_yes_N: (N,) bool.

    Raises:
        ValueError: if every score is NaN.
    """
    known = ~np.isnan(scores_N)
    if not known.any():
        raise ValueError("no threshold can be chosen: none of the scores is known")
    order = np.argsort(scores_N[known], kind="stable")
    scores, is_yes = scores_N[known][order], is_yes_N[known][order]
    # cut i calls the first i scores no, the others yes
    num_right = np.append(0, np.cumsum(~is_yes)) + is_yes.sum() - np.append(0, np.cumsum(is_yes))
    cuts = np.concatenate([[-np.inf], (scores[:-1] + scores[1:]) / 2, [np.inf]])
    possible = np.concatenate([[True], scores[:-1] < scores[1:], [True]])
    return float(cuts[np.where(possible, num_right, -1).argmax()])


def bootstrap_interval(
    values_N: np.ndarray, confidence: float = 0.95, num_resamples: int = 2_000, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of the mean of `values_N`, drawn again with replacement.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, section 13.3.
    """
    rng = np.random.default_rng(seed)
    means = [values_N[rng.integers(len(values_N), size=len(values_N))].mean() for _ in range(num_resamples)]
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
