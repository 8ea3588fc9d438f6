"""The public test sets of a language as columns of the table of readings, all of one form.

A further test set is one more loader in `COLUMNS`. What a test set is, and how it is scored, is said in its own file.

N targets, D numbers per vector.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.coarsewsd import dev_recall, load_coarsewsd, most_frequent_sense_recall
from ctxemb.evaluation.targets import Target
from ctxemb.evaluation.wic import (
    load_mcl_wic,
    load_wic,
    pair_cosines,
    score_by_cross_validation,
    score_with_training,
)
from ctxemb.evaluation.zh_wsd import load_zh_wsd, score_senses
from ctxemb.text import Language

NUM_FOLDS = 10


@dataclass(frozen=True)
class WordGroups:
    """Which uses of a word its mean is taken from; no sense label is looked at.

    Attributes:
        words_N: (N,) the word of each target.
        is_counted_N: (N,) bool: the uses that make the mean.
    """

    words_N: np.ndarray
    is_counted_N: np.ndarray

    def centre(self, vectors_ND: np.ndarray, known_N: np.ndarray) -> np.ndarray:
        """Subtract from each use its word's mean over the counted, known uses, if there are any; (N, D)."""
        centred_ND = vectors_ND.copy()
        for word in np.unique(self.words_N):
            of_word_N = self.words_N == word
            counted_N = of_word_N & self.is_counted_N & known_N
            if counted_N.any():
                centred_ND[of_word_N] -= vectors_ND[counted_N].mean(axis=0)
        return centred_ND


@dataclass(frozen=True)
class Column:
    """A test set that is on this machine.

    Attributes:
        name: its key in metrics.json.
        title: its heading.
        targets: N words in their sentences.
        score: (N, D) vectors and (N,) known targets -> 0 to 1; the higher the better.
        floor: the score of one who sees no vector: the most frequent sense, or always the same answer.
        groups: what centring per word subtracts; None where words have too few uses for a mean.
    """

    name: str
    title: str
    targets: list[Target] = field(repr=False)
    score: Callable[[np.ndarray, np.ndarray], float] = field(repr=False)
    floor: float
    groups: WordGroups | None = field(default=None, repr=False)


def open_columns(language: Language, folder: Path | None = None) -> tuple[list[Column], list[str]]:
    """The test sets of a language that are here, and a sentence for each that is not.

    Args:
        language: of the checkpoint.
        folder: the one that the test sets' folders are in; the data folder if None.
    """
    columns, problems = [], []
    for load in COLUMNS[language]:
        try:
            columns.append(load(folder or data_folder()))
        except CorpusError as error:
            problems.append(str(error))
    return columns, problems


def _coarsewsd(folder: Path) -> Column:
    tasks = load_coarsewsd(folder / "coarsewsd-20")
    bounds = np.cumsum([len(task.texts) for task in tasks])[:-1]

    def score(vectors_ND: np.ndarray, known_N: np.ndarray) -> float:
        parts = np.split(vectors_ND, bounds)
        return float(np.mean([dev_recall(task, part_SD) for task, part_SD in zip(tasks, parts, strict=True)]))

    return Column(
        name="coarsewsd-20:dev",
        title="CoarseWSD-20 dev, macro 1-NN recall",
        targets=[target for task in tasks for target in task.targets],
        score=score,
        floor=float(np.mean([most_frequent_sense_recall(task) for task in tasks])),
        groups=WordGroups(
            words_N=np.repeat([task.word for task in tasks], [len(task.texts) for task in tasks]),
            is_counted_N=~np.concatenate([task.is_dev for task in tasks]),
        ),
    )


def _wic(folder: Path) -> Column:
    train, dev = (load_wic(part, folder / "wic") for part in ("train", "dev"))
    num_train = len(train.targets)

    def score(vectors_ND: np.ndarray, known_N: np.ndarray) -> float:
        train_cosines, cosines = (
            pair_cosines(vectors_ND[rows], known_N[rows]) for rows in (slice(num_train), slice(num_train, None))
        )
        if np.isnan(train_cosines).all():
            return np.nan  # there is nothing to choose a threshold on
        return score_with_training(train_cosines, train.is_same_N, cosines, dev.is_same_N).accuracy_percent / 100

    return Column("wic:dev", "WiC dev, accuracy", train.targets + dev.targets, score, _constant_answer(dev.is_same_N))


def _zh_wsd(folder: Path) -> Column:
    uses = load_zh_wsd(folder / "zh-wsd")

    def score(vectors_ND: np.ndarray, known_N: np.ndarray) -> float:
        return score_senses(vectors_ND, uses.words_N, uses.senses_N, known_N).micro

    no_vectors_ND, all_known_N = np.zeros((len(uses.targets), 1)), np.ones(len(uses.targets), dtype=bool)
    return Column(
        name="zh-wsd",
        title="zh-wsd, leave-one-out 1-NN accuracy",
        targets=uses.targets,
        score=score,
        floor=score_senses(no_vectors_ND, uses.words_N, uses.senses_N).most_frequent_micro,
        groups=WordGroups(uses.words_N, all_known_N),
    )


def _mcl_wic_zh(folder: Path) -> Column:
    pairs = load_mcl_wic("dev.zh-zh", folder / "mcl-wic")

    def score(vectors_ND: np.ndarray, known_N: np.ndarray) -> float:
        cosines = pair_cosines(vectors_ND, known_N)
        if np.count_nonzero(~np.isnan(cosines)) <= math.ceil(len(cosines) / NUM_FOLDS):
            return np.nan  # one fold may hold them all, and then there is nothing to choose its threshold on
        return score_by_cross_validation(cosines, pairs.is_same_N, NUM_FOLDS).accuracy_percent / 100

    floor = _constant_answer(pairs.is_same_N)
    return Column("mcl-wic:dev.zh-zh", "MCL-WiC zh dev, accuracy", pairs.targets, score, floor)


def _constant_answer(is_same_N: np.ndarray) -> float:
    return float(max(is_same_N.mean(), 1 - is_same_N.mean()))


COLUMNS: dict[Language, tuple[Callable[[Path], Column], ...]] = {
    "en": (_coarsewsd, _wic),
    "zh": (_zh_wsd, _mcl_wic_zh),
}
