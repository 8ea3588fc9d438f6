"""The Geometry page as a user meets it; untrained checkpoints, so changes are asserted, not numbers."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.test_compare import FITS, NARROW, WIDE, metric, numbers
from tests.browser.test_pages import SETTLED

OpenPage = Callable[..., Page]


def wait_for_corrections(page: Page) -> None:
    expect(page.get_by_test_id("stTable")).to_be_visible()
    expect(page.locator(".js-plotly-plot")).to_have_count(9)
    expect(page.locator(SETTLED)).to_be_visible()


def cells(page: Page) -> list[str]:
    return page.get_by_test_id("stTable").locator("td").all_inner_texts()


def test_cold_start_to_a_correction_and_a_link_that_shows_the_same(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/geometry?checkpoint=en-bilm", viewport=WIDE)
    expect(page.get_by_role("heading", name="A ball or a cone?")).to_be_visible()
    wait_for_corrections(page)
    expect(page.get_by_test_id("stMetric")).to_have_count(4)
    expect(page.locator(".js-plotly-plot").first.get_by_text("energy, cumulative")).to_be_visible()
    expect(page.get_by_test_id("stTable")).not_to_contain_text("without the top 2")
    before = numbers(page)

    page.get_by_role("slider", name="Main directions removed").press("ArrowRight")
    expect(page.get_by_test_id("stTable")).to_contain_text("without the top 2")
    expect(page).to_have_url(re.compile("removed=2"))
    assert numbers(page) == before

    top = page.get_by_role("spinbutton", name="Main directions")
    top.fill("3")
    top.press("Enter")
    expect(page.get_by_test_id("stMetric").filter(has_text="Top-3 energy")).to_be_visible()
    expect(metric(page, "Top-3 energy")).not_to_have_text(before[0])
    expect(page).to_have_url(re.compile("top=3"))
    wait_for_corrections(page)

    again = open_page(page.url, viewport=WIDE)
    wait_for_corrections(again)
    assert numbers(again) == numbers(page)
    assert cells(again) == cells(page)


def test_spaces_of_other_checkpoints_are_drawn_beside_it(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/geometry?checkpoint=en-contrastive", viewport=WIDE)
    wait_for_corrections(page)
    legend = page.get_by_test_id("stHtml").first
    expect(legend).to_contain_text("en-contrastive, layer 0")
    expect(legend).not_to_contain_text("zh-static")
    page.get_by_role("combobox", name="Beside it").click()
    page.get_by_role("option", name="zh-static").click()
    expect(legend).to_contain_text("zh-static: ")
    expect(legend).to_contain_text("one vector each")
    expect(page).to_have_url(re.compile("beside=.*zh-static"))


def test_nothing_sticks_out_in_the_dark_or_on_a_phone(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/geometry?checkpoint=zh-contrastive", viewport=WIDE, color_scheme="dark")
    wait_for_corrections(page)
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)
        page.wait_for_function(FITS)
