import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from ctxemb import Encoder
from ctxemb.checkpoint import load_checkpoint
from ctxemb.foreign import VectorFileError, import_word_vectors, vector_file, word_vectors
from ctxemb.text import NUM_SPECIAL, SPECIAL_TOKENS, UNK

WORDS = ["the", "bank", "river", "New_York", "café", "x" * 300]
GLOVE = b"the 0.1 0.2\nbank -1 2e-1\nriver .5 3\n"


def make_vectors(num_words: int, size: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(num_words, size)).astype(np.float32)


def gensim_vectors(words: list[str], size: int = 20) -> KeyedVectors:
    vectors = KeyedVectors(size)
    vectors.add_vectors(words, make_vectors(len(words), size))
    return vectors


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write(content: bytes, name: str = "vectors.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.fixture
def refused(write: Callable[..., Path], tmp_path: Path) -> Callable[..., str]:
    """`refused(b"...")`: the one sentence with which a file is refused; nothing is left behind."""

    def refused(content: bytes, name: str = "vectors.txt", **options: object) -> str:
        path = write(content, name)
        with pytest.raises(VectorFileError) as error:
            import_word_vectors(path, tmp_path / "out", **options)
        assert [left.name for left in tmp_path.iterdir()] == [name]
        message = str(error.value)
        assert message.count(str(path)) == 1
        assert "\n" not in message
        return message

    return refused


# what gensim has written comes back


@pytest.mark.parametrize("packing", ["", ".gz"])
@pytest.mark.parametrize(("binary", "header"), [(False, True), (True, True), (False, False)])
def test_a_file_of_gensim_comes_back(tmp_path, binary, header, packing):
    written = gensim_vectors(WORDS)
    path = tmp_path / f"vectors{packing}"
    written.save_word2vec_format(str(path), binary=binary, write_header=header)
    report = import_word_vectors(path, tmp_path / "out", lowercase=False)
    kind = "GloVe text" if not header else "word2vec binary" if binary else "word2vec text"
    assert (report.file, report.kind, report.num_words, report.vector_size) == (path.name, kind, 6, 20)
    loaded = load_checkpoint(tmp_path / "out")
    assert loaded.config.family == "static"
    assert [loaded.tokenizer.word(i) for i in range(len(loaded.tokenizer))] == [*SPECIAL_TOKENS, *WORDS]
    table = loaded.model.word_vectors().numpy()
    np.testing.assert_array_equal(table[NUM_SPECIAL:], written.vectors)
    assert not table[:NUM_SPECIAL].any()
    if header:  # without one, gensim leaves the file open
        again = KeyedVectors.load_word2vec_format(str(path), binary=binary)
        for word in WORDS:
            np.testing.assert_array_equal(table[loaded.tokenizer.word_id(word)], again[word])


@pytest.mark.parametrize("size", [2, 3, 50, 300])
@pytest.mark.parametrize("binary", [False, True])
def test_text_and_binary_are_told_apart_whatever_the_numbers(tmp_path, size, binary):
    written = KeyedVectors(size)
    written.add_vectors(["a", "b", "c"], np.stack([np.zeros(size), np.full(size, 0.1), make_vectors(1, size)[0]]))
    path = tmp_path / "vectors"
    written.save_word2vec_format(str(path), binary=binary)
    assert import_word_vectors(path, tmp_path / "out").kind == ("word2vec binary" if binary else "word2vec text")


def test_the_original_program_ends_a_binary_vector_with_a_new_line(write, tmp_path):
    vectors = make_vectors(3, 5)
    records = (word + b" " + vector.tobytes() + b"\n" for word, vector in zip((b"a", b"b", b"c"), vectors, strict=True))
    path = write(b"3 5\n" + b"".join(records), "vectors.bin")
    assert import_word_vectors(path, tmp_path / "out").num_words == 3
    np.testing.assert_array_equal(load_checkpoint(tmp_path / "out").model.word_vectors()[NUM_SPECIAL:], vectors)


@pytest.mark.parametrize(
    "content",
    [
        GLOVE,
        GLOVE.replace(b"\n", b"\r\n"),
        GLOVE.replace(b"\n", b" \n"),
        GLOVE.replace(b" ", b"\t"),
        GLOVE.removesuffix(b"\n"),
        b"\xef\xbb\xbf" + GLOVE,
        b"3 2\n" + GLOVE + b"\n\n",
        b"3\t2 \r\n" + GLOVE,
    ],
)
def test_small_differences_of_writing_do_not_matter(write, tmp_path, content):
    import_word_vectors(write(content), tmp_path / "out")
    loaded = load_checkpoint(tmp_path / "out")
    assert [loaded.tokenizer.word(i) for i in range(4, 7)] == ["the", "bank", "river"]
    np.testing.assert_allclose(loaded.model.word_vectors()[4:], [[0.1, 0.2], [-1, 0.2], [0.5, 3]])


# words


def test_what_is_left_out_is_counted_and_recorded(write, tmp_path):
    content = (
        b"Bank 1 2\nbank 3 4\nBANK 5 6\nriver 1 1\nriver 2 2\ncaf\xe9 1 2\n<unk> 9 9\n<pad> 9 9\nNew_York 1 2\n"
        b". . . 1 3\n2000 7 8\n"
    )
    report = import_word_vectors(write(content), tmp_path / "out")
    loaded = load_checkpoint(tmp_path / "out")
    assert [loaded.tokenizer.word(i) for i in range(4, 9)] == ["bank", "river", "new_york", ". . .", "2000"]
    np.testing.assert_array_equal(loaded.model.word_vectors()[4:6], [[1, 2], [1, 1]])  # the first wins
    assert loaded.metrics["import"] == {
        "file": "vectors.txt",
        "kind": "GloVe text",
        "num_words": 5,
        "vector_size": 2,
        "num_repeated": 3,
        "num_undecodable": 1,
        "num_reserved": 2,
        "num_never_read": 2,
    }
    assert "5 words of 2 numbers from vectors.txt (GloVe text); left out: 3 repeated, 1 not UTF-8, 2" in str(report)


def test_case_is_kept_if_asked_for(write, tmp_path):
    report = import_word_vectors(write(b"Bank 1 2\nbank 3 4\n"), tmp_path / "out", lowercase=False)
    assert (report.num_words, report.num_repeated) == (2, 0)
    (encoding,) = Encoder.load(tmp_path / "out", device="cpu").encode(["Bank bank BANK"])
    assert encoding.ids.tolist() == [4, 5, UNK]


def test_chinese_words_are_looked_up_as_rjieba_cuts_them(write, tmp_path):
    content = "银行 1 2\n我 3 4\n银行的行长 5 6\nＧｏｏｇｌｅ 7 8\n2000 9 9\n".encode()
    report = import_word_vectors(write(content), tmp_path / "out", language="zh")
    assert (report.num_words, report.num_never_read) == (5, 2)
    (encoding,) = Encoder.load(tmp_path / "out", device="cpu").encode(["我在Google银行"])
    assert encoding.tokens == ["我", "在", "Google", "银行"]
    np.testing.assert_array_equal(encoding.vectors, [[3, 4], [0, 0], [7, 8], [1, 2]])


@pytest.mark.parametrize("content", [GLOVE, b"3 2\n" + GLOVE])
def test_only_the_first_words_are_kept(write, tmp_path, content):
    damaged_later = content.replace(b"river .5 3", b"river nan 3")
    report = import_word_vectors(write(damaged_later), tmp_path / "out", max_words=2)
    assert report.num_words == 2
    assert load_checkpoint(tmp_path / "out").config.model.vocabulary_size == NUM_SPECIAL + 2


def test_a_chunk_boundary_changes_nothing(write, tmp_path, monkeypatch):
    monkeypatch.setattr(word_vectors, "WORDS_PER_CHUNK", 3)
    monkeypatch.setattr(vector_file, "BYTES_PER_READ", 7)
    vectors, done = make_vectors(8, 4), []
    lines = [f"word{'abcdefgh'[i]} {' '.join(map(str, vectors[i].tolist()))}" for i in range(8)]
    report = import_word_vectors(write("\n".join(lines).encode()), tmp_path / "out", on_progress=done.append)
    assert (report.num_words, report.num_never_read, done) == (8, 0, [3, 6])
    np.testing.assert_array_equal(load_checkpoint(tmp_path / "out").model.word_vectors()[4:], vectors)


# files that cannot be used


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has an empty first line"),
        (b"\n\n", "has an empty first line"),
        (b"0 5\n", "line 1: declares 0 words"),
        (b"3 0\n" + GLOVE, "line 1: says that a vector has 0 numbers; from 1 to 4,096 are read"),
        (b"3 5000\n" + GLOVE, "line 1: says that a vector has 5,000 numbers"),
        (b"900000000000 2\n" + GLOVE, "line 1: declares 900,000,000,000 words of 2 numbers, at least 5,399,999"),
        (b"4 2\n" + GLOVE, "ends after 3 of the 4 words that line 1 declares; copy it again"),
        (b"2 2\n" + GLOVE, "line 4 follows the 2 words that line 1 declares; correct line 1"),
        (b"a letter\nof words\n", "line 1: is neither a header (number of words, numbers a word) nor a word"),
        (b"word\n", "line 1: is neither"),
        ("the 0.1\n".encode("utf-16"), "line 1: is neither"),
        (GLOVE + b"loan 1\n", "line 4 has 1 numbers after its word, not 2 like the others"),
        (GLOVE + b"loan 1 2 3\n", "line 4 has 3 numbers after its word, not 2 like the others"),
        (GLOVE + b"loan\n", "line 4 has 0 numbers"),
        (GLOVE + b"loan one 2\n", "line 4: could not convert string to float: b'one'"),
        (GLOVE + b"loan 1 " + b"x" * 9_000, "line 4: could not convert string to float: b'xxx"),
        (GLOVE + b"loan nan 2\n", "line 4: holds the number nan; from -10,000 to 10,000 are read"),
        (GLOVE + b"loan 2 -inf\n", "line 4: holds the number -inf"),
        (GLOVE + b"loan 1e39 2\n", "line 4: holds the number 1e+39"),
        (GLOVE + b"w" * 1_001 + b" 1 2\n", "line 4: the word is longer than 1,000 bytes"),
        (GLOVE + b"w" * 300_000, "line 4 is longer than 262,144 bytes"),
        (b"w" * 300_000, "line 1 is longer than 262,144 bytes"),
        (b"caf\xe9 1 2\n\xff 1 2\n", "has no word that can be kept; give a file of words in UTF-8"),
        (b"PK\x03\x04" + GLOVE, "holds a zip archive"),
        (gzip.compress(GLOVE), "holds gzip data inside a file that does not say so"),
    ],
)
def test_a_text_that_cannot_be_used_is_named(refused, content, message):
    said = refused(content)
    assert message in said
    assert len(said) < 400


