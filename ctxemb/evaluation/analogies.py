"""Word analogies, "a is to b as c is to ?", answered with 3CosAdd: Google, BATS 3.0, CA8 and its translated companion.

Sources: Mikolov et al. 2013, arXiv:1301.3781; Gladkova et al. 2016 (BATS); Li et al. 2018, arXiv:1805.06504 (CA8).

V words of the vocabulary, Q questions, D numbers per vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path, PurePosixPath

import numpy as np

from ctxemb.analysis.neighbours import three_cos_add
from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.sources import find_file, numbered_lines, read_members, read_text
from ctxemb.evaluation.words import word_rows

BATS = "bats"
CA8_HOME = "https://github.com/Embedding/Chinese-Word-Vectors/tree/master/testsets"
# name: folder, file, where to get it
ANALOGY_SETS = {
    "google": ("word-evals-en", "questions-words.txt", "https://github.com/tmikolov/word2vec"),
    BATS: ("word-evals-en", "BATS_3.0.tar.xz", "https://vecto.space/projects/BATS/ (packed as tar.xz)"),
    "ca8-semantic": ("zh-word-evals", "semantic.txt", CA8_HOME),
    "ca8-morphological": ("zh-word-evals", "morphological.txt", CA8_HOME),
    "ca-translated": ("zh-word-evals", "ca_translated.txt", CA8_HOME),
}


@dataclass(frozen=True)
class Question:
    """`a` is to `b` as `c` is to any of `answers`."""

    section: str
    a: str
    b: str
    c: str
    answers: tuple[str, ...]


@dataclass(frozen=True)
class SectionScore:
    """Questions of one section, or of all.

    Attributes:
        accuracy: share of the questions in the vocabulary that were answered right, 0 to 1; NaN if there is none.
        num_known: questions in the vocabulary: a, b, c and at least one answer.
        num_questions: all questions.
    """

    accuracy: float
    num_known: int
    num_questions: int

    @property
    def coverage(self) -> float:
        """Share of the questions that are in the vocabulary, 0 to 1."""
        return self.num_known / max(self.num_questions, 1)


@dataclass(frozen=True)
class AnalogyScore:
    """All questions together (micro), and each section in the order of the file."""

    total: SectionScore
    sections: dict[str, SectionScore]


def load_analogies(name: str, folder: Path | None = None) -> list[Question]:
    """Read one of `ANALOGY_SETS`.

    All but BATS are lines `a b c d` under `: section` lines. BATS has 40 files of 50 lines `c<tab>d1/d2/...`; as in
    its article every ordered pair of different lines of a file is a question (2,450 a file), and each of d1, d2, ... is
    a right answer. The first one listed stands for the example's own b, whether or not the vocabulary has it.

    Args:
        name: a key of `ANALOGY_SETS`.
        folder: the one with the file; the set's own in the data folder if None.

    Raises:
        CorpusError: if there is no such set, the file is missing or a line is not in the authors' format.
    """
    if name not in ANALOGY_SETS:
        raise CorpusError(f"there is no analogy set {name!r}; take one of {', '.join(ANALOGY_SETS)}")
    place, file, home = ANALOGY_SETS[name]
    path = find_file(folder or data_folder() / place, file, home)
    questions = _read_bats(path) if name == BATS else _read_questions(path)
    if not questions:
        raise CorpusError(f"{path} holds no questions; get it from {home}")
    return questions


def score_analogies(questions: Sequence[Question], words: Sequence[str], vectors_VD: np.ndarray) -> AnalogyScore:
    """Accuracy of 3CosAdd over the questions whose words are in the vocabulary; see `answer_analogies`."""
    return _score(questions, *answer_analogies(questions, words, vectors_VD))


def answer_analogies(
    questions: Sequence[Question], words: Sequence[str], vectors_VD: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which questions are in the vocabulary, and which of them 3CosAdd answers right: two (Q,) bool.

    Words are compared without regard to case, and of several spellings only the first is a candidate. The words of
    the question are never the answer, so a question that repeats one of them as its only answer is always missed, as
    in the usual programs.

    Args:
        questions: of `load_analogies`.
        words: V strings.
        vectors_VD: (V, D).
    """
    rows = word_rows(words)
    candidates = np.fromiter(rows.values(), dtype=np.int64, count=len(rows))
    place = {word: index for index, word in enumerate(rows)}
    asked, known, answer_of, answers = [], np.zeros(len(questions), dtype=bool), [], []
    for index, question in enumerate(questions):
        abc = [place.get(word.casefold(), -1) for word in (question.a, question.b, question.c)]
        found = [place[word] for answer in question.answers if (word := answer.casefold()) in place]
        known[index] = bool(found) and min(abc) >= 0
        if known[index]:
            answer_of += [len(asked)] * len(found)
            answers += found
            asked.append(abc)
    predicted = three_cos_add(vectors_VD[candidates], np.array(asked, dtype=np.int64).reshape(-1, 3))
    is_right = np.zeros(len(asked), dtype=bool)
    of_answers = np.array(answer_of, dtype=np.int64)
    is_right[of_answers[predicted[of_answers] == np.array(answers, dtype=np.int64)]] = True
    is_right_Q = np.zeros(len(questions), dtype=bool)
    is_right_Q[known] = is_right
    return known, is_right_Q


def _score(questions: Sequence[Question], known_Q: np.ndarray, is_right_Q: np.ndarray) -> AnalogyScore:
    sections_Q = np.array([question.section for question in questions])
    sections = {
        name: _section(known_Q[sections_Q == name], is_right_Q[sections_Q == name])
        for name in dict.fromkeys(sections_Q.tolist())
    }
    return AnalogyScore(_section(known_Q, is_right_Q), sections)


def _section(known_Q: np.ndarray, is_right_Q: np.ndarray) -> SectionScore:
    num_known = int(known_Q.sum())
    return SectionScore(float(is_right_Q.sum() / num_known) if num_known else np.nan, num_known, len(known_Q))


def _read_questions(path: Path) -> list[Question]:
    questions, section = [], None
    for number, line in numbered_lines(read_text(path)):
        fields = line.split()
        if fields[0].startswith(":"):
            section = line.strip().removeprefix(":").strip()
        elif section is None or len(fields) != 4:
            raise CorpusError(f"{path}, line {number}: not four words below a line `: section`")
        else:
            a, b, c, d = fields
            questions.append(Question(section, a, b, c, (d,)))
    return questions


def _read_bats(path: Path) -> list[Question]:
    questions = []
    for name, text in read_members(path).items():
        lines = []
        for number, line in numbered_lines(text):
            word, *alternatives = line.replace("/", " ").split()
            if "\t" not in line or not alternatives:
                raise CorpusError(f"{path}: {name}, line {number}: not a word, a tab and its answers")
            lines.append((word, tuple(alternatives)))
        section = PurePosixPath(name).stem
        questions += [Question(section, a, first[0], c, answers) for (a, first), (c, answers) in permutations(lines, 2)]
    return questions
