"""Pictures of the app for the README: `python -m tests.browser.screenshots`, from the root of the repository."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.conftest import ROOT, TIMEOUT_MS, launch, serve
from tests.browser.test_compare import wait_for_numbers

ADDRESS = "?own=They+moored+the+little+boat+at+the+bank+and+walked+down+to+the+water+."
SIZE = {"width": 1400, "height": 1320}


def take(browser: Browser, address: str, color_scheme: str) -> None:
    context = browser.new_context(viewport=SIZE, color_scheme=color_scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(f"{address}/{ADDRESS}")
    wait_for_numbers(page)
    page.evaluate("document.fonts.ready")
    page.screenshot(path=ROOT / "docs" / f"compare-{color_scheme}.png", animations="disabled")
    context.close()


if __name__ == "__main__":
    expect.set_options(timeout=TIMEOUT_MS)
    with (
        tempfile.TemporaryDirectory() as folder,
        sync_playwright() as playwright,
        serve(Path(folder) / "server.log") as address,
    ):
        browser = launch(playwright)
        for color_scheme in ("light", "dark"):
            take(browser, address, color_scheme)
        browser.close()
