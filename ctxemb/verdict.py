"""A comparison in plain words: what the numbers say, and no more than they say."""

import numpy as np

from ctxemb.analysis.senses import SensePairs
from ctxemb.comparison import Comparison

SAME_WITHIN = 0.005  # a difference that two decimals do not show
FEW_PAIRS = 10
AUC_MARGIN = 0.03


def verdict(comparison: Comparison) -> str:
    """Whether the vectors tell the senses apart, how well, and against what."""
    pairs, word = comparison.pairs, comparison.word
    if len(comparison.uses) < 2:
        return "A cosine needs two uses: add another sentence."
    if np.isnan(comparison.mean_cosine):
        return "Nothing is left of these vectors after centring, so there is no angle to measure."
    if np.nanmin(comparison.cosines_NN) > 1 - 1e-4:
        return f"Every use of “{word}” has the same vector here, whatever its sentence says: a static embedding."
    if np.isnan(pairs.auc):
        return (
            "Give at least three sentences a sense, two of them the same, to see whether the vectors tell senses apart."
        )
    sentences = [_distance(pairs, word), _chance(pairs)]
    if comparison.bag_pairs is not None:
        sentences.append(_against_bag(pairs.auc, comparison.bag_pairs.auc))
    if min(pairs.num_same, pairs.num_cross) < FEW_PAIRS:
        sentences.append("So few pairs are an anecdote: add sentences.")
    return " ".join(sentences)


def nearest_sense(comparison: Comparison, row: int) -> str:
    """Which sense, or which use, one unlabelled use is closest to."""
    cosines_N = np.delete(comparison.cosines_NN[row], row)
    senses = [use.sentence.sense for i, use in enumerate(comparison.uses) if i != row]
    means = {
        sense: float(np.nanmean(cosines))
        for sense in dict.fromkeys(senses)
        if sense and not np.isnan(cosines := cosines_N[[s == sense for s in senses]]).all()
    }
    if not means:
        return (
            f"Its mean cosine with the others is {np.nanmean(cosines_N):.2f}." if not np.isnan(cosines_N).all() else ""
        )
    (first, highest), *others = sorted(means.items(), key=lambda item: -item[1])
    if not others:
        return f"Its mean cosine with “{first}” is {highest:.2f}."
    rest = ", ".join(f"{mean:.2f} with “{sense}”" for sense, mean in others)
    if round(highest, 2) == round(others[0][1], 2):
        return f"It is as close to “{first}” as to “{others[0][0]}”: mean cosine {highest:.2f}, {rest}."
    return f"It is closest to “{first}”: mean cosine {highest:.2f}, against {rest}."


def _distance(pairs: SensePairs, word: str) -> str:
    if abs(pairs.gap) < SAME_WITHIN:
        return f"Same-sense uses of “{word}” are on average no closer than cross-sense uses."
    closer = "closer" if pairs.gap > 0 else "farther apart"
    return f"Same-sense uses of “{word}” are on average {abs(pairs.gap):.2f} {closer} than cross-sense uses."


def _chance(pairs: SensePairs) -> str:
    strengths = (
        (0.9, "clearly"),
        (0.75, "fairly well"),
        (0.6, "somewhat"),
        (0.55, "barely"),
        (0.45, "no better than chance"),
    )
    strength = next((words for least, words in strengths if pairs.auc >= least), "the wrong way round")
    return f"The vectors tell the senses apart {strength} (AUC {pairs.auc:.2f}; chance is 0.50)."


def _against_bag(auc: float, bag_auc: float) -> str:
    if abs(auc - bag_auc) <= AUC_MARGIN:
        return f"A bag of the words around it does as well (AUC {bag_auc:.2f})."
    return f"A bag of the words around it separates them {'better' if bag_auc > auc else 'worse'} (AUC {bag_auc:.2f})."
