"""The Neighbours page as a user meets it: its contexts are collected in the background, and then looked through."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_compare import FITS, NARROW, WIDE, metric
from tests.browser.test_pages import SETTLED

OpenPage = Callable[..., Page]
TITLE = "What is this use closest to?"
BUILD_MS = 280_000  # 0.4 M words are read and encoded, once
TAG = "<img src=x onerror=\"document.title='run'\"> the bank of the river ."


def wait_for_neighbours(page: Page) -> None:
    """Until the contexts are collected, once on a machine, and both lists are there."""
    expect(page.get_by_role("heading", name="Second sentence")).to_be_visible(timeout=BUILD_MS)
    expect(page.locator(SETTLED)).to_be_visible()


@pytest.mark.timeout(600)  # on a machine busy with other work
def test_collecting_goes_on_while_another_page_is_shown(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/neighbours", viewport=WIDE)
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(page.get_by_text("Collecting contexts, once")).to_be_visible()
    page.get_by_role("link", name="Scores").click()
    expect(page.get_by_role("heading", name="How well do they do?")).to_be_visible()
    page.get_by_role("link", name="Neighbours").click()
    wait_for_neighbours(page)
    expect(page.get_by_text("Collecting contexts, once")).to_have_count(0)

    # another session, from the address of a shared view: it finds what the first has collected
    fresh = open_page(f"{families}/neighbours?among=any+word&first=A+boat+at+the+bank+.", viewport=WIDE)
    expect(metric(fresh, "Searched")).to_have_text(re.compile(r"^\d+,\d{3}$"))
    expect(fresh.get_by_role("textbox", name="First sentence")).to_have_value("A boat at the bank .")
    expect(fresh.get_by_role("radio", name="any word")).to_be_checked()

    _changes_when_a_sentence_does(fresh)
    _nothing_sticks_out(fresh)


def _changes_when_a_sentence_does(page: Page) -> None:
    first = page.get_by_test_id("stHtml").first
    before = first.inner_text()
    sentence = page.get_by_role("textbox", name="First sentence")
    sentence.fill(TAG)
    sentence.press("Enter")
    expect(first).not_to_have_text(before)
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "run"
    sentence.fill("there is nothing here .")
    sentence.press("Enter")
    expect(page.get_by_text("“bank” does not occur in")).to_be_visible()
    expect(page.get_by_role("heading", name="Second sentence")).to_be_visible()


def _nothing_sticks_out(page: Page) -> None:
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)
        expect(page.locator(SETTLED)).to_be_visible()
        page.wait_for_function(FITS)
