"""Checks of the space that the vectors lie in.

N uses, P pairs, D numbers per vector.
"""

import numpy as np

from ctxemb.analysis.isotropy import spectrum
from ctxemb.analysis.senses import labelled_pairs, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.checkup.result import Cosines, Finding, not_applicable
from ctxemb.checkup.subject import Subject
from ctxemb.geometry import BINS

# shipped: 0.14 (contrastive) to 0.75 (BiLM); at 0.95 a cosine has no room left to say anything
MAX_RANDOM_COSINE, HIGH_RANDOM_COSINE = 0.95, 0.85
TOP = 10
# energy of the main directions above that of a ball, as a share of what is possible; shipped: below 0.6, a BiLM of a
# minute's training 0.97
MAX_EXCESS, HIGH_EXCESS = 0.995, 0.85
MIN_AUC = 0.55  # "no better than chance" in our verdicts; few hundred pairs a word scatter less
RANDOM, SAME, CROSS = "random words", "same sense", "cross senses"


def check_collapse(subject: Subject) -> Finding:
    """Whether random words have different vectors."""
    if subject.knows_too_little:
        return not_applicable(subject.knows_too_little)
    cosines_P = subject.random_cosines
    if not len(cosines_P):
        return not_applicable("The vectors are zero, so there is no angle between them.")
    mean = float(cosines_P.mean())
    shown, limit = f"{mean:.2f}", f"below {HIGH_RANDOM_COSINE}"
    picture = Cosines({RANDOM: _shares(cosines_P)})
    told = f"Random words have a mean cosine of {mean:.2f}"
    if mean >= HIGH_RANDOM_COSINE:
        found = f"{told}: {'all vectors are nearly the same' if mean >= MAX_RANDOM_COSINE else 'a narrow cone'}."
        advice = (
            "One direction has taken over: subtract the mean (centring) to see what is left; a contrastive training "
            "wants more negatives or a higher temperature."
        )
        verdict = "fail" if mean >= MAX_RANDOM_COSINE else "warn"
        return Finding(verdict, found, mean, shown, limit, advice, picture)
    return Finding("pass", f"{told}; the level from which to read any other.", mean, shown, limit, picture=picture)


def check_spectrum(subject: Subject) -> Finding:
    """Whether the vectors use more than a few directions."""
    if subject.knows_too_little:
        return not_applicable(subject.knows_too_little)
    width = subject.encoder.config.model.width
    k = min(TOP, width // 5)
    if not k:
        return not_applicable(f"{width} numbers a vector are too few to have main directions.")
    of_space = spectrum(subject.cloud[0])
    share, ball = of_space.share(k), k / width
    excess = (share - ball) / (1 - ball)
    shown = f"{share:.0%} in {k}"
    limit = f"at most {ball + HIGH_EXCESS * (1 - ball):.0%}; a ball has {ball:.0%}"
    told = (
        f"The {k} main directions of {width} hold {share:.0%} of the energy; in a perfect ball it would be {ball:.0%}"
    )
    if excess > HIGH_EXCESS:
        verdict = "fail" if excess > MAX_EXCESS else "warn"
        advice = (
            "The other directions say next to nothing: train it longer or on more text, or use fewer numbers a vector."
        )
        return Finding(verdict, f"{told}.", share, shown, limit, advice, of_space)
    return Finding("pass", f"{told}.", share, shown, limit, picture=of_space)


def check_senses(subject: Subject) -> Finding:
    """Whether same-sense uses of the example words are closer than cross-sense uses."""
    if subject.encoder.num_layers == 0:
        return not_applicable("One vector a word: all uses of a word are equal, whatever they mean.")
    parts = []
    for uses in subject.uses.values():
        vectors_ND = np.stack([use.encoding.vectors[use.position] for use in uses])
        parts.append(labelled_pairs(cosine_matrix(vectors_ND), [use.sentence.sense for use in uses]))
    cosines_P = np.concatenate([np.zeros(0), *(cosines for cosines, _ in parts)])
    is_same_P = np.concatenate([np.zeros(0, bool), *(same for _, same in parts)])
    pairs = sense_pairs(cosines_P, is_same_P)
    if np.isnan(pairs.auc):
        return not_applicable("The vocabulary has too few of our example words to compare their senses.")
    kinds = {SAME: _shares(cosines_P[is_same_P]), CROSS: _shares(cosines_P[~is_same_P])}
    picture = Cosines({RANDOM: _shares(subject.random_cosines)} | kinds)
    shown, limit = f"AUC {pairs.auc:.2f}, gap {pairs.gap:+.2f}".replace("-", "−"), f"AUC at least {MIN_AUC}"
    told = (
        f"Same-sense pairs of {len(subject.uses)} words have a mean cosine of {pairs.same_mean:.2f}, cross-sense pairs "
        f"{pairs.cross_mean:.2f}; a same-sense pair is the closer one in {pairs.auc:.0%} of the cases"
    )
    if pairs.auc < MIN_AUC:
        advice = (
            "It tells senses apart no better than chance as it is read: try another read-out, layer or centring "
            "(`python -m ctxemb evaluate` compares them all), or train it longer."
        )
        return Finding("warn", f"{told}.", pairs.auc, shown, limit, advice, picture)
    return Finding("pass", f"{told}.", pairs.auc, shown, limit, picture=picture)


def mean_random_cosine(subject: Subject) -> float:
    """Mean cosine of random words of the example sentences; 0 if too few are known to say."""
    if subject.knows_too_little or not len(subject.random_cosines):
        return 0.0
    return float(subject.random_cosines.mean())


def _shares(cosines_P: np.ndarray) -> np.ndarray:
    counts, _ = np.histogram(cosines_P, BINS)
    return counts / max(len(cosines_P), 1)
