"""Uploads for the map, good and bad; vectors as `encode` writes them."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctxemb import Encoder
from ctxemb.context_files import ContextFileError, holds_vectors, read_contexts, read_vectors
from ctxemb.export import write_encodings

ROWS = [["The bank .", "bank", "money"], ["A river <b>bank</b>", "bank", ""]]


def parquet(**columns: object) -> bytes:
    stream = BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("my.csv", b"Sentence,word,sense\nThe bank .,bank,money\nA river <b>bank</b>,bank,\n"),
        ("my.tsv", b"word\tsense\tsentence\nbank\tmoney\tThe bank .\nbank\t\tA river <b>bank</b>\n"),
        (
            "my.jsonl",
            b'{"text": "The bank .", "word": "bank", "sense": "money"}\n'
            b'{"text": "A river <b>bank</b>", "word": "bank"}',
        ),
        (
            "my.parquet",
            parquet(sentence=["The bank .", "A river <b>bank</b>"], word=["bank"] * 2, sense=["money", None]),
        ),
    ],
)
def test_every_kind_of_table_gives_the_same_rows(name: str, content: bytes) -> None:
    assert not holds_vectors(name, content)
    table = read_contexts(name, content)
    assert table[["sentence", "word", "sense"]].to_numpy().tolist() == ROWS
    assert table.start.tolist() == [-1, -1]


def test_a_text_has_a_sentence_a_line_and_no_words() -> None:
    table = read_contexts("my.txt", "One bank .\n\nTwo 苹果 .\n".encode())
    assert table.sentence.tolist() == ["One bank .", "Two 苹果 ."]
    assert table.word.tolist() == ["", ""]


def test_over_long_sentences_are_left_out() -> None:
    table = read_contexts("my.txt", b"short bank\n" + b"x" * 2001 + b"\n")
    assert table.sentence.tolist() == ["short bank"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("my.csv", b"word,other\nbank,x\n", "my.csv has no column “sentence”; its columns are “word”, “other”"),
        ("my.csv", b"", "my.csv is empty"),
        ("my.txt", b"\n\n", "my.txt holds no sentence"),
        ("my.csv", b"sentence\n", "my.csv holds no sentence"),
        ("my.jsonl", b"[1]\n", "my.jsonl, line 1: not a JSON object"),
        ("my.jsonl", b"", "my.jsonl"),
        ("my.txt", b"PK\x03\x04rest", "zip archive"),
        ("my.parquet", b"no parquet", "my.parquet is not a Parquet table"),
        ("my.parquet", parquet(number=[1, 2]), "my.parquet: which column holds the text"),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_it(name: str, content: bytes, said: str) -> None:
    with pytest.raises(ContextFileError, match="my") as caught:
        read_contexts(name, content)
    assert said in str(caught.value)
    assert "/tmp" not in str(caught.value)


def test_vectors_come_back_as_encode_wrote_them(encoder: Encoder, tmp_path: Path) -> None:
    path = tmp_path / "out.parquet"
    encodings = encoder.encode(["the old bank approved the zyzzyva .", "the green plant ."])
    write_encodings(encodings, path, encoder.config.model.width)
    content = path.read_bytes()
    assert holds_vectors("out.parquet", content)
    contexts, num_rows = read_vectors("out.parquet", content)
    tokens = [token for e in encodings for token in e.tokens]
    oov = np.concatenate([e.oov for e in encodings])
    assert contexts.table.word.tolist() == [token for token, unknown in zip(tokens, oov, strict=True) if not unknown]
    np.testing.assert_array_equal(contexts.vectors_ND, np.concatenate([e.vectors for e in encodings])[~oov])
    assert contexts.table.sentence.iloc[0] == "sentence 0"
    assert num_rows == len(contexts.table)
    assert contexts.problems == (f"{oov.sum()} rows of out.parquet are words out of the vocabulary, and left out",)


def test_a_sample_of_many_vectors_keeps_rows_and_vectors_together() -> None:
    numbers = np.arange(1000, dtype=np.float64)
    content = parquet(token=[f"w{int(n)}" for n in numbers], vector=[[n, -n] for n in numbers], sense=["s"] * 1000)
    contexts, num_rows = read_vectors("v.parquet", content, limit=50, seed=3)
    assert num_rows == 1000
    assert len(contexts.table) == 50
    assert contexts.table.sense.eq("s").all()
    np.testing.assert_array_equal(contexts.vectors_ND[:, 0], contexts.table.word.str[1:].astype(float))
    np.testing.assert_array_equal(contexts.table.index, contexts.vectors_ND[:, 0])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"vector": [[1.0]]}, "has no column “token” or “word”"),
        ({"token": ["a", "b"], "vector": [[1.0], [float("nan")]]}, "v.parquet, row 2 (“b”): its vector holds NaN"),
        ({"token": ["a", "b"], "vector": [[1.0], [None]]}, "row 2 (“b”): its vector holds NaN"),
        ({"token": ["a", "b"], "vector": [[1.0], [1.0, 2.0]]}, "one length for all, and have 1, 2"),
        ({"token": ["a", "b"], "vector": [[1.0], None]}, "one length for all, and have 1, missing"),
        ({"token": ["a"], "vector": [[]]}, "holds lists of null, not of numbers"),
        ({"token": ["a"], "vector": [[1.0]], "oov": [True]}, "one length for all, and have no row"),
        ({"token": ["a"], "vector": ["x"]}, "holds string, not lists of numbers"),
        ({"token": ["a"], "vector": [["x"]]}, "holds lists of string, not of numbers"),
    ],
)
def test_bad_vectors_are_refused_with_their_row(columns: dict[str, object], said: str) -> None:
    with pytest.raises(ContextFileError) as caught:
        read_vectors("v.parquet", parquet(**columns))
    assert said in str(caught.value)


def test_sampling_makes_of_100_000_rows_what_can_be_drawn() -> None:
    content = ("sentence,word\n" + "the bank approved it .,bank\n" * 100_000).encode()
    assert len(read_contexts("big.csv", content)) == 100_000
