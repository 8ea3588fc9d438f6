"""The sentences of a comparison, as people bring them: example words, pasted lines, a file, a link.

They meet in one kind of table: columns `use` (compare this row?), `sentence`, `sense`, `occurrence`.
"""

import base64
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path, PurePath

import pandas as pd
from pydantic import TypeAdapter

from ctxemb.comparison import Sentence
from ctxemb.corpora.lines import detect_encoding, read_lines
from ctxemb.corpora.tables import csv_rows
from ctxemb.examples import load_examples

MAX_SENTENCES = 200
MAX_CHARACTERS = 2_000
MAX_SENSE_CHARACTERS = 30
MAX_FILE_BYTES = 2 * 2**20
MAX_LINK_CHARACTERS = 4_000
MAX_UNPACKED_BYTES = 2**19
USED_PER_SENSE = 4
NUM_BLANK_ROWS = 4

_LINK_ROWS = TypeAdapter(list[tuple[str, str, int]])


class SentenceListError(ValueError):
    """A file or link without usable sentences; the text says what is wrong and what to do."""


def example_table(word: str, language: str = "en") -> pd.DataFrame:
    """All example sentences of a word; the first few of each sense are in use."""
    examples = load_examples(language)
    rows = examples[examples.word == word]
    use = rows.groupby("sense").cumcount() < USED_PER_SENSE
    return make_table(rows.sentence.tolist(), rows.sense.tolist()).assign(use=use.tolist())


def make_table(texts: Sequence[str], senses: Sequence[str], occurrences: Sequence[int] | None = None) -> pd.DataFrame:
    """A table whose rows are all in use; a blank sense is unknown."""
    return pd.DataFrame(
        {
            "use": [True] * len(texts),
            "sense": pd.Series(list(senses), dtype=str),
            "sentence": pd.Series(list(texts), dtype=str),
            "occurrence": list(occurrences) if occurrences else [1] * len(texts),
        }
    )


def blank_table() -> pd.DataFrame:
    """A few empty rows to type into."""
    return make_table([""] * NUM_BLANK_ROWS, [""] * NUM_BLANK_ROWS)


def join_tables(first: pd.DataFrame, second: pd.DataFrame) -> pd.DataFrame:
    """One table after the other, without empty rows."""
    kept = first.loc[first.sentence.fillna("").str.strip() != ""]
    return pd.concat([kept, second], ignore_index=True)


def read_table(table: pd.DataFrame) -> tuple[list[Sentence], list[str]]:
    """The sentences in use, and what has to be said about rows that cannot be."""
    sentences, problems = [], []
    filled = table.fillna({"use": False, "sense": "", "sentence": "", "occurrence": 1})
    columns = (filled[name] for name in ("use", "sense", "sentence", "occurrence"))
    for use, sense, text, occurrence in zip(*columns, strict=True):
        sense, text = sense.strip(), text.strip()
        if not use or not text:
            continue
        if len(text) > MAX_CHARACTERS:
            shown = f"“{text[:40]}…” has {len(text):,} characters"
            problems.append(f"{shown}; at most {MAX_CHARACTERS:,} are compared, shorten it")
            continue
        sentences.append(Sentence(text, sense[:MAX_SENSE_CHARACTERS] or None, int(occurrence)))
    if len(sentences) > MAX_SENTENCES:
        problems.append(
            f"only the first {MAX_SENTENCES} of {len(sentences)} sentences are compared; untick some to see others"
        )
    return sentences[:MAX_SENTENCES], problems


def read_pasted(text: str) -> pd.DataFrame:
    """One sentence a line; two columns of a spreadsheet (sense, tab, sentence) are understood too."""
    lines = [line.strip() for line in text.replace("\0", "").splitlines() if line.strip()]
    cells = [line.split("\t") if line.count("\t") == 1 else ["", line] for line in lines]
    return make_table([sentence.strip() for _, sentence in cells], [sense.strip() for sense, _ in cells])


def read_file(name: str, content: bytes) -> pd.DataFrame:
    """The sentences of a .txt file (one a line) or of a .csv or .tsv with a column `sentence` and perhaps `sense`.

    Raises:
        SentenceListError: if the file is too large, not text, has no such column, or holds no sentence.
    """
    name = PurePath(name).name or "file"
    if len(content) > MAX_FILE_BYTES:
        raise SentenceListError(
            f"{name} has {len(content):,} bytes; at most {MAX_FILE_BYTES:,} are read, take a part of it"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"upload{PurePath(name).suffix.lower()}"
        path.write_bytes(content)
        try:
            table = _read_columns(path) if path.suffix in (".csv", ".tsv") else _read_text(path)
        except ValueError as error:
            raise SentenceListError(str(error).replace(str(path), name)) from error
    if table.empty:
        raise SentenceListError(f"{name} holds no sentence; write one a line, or a table with a column “sentence”")
    return table


def to_link(sentences: Sequence[Sentence]) -> str | None:
    """The sentences as a short text for a web address; None if they are too long for one."""
    rows = [(s.text, s.sense or "", s.occurrence) for s in sentences]
    link = base64.urlsafe_b64encode(zlib.compress(_LINK_ROWS.dump_json(rows), 9)).decode().rstrip("=")
    return link if len(link) <= MAX_LINK_CHARACTERS else None


def from_link(link: str) -> pd.DataFrame:
    """The inverse of `to_link`, for text that nobody vouches for.

    Raises:
        SentenceListError: if the text was cut, changed, or unpacks to more than any link of ours.
    """
    try:
        if len(link) > MAX_LINK_CHARACTERS:
            raise ValueError("too long")
        packed = base64.b64decode(link + "=" * (-len(link) % 4), altchars=b"-_", validate=True)
        unpacker = zlib.decompressobj()
        content = unpacker.decompress(packed, MAX_UNPACKED_BYTES)
        if not unpacker.eof:
            raise ValueError("cut, or too large")
        rows = _LINK_ROWS.validate_json(content)
    except (ValueError, zlib.error) as error:
        raise SentenceListError("the sentences in this link cannot be read; ask for the link again, uncut") from error
    texts, senses, occurrences = zip(*rows, strict=True) if rows else ((), (), ())
    return make_table(texts, senses, occurrences)


def label_uses(senses: Sequence[str | None], has_own: bool = False) -> list[str]:
    """A short name for each use: `river 1`, `river 2`, `use 1`; the last one is `yours` if it was typed on its own."""
    seen: dict[str, int] = {}
    labels = []
    for sense in senses:
        name = sense or "use"
        seen[name] = seen.get(name, 0) + 1
        labels.append(f"{name} {seen[name]}")
    return [*labels[:-1], "yours"] if has_own else labels


def _read_text(path: Path) -> pd.DataFrame:
    return read_pasted("\n".join(line for _, line in read_lines(path, detect_encoding(path))))


def _read_columns(path: Path) -> pd.DataFrame:
    rows = csv_rows(path, detect_encoding(path))
    _, header = next(rows)
    columns = [column.strip().casefold() for column in header]
    if "sentence" not in columns:
        found = ", ".join(f"“{column.strip()}”" for column in header)
        raise SentenceListError(f"{path} has no column “sentence”; its columns are {found}; rename one")
    texts, senses = [], []
    for _, cells in rows:
        row = dict(zip(columns, cells, strict=False))
        if row.get("sentence", "").strip():
            texts.append(row["sentence"].strip())
            senses.append(row.get("sense", "").strip())
    return make_table(texts, senses)
