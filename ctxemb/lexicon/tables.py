"""A user's own lexicon: a table of pairs (`kind,a,b`), or a text with one synonym group a line."""

import csv
import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path

from ctxemb.atomic import whole_or_nothing
from ctxemb.corpora.lines import detect_encoding, read_lines
from ctxemb.corpora.tables import csv_rows
from ctxemb.lexicon.lexicon import KINDS, Entry, Kind, LexiconError

COLUMNS = ("kind", "a", "b")
GROUP_SEPARATORS = re.compile(r"[\t,;，；、]")


def read_pairs(path: Path, encoding: str | None = None) -> Iterator[Entry]:
    """Yield the rows of a CSV or TSV with the columns `kind` (synonym, antonym or alias), `a` and `b`, one by one.

    Raises:
        LexiconError: a column is missing, a kind is unknown or a word is empty; the message names the line.
        CorpusError: the file cannot be read.
    """
    rows = csv_rows(path, text_encoding(path, encoding))
    columns = column_names(next(rows)[1])
    if missing := [name for name in COLUMNS if name not in columns]:
        raise LexiconError(
            f"{path} has no column {missing[0]!r}; its columns are {', '.join(map(repr, columns))}, "
            "and a table of pairs has kind, a and b."
        )
    at_kind, at_a, at_b = (columns.index(name) for name in COLUMNS)
    kinds: dict[str, Kind] = {kind: kind for kind in KINDS}
    for number, row in rows:
        try:
            cell, a, b = row[at_kind], row[at_a].strip(), row[at_b].strip()
        except IndexError:
            raise LexiconError(f"{path}, line {number}: has {len(row)} cells; write kind,a,b.") from None
        if not (a and b):
            if not any(map(str.strip, row)):  # spreadsheets leave such rows at the end
                continue
            raise LexiconError(f"{path}, line {number}: a word is missing in {row}; write kind,a,b.")
        kind = kinds.get(cell) or kinds.get(cell.strip().lower())
        if kind is None:
            raise LexiconError(f"{path}, line {number}: kind {cell!r} is unknown; write synonym, antonym or alias.")
        yield Entry(kind, (a, b))


def read_groups(path: Path, encoding: str | None = None) -> Iterator[Entry]:
    """Yield a synonym group a line, its words between commas, semicolons or tabs, or else between spaces.

    Raises:
        LexiconError: the text is not UTF-8.
        CorpusError: the file cannot be read.
    """
    for number, line in read_lines(path, text_encoding(path, encoding)):
        if line.strip():
            words = GROUP_SEPARATORS.split(line) if GROUP_SEPARATORS.search(line) else line.split()
            yield Entry("synonym", tuple(word for cell in words if (word := cell.strip())), f"line {number}")


def write_pairs(path: Path, entries: Iterable[Entry]) -> int:
    """Write entries as a table of pairs that `read_pairs` reads; a group becomes all its pairs.

    Returns:
        The number of pairs written.

    Raises:
        LexiconError: a word is empty, or the file cannot be written; a file that was there is then left as it was.
    """
    num_pairs = 0
    try:
        with whole_or_nothing(path) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(COLUMNS)
            for entry in entries:
                if not all(map(str.strip, entry.words)):
                    raise LexiconError(f"{path}: an entry of kind {entry.kind} has an empty word: {entry.words}.")
                for pair in combinations(entry.words, 2):
                    writer.writerow((entry.kind, *pair))
                    num_pairs += 1
    except OSError as error:
        raise LexiconError(f"{path} cannot be written ({error}); give a file in a folder of yours.") from error
    return num_pairs


def column_names(header: list[str]) -> list[str]:
    """Column names as they are compared."""
    return [name.strip().lower() for name in header]


def text_encoding(path: Path, wanted: str | None) -> str:
    """The encoding of a lexicon: as wanted, else some UTF.

    Raises:
        LexiconError: the file is missing, or in another encoding.
    """
    if not path.is_file():
        raise LexiconError(f"There is no file {path}; give a table of pairs or a text of groups.")
    encoding = detect_encoding(path, wanted)
    # In running text a wrong guess shows; in a lexicon it would only make words unknown, one by one.
    if wanted is None and not encoding.lower().startswith("utf"):
        raise LexiconError(f"{path} is not UTF-8 text (perhaps {encoding}); save it as UTF-8 or name its encoding.")
    return encoding
