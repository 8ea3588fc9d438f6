"""Words in context: does a word mean the same in two sentences? WiC (English) and MCL-WiC (English, Chinese ...).

"Yes" where the cosine of the two uses reaches a threshold. A pair with an unknown target is answered "no", so that
accuracies of different encoders are about the same pairs; `coverage` says how many were really compared.

Sources: Pilehvar & Camacho-Collados 2019, arXiv:1808.09121; Martelli et al. 2021, SemEval-2021 task 2.

N pairs, D numbers per vector.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxemb.analysis.similarity import unit_vectors
from ctxemb.analysis.thresholds import best_threshold, bootstrap_interval
from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.sources import find_file, has_file, numbered_lines, read_text
from ctxemb.evaluation.targets import Target, target_at_token

WIC_HOME = "https://pilehvar.github.io/wic/"
MCL_WIC_HOME = "https://github.com/SapienzaNLP/mcl-wic"
ANSWERS = {"T": True, "F": False}


@dataclass(frozen=True)
class ContextPairs:
    """N pairs of uses.

    Attributes:
        firsts: N targets.
        seconds: their N partners.
        is_same_N: (N,) bool, the gold answer: one meaning?
    """

    firsts: list[Target]
    seconds: list[Target]
    is_same_N: np.ndarray

    @property
    def targets(self) -> list[Target]:
        """All 2 N targets for `encode_targets`: the firsts, then the seconds, as `pair_cosines` expects them."""
        return self.firsts + self.seconds


@dataclass(frozen=True)
class WicScore:
    """How often the answers are right.

    Attributes:
        accuracy_percent: over all pairs, those with an unknown target included.
        low_percent: lower end of the 95% bootstrap interval over pairs; thresholds are taken as given.
        high_percent: its upper end.
        coverage: share of pairs whose two targets are known, 0 to 1.
        thresholds: the cosine chosen; one for each fold after cross-validation.
    """

    accuracy_percent: float
    low_percent: float
    high_percent: float
    coverage: float
    num_pairs: int
    thresholds: tuple[float, ...]


def load_wic(part: str, folder: Path | None = None) -> ContextPairs:
    """Read `<part>/<part>.data.txt` (word, POS, token indices, two sentences) and `<part>.gold.txt` of WiC v1.0.

    Args:
        part: train, dev or test.
        folder: the one with the parts; `wic` in the data folder if None.

    Raises:
        CorpusError: if a file is missing or a line is not in the authors' format.
    """
    folder = (folder or data_folder() / "wic") / part
    data = find_file(folder, f"{part}.data.txt", WIC_HOME)
    gold = find_file(folder, f"{part}.gold.txt", WIC_HOME)
    firsts, seconds = [], []
    for number, line in numbered_lines(read_text(data)):
        try:
            _, _, indices, first, second = line.split("\t")
            first_index, second_index = map(int, indices.split("-"))
            firsts.append(target_at_token(first.split(" "), first_index))
            seconds.append(target_at_token(second.split(" "), second_index))
        except (ValueError, IndexError) as error:
            raise CorpusError(f"{data}, line {number}: not a word, its POS, two indices and sentences") from error
    return _pairs(firsts, seconds, [line.strip() for _, line in numbered_lines(read_text(gold))], gold)


def load_mcl_wic(part: str, folder: Path | None = None) -> ContextPairs:
    """Read `<part>.data` and `<part>.gold` of MCL-WiC: JSON lists with character offsets, joined by id.

    Args:
        part: for example `training.en-en` or `dev.zh-zh`.
        folder: the one with the files, or with the authors' `training/multilingual` ...; `mcl-wic` in the data folder
            if None.

    Raises:
        CorpusError: if a file is missing or not in the authors' format.
    """
    folder = folder or data_folder() / "mcl-wic"
    data, gold = (_find_mcl_wic(folder, part, kind) for kind in ("data", "gold"))
    try:
        answers = {entry["id"]: entry["tag"] for entry in json.loads(read_text(gold))}
        entries = [(_span(entry, 1), _span(entry, 2), answers[entry["id"]]) for entry in json.loads(read_text(data))]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorpusError(f"{data} and {gold.name} are not in MCL-WiC's format ({error!r})") from error
    firsts, seconds, tags = zip(*entries, strict=True) if entries else ((), (), ())
    return _pairs(list(firsts), list(seconds), tags, gold)


def wic_parts(folder: Path) -> tuple[str, ...]:
    """The parts whose sentences are in a folder: some of test, dev, train."""
    return tuple(part for part in ("test", "dev", "train") if has_file(folder / part, f"{part}.data.txt"))


def mcl_wic_parts(folder: Path, language: str) -> tuple[str, ...]:
    """The parts of a language whose sentences are in a folder: some of test, dev, training."""
    pair = f"{language}-{language}"
    return tuple(
        part
        for part in ("test", "dev", "training")
        if any(has_file(place, f"{part}.{pair}.data") for place in _mcl_wic_places(folder, part))
    )


def pair_cosines(vectors_MD: np.ndarray, known_M: np.ndarray) -> np.ndarray:
    """Cosine of each pair, (N,); NaN where a target is unknown or has no direction.

    Rounded to six digits, so that a static encoder's cosine of a word with itself is 1 and not 1 within rounding.

    Args:
        vectors_MD: (2 N, D), in the order of `ContextPairs.targets`.
        known_M: (2 N,) bool.
    """
    first_ND, second_ND = np.split(unit_vectors(vectors_MD.astype(np.float64)), 2)
    cosines_N = np.einsum("nd,nd->n", first_ND, second_ND).round(6)
    return np.where(np.logical_and(*np.split(known_M, 2)), cosines_N, np.nan)


def score_with_training(
    train_cosines_N: np.ndarray, train_is_same_N: np.ndarray, cosines_N: np.ndarray, is_same_N: np.ndarray
) -> WicScore:
    """Score pairs with the threshold that is best on other pairs (the training part).

    Args:
        train_cosines_N: cosines of the pairs to choose on; NaN (unknown) pairs are left out of the choice.
        train_is_same_N: their gold answers.
        cosines_N: of the pairs to score; NaN counts as "no".
        is_same_N: their gold answers.

    Raises:
        ValueError: if no training pair is known.
    """
    threshold = best_threshold(train_cosines_N, train_is_same_N)
    return _score((cosines_N >= threshold) == is_same_N, cosines_N, [threshold])


def score_by_cross_validation(
    cosines_N: np.ndarray, is_same_N: np.ndarray, num_folds: int = 10, seed: int = 0
) -> WicScore:
    """Score pairs for which there is no training part (MCL-WiC Chinese).

    The pairs are shuffled once with the seed and cut into folds of equal size; each fold is answered with the threshold
    that is best on all others. Pairs that share a sentence may fall into different folds: one number cannot learn them.

    Raises:
        ValueError: if there are fewer than two folds, fewer pairs than folds, or no known pair to choose on.
    """
    is_right_N, thresholds = answer_by_cross_validation(cosines_N, is_same_N, num_folds, seed)
    return _score(is_right_N, cosines_N, thresholds)


def answer_by_cross_validation(
    cosines_N: np.ndarray, is_same_N: np.ndarray, num_folds: int = 10, seed: int = 0
) -> tuple[np.ndarray, list[float]]:
    """(N,) bool, which answers of `score_by_cross_validation` are right, and the threshold of each fold.

    Raises:
        ValueError: as there.
    """
    if not 2 <= num_folds <= len(cosines_N):
        raise ValueError(f"{num_folds} folds of {len(cosines_N)} pairs: there have to be 2 folds, and a pair in each")
    is_right_N, thresholds = np.zeros(len(cosines_N), dtype=bool), []
    for fold in np.array_split(np.random.default_rng(seed).permutation(len(cosines_N)), num_folds):
        others = np.delete(np.arange(len(cosines_N)), fold)
        thresholds.append(best_threshold(cosines_N[others], is_same_N[others]))
        is_right_N[fold] = (cosines_N[fold] >= thresholds[-1]) == is_same_N[fold]
    return is_right_N, thresholds


def _score(is_right_N: np.ndarray, cosines_N: np.ndarray, thresholds: list[float]) -> WicScore:
    percent_N = 100.0 * is_right_N
    low, high = bootstrap_interval(percent_N)
    coverage = float((~np.isnan(cosines_N)).mean())
    return WicScore(float(percent_N.mean()), low, high, coverage, len(percent_N), tuple(thresholds))


def _find_mcl_wic(folder: Path, part: str, kind: str) -> Path:
    name = f"{part}.{kind}"
    places = [place for place in _mcl_wic_places(folder, part.partition(".")[0]) if has_file(place, name)]
    return find_file(places[0] if places else folder, name, MCL_WIC_HOME)


def _mcl_wic_places(folder: Path, part: str) -> tuple[Path, ...]:
    return folder, folder / "multilingual", folder / part, folder / part / "multilingual"


def _span(entry: dict[str, str], which: int) -> Target:
    target = Target(entry[f"sentence{which}"], int(entry[f"start{which}"]), int(entry[f"end{which}"]))
    if not 0 <= target.start < target.end <= len(target.text):
        raise ValueError(f"{entry['id']}: characters {target.start} to {target.end} of {len(target.text)}")
    return target


def _pairs(firsts: list[Target], seconds: list[Target], tags: Sequence[str], gold: Path) -> ContextPairs:
    if not firsts or len(tags) != len(firsts) or set(tags) - set(ANSWERS):
        raise CorpusError(
            f"{gold}: not T or F for each of {len(firsts)} pairs, but {len(tags)} answers; get both files anew"
        )
    return ContextPairs(firsts, seconds, np.array([ANSWERS[tag] for tag in tags]))
