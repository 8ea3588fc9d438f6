"""A file that somebody uploads -> contexts: sentences in lines or a table, or vectors that were computed elsewhere.

N rows, D numbers per vector.
"""

import tempfile
from pathlib import Path, PurePath

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ctxemb.contexts import FIRST, MAX_CONTEXTS, Contexts, context_table, sample_contexts
from ctxemb.corpora.lines import detect_encoding, read_lines
from ctxemb.corpora.tables import csv_rows, jsonl_rows, parquet_column

ENDINGS = ("csv", "tsv", "jsonl", "txt", "parquet")
MAX_CHARACTERS, MAX_SENSE_CHARACTERS = 2_000, 30
SENTENCES, WORDS = ("sentence", "text"), ("word", "token")
OTHERS = (*WORDS, "sense")


class ContextFileError(ValueError):
    """A file without usable contexts; the text says what is wrong, where, and what to do."""


def read_contexts(name: str, content: bytes) -> pd.DataFrame:
    """A table of contexts out of a .txt (one sentence a line), .csv, .tsv, .jsonl or .parquet file.

    A table has a column `sentence` (or `text`), and perhaps `word` and `sense`. Words that are not named are
    left empty, for `ctxemb.contexts.find_words`. Sentences of more than 2,000 characters are left out.

    Raises:
        ContextFileError: if the file cannot be read, has no such column, or no sentence.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = _write(name, content, Path(folder))
        try:
            table = _read_table(path)
        except ValueError as error:
            raise ContextFileError(str(error).replace(str(path), name)) from error
    table = table.loc[(table.sentence != "") & (table.sentence.str.len() <= MAX_CHARACTERS)]
    if table.empty:
        raise ContextFileError(
            f"{name} holds no sentence of at most {MAX_CHARACTERS:,} characters; write one a line, or a table with a "
            "column “sentence”"
        )
    return table.reset_index(drop=True)


def holds_vectors(name: str, content: bytes) -> bool:
    """Whether a file is a Parquet table with a column `vector`."""
    if not name.lower().endswith(".parquet"):
        return False
    try:
        return "vector" in pq.read_schema(pa.BufferReader(content)).names
    except pa.ArrowException:
        return False  # what is wrong with it is said by those who read it


def read_vectors(name: str, content: bytes, limit: int = MAX_CONTEXTS, seed: int = 0) -> tuple[Contexts, int]:
    """Vectors as `python -m ctxemb encode` writes them: `vector`, `token` (or `word`), perhaps `oov`, `sense`.

    Rows whose `oov` is true are left out; of more than `limit` rows, a random sample is read.

    Returns:
        the contexts, and the number of rows from which they were drawn.

    Raises:
        ContextFileError: if a column is missing, the vectors differ in length, or one is not finite.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        columns = {column.casefold(): column for column in file.schema_arrow.names}
        table = _rows_of_vectors(file, columns, name)
        known = table.loc[~table.oov].drop(columns="oov")
        kept = sample_contexts(known, limit, seed)
        vectors = file.read([columns["vector"]]).column(0).combine_chunks().take(pa.array(kept.index))
        vectors_ND = _as_array(vectors, name)
    except pa.ArrowException as error:
        raise ContextFileError(f"{name} is not a Parquet table that can be read: {error}") from error
    bad = np.flatnonzero(~np.isfinite(vectors_ND).all(axis=1))
    if len(bad):
        row = int(kept.index[bad[0]])
        raise ContextFileError(
            f"{name}, row {row + 1} (“{kept.word[row]}”): its vector holds NaN or infinity, as do those of "
            f"{len(bad) - 1:,} other rows of the {len(kept):,} that were read; leave such rows out"
        )
    num_oov = len(table) - len(known)
    problems = (f"{num_oov:,} rows of {name} are words out of the vocabulary, and left out",) if num_oov else ()
    return Contexts(kept, vectors_ND, problems), len(known)


def _write(name: str, content: bytes, folder: Path) -> Path:
    path = folder / f"upload{PurePath(name).suffix.lower()}"
    path.write_bytes(content)
    return path


