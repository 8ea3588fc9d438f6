"""Where the contexts of a map come from, and their vectors: examples, an indexed corpus, a file."""

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.comparison import Centring
from ctxemb.context_files import ENDINGS, holds_vectors, read_contexts, read_vectors
from ctxemb.contexts import (
    MAX_CONTEXTS,
    Contexts,
    check_centring,
    context_table,
    encode_contexts,
    encode_from_disk,
    example_contexts,
    find_words,
    sample_contexts,
    table_key,
)
from ctxemb.examples import example_words
from ctxemb.models.reading import Reading
from ctxemb.store import Context, VectorStore
from ctxemb.ui.jobs import in_background
from ctxemb.ui.loading import Model, load_mean
from ctxemb.ui.messages import plain, show_problems
from ctxemb.ui.store import choose_store, open_store

EXAMPLES, CORPUS, FILE = "examples", "a corpus", "a file of yours"
NUM_FIRST_WORDS = 5
NUM_WORDS_OFFERED = 500
MAX_UPLOAD_MEGABYTES = 100
ENCODED_AT_ONCE = 400  # so many sentences take a second or two; more go into the background
SAMPLE_SEED = 0
SOURCES = (EXAMPLES, CORPUS, FILE)
SOURCE_HELP = """*examples*: our own sentences, with senses. *a corpus*: text that was indexed once on this machine,
mostly without senses. *a file of yours*: sentences, or vectors."""
FILE_HELP = """Sentences: one a line (.txt), or a table (.csv, .tsv, .jsonl) with a column `sentence` and perhaps `word`
and `sense`. Vectors: a Parquet table as `python -m ctxemb encode` writes it."""


@dataclass(frozen=True)
class Source:
    """Contexts as they were chosen, before they are encoded.

    Attributes:
        key: tells them from all others.
        table: a table of contexts, each with its word.
        vectors: those that came with them.
        notes: what was left out, and how.
    """

    key: Hashable
    table: pd.DataFrame = field(repr=False)
    vectors: Contexts | None = field(default=None, repr=False)
    notes: tuple[str, ...] = ()


def choose_contexts(model: Model) -> Source | None:
    """Words, and where their uses are taken from; None as long as no file is chosen.

    Raises:
        ValueError: if no chosen word has a use there.
    """
    with st.container(horizontal=True):
        kind = st.segmented_control(
            "Contexts from",
            SOURCES,
            default=EXAMPLES,
            required=True,
            key="source",
            bind="query-params",
            help=SOURCE_HELP,
        )
        words = _choose_words(model) if kind != FILE else []
        limit = 0
        if kind == CORPUS:
            limit = st.number_input(
                "Of each at most", 3, MAX_CONTEXTS, 100, key="per_word", bind="query-params", width=140
            )
    if kind == FILE:
        return _choose_file(model)
    source = _take_examples(words, model) if kind == EXAMPLES else _take_from_store(words, int(limit), model)
    if source and source.table.empty and source.notes:
        raise ValueError("; ".join(source.notes))
    return source


def load_contexts(source: Source, model: Model, reading: Reading, centring: Centring) -> Contexts | None:
    """Their vectors under a reading; None while many are encoded in the background.

    Raises:
        ValueError: if the words cannot be centred.
    """
    if source.vectors is not None:
        return source.vectors
    check_centring(source.table, centring)
    if len(source.table) <= ENCODED_AT_ONCE:
        return _encode(model.key, reading, centring, source.key, source.table, model)
    key = ("contexts", model.key, reading, centring, source.key)
    path, _ = model.key
    return in_background("maps", key, "Encoding", encode_from_disk, path, reading, centring, source.table)


def show_sources(source: Source, contexts: Contexts) -> None:
    """What was left out, and why."""
    for note in source.notes:
        st.caption(plain(f"{note[0].upper()}{note[1:]}."))
    show_problems(contexts.problems)


def load_own(
    text: str, word: str, start: int, model: Model, reading: Reading, centring: Centring
) -> tuple[Contexts, str]:
    """One sentence of the user's, and its key."""
    table = context_table([text], [word], [""], [start])
    key = table_key(table)
    return _encode(model.key, reading, centring, key, table, model), key


