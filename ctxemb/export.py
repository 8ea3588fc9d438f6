"""Encodings -> a file: Parquet (streamed, any size) or npz (numpy's own), whole or not at all."""

import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ctxemb.atomic import whole_or_nothing
from ctxemb.encoder import Encoding

# rows wait to be written together, but not more than this: each keeps its sentence's vectors alive
SENTENCES_PER_WRITE = 500
ROWS_PER_WRITE = 10_000
FORMATS = (".parquet", ".npz")
MAX_NPZ_TOKEN_CHARACTERS = 64  # numpy gives every string the room of the longest


def write_encodings(encodings: Iterable[Encoding], path: Path, width: int, word: str | None = None) -> int:
    """Write one row per token: sentence number, position, token, start, end, oov, vector.

    Args:
        encodings: consumed as a stream.
        path: ends in `.parquet` or `.npz`; the npz holds the same columns as arrays, its tokens cut at 64 characters.
        width: D, numbers per vector.
        word: keep only the tokens that are this word.

    Returns:
        Number of rows written.

    Raises:
        ValueError: for another file name ending, or if there is nothing to write; no file is left then.
    """
    if path.suffix not in FORMATS:
        raise ValueError(f"{path} ends in {path.suffix or 'nothing'}; the output file ends in {' or '.join(FORMATS)}")
    tables = _tables(encodings, width, word)
    with whole_or_nothing(path) as draft:
        num_rows = _write_parquet(tables, draft) if path.suffix == ".parquet" else _write_npz(tables, draft, width)
        if num_rows == 0:
            missing = "no sentence has a token" if word is None else f"“{word}” does not occur"
            raise ValueError(f"there is nothing to write to {path}: {missing}")
    return num_rows


def _tables(encodings: Iterable[Encoding], width: int, word: str | None) -> Iterator[pa.Table]:
    rows: list[tuple[int, int, Encoding]] = []
    for number, encoding in enumerate(encodings):
        kept = range(len(encoding.tokens)) if word is None else encoding.positions(word)
        rows += [(number, position, encoding) for position in kept]
        is_due = number % SENTENCES_PER_WRITE == SENTENCES_PER_WRITE - 1 or len(rows) >= ROWS_PER_WRITE
        if is_due and rows:
            yield _table(rows, width)
            rows = []
    if rows:
        yield _table(rows, width)


def _table(rows: list[tuple[int, int, Encoding]], width: int) -> pa.Table:
    vectors = np.stack([encoding.vectors[position] for _, position, encoding in rows])
    return pa.table(
        {
            "sentence": pa.array([number for number, _, _ in rows], pa.int64()),
            "position": pa.array([position for _, position, _ in rows], pa.int32()),
            "token": pa.array([_text(encoding.tokens[position]) for _, position, encoding in rows]),
            "start": pa.array([encoding.spans[position][0] for _, position, encoding in rows], pa.int32()),
            "end": pa.array([encoding.spans[position][1] for _, position, encoding in rows], pa.int32()),
            "oov": pa.array([bool(encoding.oov[position]) for _, position, encoding in rows]),
            "vector": pa.FixedSizeListArray.from_arrays(vectors.ravel(), width),
        }
    )


def _text(token: str) -> str:
    """Arrow stores UTF-8, which half a character (a lone surrogate) has no place in."""
    return token.encode("utf-8", "replace").decode()


def _write_parquet(tables: Iterator[pa.Table], path: Path) -> int:
    num_rows = 0
    writer = None
    try:
        for table in tables:
            # vectors are noise to a compressor: time spent on them is lost
            writer = writer or pq.ParquetWriter(path, table.schema, compression="none")
            writer.write_table(table)
            num_rows += len(table)
    finally:
        if writer:
            writer.close()
    return num_rows


def _write_npz(tables: Iterator[pa.Table], path: Path, width: int) -> int:
    """Vectors go through a spool file, because their number is known only at the end."""
    columns: list[pa.Table] = []
    with tempfile.TemporaryFile(dir=path.parent) as spool:
        for table in tables:
            vectors = table["vector"].combine_chunks()
            spool.write(vectors.flatten().to_numpy().tobytes())
            columns.append(table.drop_columns(["vector"]))
        if not columns:
            return 0
        rest = pa.concat_tables(columns)
        spool.flush()
        vectors = np.memmap(spool, dtype=np.float32, mode="r", shape=(len(rest), width))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            for name in rest.column_names:
                values = rest[name].to_numpy()
                if name == "token":
                    values = values.astype(f"U{min(max(map(len, values)), MAX_NPZ_TOKEN_CHARACTERS)}")
                _add_array(archive, name, values)
            _add_array(archive, "vector", vectors)
    return len(rest)


def _add_array(archive: zipfile.ZipFile, name: str, values: np.ndarray) -> None:
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        np.lib.format.write_array(file, values, allow_pickle=False)
