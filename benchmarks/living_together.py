"""A training and a visitor on one machine: how long a changed sentence takes, and how much the training loses by it."""

import os
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

from playwright.sync_api import sync_playwright

from benchmarks.app import NOUNS, open_compare, time_redraws
from benchmarks.checkpoint import app_variables
from benchmarks.report import Row, limit_row
from benchmarks.sizes import Sizes
from ctxemb.runs import LIVE, ProgressReader, Run, RunRequest, RunStore
from tests.browser.conftest import launch, serve

REDRAW_SECONDS, KEPT_SHARE = 1.0, 0.7
WARM_STEPS = 30
POLL_SECONDS = 0.05
PATIENCE_SECONDS = 600
# of `lab-quick`, so long that it does not end meanwhile
SETTINGS = ("training.num_epochs=1000", "training.max_steps=1000000", "training.early_stop_patience=null")


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """The training alone beside the idle app, then with a visitor who types one sentence after the other."""
    variables = {"CTXEMB_RUNS": str(folder / "runs"), "CTXEMB_CACHE": str(folder / "cache")}
    variables |= app_variables(sizes, folder)
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except RuntimeError as error:
            yield Row(f"living together: skipped, {error}", "")
            return
        with serve(folder / "server.log", **variables) as address:
            page = open_compare(browser, address)
            list(time_redraws(page, 1))
            with patch.dict(os.environ, variables):  # the training has its caches there too
                training = RunStore(folder / "runs").start(
                    RunRequest(
                        name="living together", recipe="lab-quick", settings=SETTINGS, device="cpu", probe="none"
                    )
                )
            try:
                reader = training.reader()
                wait_until(lambda: steps_of(training, reader) >= WARM_STEPS)
                alone = tokens_per_second(reader, lambda: time.sleep(sizes.living_seconds))
                redraws: list[float] = []
                beside = tokens_per_second(reader, lambda: redraws.extend(type_for(page, sizes.living_seconds)))
            finally:
                training.stop()
                wait_until(lambda: training.state not in LIVE)
        browser.close()
    yield limit_row(
        "living together: a changed sentence beside a training, median", statistics.median(redraws), REDRAW_SECONDS, "s"
    )
    share = beside / alone
    yield Row(
        "living together: training with a visitor, of its tokens/s without one",
        f"{beside:,.0f} of {alone:,.0f}",
        ratio=f"{share:.0%}",
        aim=f">= {KEPT_SHARE:.0%}",
        is_met=share >= KEPT_SHARE,
    )


def type_for(page, seconds: float) -> Iterator[float]:
    """Redraws, one after the other without a pause, for about so long."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        yield from time_redraws(page, len(NOUNS) - 1)


def tokens_per_second(reader: ProgressReader, meanwhile: Callable[[], object]) -> float:
    """Speed of a training while something else is done."""
    counts = []
    for action in (meanwhile, None):
        reader.read()
        assert reader.last_step
        counts.append((reader.last_step["num_tokens"], time.perf_counter()))
        if action:
            action()
    (before, started), (after, ended) = counts
    return (after - before) / (ended - started)


def steps_of(training: Run, reader: ProgressReader) -> int:
    """How many steps it has made.

    Raises:
        RuntimeError: if it has ended.
    """
    if training.state not in (*LIVE, "queued"):
        raise RuntimeError(f"the training has ended: {training.status().detail}\n{training.log_tail()}")
    reader.read()
    return (reader.last_step or {}).get("step", 0)


def wait_until(condition: Callable[[], bool]) -> None:
    """Poll until something is so."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError(f"the training did not get there in {PATIENCE_SECONDS} s")
        time.sleep(POLL_SECONDS)
