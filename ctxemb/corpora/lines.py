"""Lines of text out of a plain or compressed file, streamed, for files nobody vouches for.

One line is one passage. A line longer than MAX_LINE_CHARACTERS is cut at white space or after a Chinese full stop, so
that memory stays bounded however far a file unpacks. Archives and binary content are refused.
"""

import bz2
import codecs
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import charset_normalizer

from ctxemb.corpora.corpus import CorpusError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAX_LINE_CHARACTERS = 1_000_000
SAMPLE_BYTES = 1 << 18
OPENERS = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open, ".zst": zstd.open}
UNPACKING_ERRORS = (EOFError, OSError, lzma.LZMAError, zlib.error, zstd.ZstdError)

# What the first bytes give away, packed or unpacked: (offset, magic, name).
BINARY = (
    (0, b"PK\x03\x04", "a zip archive (or an office document)"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (257, b"ustar", "a tar archive"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (0, b"Rar!\x1a\x07", "a rar archive"),
    (0, b"%PDF-", "a PDF document"),
    (0, b"PAR1", "a Parquet table without the ending .parquet"),
    (0, b"\x1f\x8b", "gzip data inside a file that does not say so"),
    (0, b"\xfd7zXZ\x00", "xz data inside a file that does not say so"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data inside a file that does not say so"),
)
# UTF-32 first: its little-endian mark begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LAST_BREAK = re.compile(r".*[\s。！？]", re.DOTALL)


def open_bytes(path: Path) -> BinaryIO:
    """Open a file for reading, unpacked on the way if its name ends in .gz, .xz, .bz2 or .zst."""
    opener = OPENERS.get(path.suffix.lower())
    return cast(BinaryIO, opener(path, "rb")) if opener else path.open("rb")


def detect_encoding(path: Path, wanted: str | None = None) -> str:
    """Name the encoding of a text file: as wanted, else by its byte-order mark, else UTF-8, else a guess.

    Raises:
        CorpusError: an archive or other binary content, damaged compression, an unknown encoding.
    """
    try:
        with open_bytes(path) as stream:
            sample = stream.read(SAMPLE_BYTES)
    except UNPACKING_ERRORS as error:
        raise CorpusError(f"{path} cannot be read: {error}.") from error
    for offset, magic, kind in BINARY:
        if sample[offset:].startswith(magic):
            raise CorpusError(f"{path} holds {kind}; give the text file itself.")
    if wanted is not None:
        try:
            io.TextIOWrapper(io.BytesIO(), encoding=wanted)
        except LookupError:
            raise CorpusError(f"Encoding {wanted!r} is unknown; try utf-8, latin-1, gb18030 or utf-16.") from None
        return wanted
    for mark, encoding in BYTE_ORDER_MARKS:
        if sample.startswith(mark):
            return encoding
    if b"\0" in sample:
        # UTF-8 decodes NUL; read_lines names its line.
        return "utf-8"
    try:
        # The sample may end inside a character, which an incremental decoder forgives.
        codecs.getincrementaldecoder("utf-8")().decode(sample)
        return "utf-8"
    except UnicodeDecodeError:
        matches = charset_normalizer.from_bytes(sample)
        # Among the Latin code pages that fit English or French about equally well, the common one.
        guess = next((match for match in matches if match.encoding == "cp1252"), matches.best())
        if guess is None:
            raise CorpusError(f"{path} is not text in any encoding we know; save it as UTF-8.") from None
        return guess.encoding


def read_lines(path: Path, encoding: str, *, split_long: bool = True) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end), never more than MAX_LINE_CHARACTERS at a time.

    Raises:
        CorpusError: undecodable bytes, NUL, damaged compression, or an over-long line that cannot be cut.
    """
    number, rest = 1, ""
    # surrogateescape marks undecodable bytes where they stand instead of raising a buffer too early.
    with open_bytes(path) as stream, io.TextIOWrapper(stream, encoding=encoding, errors="surrogateescape") as text:
        while True:
            try:
                piece = rest + text.readline(MAX_LINE_CHARACTERS - len(rest))
            except UnicodeError as error:
                raise CorpusError(f"{path}, near line {number}: not {encoding} text; save it as UTF-8.") from error
            except UNPACKING_ERRORS as error:
                raise CorpusError(f"{path}, after line {number - 1}: cannot be read further: {error}.") from error
            if not piece:
                return
            refuse_bad_characters(piece, f"{path}, line {number}", encoding)
            if piece.endswith("\n"):
                yield number, piece[:-1].lstrip("\ufeff") if number == 1 else piece[:-1]
                number, rest = number + 1, ""
                continue
            end = len(piece)
            if end >= MAX_LINE_CHARACTERS:
                cut = LAST_BREAK.match(piece) if split_long else None
                if cut is None:
                    raise CorpusError(
                        f"{path}, line {number}: longer than {MAX_LINE_CHARACTERS:,} characters; break it into lines."
                    )
                end = cut.end()
            yield number, piece[:end].lstrip("\ufeff") if number == 1 else piece[:end]
            rest = piece[end:]


def refuse_bad_characters(text: str, place: str, encoding: str = "UTF-8") -> None:
    """Raise a CorpusError that names the place if the text holds a NUL or something that is no character."""
    if "\0" in text:
        raise CorpusError(f"{place}: holds a NUL character, so it is not plain text; save it as UTF-8 text.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CorpusError(
            f"{place}, character {error.start + 1}: not {encoding} text; name the file's encoding or save it as UTF-8."
        ) from None
