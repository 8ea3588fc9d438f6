import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from ctxemb import Encoder, Encoding
from ctxemb.export import write_encodings

SENTENCES = [
    "The old bank approved the loan .",
    "",
    "the zyzzyva saw the bank beside the Bank .",
    "🍕 дом Ы\udce9.",
]


@pytest.fixture
def encodings(encoder: Encoder) -> list[Encoding]:
    return encoder.encode(SENTENCES)


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """The columns of a written file, whichever its format."""
    if path.suffix == ".npz":
        with np.load(path) as file:
            return dict(file)
    table = pq.read_table(path)
    vectors = np.array(table["vector"].to_pylist(), dtype=np.float32)
    return {name: table[name].to_numpy() for name in table.column_names if name != "vector"} | {"vector": vectors}


def width_of(encoder: Encoder) -> int:
    return encoder.config.model.width


@pytest.mark.parametrize("ending", [".parquet", ".npz"])
def test_every_token_is_a_row(encoder, encodings, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    num_rows = write_encodings(encodings, path, width_of(encoder))
    columns = read_columns(path)
    assert list(columns) == ["sentence", "position", "token", "start", "end", "oov", "vector"]
    tokens = [(s, t) for s, encoding in enumerate(encodings) for t in range(len(encoding.tokens))]
    assert num_rows == len(tokens) == 21
    assert list(zip(columns["sentence"], columns["position"], strict=True)) == tokens
    for row, (sentence, position) in enumerate(tokens):
        encoding = encodings[sentence]
        assert columns["token"][row] == encoding.tokens[position].replace("\udce9", "?")
        assert (columns["start"][row], columns["end"][row]) == encoding.spans[position]
        assert columns["oov"][row] == encoding.oov[position]
        np.testing.assert_array_equal(columns["vector"][row], encoding.vectors[position])
    assert columns["vector"].dtype == np.float32
    assert columns["vector"].shape == (num_rows, width_of(encoder))


def test_both_formats_hold_the_same(encoder, encodings, tmp_path):
    found = []
    for path in (tmp_path / "out.parquet", tmp_path / "out.npz"):
        write_encodings(encodings, path, width_of(encoder))
        found.append(read_columns(path))
    for name in found[0]:
        np.testing.assert_array_equal(found[0][name], found[1][name])


@pytest.mark.parametrize("ending", [".parquet", ".npz"])
def test_only_the_rows_of_a_word(encoder, encodings, tmp_path, ending):
    path = tmp_path / f"out{ending}"
    assert write_encodings(encodings, path, width_of(encoder), word="BANK") == 3
    columns = read_columns(path)
    assert columns["token"].tolist() == ["bank", "bank", "Bank"]
    assert columns["sentence"].tolist() == [0, 2, 2]
    assert columns["position"].tolist() == [2, 4, 7]


@pytest.mark.parametrize("ending", [".parquet", ".npz"])
def test_a_long_stream_is_written_in_parts(encoder, tmp_path, ending, monkeypatch):
    monkeypatch.setattr("ctxemb.export.SENTENCES_PER_WRITE", 2)
    (bank, nothing, house) = encoder.encode(["the bank .", "", "a plant"])
    order = [bank, house, nothing, nothing, bank, nothing, house]
    whole = [encoding.vectors for encoding in order]
    path = tmp_path / f"out{ending}"
    assert write_encodings(iter(order), path, width_of(encoder)) == 10
    columns = read_columns(path)
    np.testing.assert_array_equal(columns["vector"], np.concatenate(whole))
    assert columns["sentence"].tolist() == [0, 0, 0, 1, 1, 4, 4, 4, 6, 6]
    if ending == ".parquet":
        assert pq.ParquetFile(path).num_row_groups == 3  # the second of four parts has no word


def test_a_stream_is_consumed_only_as_it_is_written(encoder, tmp_path, monkeypatch):
    """What is held at once is one part, however long the stream."""
    monkeypatch.setattr("ctxemb.export.SENTENCES_PER_WRITE", 2)
    written: list[int] = []
    tables = pq.ParquetWriter.write_table
    monkeypatch.setattr(pq.ParquetWriter, "write_table", lambda *a, **k: (written.append(1), tables(*a, **k)))
    (bank,) = encoder.encode(["the bank ."])
    seen_before: list[int] = []

    def stream() -> Iterator[Encoding]:
        for _ in range(8):
            seen_before.append(len(written))
            yield bank

    write_encodings(stream(), tmp_path / "out.parquet", width_of(encoder))
    assert seen_before == [0, 0, 1, 1, 2, 2, 3, 3]


def test_one_long_token_does_not_widen_all_others(encoder, tmp_path):
    """A numpy array of strings gives each the room of the longest: 40 kB for every token of the file."""
    encodings = encoder.encode(["the bank " + "x" * 10_000])
    found = {}
    for ending in (".parquet", ".npz"):
        write_encodings(encodings, tmp_path / f"out{ending}", width_of(encoder))
        found[ending] = read_columns(tmp_path / f"out{ending}")
    assert found[".parquet"]["token"].tolist() == ["the", "bank", "x" * 10_000]
    assert found[".npz"]["token"].tolist() == ["the", "bank", "x" * 64]
    assert found[".npz"]["token"].dtype == "U64"
    assert found[".npz"]["end"].tolist() == found[".parquet"]["end"].tolist() == [3, 8, 10_009]


# whole or not at all


@pytest.mark.parametrize("name", ["out.csv", "out", "out.parquet.gz", ".parquet"])
def test_another_ending_is_refused_before_anything_is_encoded(encoder, tmp_path, name):
    def stream() -> Iterator[Encoding]:
        pytest.fail("the stream was read")
        yield

    with pytest.raises(ValueError, match=re.escape("the output file ends in .parquet or .npz")):
        write_encodings(stream(), tmp_path / name, width_of(encoder))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".parquet", ".npz"])
@pytest.mark.parametrize(
    ("sentences", "word", "message"),
    [
        ([], None, "no sentence has a token"),
        (["", " "], None, "no sentence has a token"),
        (SENTENCES, "river", "“river” does not occur"),
    ],
)
def test_nothing_to_write_leaves_no_file(encoder, tmp_path, ending, sentences, word, message):
    with pytest.raises(ValueError, match=f"there is nothing to write to .*out{ending}: {message}"):
        write_encodings(encoder.encode(sentences), tmp_path / f"out{ending}", width_of(encoder), word)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".parquet", ".npz"])
@pytest.mark.parametrize("error", [ValueError("line 3"), KeyboardInterrupt()])
def test_a_stream_that_breaks_leaves_the_earlier_file_and_no_rubbish(
    encoder, encodings, tmp_path, ending, error, monkeypatch
):
    monkeypatch.setattr("ctxemb.export.SENTENCES_PER_WRITE", 1)

    def stream() -> Iterator[Encoding]:
        yield from encodings
        raise error

    path = tmp_path / f"out{ending}"
    write_encodings(encodings[:1], path, width_of(encoder))
    before = path.read_bytes()
    with pytest.raises(type(error)):
        write_encodings(stream(), path, width_of(encoder))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_earlier_file_is_replaced_and_folders_are_made(encoder, encodings, tmp_path):
    path = tmp_path / "new" / "folder" / "out.npz"
    write_encodings(encodings, path, width_of(encoder))
    write_encodings(encodings[:1], path, width_of(encoder))
    assert len(read_columns(path)["token"]) == 7
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o777 == 0o644
