"""Writing to a store: one writer at a time, whole commits, and what is made when a corpus is complete.

A piece of a corpus and the note that it is in are one: its number stands in its rows, and they are committed together.
So a writer that is killed leaves no piece half-known, and the next one asks the rows which pieces are there.

D numbers per vector, W words.
"""

import json
import os
import socket
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ctxemb.store.about import About, StoreError
from ctxemb.store.tables import (
    CONTEXTS,
    SOURCES,
    WORDS,
    WRITE_ERRORS,
    connect,
    contexts_schema,
    first_line,
    is_local,
    open_table,
    quoted,
    read_about,
    sources_schema,
    vector_column,
    vectors_of,
    words_schema,
)

if TYPE_CHECKING:
    from lancedb.table import Table

LOCK, OWNER = ".writing.lock", ".writing.json"
ROWS_PER_BATCH = 10_000
INDEX_FROM = 200_000  # rows; up to there, comparing every vector takes a tenth of a second
# of the graph: a richer one is found no better and takes minutes more; a larger one takes more memory to build
LINKS, EF_CONSTRUCTION, ROWS_PER_GRAPH = 16, 60, 250_000


@contextmanager
def sole_writer(uri: str) -> Iterator[None]:
    """Be the only writer of a store in a folder; the system ends this when the process ends, however it does.

    On object storage nothing can be held: there, writers of different corpora do not disturb one another, and two of
    one corpus would write it twice.

    Raises:
        StoreError: if another process writes to it, or the folder cannot be written to.
    """
    if not is_local(uri):
        yield
        return
    from filelock import FileLock, Timeout

    folder = Path(uri)
    owner = folder / OWNER
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0)
        lock.acquire()
    except Timeout as error:
        raise StoreError(f"{uri} is being written to by {_owner(owner)}; wait for it, or use another store") from error
    except OSError as error:
        raise StoreError(f"{uri} cannot be written to ({error.strerror or error}); choose another folder") from error
    try:
        owner.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname()}))
        yield
        owner.unlink(missing_ok=True)
    finally:
        lock.release()


def _owner(path: Path) -> str:
    try:
        known = json.loads(path.read_text())
        return f"process {known['pid']} on {known['host']}"
    except (OSError, ValueError, KeyError):  # it has just begun, or just ended
        return "another process"