def _read_table(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        column = parquet_column(path, None)
        schema = pq.read_schema(path)
        wanted = [field.name for field in schema if field.name == column or field.name.casefold() in OTHERS]
        frame = pq.read_table(path, columns=wanted).to_pandas().fillna("").astype(str)
        return _as_contexts(frame, path)
    if path.suffix == ".jsonl":
        return _as_contexts(pd.DataFrame([_as_text(row) for _, row in jsonl_rows(path, detect_encoding(path))]), path)
    if path.suffix in (".csv", ".tsv"):
        rows = csv_rows(path, detect_encoding(path))
        _, header = next(rows)
        cells = [dict(zip(header, row, strict=False)) for _, row in rows]
        return _as_contexts(pd.DataFrame(cells, columns=list(dict.fromkeys(header))), path)
    lines = [line.strip() for _, line in read_lines(path, detect_encoding(path))]
    return context_table(lines, [""] * len(lines), [""] * len(lines))


def _as_text(row: dict[str, object]) -> dict[str, str]:
    return {name: "" if value is None else str(value) for name, value in row.items()}


def _as_contexts(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """The columns that are known by name, whatever their case."""
    columns = {str(column).strip().casefold(): frame[column].fillna("").str.strip() for column in frame.columns}
    sentences = next((columns[name] for name in SENTENCES if name in columns), None)
    if sentences is None:
        found = ", ".join(f"“{column}”" for column in frame.columns) or "none"
        raise ContextFileError(f"{path} has no column “sentence”; its columns are {found}; rename one")
    blank = pd.Series("", index=frame.index)
    words = next((columns[name] for name in WORDS if name in columns), blank)
    senses = columns.get("sense", blank).str[:MAX_SENSE_CHARACTERS]
    return context_table(sentences.tolist(), words.tolist(), senses.tolist())


def _rows_of_vectors(file: pq.ParquetFile, columns: dict[str, str], name: str) -> pd.DataFrame:
    """A table of contexts with `end`, `place` and `oov`, its index the number of the row."""
    word = next((columns[wanted] for wanted in WORDS if wanted in columns), None)
    if word is None:
        raise ContextFileError(f"{name} has no column “token” or “word”; without words there is nothing to tell apart")
    wanted = [columns[column] for column in (*SENTENCES, "sense", "oov") if column in columns]
    frame = file.read([word, *wanted]).to_pandas().rename(columns=str.casefold)
    blank = pd.Series("", index=frame.index)
    sentences = next((frame[column] for column in SENTENCES if column in frame), blank)
    if pd.api.types.is_numeric_dtype(sentences):
        sentences = "sentence " + sentences.astype(str)  # `encode` writes their numbers
    senses = frame.get("sense", blank).fillna("").astype(str).str[:MAX_SENSE_CHARACTERS]
    words = frame[word.casefold()].astype(str)
    table = context_table(sentences.fillna("").astype(str).tolist(), words.tolist(), senses.tolist())
    oov = frame["oov"].fillna(False).astype(bool) if "oov" in frame else False
    return table.assign(end=FIRST, place=np.nan, oov=oov)


def _as_array(vectors: pa.Array, name: str) -> np.ndarray:
    """Lists of numbers of one length -> (N, D); a missing number becomes NaN."""
    kind = vectors.type
    if not (pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)):
        raise ContextFileError(f"{name}: the column “vector” holds {kind}, not lists of numbers")
    if not (pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)):
        raise ContextFileError(f"{name}: the column “vector” holds lists of {kind.value_type}, not of numbers")
    lengths = set(vectors.value_lengths().to_pylist())
    if len(lengths) != 1 or not all(lengths):
        shown = ", ".join("missing" if length is None else str(length) for length in list(lengths)[:3])
        raise ContextFileError(f"{name}: vectors need one length for all, and have {shown or 'no row'}; mend the file")
    numbers = vectors.flatten().cast(pa.float32()).to_numpy(zero_copy_only=False)
    return numbers.reshape(len(vectors), -1).astype(np.float32)
