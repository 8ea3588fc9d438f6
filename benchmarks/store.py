"""The vector store: words a second and peak memory of `python -m ctxemb index`; its index against scikit-learn."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.neighbors import NearestNeighbors

from benchmarks.checkpoint import SHIPPED, untrained_checkpoint
from benchmarks.report import Row, limit_row, peak_bytes, ratio_row
from benchmarks.sizes import Sizes
from benchmarks.text import load_text, open_source
from benchmarks.timing import best_rates
from ctxemb.corpora.corpus import count_words
from ctxemb.store import VectorStore
from ctxemb.store.tables import CONTEXTS, open_table, vectors_of
from ctxemb.store.writer import StoreWriter, sole_writer

LIMIT_GIGABYTES = 2
NUM_NEIGHBOURS, NUM_QUERIES = 10, 50
RECALL_AIM, SPEED_AIM = 0.95, 10


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Index a text in a process of its own, then look things up in a store of so many of its vectors."""
    checkpoint = SHIPPED.with_name("en-contrastive")
    if not checkpoint.is_dir():
        checkpoint = untrained_checkpoint(sizes, load_text(sizes, folder), folder / "untrained")
    source, uri = open_source(sizes.num_indexed_words), folder / "store"
    num_words = sum(map(count_words, source.passages()))
    command = [sys.executable, "-m", "ctxemb", "index", str(checkpoint), "--corpus", source.name]
    command += ["--max-tokens", str(sizes.num_indexed_words), "--store", str(uri)]
    started = time.perf_counter()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, env=os.environ | {"CTXEMB_CACHE": str(folder)})
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    size_gigabytes = sum(path.stat().st_size for path in uri.rglob("*") if path.is_file()) / 1e9
    peak_gigabytes = peak_bytes(usage) / 1e9
    num_rows = len(VectorStore.open(uri))
    yield Row(
        f"`index`, {num_words:,} words to {num_rows:,} contexts in {size_gigabytes:.2f} GB, words/s",
        f"{num_words / seconds:,.0f}",
    )
    yield limit_row(f"peak memory of `index`, {num_words:,} words", peak_gigabytes, LIMIT_GIGABYTES, "GB")
    store, queries_QD = _part_of(uri, folder / "searched", sizes.num_searched)
    yield from _search_rows(store, queries_QD, sizes)
    # what a call costs whatever it searches weighs less, the more there is to search
    yield from _search_rows(VectorStore.open(uri), queries_QD, sizes, has_aims=False)


def _search_rows(store: VectorStore, queries_QD: np.ndarray, sizes: Sizes, has_aims: bool = True) -> Iterator[Row]:
    table = open_table(store.uri, CONTEXTS)
    assert table is not None
    vectors_ND = vectors_of(table.to_arrow()["vector"], store.about.width)
    exact = NearestNeighbors(n_neighbors=NUM_NEIGHBOURS, algorithm="brute", metric="cosine").fit(vectors_ND)
    distances_QK, _ = exact.kneighbors(queries_QD)
    found = [store.nearest(query_D, NUM_NEIGHBOURS) for query_D in queries_QD]
    # by cosine: equally near contexts stand in for one another
    worst_Q = 1 - distances_QK[:, -1]
    hits = [sum(hit.cosine >= worst - 1e-5 for hit in f.hits) for f, worst in zip(found, worst_Q, strict=True)]
    how = "exact" if found[0].is_exact else "by the index"
    recall = float(np.mean(hits)) / NUM_NEIGHBOURS
    yield Row(
        f"recall of {NUM_NEIGHBOURS} nearest of {len(vectors_ND):,} vectors, {how}",
        f"{recall:.3f}",
        aim=f">= {RECALL_AIM}" if has_aims else "",
        is_met=recall >= RECALL_AIM if has_aims else None,
    )
    rates = best_rates(
        {
            "ours": lambda: len([store.nearest(query_D, NUM_NEIGHBOURS) for query_D in queries_QD]),
            "plain": lambda: len([exact.kneighbors(query_D[None]) for query_D in queries_QD]),
        },
        sizes.num_rounds,
    )
    what = f"single queries among {len(vectors_ND):,} vectors, against scikit-learn's exact search, queries/s"
    yield ratio_row(what, rates["ours"], rates["plain"], SPEED_AIM if has_aims else None)


def _part_of(uri: Path, part: Path, num_rows: int) -> tuple[VectorStore, np.ndarray]:
    """A store of a random part of another's rows, and the vectors of some of the others."""
    store = VectorStore.open(uri)
    table = open_table(str(uri), CONTEXTS)
    assert table is not None
    rows = table.to_arrow()
    order = np.random.default_rng(0).permutation(len(rows))
    kept, asked = order[:num_rows], order[num_rows:][:NUM_QUERIES]
    with sole_writer(str(part)):
        writer = StoreWriter(str(part), store.about)
        writer.begin("part", "0", "{}", 1)
        writer.add([rows.take(np.sort(kept)).replace_schema_metadata(rows.schema.metadata)])
        writer.complete("part", index_from=num_rows)
    return VectorStore.open(part), vectors_of(rows.take(asked)["vector"], store.about.width)
