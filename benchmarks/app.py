"""The app in a real browser: seconds from a start to the first heatmap, and from a changed sentence to the next."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.checkpoint import app_variables
from benchmarks.report import Row, limit_row
from benchmarks.sizes import Sizes
from tests.browser.conftest import launch, serve

FIRST_PAINT_SECONDS = 6
REDRAW_SECONDS = 0.5
TIMEOUT_MS = 60_000
VIEWPORT = {"width": 1400, "height": 1000}
NOUNS = ("boat", "bridge", "mill", "church", "tower", "road", "garden", "island", "village", "tree")
READ = "[...document.querySelectorAll('.heatmaplayer text')].map(cell => cell.textContent).join()"
NOTE_WHEN_TYPED = "addEventListener('input', () => { window.typed = performance.now() }, true)"
# milliseconds since the sentence was typed, once the heatmap shows other numbers
WHEN_REDRAWN = f"before => {{ const now = {READ}; return now && now !== before && performance.now() - window.typed }}"


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """First paint of Compare (the first start only warms the disk cache), and redraws of the last start."""
    variables = app_variables(sizes, folder)
    paints, redraws = [], []
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
        except RuntimeError as error:
            yield Row(f"app: skipped, {error}", "")
            return
        for _ in range(sizes.num_starts + 1):
            started = time.perf_counter()
            with serve(folder / "server.log", **variables) as address:
                page = open_compare(browser, address)
                paints.append(time.perf_counter() - started)
                redraws = list(time_redraws(page, sizes.num_redraws)) if len(paints) > sizes.num_starts else []
                page.close()
        browser.close()
    yield limit_row(
        "app: from start to the first heatmap, median", statistics.median(paints[1:]), FIRST_PAINT_SECONDS, "s"
    )
    yield limit_row(
        "app: from the last key of a changed sentence to the new heatmap, median",
        statistics.median(redraws),
        REDRAW_SECONDS,
        "s",
    )


def open_compare(browser: Browser, address: str) -> Page:
    """A fresh page, as soon as its heatmap has numbers in it."""
    page = browser.new_page(viewport=VIEWPORT)  # pyright: ignore[reportArgumentType]
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(address)
    page.wait_for_function(READ, polling="raf")
    return page


def time_redraws(page: Page, num_redraws: int) -> Iterator[float]:
    """Seconds of each redraw; the first one, which adds a row, is not counted."""
    page.evaluate(NOTE_WHEN_TYPED)
    for number, noun in enumerate(NOUNS[: num_redraws + 1]):
        before = page.evaluate(READ)
        page.get_by_role("textbox", name="Your sentence").fill(f"We sat on the bank of the river near the {noun} .")
        milliseconds = page.wait_for_function(WHEN_REDRAWN, arg=before, polling="raf").json_value()
        if number > 0:
            yield milliseconds / 1000
        page.get_by_test_id("stStatusWidget").wait_for(state="detached")