BINARY = b"2 3\n" + b"".join(w + b" " + v.tobytes() for w, v in zip((b"a", b"b"), make_vectors(2, 3), strict=True))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (BINARY[:-1], "word 2 of 2: no word with 3 numbers of 4 bytes is here; the file is cut short or damaged"),
        (BINARY + b"\nmore", "goes on after the 2 words it declares"),
        (b"3 3" + BINARY[3:], "line 1: declares 3 words of 3 numbers, at least 39 bytes, but only 28 follow"),
        (BINARY.replace(b"a ", b"a" * 1_002 + b" "), "word 1 of 2: no word with 3 numbers of 4 bytes is here"),
        (b"1 1\na " + np.float32(np.nan).tobytes(), "word 1: holds the number nan"),
        (b"1 2\na " + np.array([1, 1e30], "f").tobytes(), "word 1: holds the number 1e+30"),
    ],
)
def test_a_binary_file_that_cannot_be_used_is_named(refused, content, message):
    assert message in refused(content, "vectors.bin")


def test_a_packed_file_that_is_cut_short_is_refused(write, tmp_path):
    path = write(b"3 2\n" + GLOVE, "cut.gz")
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(VectorFileError, match=r"cut\.gz, line \d: the file cannot be read on .*; copy it again"):
        import_word_vectors(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_packed_header_that_declares_too_much_is_refused(refused):
    message = refused(b"900000000 300\n" + GLOVE, "vectors.gz")
    assert "holds more words than the 1,999,996 of 300 numbers that a checkpoint can hold" in message


def test_a_packed_file_that_grows_without_end_is_refused(refused, monkeypatch):
    monkeypatch.setattr(vector_file, "MAX_UNPACKED_BYTES", 100_000)
    monkeypatch.setattr(vector_file, "BYTES_PER_READ", 10_000)
    assert "more than 100,000 bytes are not read" in refused(GLOVE * 10_000, "vectors.gz")
    assert "more than 100,000 bytes are not read" in refused(GLOVE + b"\n" * 200_000, "vectors.gz")


def test_what_a_packed_header_declares_is_not_allocated(write, tmp_path):
    """1.9 million words of 1,000 numbers would be 7.6 GB."""
    import tracemalloc

    path = write(b"1900000 1000\n" + GLOVE, "vectors.gz")
    tracemalloc.start()
    with pytest.raises(VectorFileError):
        import_word_vectors(path, tmp_path / "out")
    assert tracemalloc.get_traced_memory()[1] < 20_000_000
    tracemalloc.stop()


def test_more_words_than_a_checkpoint_holds_are_refused(refused, write, tmp_path, monkeypatch):
    monkeypatch.setattr(word_vectors, "MAX_VOCABULARY", NUM_SPECIAL + 2)
    for content in (GLOVE, b"3 2\n" + GLOVE):
        assert refused(content).endswith("keep the first ones with --max-words, at most 2")
    assert "at most 2" in refused(GLOVE, max_words=3)
    assert import_word_vectors(write(GLOVE), tmp_path / "out", max_words=2).num_words == 2


def test_words_that_would_make_an_unreadable_tokenizer_file_are_refused(refused, monkeypatch):
    monkeypatch.setattr(word_vectors, "MAX_TEXT_FILE_BYTES", 100)
    assert re.search(r"make a tokenizer of [\d,]+ bytes; at most 100 are read: keep fewer", refused(GLOVE))


@pytest.mark.parametrize("name", ["nowhere.txt", "folder"])
def test_what_is_no_file_is_named(tmp_path, name):
    (tmp_path / "folder").mkdir()
    with pytest.raises(VectorFileError, match=re.escape(str(tmp_path / name))):
        import_word_vectors(tmp_path / name, tmp_path / "out")


def test_a_folder_with_something_in_it_is_left_as_it_is(write, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    import_word_vectors(write(GLOVE), out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    for place in (out, out / "config.json"):
        with pytest.raises(ValueError, match="is there already and is no empty folder; choose another --out"):
            import_word_vectors(write(GLOVE), place)
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert json.loads(before["metrics.json"])["import"]["num_words"] == 3
