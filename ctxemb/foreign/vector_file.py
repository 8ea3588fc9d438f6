"""A file of word vectors, record by record: word2vec (text or binary) and GloVe (text without a header).

It may be packed (.gz, .xz, .bz2, .zst). gensim reads these files too, but allocates what their first line declares,
cuts a word that holds a space and lets NaN pass; once all that is checked, nothing is left for it to do.

D numbers per vector.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

import numpy as np

from ctxemb.corpora.lines import BINARY, OPENERS, UNPACKING_ERRORS, open_bytes

MAX_VECTOR_SIZE = 4_096
MAX_WORD_BYTES = 1_000
MAX_LINE_BYTES = 1 << 18  # 64 characters for each of 4,096 numbers
MAX_UNPACKED_BYTES = 1 << 35
# no word vector has such numbers, but bytes read as numbers have; means are kept in float16, which ends at 65,504
MAX_NUMBER = 10_000
BYTES_PER_READ = 1 << 20
HEADER = re.compile(rb"(\d{1,12})[ \t]+(\d{1,12})\s*")
PRINTABLE = re.compile(rb"[\t\r\n -~]*")

Kind = Literal["word2vec text", "word2vec binary", "GloVe text"]


class VectorFileError(ValueError):
    """A file of word vectors that cannot be read; the text says where, what is wrong and what to do."""


@dataclass(frozen=True)
class Record:
    """A word and its vector.

    Attributes:
        word: None if its bytes are not UTF-8.
        vector_D: (D,) float32, all finite.
    """

    word: str | None
    vector_D: np.ndarray


@dataclass(frozen=True)
class VectorFile:
    """What the beginning of a file says of the rest; `records` reads it.

    Attributes:
        num_declared: number of words by the header; None without one.
        vector_size: D, by the header, else by the first line.
    """

    path: Path
    kind: Kind
    num_declared: int | None
    vector_size: int

    def records(self) -> Iterator[Record]:
        """Every word with its vector, in the order of the file.

        Raises:
            VectorFileError: at the first line or word that is damaged, and if there are not as many as declared.
        """
        with open_bytes(self.path) as stream:
            source = _Source(self.path, stream)
            if self.num_declared is not None:
                source.line()
            read = _binary_records if self.kind == "word2vec binary" else _text_records
            yield from read(source, self.vector_size, self.num_declared)


def open_vector_file(path: Path) -> VectorFile:
    """Look at the beginning of a file of word vectors.

    Raises:
        VectorFileError: if it is none, or too short for what it declares.
    """
    if not path.is_file():
        raise VectorFileError(f"{path} is a folder; give one file" if path.is_dir() else f"there is no file {path}")
    with open_bytes(path) as stream:
        source = _Source(path, stream)
        first = source.line()
        second = source.until(b"\n", MAX_LINE_BYTES)
    for offset, magic, kind in BINARY:
        if first[offset:].startswith(magic):
            raise VectorFileError(f"{path} holds {kind}; unpack it and give the file of vectors itself")
    if not first.strip():
        raise VectorFileError(f"{path} has an empty first line, so it holds no word vectors; give another file")
    header = HEADER.fullmatch(first)
    if header is None:
        return VectorFile(path, "GloVe text", None, _checked_size(path, _width(path, first)))
    num_words, size = int(header[1]), _checked_size(path, int(header[2]))
    if not num_words:
        raise VectorFileError(f"{path}, line 1: declares 0 words; give a file that holds some")
    numbers = second.partition(b" ")[2]
    is_text = PRINTABLE.fullmatch(numbers) is not None
    # a text has at least a digit and a space for each number, a letter for the word and the end of the line
    least = num_words * (2 * size + 2) - 1 if is_text else num_words * (4 * size + 1)
    rest = path.stat().st_size - len(first)
    if path.suffix.lower() not in OPENERS and rest < least:
        raise VectorFileError(
            f"{path}, line 1: declares {num_words:,} words of {size:,} numbers, at least {least:,} bytes, but only "
            f"{rest:,} follow; the file is cut short: copy it again"
        )
    return VectorFile(path, "word2vec text" if is_text else "word2vec binary", num_words, size)


def _checked_size(path: Path, vector_size: int) -> int:
    if not 1 <= vector_size <= MAX_VECTOR_SIZE:
        raise VectorFileError(
            f"{path}, line 1: says that a vector has {vector_size:,} numbers; from 1 to {MAX_VECTOR_SIZE:,} are read"
        )
    return vector_size


def _width(path: Path, line: bytes) -> int:
    """How many numbers end the first line of a file without a header; what is before them is the word."""
    fields = line.split()
    num_numbers = 0
    while num_numbers < len(fields) - 1 and _number(fields[-1 - num_numbers]) is not None:
        num_numbers += 1
    if not num_numbers:
        raise VectorFileError(
            f"{path}, line 1: is neither a header (number of words, numbers a word) nor a word with its numbers; "
            "give a word2vec or GloVe file"
        )
    return num_numbers


def _text_records(source: "_Source", vector_size: int, num_declared: int | None) -> Iterator[Record]:
    num_read = 0
    while line := source.line():
        if line.isspace():
            continue
        if num_read == num_declared:
            raise VectorFileError(f"{source.place} follows the {num_read:,} words that line 1 declares; correct line 1")
        num_read += 1
        word, *numbers = line.rsplit(None, vector_size)
        _, *rest = word.split()
        # a word may hold a space (GloVe has “. . .”), but what ends in a number is a line with more numbers
        if len(numbers) < vector_size or (rest and _number(rest[-1]) is not None):
            raise VectorFileError(
                f"{source.place} has {len(line.split()) - 1:,} numbers after its word, not {vector_size:,} like the "
                "others; delete the line or copy the file again"
            )
        try:
            vector_D = np.array(list(map(float, numbers)))
        except ValueError as error:
            raise VectorFileError(
                f"{source.place}: {str(error)[:100]}; delete the line or copy the file again"
            ) from error
        yield Record(_word(source, word.strip()), _checked_vector(source, vector_D))
    if num_declared is not None and num_read < num_declared:
        raise VectorFileError(
            f"{source.path} ends after {num_read:,} of the {num_declared:,} words that line 1 declares; copy it again"
        )


def _binary_records(source: "_Source", vector_size: int, num_declared: int | None) -> Iterator[Record]:
    assert num_declared is not None
    for number in range(1, num_declared + 1):
        source.place = f"{source.path}, word {number:,}"
        # the C program ends each vector with a new line, gensim does not
        word = source.until(b" ", MAX_WORD_BYTES + 1).lstrip(b"\n")
        content = source.take(4 * vector_size) if word.endswith(b" ") else b""
        if len(content) < 4 * vector_size:
            raise VectorFileError(
                f"{source.place} of {num_declared:,}: no word with {vector_size:,} numbers of 4 bytes is here; "
                "the file is cut short or damaged: copy it again"
            )
        yield Record(_word(source, word[:-1]), _checked_vector(source, np.frombuffer(content, "<f4")))
    if source.take(MAX_WORD_BYTES).strip():
        raise VectorFileError(f"{source.path} goes on after the {num_declared:,} words it declares; copy it again")


def _word(source: "_Source", word: bytes) -> str | None:
    if len(word) > MAX_WORD_BYTES:
        raise VectorFileError(f"{source.place}: the word is longer than {MAX_WORD_BYTES:,} bytes; delete it")
    try:
        return word.decode()
    except UnicodeDecodeError:
        return None


def _checked_vector(source: "_Source", vector_D: np.ndarray) -> np.ndarray:
    wrong_D = ~(np.abs(vector_D) <= MAX_NUMBER)  # NaN too
    if wrong_D.any():
        raise VectorFileError(
            f"{source.place}: holds the number {vector_D[wrong_D][0]:g}; from -{MAX_NUMBER:,} to {MAX_NUMBER:,} are "
            "read: delete the word, or scale all vectors down"
        )
    return vector_D.astype(np.float32)


def _number(field: bytes) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None


class _Source:
    """Bytes out of an unpacked stream, never more of them than allowed, and the place for messages."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self.path, self.place = path, str(path)
        self._stream = stream
        self._buffer, self._start = b"", 0
        self._num_lines = self._num_bytes = 0

    def line(self) -> bytes:
        """The next line with its end; empty at the end of the file."""
        self._num_lines += 1
        self.place = f"{self.path}, line {self._num_lines:,}"
        line = self.until(b"\n", MAX_LINE_BYTES)
        if len(line) == MAX_LINE_BYTES:
            raise VectorFileError(
                f"{self.place} is longer than {MAX_LINE_BYTES:,} bytes; give a word and its numbers on each line"
            )
        return line.removeprefix(codecs.BOM_UTF8) if self._num_lines == 1 else line

    def until(self, mark: bytes, most: int) -> bytes:
        """The next bytes up to and with a mark; without it where the file ends or `most` bytes have none."""
        while (end := self._buffer.find(mark, self._start, self._start + most)) < 0:
            if len(self._buffer) - self._start >= most or not self._fill():
                return self.take(most)
        return self.take(end + 1 - self._start)

    def take(self, size: int) -> bytes:
        """The next bytes; fewer at the end of the file."""
        while len(self._buffer) - self._start < size and self._fill():
            pass
        taken = self._buffer[self._start : self._start + size]
        self._start += len(taken)
        return taken

    def _fill(self) -> bool:
        try:
            more = self._stream.read(BYTES_PER_READ)
        except UNPACKING_ERRORS as error:
            raise VectorFileError(f"{self.place}: the file cannot be read on ({error}); copy it again") from error
        self._num_bytes += len(more)
        if self._num_bytes > MAX_UNPACKED_BYTES:
            raise VectorFileError(
                f"{self.place}: more than {MAX_UNPACKED_BYTES:,} bytes are not read; give a smaller file or fewer words"
            )
        self._buffer, self._start = self._buffer[self._start :] + more, 0
        return bool(more)
