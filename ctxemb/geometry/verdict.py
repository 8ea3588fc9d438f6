"""The shape of a space in plain words: what the numbers say, and no more than they say."""

from collections.abc import Sequence

import numpy as np

from ctxemb.geometry.corrected import Corrected
from ctxemb.geometry.shape import Shape

CONES = (
    (0.5, "all vectors lie in a narrow cone"),
    (0.25, "the vectors lie in a cone"),
    (0.08, "the vectors lie in a wide cone"),
    (-1.0, "no cone, they point in all directions"),
)
SPREADS = (
    (0.75, "spread almost evenly"),
    (0.4, "spread over many directions"),
    (0.15, "drawn out in some directions"),
    (0.0, "a few directions dominate"),
)
AUC_MARGIN = 0.01


def shape_verdict(shape: Shape, k: int) -> str:
    """Whether the space is a cone, whether a ball, and by which numbers."""
    cone = next((words for least, words in CONES if shape.random_cosine >= least), "no word has a direction")
    spread = next(words for least, words in SPREADS if shape.spectrum.isoscore >= least)
    k = min(k, shape.spectrum.num_dimensions)
    directions = f"The {k} main directions hold" if k > 1 else "The main direction holds"
    return (
        f"Random words have a mean cosine of {shape.random_cosine:.2f}: {cone}. {directions} "
        f"{shape.spectrum.share(k):.0%} of the energy, against {k / shape.spectrum.num_dimensions:.0%} in a perfect "
        f"ball (IsoScore {shape.spectrum.isoscore:.2f}): {spread}."
    )


def correction_verdict(before: Corrected, after: Sequence[Corrected]) -> str:
    """Which correction makes the space roundest, and whether the senses gain by any."""
    roundest = max(after, key=lambda corrected: corrected.shape.spectrum.isoscore)
    shape = (
        f"Roundest is the space {roundest.name}: IsoScore {before.shape.spectrum.isoscore:.2f} → "
        f"{roundest.shape.spectrum.isoscore:.2f}."
    )
    aucs = [corrected.senses.pairs.auc for corrected in (before, *after)]
    if np.isnan(aucs).any():
        return f"{shape} Of the example words it knows too few uses to say what that does to their senses."
    if np.allclose(aucs, 0.5) and np.isclose(before.senses.pairs.same_mean, 1):
        return f"{shape} But every use of a word has the same vector here, and no correction tells equal vectors apart."
    best = max(after, key=lambda corrected: corrected.senses.pairs.auc)
    start = before.senses.pairs.auc
    if best.senses.pairs.auc - start <= AUC_MARGIN:
        told = f"No correction tells the senses clearly better apart than the vectors as read do (AUC {start:.2f})."
    else:
        told = f"The senses are told apart best {best.name}: AUC {start:.2f} → {best.senses.pairs.auc:.2f}."
    return f"{shape} {told} {_of_roundest(roundest, best, start)}".rstrip()


def _of_roundest(roundest: Corrected, best: Corrected, start: float) -> str:
    auc = roundest.senses.pairs.auc
    if auc < start - AUC_MARGIN:
        return f"The roundest tells them apart worse (AUC {auc:.2f}): a rounder space is not by itself a better one."
    if roundest is not best and auc <= start + AUC_MARGIN:
        return f"The roundest does about as well as no correction (AUC {auc:.2f})."
    return ""
