"""A lexicon as bytes, as a browser sends and takes it."""

import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePath

from ctxemb.lexicon.lexicon import Entry, LexiconError
from ctxemb.lexicon.sources import open_entries
from ctxemb.lexicon.tables import write_pairs

SUFFIXES = (".csv", ".tsv", ".txt")


def read_upload(name: str, content: bytes) -> list[Entry]:
    """The entries of a table of pairs, a text of groups, or a knowledge graph; messages give the file's own name.

    Raises:
        LexiconError: the file is of another kind, cannot be read, or has no entry.
    """
    name = PurePath(name).name or "file"
    suffix = PurePath(name).suffix.lower()
    if suffix not in SUFFIXES:
        raise LexiconError(f"{name} ends in none of {', '.join(SUFFIXES)}; save it as one of these.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(content)
        try:
            entries = list(open_entries(path))
        except ValueError as error:
            raise LexiconError(str(error).replace(str(path), name)) from error
    if not entries:
        raise LexiconError(f"{name} has no pair; write kind,a,b in the first line and one pair a line below.")
    return entries


def pairs_csv(entries: Iterable[Entry]) -> bytes:
    """A table of pairs that `read_pairs` reads: what `write_pairs` writes.

    Raises:
        LexiconError: a word is empty.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.csv"
        write_pairs(path, entries)
        return path.read_bytes()
