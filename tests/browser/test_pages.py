"""Lexicon and Scores from a cold start, both languages on Compare; untrained checkpoints, so no number is asked for."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.test_compare import FITS, NARROW, WIDE, numbers, wait_for_numbers

OpenPage = Callable[..., Page]
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"
PAIRS = "kind,a,b\nsynonym,river,water\nantonym,old,new\nsynonym,river,zyzzyva\n"


def choose_checkpoint(page: Page, name: str) -> None:
    page.get_by_role("combobox", name="Checkpoint").click()
    page.get_by_role("option", name=name).click()


def upload(page: Page, name: str, content: str) -> None:
    file = {"name": name, "mimeType": "text/csv", "buffer": content.encode()}
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([file])  # type: ignore[list-item]


def test_the_language_follows_the_checkpoint(open_page: OpenPage, families: str) -> None:
    page = open_page(families, viewport=WIDE)
    wait_for_numbers(page)
    expect(page.get_by_role("radio", name="bank", exact=True)).to_be_checked()
    choose_checkpoint(page, "zh-bilm")
    expect(page.get_by_role("radio", name="苹果", exact=True)).to_be_checked()
    expect(page.get_by_role("radio", name="bank", exact=True)).to_have_count(0)
    expect(page.get_by_text("uses of “苹果”")).to_be_visible()
    expect(page.locator(".js-plotly-plot").first.get_by_text("水果 1")).to_be_visible()
    expect(page.locator(SETTLED)).to_be_visible()
    fresh = open_page(page.url, viewport=WIDE)
    wait_for_numbers(fresh)
    expect(page.get_by_test_id("stMetricValue")).to_have_text(numbers(fresh))
    choose_checkpoint(page, "en-static")
    expect(page.get_by_text("Every use of “bank” has the same vector here")).to_be_visible()
    expect(page.get_by_text("Read-out", exact=True)).to_have_count(0)


def test_a_checkpoint_chosen_on_another_page_brings_its_language_too(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/lexicon", viewport=WIDE)
    choose_checkpoint(page, "zh-contrastive")
    expect(page).to_have_url(re.compile("checkpoint=zh-contrastive"))
    expect(page.locator(SETTLED)).to_be_visible()
    page.get_by_role("link", name="Compare").click()
    wait_for_numbers(page)
    expect(page.get_by_role("textbox", name="Target word")).to_have_value("苹果")


def test_lexicon_from_a_cold_start_to_a_kept_pair(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/lexicon", viewport=WIDE)
    expect(page.get_by_role("heading", name="Which words mean the same?")).to_be_visible()
    expect(page.get_by_role("link", name="Compare")).to_be_visible()
    upload(page, "bad.csv", "word,other\n")
    expect(page.get_by_text("bad.csv has no column")).to_be_visible()
    upload(page, "mine.csv", PAIRS)
    expect(page.get_by_role("button", name="2 kept pairs as CSV")).to_be_visible()
    expect(page.get_by_text("bad.csv has no column")).to_have_count(0)
    expect(page.get_by_test_id("stHtml").first).to_be_visible()
    editor = page.get_by_test_id("stDataFrame").first
    editor.locator(".dvn-scroller").click(position={"x": 55, "y": 52})
    expect(page.get_by_role("button", name="1 kept pairs as CSV")).to_be_visible()
    page.get_by_role("textbox", name="Search").fill("river")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 pairs, frequent words first")).to_be_visible()
    expect(page.locator(SETTLED)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="1 kept pairs as CSV").click()
    content = download.value.path().read_text()
    assert content.splitlines()[0] == "kind,a,b"
    assert len(content.splitlines()) == 2


def test_scores_from_a_cold_start(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/scores", viewport=WIDE)
    expect(page.get_by_role("heading", name="How well do they do?")).to_be_visible()
    expect(page.get_by_role("heading", name="zh-static")).to_be_visible()
    page.get_by_role("tab", name="Word2Vec against contrastive").click()
    expect(page.get_by_role("heading", name="Chinese")).to_be_visible()
    page.get_by_role("tab", name="Published by others").click()
    expect(page.get_by_text("Numbers of other people")).to_be_visible()


def test_no_page_sticks_out_in_the_dark_or_on_a_phone(open_page: OpenPage, families: str) -> None:
    for path in ("lexicon", "scores", "?checkpoint=zh-contrastive"):
        page = open_page(f"{families}/{path}", viewport=WIDE, color_scheme="dark")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator(SETTLED)).to_be_visible()
        for viewport in (WIDE, NARROW):
            page.set_viewport_size(viewport)
            for tab in page.get_by_role("tab").all():
                tab.click()
                page.wait_for_function(FITS)
