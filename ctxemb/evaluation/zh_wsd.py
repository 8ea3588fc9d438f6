"""Chinese word senses: 19 words of SemEval-2007 task 5, their senses rewritten as sets of HowNet sememes.

Each use is recognised by its nearest other use of the word (leave-one-out). Nothing is trained or chosen. Five of the
1,344 lines repeat another one and so find themselves, which flatters every encoder by less than 0.008.

Source: Hou et al. 2020, "Try to Substitute: An Unsupervised Chinese Word Sense Disambiguation Method Based on HowNet".

N uses, D numbers per vector.
"""

import ast
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxemb.analysis.neighbours import leave_one_out_senses
from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.sources import find_file, numbered_lines, read_text
from ctxemb.evaluation.targets import Target, target_at_token

HOME = "https://github.com/thunlp/SememeWSD/tree/master/data"
FILE = "dataset.txt"
PLACEHOLDER = "<target>"


@dataclass(frozen=True)
class SenseUses:
    """N uses of several words.

    Attributes:
        targets: N sentences with their target.
        words_N: (N,) the word that is disambiguated.
        senses_N: (N,) its sense: sememes in order, joined by `|`.
    """

    targets: list[Target]
    words_N: np.ndarray
    senses_N: np.ndarray


@dataclass(frozen=True)
class SenseScore:
    """Accuracy of recognising senses, 0 to 1.

    Attributes:
        micro: over all uses; an unknown use, or a word's only known one, counts as wrong.
        macro: mean over words of their accuracies.
        most_frequent_micro: share of the uses that have their word's most frequent sense.
        most_frequent_macro: mean of that share over words.
        coverage: share of the uses whose target is known.
        words: accuracy of each word.
    """

    micro: float
    macro: float
    most_frequent_micro: float
    most_frequent_macro: float
    coverage: float
    words: dict[str, float]


def load_zh_wsd(folder: Path | None = None) -> SenseUses:
    """Read `dataset.txt` (or `.xz`): one Python dict a line, the target replaced by `<target>` in a list of tokens.

    Args:
        folder: `zh-wsd` in the data folder if None.

    Raises:
        CorpusError: if the file is missing or a line is not in the authors' format.
    """
    path = find_file(folder or data_folder() / "zh-wsd", FILE, HOME)
    targets, words, senses = [], [], []
    for number, line in numbered_lines(read_text(path)):
        try:
            entry = ast.literal_eval(line)
            tokens, position, word = list(entry["context"]), entry["target_position"], entry["target_word"]
            if not isinstance(word, str):
                raise ValueError(f"the target word is {word!r}")
            if tokens[position] != PLACEHOLDER:
                raise ValueError(f"{tokens[position]!r} stands at the target's place")
            tokens[position] = word
            targets.append(target_at_token(tokens, position, separator=""))
            words.append(word)
            senses.append("|".join(sorted(entry["sense"])))
        except (ValueError, SyntaxError, KeyError, IndexError, TypeError, RecursionError, MemoryError) as error:
            raise CorpusError(f"{path}, line {number}: not a dict of context, target and sense ({error!r})") from error
    if not targets:
        raise CorpusError(f"{path} is empty; get it from {HOME}")
    return SenseUses(targets, np.array(words), np.array(senses))


def score_senses(
    vectors_ND: np.ndarray, words_N: np.ndarray, senses_N: np.ndarray, known_N: np.ndarray | None = None
) -> SenseScore:
    """Leave-one-out accuracy of the nearest neighbour by cosine among the known uses of the same word.

    Args:
        vectors_ND: (N, D).
        words_N: (N,) the word of each use.
        senses_N: (N,) its gold sense.
        known_N: (N,) bool; all if None.
    """
    known_N = np.ones(len(words_N), dtype=bool) if known_N is None else known_N
    is_right_N = answer_senses(vectors_ND, words_N, senses_N, known_N)
    is_frequent_N = np.zeros(len(words_N), dtype=bool)
    words, of_word_N = np.unique(words_N, return_inverse=True)
    for index in range(len(words)):
        rows = np.flatnonzero(of_word_N == index)
        names, counts = np.unique(senses_N[rows], return_counts=True)
        is_frequent_N[rows] = senses_N[rows] == names[counts.argmax()]
    num_uses = np.bincount(of_word_N)
    accuracies = np.bincount(of_word_N, weights=is_right_N) / num_uses
    return SenseScore(
        micro=float(is_right_N.mean()),
        macro=float(accuracies.mean()),
        most_frequent_micro=float(is_frequent_N.mean()),
        most_frequent_macro=float((np.bincount(of_word_N, weights=is_frequent_N) / num_uses).mean()),
        coverage=float(known_N.mean()),
        words=dict(zip(words.tolist(), accuracies.tolist(), strict=True)),
    )


def answer_senses(vectors_ND: np.ndarray, words_N: np.ndarray, senses_N: np.ndarray, known_N: np.ndarray) -> np.ndarray:
    """(N,) bool: which uses have the sense of their nearest other known use of the word; the others are False."""
    is_right_N = np.zeros(len(words_N), dtype=bool)
    for word in np.unique(words_N):
        rows = np.flatnonzero((words_N == word) & known_N)
        if len(rows) > 1:
            is_right_N[rows] = leave_one_out_senses(vectors_ND[rows], senses_N[rows]) == senses_N[rows]
    return is_right_N
