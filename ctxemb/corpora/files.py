"""A user's own file -> a corpus: plain text, or one column of a table.

Plain text: one line is one passage, so a paragraph wrapped over several lines becomes several passages.
Everything but .parquet may also end in .gz, .xz, .bz2 or .zst. Archives are refused.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from ctxemb.corpora import tables
from ctxemb.corpora.corpus import Corpus, CorpusError
from ctxemb.corpora.lines import OPENERS, detect_encoding, read_lines

ARCHIVES = {".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar"}
# Ending -> (choose the column, read it).
TABLES = {
    ".csv": (tables.csv_column, tables.read_csv),
    ".tsv": (tables.csv_column, tables.read_csv),
    ".jsonl": (tables.jsonl_column, tables.read_jsonl),
    ".ndjson": (tables.jsonl_column, tables.read_jsonl),
}


def open_file(path: Path, text_column: str | None, encoding: str | None, max_tokens: int | None) -> Corpus:
    """Open a text file or a table; its kind is told by the ending of its name, and any other ending is plain text.

    Raises:
        CorpusError: not a readable file, an archive or binary, or no column of text to be found.
    """
    if not path.is_file():
        raise CorpusError(f"{path} is a folder; give one file." if path.is_dir() else f"There is no file {path}.")
    packing = path.suffix.lower() if path.suffix.lower() in OPENERS else ""
    kind = Path(path.stem if packing else path.name).suffix.lower()
    column = None
    if kind in ARCHIVES:
        raise CorpusError(f"{path} is an archive; unpack it and give the text file itself.")
    if kind == ".parquet":
        if packing:
            raise CorpusError(f"{path}: a Parquet table is compressed inside; unpack the {packing} around it first.")
        encoding = None
        column = tables.parquet_column(path, text_column)
        read = partial(tables.read_parquet, path, column)
    else:
        encoding = detect_encoding(path, encoding)
        if kind in TABLES:
            choose, read_table = TABLES[kind]
            column = choose(path, encoding, text_column)
            read = partial(read_table, path, encoding, column)
        elif text_column is not None:
            raise CorpusError(f"{path} is plain text and has no column {text_column!r}; leave the column out.")
        else:
            read = partial(read_text, path, encoding)
    settings = {"kind": kind, "packing": packing, "column": column, "encoding": encoding}
    return Corpus(path.name, f"Your own file {path}", (path,), settings, read, max_tokens)


def read_text(path: Path, encoding: str) -> Iterator[str]:
    """Yield the lines of a text file."""
    return (line for _, line in read_lines(path, encoding))
