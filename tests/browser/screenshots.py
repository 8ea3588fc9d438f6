"""Pictures of the app for the README: `python -m tests.browser.screenshots`, from the root of the repository."""

import tempfile
import time
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from ctxemb.runs import RunRequest, RunStore
from tests.browser.conftest import ROOT, TIMEOUT_MS, launch, serve
from tests.browser.test_compare import wait_for_numbers
from tests.browser.test_geometry import wait_for_corrections
from tests.browser.test_map import wait_for_map
from tests.browser.test_neighbours import wait_for_neighbours

ADDRESS = "?own=They+moored+the+little+boat+at+the+bank+and+walked+down+to+the+water+."
GEOMETRY = "geometry?beside=static+vectors&beside=en-bilm"
MAP = "map?place=They+moored+the+little+boat+at+the+bank+and+walked+down+to+the+water+."
SIZE = {"width": 1400, "height": 1320}
TRAIN_SIZE = {"width": 1400, "height": 2100}


def take(browser: Browser, address: str, color_scheme: str) -> None:
    context = browser.new_context(viewport=SIZE, color_scheme=color_scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/{ADDRESS}")
    wait_for_numbers(page)
    page.evaluate("document.fonts.ready")
    page.screenshot(path=ROOT / "docs" / f"compare-{color_scheme}.png", animations="disabled")
    context.close()


def take_geometry(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/{GEOMETRY}")
    wait_for_corrections(page)
    page.evaluate("document.fonts.ready")
    page.screenshot(path=ROOT / "docs" / "geometry-light.png", animations="disabled")
    context.close()


def take_map(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/{MAP}")
    wait_for_map(page)
    page.evaluate("document.fonts.ready")
    page.screenshot(path=ROOT / "docs" / "map-light.png", animations="disabled")
    context.close()


def take_neighbours(browser: Browser, address: str) -> None:
    context = browser.new_context(viewport=SIZE, color_scheme="light")  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/neighbours")
    wait_for_neighbours(page)
    page.evaluate("document.fonts.ready")
    page.screenshot(path=ROOT / "docs" / "neighbours-light.png", animations="disabled")
    context.close()


def train(runs: Path) -> str:
    """The id of a run of `lab-contrast`, from its start to its end."""
    store = RunStore(runs)
    run = store.start(RunRequest(name="bank, plant, bat …", recipe="lab-contrast"))
    while run.is_live or run.ticket is not None:
        time.sleep(1)
        store.advance()
    return run.id


def take_training(browser: Browser, address: str, id: str, color_scheme: str) -> None:
    context = browser.new_context(viewport=TRAIN_SIZE, color_scheme=color_scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/train?run={id}")
    expect(page.locator(".st-key-probe-map .js-plotly-plot")).to_be_visible()
    expect(page.get_by_role("heading", name="How far does it carry?")).to_be_visible()
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()
    page.evaluate("document.fonts.ready")
    page.screenshot(path=ROOT / "docs" / f"train-{color_scheme}.png", animations="disabled")
    context.close()


if __name__ == "__main__":
    expect.set_options(timeout=TIMEOUT_MS)
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        serve(Path(folder) / "server.log", CTXEMB_RUNS=f"{folder}/runs") as address,
    ):
        browser = launch(playwright)
        for color_scheme in ("light", "dark"):
            take(browser, address, color_scheme)
        take_geometry(browser, address)
        take_map(browser, address)
        take_neighbours(browser, address)
        take_training(browser, address, train(Path(folder) / "runs"), "light")
        browser.close()