@st.cache_resource(max_entries=16, show_spinner="Encoding …")
def _encode(
    model_key: tuple[str, int],
    reading: Reading,
    centring: Centring,
    table_key: Hashable,
    _table: pd.DataFrame,
    _model: Model,
) -> Contexts:
    def mean_of(word: str) -> np.ndarray | None:
        return load_mean(model_key, reading, centring, word, _model)

    return encode_contexts(_model.encoder.with_reading(reading), _table, mean_of)


def _take_examples(words: list[str], model: Model) -> Source:
    unknown = [word for word in words if word.casefold() not in example_words(model.language)]
    notes = tuple(f"“{word}” has no example sentences; take its uses from a file" for word in unknown)
    return _sampled(example_contexts(words, model.language), notes)


def _take_from_store(words: list[str], limit: int, model: Model) -> Source:
    opened = open_store(choose_store(model), model)
    if opened is None:
        st.stop()
    found = {word: _find_uses(opened.store.uri, word, limit, opened.store) for word in words}
    notes = tuple(f"the corpus has no use of “{word}”" for word, uses in found.items() if not uses)
    uses = [use for uses in found.values() for use in uses]
    table = context_table(
        [use.sentence for use in uses],
        [use.word for use in uses],
        [use.sense or "" for use in uses],
        [use.start for use in uses],
    )
    return _sampled(table, notes)


@st.cache_data(max_entries=64, ttl="10m", show_spinner=False)
def _find_uses(uri: str, word: str, limit: int, _store: VectorStore) -> list[Context]:
    return _store.contexts(word, limit, seed=SAMPLE_SEED)


def _choose_words(model: Model) -> list[str]:
    offered = example_words(model.language)
    known = [word for word in offered if model.encoder.knows(word)]
    return st.multiselect(
        "Words",
        offered,
        default=known[:NUM_FIRST_WORDS],
        accept_new_options=True,
        key=f"words_{model.language}",
        bind="query-params",
        placeholder="Choose or type words",
    )


def _choose_file(model: Model) -> Source | None:
    file = st.file_uploader(
        "Sentences or vectors",
        type=list(ENDINGS),
        max_upload_size=MAX_UPLOAD_MEGABYTES,
        key="contexts file",
        help=FILE_HELP,
    )
    if not file:
        return None
    content = file.getvalue()
    digest = hashlib.sha256(content).hexdigest()
    if holds_vectors(file.name, content):
        contexts, num_rows = _read_vectors(file.name, digest, content)
        notes = (_sample_note(len(contexts.table), num_rows),) if num_rows > len(contexts.table) else ()
        return Source(digest, contexts.table, contexts, notes)
    table = _read_contexts(file.name, digest, content)
    named = table.loc[table.word != ""]
    if len(named):
        counts = named.word.value_counts()
        words = st.multiselect(
            "Words of the file",
            counts.index[:NUM_WORDS_OFFERED],
            key="file_words",
            placeholder="All of them",
            format_func=lambda word: f"{word} ({counts[word]:,})",
        )
        return _sampled(named.loc[named.word.isin(words)] if words else named)
    words = _choose_words(model)
    return _sampled(
        find_words(table, words, model.language), (f"{len(table):,} sentences of {file.name} were looked through",)
    )


@st.cache_resource(max_entries=4, show_spinner="Reading the file …")
def _read_contexts(name: str, digest: str, _content: bytes) -> pd.DataFrame:
    return read_contexts(name, _content)


@st.cache_resource(max_entries=4, show_spinner="Reading the file …")
def _read_vectors(name: str, digest: str, _content: bytes) -> tuple[Contexts, int]:
    return read_vectors(name, _content, seed=SAMPLE_SEED)


def _sampled(table: pd.DataFrame, notes: tuple[str, ...] = ()) -> Source:
    kept = sample_contexts(table, seed=SAMPLE_SEED)
    if len(kept) < len(table):
        notes = (*notes, _sample_note(len(kept), len(table)))
    return Source(table_key(kept), kept, notes=notes)


def _sample_note(num_kept: int, num_all: int) -> str:
    return f"a random sample of {num_kept:,} of {num_all:,} contexts is shown (seed {SAMPLE_SEED})"
