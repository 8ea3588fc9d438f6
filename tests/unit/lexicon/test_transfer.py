"""Bytes in, entries out, and back."""

import pytest

from ctxemb.lexicon import Entry, LexiconError, find_lexicons, pairs_csv, read_upload


@pytest.mark.parametrize(
    ("name", "content", "entries"),
    [
        (
            "my.csv",
            b"kind,a,b\nsynonym,cell,jail\nantonym,hot,cold\n",
            [("synonym", ("cell", "jail")), ("antonym", ("hot", "cold"))],
        ),
        ("my.TSV", b"a\tkind\tb\ncell\tSynonym\tjail\n", [("synonym", ("cell", "jail"))]),
        ("my.txt", "苹果，蘋果\n".encode(), [("synonym", ("苹果", "蘋果"))]),
        ("graph.csv", b"entity,alias\nUSA,America\nAmerica,US\n", [("alias", ("USA", "America", "US"))]),
    ],
)
def test_every_kind_of_file_is_read(name: str, content: bytes, entries: list[tuple[str, tuple[str, ...]]]) -> None:
    assert [(entry.kind, entry.words) for entry in read_upload(name, content)] == entries


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("my.xlsx", b"PK", "^my.xlsx ends in none of .csv, .tsv, .txt"),
        ("my.csv", b"word,other\n", "^my.csv has no column 'kind'"),
        ("my.csv", b"kind,a,b\nsynonym,cell,\n", "^my.csv, line 2: a word is missing"),
        ("my.csv", b"kind,a,b\nfriend,cell,jail\n", "^my.csv, line 2: kind 'friend' is unknown"),
        ("my.csv", b"kind,a,b\n", "^my.csv has no pair"),
        ("my.csv", b"", "^my.csv is empty"),
        ("my.txt", b"cell jail\0\n", "^my.txt, line 1: holds a NUL"),
        ("my.txt", "Zelle, Gefängnis\n".encode("cp1252"), "^my.txt is not UTF-8"),
        ("../../etc/my.csv", b"a\n", "^my.csv has no column"),
    ],
)
def test_bad_files_are_refused_with_their_own_name(name: str, content: bytes, message: str) -> None:
    with pytest.raises(LexiconError, match=message):
        read_upload(name, content)


def test_pairs_come_back_as_they_went() -> None:
    entries = [Entry("synonym", ("cell", "jail")), Entry("antonym", ("热", "冷"))]
    assert read_upload("pairs.csv", pairs_csv(entries)) == entries


def test_named_lexicons_are_found_only_where_they_are(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    assert find_lexicons("en") == find_lexicons("zh") == []
    (tmp_path / "zh-lexicon").mkdir()
    (tmp_path / "zh-lexicon" / "cilin_ex.txt").touch()
    assert find_lexicons("zh") == []
    (tmp_path / "zh-lexicon" / "antisem.txt").touch()
    assert find_lexicons("zh") == ["cilin"]
