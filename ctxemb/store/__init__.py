"""The vector store: uses of words with their sentences and vectors, on disk (LanceDB), and what is nearest to a use.

A store is a folder, or an address of object storage (`s3://...`), and belongs to one checkpoint under one reading.

    about.py        whose vectors these are; what a store is refused for
    tables.py       the tables and their columns, the only place that opens them
    vectors.py      VectorStore: what is read from a store; results.py, its answers
    asking.py       a sentence of the user's: encoded, answered, and kept for a while
    selection.py    which occurrences of a corpus go in
    writer.py       one writer at a time; commits, word vectors, the index
    build.py        a corpus -> a store: resumable, on any number of processes
    small.py        the store of a shipped checkpoint, built on first use
"""

from ctxemb.store.about import About, StoreError
from ctxemb.store.asking import AMONG, MAX_ASKED, Among, Answer, ask
from ctxemb.store.build import IndexReport, index_corpus, index_labelled
from ctxemb.store.results import Context, Hit, Neighbours, Source, WordHit, WordNeighbours
from ctxemb.store.selection import SelectionConfig
from ctxemb.store.small import build_small_store, open_small_store, small_store_folder
from ctxemb.store.tables import ASKED, is_local
from ctxemb.store.vectors import VectorStore

__all__ = [
    "AMONG",
    "ASKED",
    "MAX_ASKED",
    "About",
    "Among",
    "Answer",
    "Context",
    "Hit",
    "IndexReport",
    "Neighbours",
    "SelectionConfig",
    "Source",
    "StoreError",
    "VectorStore",
    "WordHit",
    "WordNeighbours",
    "ask",
    "build_small_store",
    "index_corpus",
    "index_labelled",
    "is_local",
    "open_small_store",
    "small_store_folder",
]
