"""The text column of a table (.csv, .tsv, .jsonl, .parquet): which one it is, and its rows as a stream.

One row is one passage. A .tsv has no quoting, as the format says; a .csv may separate by comma, semicolon or tab.
"""

import csv
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from ctxemb.corpora.corpus import CorpusError
from ctxemb.corpora.lines import read_lines, refuse_bad_characters

TEXT_COLUMNS = ("text", "sentence")


def choose_column(columns: list[str], with_text: list[str], wanted: str | None, path: Path) -> str:
    """Pick the column to read: the wanted one, else `text`, else `sentence`, else the only one that holds text."""
    listing = ", ".join(map(repr, columns)) or "none"
    if wanted is not None:
        if wanted in columns:
            return wanted
        raise CorpusError(f"{path} has no column {wanted!r}; its columns are {listing}.")
    for name in TEXT_COLUMNS:
        for column in columns:
            if column.strip().lower() == name:
                return column
    if len(with_text) == 1:
        return with_text[0]
    raise CorpusError(f"{path}: which column holds the text? Name one of {listing}.")


def csv_rows(path: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, cells), the header first; blank lines are left out."""
    lines = (f"{line}\n" for _, line in read_lines(path, encoding, split_long=False))
    header = next(lines, None)
    if header is None:
        raise CorpusError(f"{path} is empty; the first line has to name the columns.")
    if ".tsv" in path.suffixes[-2:]:
        rows = csv.reader(chain([header], lines), delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        # Spreadsheets in much of Europe write semicolons.
        rows = csv.reader(chain([header], lines), delimiter=max(",;\t", key=header.count), strict=True)
    try:
        for row in rows:
            if row:
                yield rows.line_num, row
    except csv.Error as error:
        raise CorpusError(f"{path}, line {rows.line_num}: {error}; mend the quotation marks there.") from error


def csv_column(path: Path, encoding: str, wanted: str | None) -> str:
    """Choose the column from the header; the first row tells which columns hold text."""
    rows = csv_rows(path, encoding)
    _, header = next(rows)
    _, example = next(rows, (0, []))
    with_text = [column for column, cell in zip(header, example, strict=False) if not is_number(cell)]
    return choose_column(header, with_text, wanted, path)


def is_number(cell: str) -> bool:
    """Tell whether a cell holds a number, or nothing."""
    try:
        float(cell or 0)
    except ValueError:
        return False
    return True


def read_csv(path: Path, encoding: str, column: str) -> Iterator[str]:
    """Yield one cell a row."""
    rows = csv_rows(path, encoding)
    _, header = next(rows)
    position = header.index(column)
    for number, row in rows:
        if len(row) <= position:
            raise CorpusError(
                f"{path}, line {number}: has {len(row)} cells, and {column!r} is column {position + 1}; mend that row."
            )
        yield row[position]


def jsonl_rows(path: Path, encoding: str) -> Iterator[tuple[int, dict[str, object]]]:
    """Yield (line number, object); blank lines are left out."""
    for number, line in read_lines(path, encoding, split_long=False):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise CorpusError(f"{path}, line {number}: not JSON: {error}.") from error
        if not isinstance(row, dict):
            raise CorpusError(f'{path}, line {number}: not a JSON object; write {{"text": ...}} on each line.')
        yield number, row


def jsonl_column(path: Path, encoding: str, wanted: str | None) -> str:
    """Choose the column from the keys of the first object."""
    _, row = next(jsonl_rows(path, encoding), (0, None))
    if row is None:
        raise CorpusError(f"{path} is empty; write one JSON object a line.")
    return choose_column(list(row), [column for column, value in row.items() if isinstance(value, str)], wanted, path)


def read_jsonl(path: Path, encoding: str, column: str) -> Iterator[str]:
    """Yield one value an object; objects without it, or with null, are left out."""
    for number, row in jsonl_rows(path, encoding):
        text = row.get(column)
        if text is None:
            continue
        if not isinstance(text, str):
            raise CorpusError(f"{path}, line {number}: {column!r} holds {type(text).__name__}, not text.")
        # An escape such as \u0000 passes the check of the line.
        refuse_bad_characters(text, f"{path}, line {number}")
        yield text


def parquet_column(path: Path, wanted: str | None) -> str:
    """Choose the column from the schema."""
    try:
        schema = pq.read_schema(path)
    except (pa.ArrowException, OSError) as error:
        raise CorpusError(f"{path} is not a Parquet table: {error}.") from error
    with_text = [field.name for field in schema if is_text(field.type)]
    column = choose_column(schema.names, with_text, wanted, path)
    if column not in with_text:
        raise CorpusError(f"{path}: column {column!r} holds {schema.field(column).type}, not text.")
    return column


def is_text(kind: pa.DataType) -> bool:
    """Tell whether an Arrow type holds strings."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def read_parquet(path: Path, column: str) -> Iterator[str]:
    """Yield one cell a row, batch by batch; empty cells are left out."""
    number = 0
    try:
        with pq.ParquetFile(path) as table:
            for batch in table.iter_batches(batch_size=256, columns=[column], use_threads=False):
                for cell in batch.column(0):
                    number += 1
                    text = cell.as_py()
                    if text is not None:
                        refuse_bad_characters(text, f"{path}, row {number}")
                        yield text
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise CorpusError(f"{path}, after row {number}: cannot be read further: {error}.") from error
