"""The Compare page as a user meets it. The tiny checkpoint serves too: changes are asserted, not numbers."""

import re
from collections.abc import Callable
from urllib.parse import quote

from playwright.sync_api import Locator, Page, expect

OpenPage = Callable[..., Page]
RIVER = "We pulled the boat onto the bank and watched the water of the river run past ."
MONEY = "The bank approved the loan after the farmer had paid all the money he owed ."
FITS = """() => [document.documentElement, document.querySelector('[data-testid=stMain]')]
    .every(element => element.scrollWidth <= element.clientWidth)"""
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 420, "height": 900}


def metric(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stMetric").filter(has_text=label).get_by_test_id("stMetricValue")


def wait_for_numbers(page: Page) -> None:
    expect(page.get_by_test_id("stMetric")).to_have_count(4)
    expect(page.locator(".js-plotly-plot")).to_have_count(2)
    expect(page.locator("[data-testid=stApp][data-test-script-state=notRunning]")).to_be_visible()


def numbers(page: Page) -> list[str]:
    return page.get_by_test_id("stMetricValue").all_inner_texts()


def edit_first_sentence(page: Page, sentence: str) -> None:
    """Type into the first row of the table, which is a canvas: its cells are found by place."""
    page.get_by_role("tab", name="Edit").click()
    page.get_by_test_id("stDataFrame").locator(".dvn-scroller").click(position={"x": 500, "y": 50})
    page.keyboard.press("Enter")
    page.locator("textarea.gdg-input").fill(sentence)
    page.keyboard.press("Enter")


def test_cold_start_to_an_own_sentence(open_page: OpenPage) -> None:
    page = open_page(viewport=WIDE)
    expect(page.get_by_role("heading", name="One word, many sentences")).to_be_visible()
    page.get_by_role("radio", name="bank", exact=True).click()
    wait_for_numbers(page)
    expect(metric(page, "Gap")).to_have_text(re.compile(r"^[+−]\d\.\d\d$"))
    heatmap = page.locator(".js-plotly-plot").first
    expect(heatmap.get_by_text("money 4")).to_be_visible()
    expect(heatmap.get_by_text("yours")).to_have_count(0)

    own = page.get_by_role("textbox", name="Your sentence")
    own.fill(RIVER)
    answer = page.get_by_text("Your sentence. It is")
    expect(answer).to_be_visible()
    expect(heatmap.get_by_text("yours").first).to_be_visible()
    first = answer.inner_text()
    own.fill(MONEY)
    expect(answer).not_to_have_text(first)


def test_an_edited_row_changes_the_numbers_and_a_link_shows_the_same(open_page: OpenPage) -> None:
    page = open_page("?checkpoint=en-bilm", viewport=WIDE)
    wait_for_numbers(page)
    page.get_by_role("radio", name="plant", exact=True).click()
    expect(page.get_by_text("uses of “plant”")).to_be_visible()
    page.get_by_role("radio", name="context", exact=True).click()
    page.get_by_role("radio", name="mean", exact=True).click()
    page.get_by_role("textbox", name="Your sentence").fill("The green plant beside the road is old .")
    for choice in ("word=plant", "readout=context", "layer=mean", "own="):
        expect(page).to_have_url(re.compile(choice))
    # the address moves before the numbers do: those of a page that starts from the address are the ones to expect
    fresh = open_page(page.url.split("/", 3)[3], viewport=WIDE)
    wait_for_numbers(fresh)
    before = numbers(fresh)
    expect(metric(page, "Same sense")).to_have_text(before[0])
    edit_first_sentence(page, "The farmer saw the small green plant beside the road .")
    expect(metric(page, "Same sense")).not_to_have_text(before[0])
    expect(page).to_have_url(re.compile("rows="))
    address = page.url.split("/", 3)[3]

    again = open_page(address, viewport=WIDE)
    wait_for_numbers(again)
    answer = again.get_by_text("Your sentence. It is").inner_text()
    expect(page.get_by_text("Your sentence. It is")).to_have_text(answer)
    expect(page.get_by_test_id("stMetricValue")).to_have_text(numbers(again))
    expect(again.get_by_role("textbox", name="Target word")).to_have_value("plant")
    expect(again.get_by_role("radio", name="here", exact=True)).not_to_be_checked()
    assert again.url.split("/", 3)[3] == address

    page.get_by_role("button", name="Start again").click()
    expect(metric(page, "Same sense")).to_have_text(before[0])
    expect(page).not_to_have_url(re.compile("rows="))


def test_nothing_sticks_out_in_the_dark_or_on_a_phone(open_page: OpenPage) -> None:
    page = open_page(viewport=WIDE, color_scheme="dark")
    wait_for_numbers(page)
    background = page.evaluate("getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", background)[:3])) < 200
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)
        for tab in ("Read", "Edit", "Paste", "Upload"):
            page.get_by_role("tab", name=tab).click()
            # charts are drawn anew after a change of width: ask until it has settled
            page.wait_for_function(FITS)


def test_tags_in_a_sentence_are_shown_and_not_run(open_page: OpenPage) -> None:
    tag = "<img src=x onerror=\"document.title='run'\"> <b>bold</b> the bank of the river ."
    page = open_page(f"?own={quote(tag)}", viewport=WIDE)
    expect(page.get_by_text("Your sentence. It is")).to_be_visible()
    wait_for_numbers(page)
    assert page.locator("img[src=x]").count() == 0
    assert page.title() != "run"
    expect(page.get_by_test_id("stHtml").first).to_contain_text("onerror")
    why = page.get_by_role("combobox", name=re.compile("Which words"))
    expect(why).to_have_value(re.compile("<img src=x"))
