"""Tokenising: words a second from text to ids, vocabulary included, and what that makes of the whole of enwiki."""

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import Row, limit_row
from benchmarks.sizes import Sizes
from benchmarks.text import load_text

ENWIKI_TOKENS = 48_000_000
LIMIT_MINUTES = 5


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Words a second, and minutes for enwiki at that rate."""
    best = 0.0
    for _ in range(sizes.num_rounds):
        cache = folder / "tokenizing"
        started = time.perf_counter()
        num_tokens = load_text(sizes, cache).corpus.report.num_tokens
        best = max(best, num_tokens / (time.perf_counter() - started))
        shutil.rmtree(cache)
    yield Row("tokenising with a new vocabulary, words/s", f"{best:,.0f}")
    yield limit_row(f"{ENWIKI_TOKENS / 1e6:.0f} M words at that rate", ENWIKI_TOKENS / best / 60, LIMIT_MINUTES, "min")
