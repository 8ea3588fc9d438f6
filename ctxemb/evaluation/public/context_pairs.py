"""WiC, MCL-WiC and SCWS: pairs of words in context, judged by the cosine of their two uses.

A yes-or-no answer needs a threshold. It is chosen on the training part; without one, on the development part; where
neither is another part than the one that is scored, by cross-validation.

N pairs.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from ctxemb.analysis.thresholds import best_threshold
from ctxemb.evaluation.public.intervals import share_interval, spearman_interval
from ctxemb.evaluation.public.score import PublicScore, ScoreRow, with_baselines
from ctxemb.evaluation.public.subject import BASELINES, Read, Subject
from ctxemb.evaluation.scws import load_scws
from ctxemb.evaluation.wic import (
    ContextPairs,
    answer_by_cross_validation,
    load_mcl_wic,
    load_wic,
    mcl_wic_parts,
    pair_cosines,
    wic_parts,
)
from ctxemb.evaluation.words import spearman

NUM_FOLDS = 10
TRAINING_PARTS = ("train", "training", "dev")  # the first that is there, and is not the one scored, gives thresholds
ACCURACY, ALL_PAIRS, RANKS = "accuracy", "accuracy, unknown words answered no", "Spearman"


def score_wic(subject: Subject, folder: Path, split: str) -> PublicScore:
    """WiC, English."""
    return _score_pairs(subject, "wic", split, wic_parts(folder), lambda part: load_wic(part, folder))


def score_mcl_wic(subject: Subject, folder: Path, split: str) -> PublicScore:
    """MCL-WiC in the checkpoint's language."""
    language = subject.encoder.config.text.language

    def load(part: str) -> ContextPairs:
        return load_mcl_wic(f"{part}.{language}-{language}", folder)

    return _score_pairs(subject, "mcl-wic", split, mcl_wic_parts(folder, language), load)


def score_scws(subject: Subject, folder: Path, split: str) -> PublicScore:
    """SCWS: two words, mostly different ones, each in a passage; how alike are they to people?"""
    rated = load_scws(folder)
    rows = []
    for read in subject.read(rated.targets, also="here"):  # the words themselves are what is rated
        cosines_N = pair_cosines(read.vectors_ND, read.known_N)
        has_cosine_N = ~np.isnan(cosines_N)
        pair = cosines_N[has_cosine_N], rated.ratings_N[has_cosine_N]
        num_skipped = int((~has_cosine_N).sum())
        rows.append(
            ScoreRow(read.reading, RANKS, spearman(*pair), *spearman_interval(*pair), len(pair[0]), num_skipped)
        )
    return PublicScore(
        name="scws",
        split=split,
        reading=subject.reading,
        rows=with_baselines(rows, BASELINES, {}),
        notes=(
            "Spearman's correlation of the cosine of two uses with the mean rating of ten people; each passage is read "
            "as one sequence; a pair with an unknown word is left out.",
        ),
    )


def _score_pairs(
    subject: Subject, name: str, split: str, parts: tuple[str, ...], load: Callable[[str], ContextPairs]
) -> PublicScore:
    asked = load(split)
    tuned_on = next((part for part in TRAINING_PARTS if part in parts and part != split), None)
    tuning = load(tuned_on) if tuned_on else None
    rows, thresholds = [], {}
    for read in subject.read(asked.targets + (tuning.targets if tuning else [])):
        cosines_N, is_right_N, threshold = _answer(read, asked, tuning)
        thresholds[read.reading] = threshold
        rows += _rows(read.reading, ~np.isnan(cosines_N), is_right_N)
    constant = float(max(asked.is_same_N.mean(), 1 - asked.is_same_N.mean()))
    floors = {measure: {"always the same answer": constant} for measure in (ACCURACY, ALL_PAIRS)}
    if tuning:
        chosen = f"The threshold is chosen on the {tuned_on} part ({len(tuning.is_same_N):,} pairs)."
    else:
        chosen = f"There is no other part to choose the threshold on: {NUM_FOLDS}-fold cross-validation."
    skipped = f"A pair with an unknown word is left out of “{ACCURACY}”, and answered no where a further row says so."
    return PublicScore(
        name=name,
        split=split,
        reading=subject.reading,
        rows=with_baselines(rows, BASELINES, floors),
        notes=(chosen, skipped),
        details={"threshold": thresholds},
    )


def _answer(read: Read, asked: ContextPairs, tuning: ContextPairs | None) -> tuple[np.ndarray, np.ndarray, float]:
    """Cosines, which answers are right, and the threshold; where none can be chosen, no pair counts as known."""
    num_asked = len(asked.targets)
    cosines_N = pair_cosines(read.vectors_ND[:num_asked], read.known_N[:num_asked])
    none = np.full(len(cosines_N), np.nan), ~asked.is_same_N, np.nan
    if tuning:
        others = pair_cosines(read.vectors_ND[num_asked:], read.known_N[num_asked:])
        if np.isnan(others).all():
            return none
        threshold = best_threshold(others, tuning.is_same_N)
        return cosines_N, (cosines_N >= threshold) == asked.is_same_N, threshold
    num_folds = min(NUM_FOLDS, len(cosines_N))
    # one fold may hold all known pairs, and then there is nothing to choose its threshold on
    if num_folds < 2 or np.count_nonzero(~np.isnan(cosines_N)) <= np.ceil(len(cosines_N) / num_folds):
        return none
    is_right_N, thresholds = answer_by_cross_validation(cosines_N, asked.is_same_N, num_folds)
    return cosines_N, is_right_N, float(np.median(thresholds))


def _rows(reading: str, known_N: np.ndarray, is_right_N: np.ndarray) -> Iterator[ScoreRow]:
    num_skipped = int((~known_N).sum())
    for measure, right, skipped in ((ACCURACY, is_right_N[known_N], num_skipped), (ALL_PAIRS, is_right_N, 0)):
        value = float(right.mean()) if len(right) else np.nan
        if measure == ACCURACY or num_skipped:
            yield ScoreRow(reading, measure, value, *share_interval(right), len(right), skipped)