class StoreWriter:
    """A store open for adding to; hold `sole_writer` meanwhile."""

    def __init__(self, uri: str, about: About) -> None:
        """Open a store, or make an empty one.

        Raises:
            StoreError: if it is the store of another checkpoint, reading or type of numbers, or cannot be written to.
        """
        self.uri, self.about = uri, about
        with _said_plainly(uri):
            self._contexts = self._open(CONTEXTS, contexts_schema(about))
            self._sources = self._open(SOURCES, sources_schema())
        kept = read_about(self._contexts, uri)
        kept.check(about, uri)
        if kept.vector_type != about.vector_type:
            raise StoreError(f"{uri} keeps {kept.vector_type} numbers, not {about.vector_type}; choose those")

    def _open(self, name: str, schema: pa.Schema) -> "Table":
        table = open_table(self.uri, name)  # an empty one is false
        return connect(self.uri).create_table(name, schema=schema) if table is None else table

    def begin(self, source: str, fingerprint: str, settings: str, num_chunks: int) -> None:
        """Note what a source is, before any of it is in.

        Raises:
            StoreError: if a source of that name is there that is another text, or was asked for otherwise.
        """
        known = self._rows_of(source)
        if not known:
            self._note(source, fingerprint, settings, num_chunks, is_complete=False)
        elif (known[0]["fingerprint"], known[0]["settings"]) != (fingerprint, settings):
            differs = "another text" if known[0]["fingerprint"] != fingerprint else f"read with {known[0]['settings']}"
            raise StoreError(
                f"{self.uri} has a source {source} already, {differs}; go on with the same settings, "
                "or use another store"
            )

    def is_complete(self, source: str) -> bool:
        """Whether all of a source is in, and what is made from it."""
        return any(row["is_complete"] for row in self._rows_of(source))

    def chunks_of(self, source: str) -> set[int]:
        """The numbers of a source's chunks that are in."""
        query = self._contexts.search().where(f"source = {quoted(source)}").select(["chunk"])
        batches = query.to_batches(ROWS_PER_BATCH)
        return {number for batch in batches for number in np.unique(batch["chunk"].to_numpy()).tolist()}

    def num_contexts(self, source: str) -> int:
        """How many contexts of a source are in."""
        return self._contexts.count_rows(f"source = {quoted(source)}")

    def add(self, tables: Iterable[pa.Table]) -> None:
        """Commit whole chunks, all or none.

        Raises:
            StoreError: if the disk is full or the place cannot be reached; what was committed before stays.
        """
        with _said_plainly(self.uri):
            self._contexts.add(pa.concat_tables(tables))

    def complete(self, source: str, index_from: int = INDEX_FROM) -> None:
        """Make word vectors and, from so many rows on, the index; then note that the source is in."""
        with _said_plainly(self.uri):
            mode = "create" if open_table(self.uri, WORDS) is None else "overwrite"
            connect(self.uri).create_table(WORDS, data=self._word_vectors(), mode=mode)
            from lancedb.index import BTree, HnswSq

            self._contexts.create_index("word", config=BTree(), replace=True)
            if (num_rows := self._contexts.count_rows()) >= index_from:
                graphs = HnswSq(
                    distance_type="cosine",
                    num_partitions=-(-num_rows // ROWS_PER_GRAPH),
                    m=LINKS,
                    ef_construction=EF_CONSTRUCTION,
                )
                self._contexts.create_index("vector", config=graphs, replace=True)
            known = self._rows_of(source)[0]
            self._note(source, known["fingerprint"], known["settings"], known["num_chunks"], is_complete=True)

    def _word_vectors(self) -> pa.Table:
        """The mean vector of all contexts of each word, read one batch after the other."""
        rows_of: dict[str, int] = {}
        sums_WD, counts_W = np.zeros((1_024, self.about.width)), np.zeros(1_024, dtype=np.int64)
        for batch in self._contexts.search().select(["word", "vector"]).to_batches(ROWS_PER_BATCH):
            rows = np.array(
                [rows_of.setdefault(word, len(rows_of)) for word in batch["word"].to_pylist()], dtype=np.int64
            )
            while len(rows_of) > len(sums_WD):
                sums_WD = np.concatenate([sums_WD, np.zeros_like(sums_WD)])
                counts_W = np.concatenate([counts_W, np.zeros_like(counts_W)])
            order = np.argsort(rows, kind="stable")
            words, first, counts = np.unique(rows[order], return_index=True, return_counts=True)
            sums_WD[words] += np.add.reduceat(vectors_of(batch["vector"], self.about.width)[order], first)
            counts_W[words] += counts
        num_words = len(rows_of)
        means_WD = sums_WD[:num_words] / counts_W[:num_words, None]
        schema = words_schema(self.about)
        columns = [pa.array(list(rows_of), pa.string()), pa.array(counts_W[:num_words])]
        return pa.table([*columns, vector_column(means_WD, schema.field("vector"))], schema=schema)

    def _rows_of(self, source: str) -> list[dict[str, Any]]:
        return self._sources.search().where(f"name = {quoted(source)}").to_list()

    def _note(self, source: str, fingerprint: str, settings: str, num_chunks: int, is_complete: bool) -> None:
        row = {"name": source, "fingerprint": fingerprint, "settings": settings}
        with _said_plainly(self.uri):
            self._sources.add([row | {"num_chunks": num_chunks, "is_complete": is_complete}])


@contextmanager
def _said_plainly(uri: str) -> Iterator[None]:
    try:
        yield
    except WRITE_ERRORS as error:
        raise StoreError(
            f"writing to {uri} failed ({first_line(error)}); the store stays readable as it was before that: "
            "make room or give the right to write, then run the same command again"
        ) from error
