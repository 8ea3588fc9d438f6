"""How well vectors separate senses: same-sense against cross-sense pairs, and nearest-neighbour recall.

N occurrences, D numbers per vector.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ctxemb.analysis.similarity import unit_vectors


@dataclass(frozen=True)
class SensePairs:
    """Pairs of uses of one word, or pooled over several words.

    Attributes:
        same_mean: mean cosine of pairs with the same sense; NaN without such a pair.
        cross_mean: mean cosine of pairs with different senses; NaN without such a pair.
        auc: probability that a same-sense pair is closer than a cross-sense pair (0.5 = chance); NaN if
            one of the two kinds is missing.
    """

    same_mean: float
    cross_mean: float
    auc: float
    num_same: int
    num_cross: int

    @property
    def gap(self) -> float:
        """Same-sense mean minus cross-sense mean."""
        return self.same_mean - self.cross_mean


def labelled_pairs(cosines_NN: np.ndarray, senses_N: list[str | None]) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of the pairs whose two senses are known, and whether they are the same: two (P,) arrays.

    Pairs without a cosine (NaN) are left out.
    """
    first, second = np.triu_indices(len(senses_N), k=1)
    known = np.array([sense is not None for sense in senses_N], dtype=bool)
    senses = np.array([sense or "" for sense in senses_N])
    cosines = cosines_NN[first, second]
    kept = known[first] & known[second] & ~np.isnan(cosines)
    return cosines[kept], (senses[first] == senses[second])[kept]


def sense_pairs(cosines_P: np.ndarray, is_same_P: np.ndarray) -> SensePairs:
    """Summarise pairs; see `labelled_pairs`, whose results may be concatenated over words."""
    same, cross = cosines_P[is_same_P], cosines_P[~is_same_P]
    return SensePairs(
        same_mean=float(same.mean()) if len(same) else np.nan,
        cross_mean=float(cross.mean()) if len(cross) else np.nan,
        # equal cosines that differ by rounding are equal: layer 0 has to come out at exactly 0.5
        auc=_auc(cosines_P.round(6), is_same_P) if len(same) and len(cross) else np.nan,
        num_same=len(same),
        num_cross=len(cross),
    )


def _auc(scores_P: np.ndarray, is_positive_P: np.ndarray) -> float:
    """Area under the ROC curve from ranks (Mann-Whitney); scikit-learn's would cost every start a second of imports."""
    ranks_P = pd.Series(scores_P).rank().to_numpy()
    num_positive = int(is_positive_P.sum())
    num_negative = len(scores_P) - num_positive
    ranks_of_positives = ranks_P[is_positive_P].sum() - num_positive * (num_positive + 1) / 2
    return float(ranks_of_positives / (num_positive * num_negative))


def nearest_neighbour_senses(index_ND: np.ndarray, index_senses_N: np.ndarray, query_MD: np.ndarray) -> np.ndarray:
    """The sense of each query's nearest neighbour by cosine, (M,); of several equally near, the first."""
    index_ND, query_MD = (np.nan_to_num(unit_vectors(vectors)) for vectors in (index_ND, query_MD))
    # equal cosines that differ by rounding are equal: at layer 0 they all are, and the first has to be taken
    return index_senses_N[np.argmax((query_MD @ index_ND.T).round(6), axis=1)]


def macro_recall(true_M: np.ndarray, predicted_M: np.ndarray) -> float:
    """Mean over senses of the share of their uses that were recognised, 0 to 1; a rare sense counts as much."""
    return float(np.mean([(predicted_M[true_M == sense] == sense).mean() for sense in np.unique(true_M)]))
