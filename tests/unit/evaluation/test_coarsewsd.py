import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.coarsewsd import (
    WordTask,
    dev_recall,
    load_coarsewsd,
    most_frequent_sense_recall,
)
from ctxemb.evaluation.targets import encode_targets

# token index, tokens, sense: as in the authors' files, where hyphenated words are one token
LINES = [
    ("2", "the old bank approved the loan", "0"),
    ("0", "bank", "1"),
    ("4", "a well-known farmer 's bank", "0"),
    ("3", "river-side teacher-student plant-bank of the green-water river", "1"),
]


@pytest.fixture
def write_word(tmp_path: Path) -> Callable[..., Path]:
    """`write_word("bank", lines, {file: content})`: a word in the authors' layout; gives the folder above it."""

    def write(word: str, lines: Sequence[tuple[str, str, str]], changes: dict[str, str] | None = None) -> Path:
        folder = tmp_path / "coarsewsd-20" / word
        folder.mkdir(parents=True)
        files = {
            "train.data.txt": "".join(f"{index}\t{text}\n" for index, text, _ in lines),
            "train.gold.txt": "".join(f"{sense}\n" for _, _, sense in lines),
            "classes_map.txt": json.dumps({"0": f"{word}_money", "1": f"{word}_river"}),
        }
        for name, content in (files | (changes or {})).items():
            (folder / name).write_text(content, encoding="utf-8")
        return folder.parent

    return write


def make_task(senses: str) -> WordTask:
    return WordTask("bank", ["bank"] * len(senses), [0] * len(senses), np.array(list(senses)))


# reading the files


def test_words_are_read_in_the_authors_layout(write_word):
    write_word("plant", LINES[:1])
    bank, plant = load_coarsewsd(write_word("bank", LINES))
    assert (bank.word, plant.word) == ("bank", "plant")
    assert bank.texts == [text for _, text, _ in LINES]
    assert bank.senses_S.tolist() == ["bank_money", "bank_river", "bank_money", "bank_river"]
    assert [text[start:].split()[0] for text, start in zip(bank.texts, bank.starts, strict=True)] == [
        "bank",
        "bank",
        "bank",
        "of",
    ]


def test_the_target_is_found_though_our_tokens_are_others(encoder, write_word):
    lines = [*LINES[:3], ("2", *LINES[3][1:])]  # the target is the plant-bank: its first part is taken
    (task,) = load_coarsewsd(write_word("bank", lines))
    assert [target.word for target in task.targets] == ["bank", "bank", "bank", "plant-bank"]
    vectors = encode_targets(encoder, task.targets)
    assert vectors.known_N.all()
    for row, (encoding, target) in enumerate(
        zip(encoder.encode(task.texts), ["bank", "bank", "bank", "plant"], strict=True)
    ):
        (position,) = encoding.positions(target)
        np.testing.assert_allclose(vectors.vectors_NLD[row], encoding.layers[:, position], atol=1e-6)


@pytest.mark.parametrize(
    "line", ["the old bank", "two\tthe old bank", "3\tthe old bank", "-1\tthe old bank", "", "1\t", "1\tthe  bank"]
)
def test_a_line_in_another_format_is_named(write_word, line):
    folder = write_word("bank", LINES[:2], {"train.data.txt": f"0\tbank\n{line}\n"})
    with pytest.raises(CorpusError, match=r"bank/train\.data\.txt, line 2: not a token index, a tab and tokens"):
        load_coarsewsd(folder)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"train.gold.txt": "0\n"}, "bank: 2 sentences but 1 senses"),
        ({"train.gold.txt": "0\n7\n"}, r"bank/classes_map\.txt does not name the senses of train\.gold\.txt \('7'\)"),
        ({"classes_map.txt": "{"}, r"bank/classes_map\.txt"),
        ({"classes_map.txt": "[]"}, r"bank/classes_map\.txt"),
    ],
)
def test_senses_that_do_not_fit_are_named(write_word, files, message):
    with pytest.raises(CorpusError, match=message):
        load_coarsewsd(write_word("bank", LINES[:2], files))


def test_a_missing_folder_says_where_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match=f"no CoarseWSD-20 in {tmp_path}/coarsewsd-20; get it from https://"):
        load_coarsewsd()


@pytest.mark.skipif(not (data_folder() / "coarsewsd-20").is_dir(), reason="CoarseWSD-20 is not in $CTXEMB_DATA")
def test_the_published_files_can_be_read():
    tasks = load_coarsewsd()
    assert len(tasks) == 20
    targets = [
        text[start:].split(" ")[0] for task in tasks for text, start in zip(task.texts, task.starts, strict=True)
    ]
    words = [task.word for task in tasks for _ in task.texts]
    assert sum(target != word for target, word in zip(targets, words, strict=True)) <= 2  # two slips of the authors
    assert all(set(task.senses_S[task.is_dev]) <= set(task.senses_S[~task.is_dev]) for task in tasks)


# the dev part


def test_every_fifth_line_is_asked_about_and_no_other():
    assert np.flatnonzero(make_task("ab" * 6).is_dev).tolist() == [0, 5, 10]


def test_a_sense_that_only_the_dev_part_has_is_never_recognised():
    """With the dev part in the index, every use would be its own nearest neighbour."""
    task = make_task("xaaaaxaaaa")
    vectors = np.random.default_rng(0).normal(size=(10, 8))
    assert dev_recall(task, vectors) == 0


def test_recall_of_a_worked_example():
    # dev: a at 0, a at 5, b at 10; index: a points north, b points east
    task = make_task("aaabbaabbbbab")
    north, east = np.array([0.0, 1.0]), np.array([1.0, 0.0])
    vectors = np.array([north if sense == "a" else east for sense in task.senses_S])
    vectors += np.random.default_rng(0).normal(scale=0.01, size=vectors.shape)
    assert dev_recall(task, vectors) == 1
    vectors[5] = east  # one of two a's goes astray: (1/2 + 1) / 2
    assert dev_recall(task, vectors) == 0.75


def test_the_most_frequent_sense_is_right_about_one_sense_of_two():
    assert most_frequent_sense_recall(make_task("aaabbbaaab")) == 0.5  # dev: a, b; index: a 5, b 3
