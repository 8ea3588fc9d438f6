"""Pictures of the app for the README: `python -m tests.browser.screenshots`, from the root of the repository."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

from ctxemb.runs import RunRequest, RunStore
from tests.browser.conftest import ROOT, TIMEOUT_MS, launch, serve
from tests.browser.test_checkup_page import wait_for_checkup
from tests.browser.test_compare import wait_for_numbers
from tests.browser.test_geometry import wait_for_corrections
from tests.browser.test_map import wait_for_map
from tests.browser.test_neighbours import wait_for_neighbours
from tests.browser.test_pages import SETTLED

ADDRESS = "?own=They+moored+the+little+boat+at+the+bank+and+walked+down+to+the+water+."
GEOMETRY = "geometry?beside=static+vectors&beside=en-bilm"
MAP = "map?place=They+moored+the+little+boat+at+the+bank+and+walked+down+to+the+water+."
SIZE = {"width": 1400, "height": 1320}
TRAIN_SIZE = {"width": 1400, "height": 2100}
CHECKUP_SIZE = {"width": 1400, "height": 1900}
# streamlit draws grey bars where the code of an element is still on its way
NOTHING_IS_LOADING = "document.querySelectorAll('[data-testid=stSkeleton]').length === 0"


def take(
    browser: Browser,
    address: str,
    wait: Callable[[Page], None],
    name: str,
    color_scheme: str = "light",
    size: dict[str, int] = SIZE,
) -> None:
    """A picture of what `wait` waits for, as docs/NAME-COLOR_SCHEME.png."""
    context = browser.new_context(viewport=size, color_scheme=color_scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(address)
    wait(page)
    page.wait_for_function(NOTHING_IS_LOADING)
    page.evaluate("document.fonts.ready")
    page.screenshot(path=ROOT / "docs" / f"{name}-{color_scheme}.png", animations="disabled")
    context.close()


def train(runs: Path) -> str:
    """The id of a run of `lab-contrast`, from its start to its end."""
    store = RunStore(runs)
    run = store.start(RunRequest(name="bank, plant, bat …", recipe="lab-contrast"))
    while run.is_live or run.ticket is not None:
        time.sleep(1)
        store.advance()
    return run.id


def wait_for_training(page: Page) -> None:
    expect(page.locator(".st-key-probe-map .js-plotly-plot")).to_be_visible()
    expect(page.get_by_role("heading", name="How far does it carry?")).to_be_visible()
    expect(page.locator(SETTLED)).to_be_visible()


def open_senses(page: Page) -> None:
    wait_for_checkup(page)
    senses = page.get_by_test_id("stExpander").filter(has_text="senses").first
    senses.locator("summary").click()
    expect(senses.locator(".js-plotly-plot")).to_be_visible()


if __name__ == "__main__":
    expect.set_options(timeout=TIMEOUT_MS)
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        serve(Path(folder) / "server.log", CTXEMB_RUNS=f"{folder}/runs") as address,
    ):
        browser = launch(playwright)
        for color_scheme in ("light", "dark"):
            take(browser, f"{address}/{ADDRESS}", wait_for_numbers, "compare", color_scheme)
        take(browser, f"{address}/{GEOMETRY}", wait_for_corrections, "geometry")
        take(browser, f"{address}/{MAP}", wait_for_map, "map")
        take(browser, f"{address}/neighbours", wait_for_neighbours, "neighbours")
        take(browser, f"{address}/checkup?checkpoint=en-bilm", open_senses, "checkup", size=CHECKUP_SIZE)
        run = train(Path(folder) / "runs")
        take(browser, f"{address}/train?run={run}", wait_for_training, "train", size=TRAIN_SIZE)
        browser.close()
