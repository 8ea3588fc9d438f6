"""A training from the page to its result: it goes on through a reload and a second visitor, is stopped, and compared.

`lab-contrast`, cut down to what takes about half a minute on one core.
"""

import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ctxemb.runs import LIVE, RunStore
from ctxemb.runs.process import send
from tests.browser.conftest import serve_process
from tests.browser.test_compare import FITS, NARROW, WIDE, wait_for_numbers

OpenPage = Callable[..., Page]
PATIENCE_MS = 240_000  # the machine may have more to do
CHART = ".st-key-{} .js-plotly-plot"
# plotly keeps the numbers in `_fullData`: those that it is handed are packed
NUM_POINTS = f"(document.querySelector('{CHART.format('loss')}')?._fullData?.[1]?.x?.length ?? 0)"
# the last look's same-sense mean minus its cross-sense mean, less that of the untrained model
GAP_GROWTH = f"""(() => {{
    const lines = document.querySelector('{CHART.format("probe")}')?._fullData;
    if (!lines || lines[0].y.length < 2) return -1;
    const gaps = [...lines[1].y].map((same, look) => same - lines[0].y[look]);
    return gaps.at(-1) - gaps[0];
}})()"""


@pytest.fixture
def no_run_left(app_log: Path) -> Iterator[None]:
    """A run outlives the app; it must not outlive its test."""
    yield
    for run in RunStore(app_log.parent / "runs of families").list():
        send(run.folder, signal.SIGKILL)


def set_number(page: Page, label: str, value: int) -> None:
    box = page.get_by_role("spinbutton", name=label, exact=True)
    box.fill(str(value))
    box.press("Enter")
    expect(box).to_have_value(str(value))


@pytest.mark.timeout(1_200)
@pytest.mark.usefixtures("no_run_left")
def test_a_training_from_its_start_to_compare(open_page: OpenPage, families: str) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    page = open_page(f"{families}/train", viewport=WIDE)
    page.set_default_timeout(PATIENCE_MS)
    set_number(page, "Max steps", 800)
    set_number(page, "Validate every", 30)
    page.get_by_role("textbox", name="Name", exact=True).fill("half a minute")
    page.get_by_role("textbox", name="Name", exact=True).press("Enter")
    expect(page.get_by_text("An estimate: sizes from")).to_be_visible()
    expect(page.get_by_test_id("stMetricValue")).to_have_count(5)
    page.get_by_role("button", name="Start", exact=True).click()

    page.wait_for_url(re.compile("run="))
    expect(page.get_by_role("heading", name="half a minute")).to_be_visible()
    page.wait_for_function(f"{NUM_POINTS} > 0")
    seen = page.evaluate(NUM_POINTS)
    page.wait_for_function(f"{NUM_POINTS} > {seen}")  # without a click

    page.reload()
    expect(page.get_by_role("heading", name="half a minute")).to_be_visible()
    page.wait_for_function(f"{NUM_POINTS} > {seen}")
    other = open_page(f"{families}/train", viewport=NARROW)
    expect(other.get_by_role("heading", name="What happens while it learns?")).to_be_visible()

    page.wait_for_function(f"{GAP_GROWTH} > 0.02")
    page.get_by_role("button", name="Stop training").click()
    expect(page.get_by_text(re.compile("stopped$"))).to_be_visible()  # after the name of its icon
    expect(page.get_by_text(re.compile(r"step \d+ of 800"))).to_be_visible()
    expect(page.get_by_role("button", name="Resume", exact=True)).to_be_visible()
    expect(page.get_by_role("heading", name="How far does it carry?")).to_be_visible()
    for viewport in (NARROW, WIDE):
        page.set_viewport_size(viewport)
        page.wait_for_function(FITS)

    page.get_by_role("link", name="Open in Compare").click()
    wait_for_numbers(page)
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_value("run: half a minute")
    expect(page).to_have_url(re.compile(r"checkpoint=run"))


@pytest.mark.timeout(600)
def test_a_training_outlives_a_killed_app_and_is_found_by_the_next(open_page: OpenPage, tmp_path: Path) -> None:
    expect.set_options(timeout=PATIENCE_MS)
    variables = {"CTXEMB_RUNS": str(tmp_path / "runs"), "CTXEMB_CACHE": str(tmp_path / "cache")}
    store = RunStore(tmp_path / "runs")
    try:
        with serve_process(tmp_path / "first.log", **variables) as (server, address):
            page = open_page(f"{address}/train", viewport=WIDE)
            page.set_default_timeout(PATIENCE_MS)
            expect(page.get_by_text("An estimate: sizes from")).to_be_visible()
            page.get_by_role("button", name="Start", exact=True).click()
            page.wait_for_url(re.compile("run="))
            page.wait_for_function(f"{NUM_POINTS} > 0")
            seen = page.evaluate(NUM_POINTS)
            page.context.close()  # it would complain that the server is gone
            server.kill()
            server.wait()
        (run,) = store.list()
        assert run.state in LIVE
        with serve_process(tmp_path / "second.log", **variables) as (_, address):
            page = open_page(f"{address}/train?run={run.id}", viewport=WIDE)
            page.set_default_timeout(PATIENCE_MS)
            page.wait_for_function(f"{NUM_POINTS} > {seen}")
            page.get_by_role("button", name="Stop training").click()
            expect(page.get_by_text(re.compile("stopped$"))).to_be_visible()
            page.context.close()
        for log in tmp_path.glob("*.log"):
            assert "Traceback" not in log.read_text()
    finally:
        for run in store.list():
            send(run.folder, signal.SIGKILL)
