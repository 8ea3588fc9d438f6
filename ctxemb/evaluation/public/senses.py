"""CoarseWSD-20 and zh-wsd: the sense of a use, recognised by uses whose sense is known.

The nearest neighbour is the one of highest cosine; a centroid is the mean of a sense's uses, each scaled to length 1.

N uses, D numbers per vector.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxemb.analysis.senses import macro_recall, nearest_neighbour_senses
from ctxemb.analysis.similarity import unit_vectors
from ctxemb.evaluation.coarsewsd import WordTask, coarsewsd_words, load_coarsewsd
from ctxemb.evaluation.public.intervals import macro_recall_interval, mean_of_groups_interval, share_interval
from ctxemb.evaluation.public.score import PublicScore, ScoreRow, with_baselines
from ctxemb.evaluation.public.subject import BASELINES, Read, Subject
from ctxemb.evaluation.sources import has_file
from ctxemb.evaluation.targets import Target
from ctxemb.evaluation.zh_wsd import answer_senses, load_zh_wsd, score_senses

CARVED, TEST = "dev (carved from train)", "test"
METHODS = ("1-NN", "centroid")
MOST_FREQUENT = "most frequent sense"


@dataclass(frozen=True)
class SenseTask:
    """Uses of several words: those that are asked about, and those that answer.

    Attributes:
        targets: N uses.
        words_N: (N,) the word of each.
        senses_N: (N,) its gold sense.
        is_asked_N: (N,) bool; the others are the index.
    """

    targets: list[Target]
    words_N: np.ndarray
    senses_N: np.ndarray
    is_asked_N: np.ndarray


def coarsewsd_splits(folder: Path) -> tuple[str, ...]:
    """What CoarseWSD-20 in a folder can be scored on, the best first."""
    words = coarsewsd_words(folder)
    has_test = any(has_file(folder / word, "test.data.txt") for word in words)
    return ((TEST,) if has_test else ()) + ((CARVED,) if words else ())


def score_coarsewsd(subject: Subject, folder: Path, split: str) -> PublicScore:
    """CoarseWSD-20: the training part is the index (all of it for the test part)."""
    task = open_coarsewsd(folder, split)
    asked_words_N, true_N = task.words_N[task.is_asked_N], task.senses_N[task.is_asked_N]
    rows: list[ScoreRow] = []
    details: dict[str, Mapping[str, float]] = {}
    for read in subject.read(task.targets):
        for method in METHODS:
            predicted_N, answered_N = recognise(task, read, method)
            words_N, senses_N = asked_words_N[answered_N], true_N[answered_N]
            is_right_N = predicted_N[answered_N] == senses_N
            rows += _recall_rows(read.reading, method, words_N, senses_N, is_right_N, int((~answered_N).sum()))
            if read.reading == subject.reading:
                details[f"{method}, macro recall of each word"] = _macro_recalls(is_right_N, senses_N, words_N)
                details[f"{method}, accuracy of each word"] = _shares(is_right_N, words_N)
                details[f"{method}, recall of each sense"] = _shares(is_right_N, senses_N)
    recall, accuracy = most_frequent_sense(task)
    measures = {f"{method}, {kind}": value for method in METHODS for kind, value in _kinds(recall, accuracy).items()}
    num_index = int((~task.is_asked_N).sum())
    return PublicScore(
        name="coarsewsd-20",
        split=split,
        reading=subject.reading,
        rows=with_baselines(rows, BASELINES, {measure: {MOST_FREQUENT: value} for measure, value in measures.items()}),
        notes=(
            f"{num_index:,} sentences of the training part are the index.",
            "Macro recall is the mean over senses, then over words; accuracy, over all uses, hides rare senses.",
            "Unknown words are left out of the index, and skipped where they are asked about.",
        ),
        details=details,
    )


def score_zh_wsd(subject: Subject, folder: Path, split: str) -> PublicScore:
    """zh-wsd: each use is recognised by its nearest other use."""
    uses = load_zh_wsd(folder)
    rows: list[ScoreRow] = []
    details = {}
    for read in subject.read(uses.targets):
        known_N = read.known_N
        is_right_N = answer_senses(read.vectors_ND, uses.words_N, uses.senses_N, known_N)[known_N]
        words_N, num_skipped = uses.words_N[known_N], int((~known_N).sum())
        of_words = _shares(is_right_N, words_N)
        rows += [
            ScoreRow(read.reading, measure, value, *interval, len(is_right_N), num_skipped)
            for measure, value, interval in (
                ("1-NN, accuracy", _mean(is_right_N), share_interval(is_right_N)),
                (
                    "1-NN, mean accuracy of the words",
                    _mean(list(of_words.values())),
                    mean_of_groups_interval(is_right_N, words_N),
                ),
            )
        ]
        if read.reading == subject.reading:
            details["1-NN, accuracy of each word"] = of_words
    floor = score_senses(np.zeros((len(uses.targets), 1)), uses.words_N, uses.senses_N)
    floors = {
        "1-NN, accuracy": {MOST_FREQUENT: floor.most_frequent_micro},
        "1-NN, mean accuracy of the words": {MOST_FREQUENT: floor.most_frequent_macro},
    }
    return PublicScore(
        name="zh-wsd",
        split=split,
        reading=subject.reading,
        rows=with_baselines(rows, BASELINES, floors),
        notes=(
            "Leave-one-out: each use has the sense of its nearest other use of the word. The most frequent sense is "
            "counted on the same uses.",
            "Uses of unknown words are skipped.",
        ),
        details=details,
    )


def open_coarsewsd(folder: Path, split: str) -> SenseTask:
    """Index and questions of a split.

    Raises:
        CorpusError: if a file is missing or not in the authors' format.
    """
    parts: list[tuple[WordTask, np.ndarray]] = []
    train = load_coarsewsd(folder)
    if split == TEST:
        parts += [(task, np.zeros(len(task.texts), dtype=bool)) for task in train]
        parts += [(task, np.ones(len(task.texts), dtype=bool)) for task in load_coarsewsd(folder, TEST)]
    else:
        parts += [(task, task.is_dev) for task in train]
    return SenseTask(
        targets=[target for task, _ in parts for target in task.targets],
        words_N=np.concatenate([np.full(len(task.texts), task.word) for task, _ in parts]),
        senses_N=np.concatenate([task.senses_S for task, _ in parts]),
        is_asked_N=np.concatenate([is_asked for _, is_asked in parts]),
    )


def recognise(task: SenseTask, read: Read, method: str) -> tuple[np.ndarray, np.ndarray]:
    """The sense of every use that is asked about, and whether there is an answer: two (asked,) arrays.

    Args:
        method: `1-NN` or `centroid`.
    """
    predicted_N, answered_N = task.senses_N.copy(), np.zeros(len(task.senses_N), dtype=bool)
    for word in np.unique(task.words_N):
        usable_N = (task.words_N == word) & read.known_N
        index_N, asked_N = usable_N & ~task.is_asked_N, usable_N & task.is_asked_N
        if not index_N.any() or not asked_N.any():
            continue
        vectors, senses = read.vectors_ND[index_N], task.senses_N[index_N]
        if method == "centroid":
            vectors, senses = centroids(vectors, senses)
        predicted_N[asked_N] = nearest_neighbour_senses(vectors, senses, read.vectors_ND[asked_N])
        answered_N |= asked_N
    return predicted_N[task.is_asked_N], answered_N[task.is_asked_N]


def centroids(vectors_ND: np.ndarray, senses_N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(senses, D) mean of the uses of each sense, each scaled to length 1, and the (senses,) names."""
    unit_ND = np.nan_to_num(unit_vectors(vectors_ND))
    names, of_sense_N = np.unique(senses_N, return_inverse=True)
    return np.stack([unit_ND[of_sense_N == index].mean(axis=0) for index in range(len(names))]), names


