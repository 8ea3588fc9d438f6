"""Memory: the peak of `python -m ctxemb encode` on a large file, in a process of its own."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.checkpoint import shipped_or_untrained
from benchmarks.encoding import SENTENCE_WORDS
from benchmarks.report import Row, limit_row, peak_bytes
from benchmarks.sizes import Sizes
from benchmarks.text import load_text, take
from ctxemb.checkpoint import read_config

LIMIT_GIGABYTES = 1.5
SPARE_BYTES = 2 * 2**30


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Peak memory and speed of the shipped checkpoint, or of an untrained one where there is none."""
    text = load_text(sizes, folder)
    checkpoint = shipped_or_untrained(sizes, text, folder / "untrained")
    width = read_config(checkpoint).model.width
    needed = sizes.num_streamed * SENTENCE_WORDS * width * 4 + SPARE_BYTES
    if shutil.disk_usage(folder).free < needed:
        yield Row(f"memory: skipped, {needed / 1e9:.0f} GB of disk space are needed in {folder}", "")
        return
    source, output = folder / "sentences.txt", folder / "vectors.parquet"
    sentences = take(text.sentences_of(SENTENCE_WORDS), sizes.num_streamed)
    source.write_text("\n".join(sentences) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "ctxemb", "encode", str(checkpoint), "--input", str(source)]
    started = time.perf_counter()
    process = subprocess.Popen([*command, "--output", str(output)], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    size_gigabytes = output.stat().st_size / 1e9
    output.unlink()
    peak_gigabytes = peak_bytes(usage) / 1e9
    yield limit_row(f"peak memory of `encode`, {sizes.num_streamed:,} sentences", peak_gigabytes, LIMIT_GIGABYTES, "GB")
    yield Row(
        f"`encode` to Parquet, {width} numbers a vector, {size_gigabytes:.1f} GB, sentences/s",
        f"{sizes.num_streamed / seconds:,.0f}",
    )
