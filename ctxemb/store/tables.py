"""The tables of a store and their columns; the only place that opens them.

    contexts    a use of a word: sentence, span, source, vector; `chunk` says which piece of the source it came with
    words       a word: the mean vector of its contexts, and how many they are
    sources     a corpus: what was asked for, how much it is, and whether all of it is in
    asked       uses that people asked about, like contexts

A commit (of LanceDB: a version of a table) is seen whole or not at all, and readers see the newest.
"""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pydantic import ValidationError

from ctxemb.store.about import About, StoreError, VectorType

if TYPE_CHECKING:
    from lancedb.db import DBConnection
    from lancedb.table import Table

CONTEXTS, WORDS, SOURCES, ASKED = "contexts", "words", "sources", "asked"
ABOUT = b"ctxemb"
# LanceDB reports a full disk, a missing right or a lost connection as one of these
WRITE_ERRORS = (OSError, RuntimeError)


def is_local(uri: str) -> bool:
    """Whether a store is a folder; otherwise it is an address of object storage."""
    return "://" not in uri


def connect(uri: str) -> "DBConnection":
    """Open a place for tables; a folder is made if it is not there."""
    import lancedb  # a second and more, which the app's start must not pay

    return lancedb.connect(uri, read_consistency_interval=timedelta(0))


def open_table(uri: str, name: str) -> "Table | None":
    """A table, or None if there is none of that name."""
    if is_local(uri) and not (Path(uri) / f"{name}.lance").is_dir():
        return None
    try:
        return connect(uri).open_table(name)
    except ValueError as error:
        if "was not found" in str(error):
            return None
        raise StoreError(f"the {name} of {uri} cannot be read ({first_line(error)}); build the store anew") from error
    except WRITE_ERRORS as error:
        raise StoreError(f"{uri} cannot be read ({first_line(error)})") from error


def read_about(contexts: "Table", uri: str) -> About:
    """What the store says of itself.

    Raises:
        StoreError: if it says nothing, or what this version cannot read.
    """
    text = (contexts.schema.metadata or {}).get(ABOUT)
    try:
        return About.model_validate_json(text or b"")
    except ValidationError as error:
        raise StoreError(f"{uri} is no store that this version can read; build it anew in another folder") from error


def vector_field(width: int, vector_type: VectorType) -> pa.Field:
    """The column of vectors."""
    return pa.field("vector", pa.list_({"float32": pa.float32(), "float16": pa.float16()}[vector_type], width))


def contexts_schema(about: About) -> pa.Schema:
    """Columns of `contexts` and `asked`."""
    fields = [
        pa.field("word", pa.string()),
        pa.field("sentence", pa.string()),
        pa.field("start", pa.int32()),
        pa.field("end", pa.int32()),
        pa.field("sense", pa.string()),
        pa.field("source", pa.string()),
        pa.field("chunk", pa.int64()),
        vector_field(about.width, about.vector_type),
    ]
    return pa.schema(fields, metadata={ABOUT: about.model_dump_json().encode()})


def words_schema(about: About) -> pa.Schema:
    """Columns of `words`."""
    return pa.schema(
        [pa.field("word", pa.string()), pa.field("num_contexts", pa.int64()), vector_field(about.width, "float32")]
    )


def sources_schema() -> pa.Schema:
    """Columns of `sources`; a source has one row when it is begun, and one more when all of it is in."""
    names = ("name", "fingerprint", "settings")
    fields = [pa.field(name, pa.string()) for name in names]
    return pa.schema([*fields, pa.field("num_chunks", pa.int64()), pa.field("is_complete", pa.bool_())])


def vector_column(vectors_ND: np.ndarray, field: pa.Field) -> pa.FixedSizeListArray:
    """(N, D) as a column."""
    values = vectors_ND.astype(field.type.value_type.to_pandas_dtype()).ravel()
    return pa.FixedSizeListArray.from_arrays(pa.array(values), vectors_ND.shape[1])


def vectors_of(column: pa.ChunkedArray | pa.Array, width: int) -> np.ndarray:
    """A column as (N, D) float32."""
    flat: Any = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return flat.flatten().to_numpy(zero_copy_only=False).reshape(-1, width).astype(np.float32)


def quoted(text: str) -> str:
    """A text as a value in a filter: a quote in it ends nothing."""
    return "'" + text.replace("'", "''") + "'"


def first_line(error: BaseException) -> str:
    """What an error says, without where in somebody's source code it arose."""
    return str(error).strip().partition("\n")[0][:200]