def most_frequent_sense(task: SenseTask) -> tuple[float, float]:
    """Macro recall and accuracy of always answering the index's most frequent sense of the word."""
    recalls, is_right = [], []
    for word in np.unique(task.words_N[task.is_asked_N]):
        of_word_N = task.words_N == word
        senses, counts = np.unique(task.senses_N[of_word_N & ~task.is_asked_N], return_counts=True)
        true = task.senses_N[of_word_N & task.is_asked_N]
        answers = np.full(len(true), senses[counts.argmax()])
        recalls.append(macro_recall(true, answers))
        is_right.append(true == answers)
    return float(np.mean(recalls)), float(np.concatenate(is_right).mean())


def _recall_rows(
    reading: str, method: str, words_N: np.ndarray, senses_N: np.ndarray, is_right_N: np.ndarray, num_skipped: int
) -> Iterator[ScoreRow]:
    recall = _mean(list(_macro_recalls(is_right_N, senses_N, words_N).values()))
    intervals = macro_recall_interval(is_right_N, senses_N, words_N), share_interval(is_right_N)
    for (kind, value), interval in zip(_kinds(recall, _mean(is_right_N)).items(), intervals, strict=True):
        yield ScoreRow(reading, f"{method}, {kind}", value, *interval, len(is_right_N), num_skipped)


def _shares(is_right_N: np.ndarray, groups_N: np.ndarray) -> dict[str, float]:
    """Share of right answers in each group."""
    return {group: float(is_right_N[groups_N == group].mean()) for group in np.unique(groups_N).tolist()}


def _kinds(recall: float, accuracy: float) -> dict[str, float]:
    return {"macro recall": recall, "accuracy": accuracy}


def _macro_recalls(is_right_N: np.ndarray, senses_N: np.ndarray, words_N: np.ndarray) -> dict[str, float]:
    """Of each word, the mean over its senses of their recall."""
    of_words = {word: words_N == word for word in np.unique(words_N).tolist()}
    return {
        word: _mean(list(_shares(is_right_N[of_word_N], senses_N[of_word_N]).values()))
        for word, of_word_N in of_words.items()
    }


def _mean(values: np.ndarray | list[float]) -> float:
    return float(np.mean(values)) if len(values) else np.nan
