"""Sentences from examples, pasted lines, files and links, good and bad."""

import base64
import zlib

import pandas as pd
import pytest

from ctxemb.comparison import Sentence
from ctxemb.sentence_list import (
    MAX_CHARACTERS,
    MAX_FILE_BYTES,
    MAX_LINK_CHARACTERS,
    MAX_SENTENCES,
    SentenceListError,
    blank_table,
    example_table,
    from_link,
    join_tables,
    label_uses,
    make_table,
    read_file,
    read_pasted,
    read_table,
    to_link,
)


def sentences(table: pd.DataFrame) -> list[tuple[str, str | None]]:
    return [(s.text, s.sense) for s in read_table(table)[0]]


def test_examples_use_four_sentences_a_sense_and_hold_all() -> None:
    table = example_table("bank")
    assert table[table.use].groupby("sense").size().to_dict() == {"money": 4, "river": 4}
    assert len(table) > 8


def test_read_table_leaves_out_what_is_not_in_use_or_empty() -> None:
    table = make_table(["A bank .", " ", "B bank .", "C bank ."], ["money", "", "  ", "money"], [1, 1, 2, 1])
    table = table.astype(object)
    table.loc[3, "use"] = False
    table.loc[4] = [None, None, None, None]  # as the browser adds a row
    assert read_table(table) == ([Sentence("A bank .", "money", 1), Sentence("B bank .", None, 2)], [])
    assert read_table(blank_table()) == ([], [])


def test_read_table_says_what_is_too_long_or_too_much() -> None:
    found, problems = read_table(make_table(["x" * (MAX_CHARACTERS + 1), "A bank ."], ["", ""]))
    assert [s.text for s in found] == ["A bank ."]
    assert "2,001 characters" in problems[0]
    found, problems = read_table(make_table(["A bank ."] * (MAX_SENTENCES + 50), [""] * (MAX_SENTENCES + 50)))
    assert len(found) == MAX_SENTENCES
    assert "first 200 of 250" in problems[0]


def test_pasted_lines_and_spreadsheet_columns() -> None:
    assert sentences(read_pasted("A bank .\n\n  B bank .  \r\nriver\tC bank .")) == [
        ("A bank .", None),
        ("B bank .", None),
        ("C bank .", "river"),
    ]
    assert read_pasted(" \n ").empty


def test_join_drops_blank_rows() -> None:
    assert sentences(join_tables(blank_table(), read_pasted("A bank ."))) == [("A bank .", None)]
    assert len(join_tables(blank_table(), read_pasted("A bank ."))) == 1


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", b"A bank .\n\nB bank .\n", [("A bank .", None), ("B bank .", None)]),
        ("a.csv", b"sense,sentence\nmoney,A bank .\n,B bank .\n", [("A bank .", "money"), ("B bank .", None)]),
        ("a.csv", b'Sentence;Sense\n"A; bank .";river\n', [("A; bank .", "river")]),
        ("a.tsv", b"sentence\tother\nA bank .\t7\n", [("A bank .", None)]),
        ("a.csv", b"sense,sentence\nmoney\nriver,A bank .\n", [("A bank .", "river")]),
        (
            "a.txt",
            "Ein Café an der Bank, wo Müller saß .".encode("cp1252"),
            [("Ein Café an der Bank, wo Müller saß .", None)],
        ),
        ("a.txt", "A bank — yes .".encode("utf-16"), [("A bank — yes .", None)]),
    ],
)
def test_read_file(name: str, content: bytes, expected: list[tuple[str, str | None]]) -> None:
    assert sentences(read_file(name, content)) == expected


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.csv", b"word,text\nbank,A bank .\n", "my.csv has no column “sentence”; its columns are “word”, “text”"),
        ("my.csv", b"", "my.csv is empty"),
        ("my.txt", b" \n", "my.txt holds no sentence"),
        ("my.csv", b"sentence\n", "my.csv holds no sentence"),
        ("my.txt", b"A bank .\nB\0bank .", "my.txt, line 2: holds a NUL"),
        ("my.csv", b'sentence\n"A bank .\n', "my.csv, line"),
        ("my.txt", b"PK\x03\x04rest", "my.txt holds a zip archive"),
        ("my.txt", b"x" * (MAX_FILE_BYTES + 1), "my.txt has 2,097,153 bytes"),
        ("../../etc/my.csv", b"word\nbank\n", "^my.csv has no column"),
    ],
)
def test_bad_files_are_refused_with_their_name_and_reason(name: str, content: bytes, message: str) -> None:
    with pytest.raises(SentenceListError, match=message):
        read_file(name, content)


def test_link_round_trip() -> None:
    given = [Sentence("The bank of the “Río” 😀 .", "river", 2), Sentence("<script>", None, 1)]
    link = to_link(given)
    assert link is not None
    assert set(link) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    assert read_table(from_link(link)) == (given, [])


def test_sentences_too_long_for_a_link_have_none() -> None:
    numbers = " ".join(str(i * 7919 % 100_003) for i in range(3_000))
    assert to_link([Sentence(numbers)]) is None
    examples, _ = read_table(example_table("bank"))
    assert len(to_link(examples) or "") < MAX_LINK_CHARACTERS / 2


def pack(content: bytes) -> str:
    return base64.urlsafe_b64encode(zlib.compress(content, 9)).decode()


@pytest.mark.parametrize(
    "link",
    [
        "%%%",
        "é",
        "abc",
        "A" * (MAX_LINK_CHARACTERS + 1),
        pack(b'[["A bank .", "", 1]]')[:-6],
        pack(b'[["A bank .", "", "many"]]'),
        pack(b'{"a": 1}'),
        pack(b"[" * 100_000),
        pack(b'[["' + b"x" * 10_000_000 + b'", "", 1]]')[:MAX_LINK_CHARACTERS],
        pack(b'[["' + b"x" * 600_000 + b'", "", 1]]'),
    ],
)
def test_hostile_links_are_refused(link: str) -> None:
    with pytest.raises(SentenceListError, match="cannot be read"):
        from_link(link)


def test_labels_number_each_sense() -> None:
    assert label_uses(["money", "river", "money", None, None]) == ["money 1", "river 1", "money 2", "use 1", "use 2"]
    assert label_uses(["money", None], has_own=True) == ["money 1", "yours"]
    assert label_uses([]) == []
