import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctxemb.corpora import CorpusError, open_corpus


def passages(path: Path, content: str | bytes, **options) -> list[str]:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(open_corpus(path, **options).passages())


TABLE = [{"id": 1, "text": "The bank, they say, approved.", "note": "a"}, {"id": 2, "text": "We sat.", "note": "b"}]
EXPECTED = ["The bank, they say, approved.", "We sat."]


def test_every_format_gives_the_same_rows(tmp_path):
    quoted = 'id,text,note\n1,"The bank, they say, approved.",a\n2,We sat.,b\n'
    assert passages(tmp_path / "a.csv", quoted) == EXPECTED
    assert passages(tmp_path / "a.csv.gz", gzip.compress(quoted.encode())) == EXPECTED
    assert passages(tmp_path / "e.csv", "id;text;note\n1;The bank, they say, approved.;a\n2;We sat.;b\n") == EXPECTED
    tabs = "id\ttext\tnote\n1\tThe bank, they say, approved.\ta\n2\tWe sat.\tb\n"
    assert passages(tmp_path / "a.tsv", tabs) == EXPECTED
    rows = "\n".join(json.dumps(row) for row in TABLE)
    assert passages(tmp_path / "a.jsonl", rows) == EXPECTED
    assert passages(tmp_path / "a.jsonl.gz", gzip.compress(rows.encode())) == EXPECTED
    pq.write_table(pa.Table.from_pylist(TABLE), tmp_path / "a.parquet")
    assert list(open_corpus(tmp_path / "a.parquet").passages()) == EXPECTED


@pytest.mark.parametrize(
    ("header", "row", "options", "expected"),
    [
        ("sentence,text", "s,t", {}, "t"),
        ("word,Sentence", "w,s", {}, "s"),
        ("id,review,stars", "7,fine,4.5", {}, "fine"),
        ("text,review", "t,r", {"text_column": "review"}, "r"),
    ],
)
def test_the_column_is_chosen(tmp_path, header, row, options, expected):
    assert passages(tmp_path / "a.csv", f"{header}\n{row}\n", **options) == [expected]
    names, cells = header.split(","), row.split(",")
    values = {name: float(cell) if cell[0].isdigit() else cell for name, cell in zip(names, cells, strict=True)}
    assert passages(tmp_path / "a.jsonl", json.dumps(values), **options) == [expected]
    pq.write_table(pa.Table.from_pylist([values]), tmp_path / "a.parquet")
    assert list(open_corpus(tmp_path / "a.parquet", **options).passages()) == [expected]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.parquet"])
def test_a_column_that_cannot_be_found_lists_those_there_are(tmp_path, name):
    path = tmp_path / name
    match path.suffix:
        case ".csv":
            path.write_text("word,gloss\nbank,a slope\n")
        case ".jsonl":
            path.write_text('{"word": "bank", "gloss": "a slope"}\n')
        case _:
            pq.write_table(pa.table({"word": ["bank"], "gloss": ["a slope"]}), path)
    with pytest.raises(CorpusError, match="which column holds the text\\? Name one of 'word', 'gloss'"):
        open_corpus(path)
    with pytest.raises(CorpusError, match="has no column 'text'; its columns are 'word', 'gloss'"):
        open_corpus(path, text_column="text")


def test_a_quoted_cell_may_hold_line_ends_and_quotes(tmp_path):
    assert passages(tmp_path / "a.csv", 'text\n"two\nlines, ""quoted"""\nplain\n') == ['two\nlines, "quoted"', "plain"]


def test_a_tsv_has_no_quoting(tmp_path):
    assert passages(tmp_path / "a.tsv", 'text\tn\n"open quote\t1\nnext\t2\n') == ['"open quote', "next"]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path):
    assert passages(tmp_path / "a.csv", "\ufefftext\nbank\n") == ["bank"]
    assert passages(tmp_path / "b.jsonl", '\ufeff{"text": "bank"}\n') == ["bank"]


def test_missing_cells_are_left_out(tmp_path):
    assert passages(tmp_path / "a.csv", "text,n\n,1\nbank,2\n\n") == ["bank"]
    assert passages(tmp_path / "a.jsonl", '{"text": "bank"}\n\n{"text": null}\n{"n": 1}\n') == ["bank"]
    pq.write_table(pa.table({"text": ["bank", None, ""]}), tmp_path / "a.parquet")
    assert list(open_corpus(tmp_path / "a.parquet").passages()) == ["bank"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.csv", "", "a.csv is empty; the first line has to name the columns"),
        ("a.jsonl", "\n", "a.jsonl is empty; write one JSON object a line"),
        ("a.csv", "n,text\n1,a\n2\n", "a.csv, line 3: has 1 cells, and 'text' is column 2; mend that row"),
        ("a.csv", 'text\ngood\n"no end\n', "a.csv, line 3: unexpected end of data; mend the quotation marks"),
        ("a.csv", 'text\n"' + "a\n" * 100_000, "field larger than field limit"),
        ("a.csv", b"text\ngood\nb\0d\n", "a.csv, line 3: holds a NUL"),
        ("a.jsonl", '{"text": "a"}\n{"text": \n', "a.jsonl, line 2: not JSON"),
        ("a.jsonl", '{"text": "a"}\n' + "[" * 100_000, "a.jsonl, line 2: not JSON"),
        ("a.jsonl", '["a"]\n', "a.jsonl, line 1: not a JSON object"),
        ("a.jsonl", '{"text": "a"}\n{"text": 3}\n', "a.jsonl, line 2: 'text' holds int, not text"),
        ("a.jsonl", '{"text": "a\\u0000"}\n', "a.jsonl, line 1: holds a NUL"),
        ("a.jsonl", '{"text": "a\\ud800"}\n', "a.jsonl, line 1, character 2: not UTF-8 text"),
        ("a.jsonl", '{"text": "' + "a" * 1_000_001, "line 1: longer than 1,000,000 characters"),
        ("a.parquet", b"PAR1 but no more", "a.parquet is not a Parquet table"),
        ("a.parquet.gz", gzip.compress(b"PAR1", mtime=0), "compressed inside; unpack the .gz"),
    ],
)
def test_bad_tables_get_one_sentence_with_the_place(tmp_path, name, content, message):
    with pytest.raises(CorpusError, match=message):
        passages(tmp_path / name, content)


def test_a_parquet_column_of_numbers_is_refused(tmp_path):
    pq.write_table(pa.table({"text": [1, 2]}), tmp_path / "a.parquet")
    with pytest.raises(CorpusError, match="column 'text' holds int64, not text"):
        open_corpus(tmp_path / "a.parquet")


def test_a_damaged_parquet_table_says_how_far_it_was_read(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": [f"passage {i}" for i in range(5_000)]}), path, compression="none")
    content = bytearray(path.read_bytes())
    content[100:30_000] = b"\xff" * 29_900
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"a.parquet, .*row \d+"):
        list(open_corpus(path).passages())
