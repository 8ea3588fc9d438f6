"""Classifying texts from 200 examples with a frozen encoder: TREC and AG News (English), TNEWS and THUCNews (Chinese).

A text is the mean vector of its known words; a logistic regression does the rest. The number reported is the mean of
ten draws of the examples, because one draw says little.

N texts, M test texts, L layers above layer 0, D numbers per vector.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from ctxemb.analysis.similarity import unit_vectors
from ctxemb.corpora import CorpusError, data_folder
from ctxemb.encoder import Encoder
from ctxemb.evaluation.sources import find_file, numbered_lines, read_members, read_text

MAX_TEST_TEXTS = 2_000
ENGLISH, CHINESE = "fewshot-en", "zh-fewshot"


@dataclass(frozen=True)
class LabelledTexts:
    """N texts and their classes, (N,) strings."""

    texts: list[str]
    labels_N: np.ndarray

    def rows(self, rows: np.ndarray) -> "LabelledTexts":
        """The texts at these rows."""
        return LabelledTexts([self.texts[row] for row in rows], self.labels_N[rows])


@dataclass(frozen=True)
class FewShotTask:
    """Texts that training examples are drawn from, and at most 2,000 others to test on."""

    pool: LabelledTexts
    test: LabelledTexts


@dataclass(frozen=True)
class FewShotScore:
    """Macro F1 (0 to 1) over the draws: its mean, and its sample standard deviation (NaN for a single draw)."""

    mean: float
    standard_deviation: float
    f1_of_draws: tuple[float, ...]


def load_trec(folder: Path | None = None) -> FewShotTask:
    """TREC questions by coarse class (6): `qc.zip` with lines `CLASS:fine question` in Latin-1.

    Raises:
        CorpusError: if the file is missing or not in the authors' format.
    """
    path = find_file(
        folder or data_folder() / ENGLISH,
        "qc.zip",
        "https://github.com/nltk/nltk_data/tree/gh-pages/packages/corpora",
    )
    names = ["qc/train.txt", "qc/test.txt"]
    texts = read_members(path, names, encoding="latin-1")

    def question(line: str) -> tuple[str, str]:
        label, _, text = line.partition(" ")
        coarse, colon, _ = label.partition(":")
        if not colon:
            raise ValueError("no class")
        return text, coarse

    return _task(path, texts, names, question)


def load_ag_news(folder: Path | None = None) -> FewShotTask:
    """AG News by section (4): title and description of `ag_news_test.csv`, whose backslashes stand for line breaks.

    The published test part alone: 2,000 of its texts, drawn with seed 0, are tested on; the others are the pool.

    Raises:
        CorpusError: if the file is missing or a row is not class, title, description.
    """
    path = find_file(
        folder or data_folder() / ENGLISH, "ag_news_test.csv", "https://github.com/mhjabreel/CharCnn_Keras"
    )
    texts, labels = [], []
    for number, row in enumerate(csv.reader(io.StringIO(read_text(path), newline="")), 1):
        if len(row) != 3:
            raise CorpusError(f"{path}, row {number}: not a class, a title and a description")
        labels.append(row[0])
        texts.append(" ".join(f"{row[1]} {row[2]}".replace("\\", " ").split()))
    everything = LabelledTexts(texts, np.array(labels))
    order = np.random.default_rng(0).permutation(len(texts))
    num_test = min(MAX_TEST_TEXTS, len(texts) // 2)
    return FewShotTask(everything.rows(np.sort(order[num_test:])), everything.rows(np.sort(order[:num_test])))


def load_tnews(folder: Path | None = None) -> FewShotTask:
    """FewCLUE's TNEWS headlines by topic (15): pool train_few_all, test test_public; keywords are not used.

    Raises:
        CorpusError: if the file is missing or not in the authors' format.
    """
    path = find_file(
        folder or data_folder() / CHINESE,
        "fewclue-tnews-eprstmt.tar.xz",
        "https://github.com/CLUEbenchmark/FewCLUE (datasets/tnews as tnews/, packed as tar.xz)",
    )
    names = ["tnews/train_few_all.json", "tnews/test_public.json"]
    texts = read_members(path, names)

    def headline(line: str) -> tuple[str, str]:
        entry = json.loads(line)
        return entry["sentence"], entry["label_desc"]

    return _task(path, texts, names, headline)


def load_thucnews(folder: Path | None = None) -> FewShotTask:
    """THUCNews headlines by topic (10): pool dev.txt, test test.txt, lines `headline<tab>index into class.txt`.

    Raises:
        CorpusError: if the file is missing or not in the authors' format.
    """
    path = find_file(
        folder or data_folder() / CHINESE,
        "thucnews-dev-test.tar.xz",
        "https://github.com/649453932/Chinese-Text-Classification-Pytorch (THUCNews/data, packed as tar.xz)",
    )
    texts = read_members(path, ["dev.txt", "test.txt", "class.txt"])
    classes = texts["class.txt"].split()

    def headline(line: str) -> tuple[str, str]:
        text, index = line.split("\t")
        return text, dict(enumerate(classes))[int(index)]

    return _task(path, texts, ["dev.txt", "test.txt"], headline)


FEW_SHOT_TASKS: dict[str, Callable[[Path | None], FewShotTask]] = {
    "trec": load_trec,
    "ag-news": load_ag_news,
    "tnews": load_tnews,
    "thucnews": load_thucnews,
}


def mean_vectors(encoder: Encoder, texts: Sequence[str]) -> np.ndarray:
    """Mean over the known words of each text at every layer, (N, L + 1, D); zeros where no word is known.

    Raises:
        ValueError: if there is no text.
    """
    if not texts:
        raise ValueError("there are no texts to encode; give at least one")
    means = []
    for encoding in encoder.encode_stream(texts):
        known = ~encoding.oov
        means.append(encoding.layers[:, known].sum(axis=1) / max(int(known.sum()), 1))
    return np.stack(means)


def few_shot_f1(
    pool_ND: np.ndarray,
    pool_labels_N: np.ndarray,
    test_MD: np.ndarray,
    test_labels_M: np.ndarray,
    num_examples: int = 200,
    num_draws: int = 10,
    seed: int = 0,
) -> FewShotScore:
    """Macro F1 of a logistic regression that has seen few examples.

    Every draw takes `num_examples` texts of the pool evenly at random, without regard to their class: a rare class may
    be missing. Features are scaled to length 1; scikit-learn's settings are its own, with enough steps. F1 is averaged
    over the classes of the test texts. The same seed gives every encoder the same examples.

    Args:
        pool_ND: (N, D) features to draw from.
        pool_labels_N: (N,) their classes.
        test_MD: (M, D) features.
        test_labels_M: (M,) their classes.
        num_examples: a draw.
        num_draws: how many draws.
        seed: of the draws.

    Raises:
        ValueError: if the pool has fewer texts than a draw needs, there is no draw, or a draw has a single class.
    """
    if not 0 < num_examples <= len(pool_ND):
        raise ValueError(f"{num_examples} examples cannot be drawn from {len(pool_ND)} texts; give more or draw fewer")
    if num_draws < 1:
        raise ValueError(f"{num_draws} draws give no score; take at least one")
    pool_ND, test_MD = (np.nan_to_num(unit_vectors(features)) for features in (pool_ND, test_MD))
    scores = []
    for draw in range(num_draws):
        rows = np.random.default_rng([seed, draw]).choice(len(pool_ND), size=num_examples, replace=False)
        model = LogisticRegression(max_iter=2_000).fit(pool_ND[rows], pool_labels_N[rows])
        predicted_M = model.predict(test_MD)
        scores.append(f1_score(test_labels_M, predicted_M, labels=np.unique(test_labels_M), average="macro"))
    deviation = float(np.std(scores, ddof=1)) if num_draws > 1 else np.nan
    return FewShotScore(float(np.mean(scores)), deviation, tuple(map(float, scores)))


def _task(
    path: Path, texts: Mapping[str, str], names: Sequence[str], parse: Callable[[str], tuple[str, str]]
) -> FewShotTask:
    """Two members of an archive, pool and test, a text a line."""
    pool, test = (_parse(texts[name], parse, f"{path}: {name}") for name in names)
    return FewShotTask(pool, _at_most(test))


def _parse(text: str, read_line: Callable[[str], tuple[str, str]], place: str) -> LabelledTexts:
    texts, labels = [], []
    for number, line in numbered_lines(text):
        try:
            read, label = read_line(line)
        except (ValueError, KeyError, TypeError) as error:
            raise CorpusError(f"{place}, line {number}: not a text with its class ({error!r})") from error
        texts.append(read)
        labels.append(label)
    if not texts:
        raise CorpusError(f"{place} is empty; fetch it again")
    return LabelledTexts(texts, np.array(labels))


def _at_most(test: LabelledTexts) -> LabelledTexts:
    if len(test.texts) <= MAX_TEST_TEXTS:
        return test
    return test.rows(np.sort(np.random.default_rng(0).permutation(len(test.texts))[:MAX_TEST_TEXTS]))
