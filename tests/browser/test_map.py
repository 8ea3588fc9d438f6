"""The Map page as a user meets it: selections, a placed sentence, a long drawing, two linked maps."""

import csv
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.test_compare import FITS, NARROW, WIDE, wait_for_numbers
from tests.browser.test_pages import SETTLED

OpenPage = Callable[..., Page]
JOB_MS = 180_000  # other work may share the cores
NUM_CONTEXTS = 98
POINTS = """() => {
    const chart = document.querySelector('.js-plotly-plot'), layout = chart._fullLayout
    const {left, top} = chart.getBoundingClientRect()
    return chart._fullData.flatMap(trace => Array.from(trace.x).map((x, i) => ({
        row: trace.customdata[i][0], x, y: trace.y[i],
        left: left + layout.xaxis._offset + layout.xaxis.d2p(x),
        top: top + layout.yaxis._offset + layout.yaxis.d2p(trace.y[i]),
    })))
}"""


def wait_for_map(page: Page, chart: str = ".js-plotly-plot .scatterlayer path.point") -> None:
    expect(page.locator(chart).first).to_be_visible(timeout=JOB_MS)
    expect(page.get_by_test_id("stMetric")).to_have_count(2, timeout=JOB_MS)
    expect(page.locator(SETTLED)).to_be_visible()


def points(page: Page) -> list[dict[str, Any]]:
    return page.evaluate(POINTS)


def drag(page: Page, *corners: tuple[float, float]) -> None:
    page.mouse.move(*corners[0])
    page.mouse.down()
    for corner in corners[1:]:
        page.mouse.move(*corner, steps=8)
    page.mouse.up()


def _places(coordinates: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return sorted((round(x, 4), round(y, 4)) for x, y in coordinates)


def test_what_is_selected_is_what_the_table_shows(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/map?method=PCA", viewport={"width": 1400, "height": 1100})
    wait_for_map(page)
    expect(page.get_by_text(f"All {NUM_CONTEXTS} contexts")).to_be_visible()
    expect(page.get_by_role("button", name="selected as CSV")).to_have_count(0)
    shown = points(page)
    assert sorted(point["row"] for point in shown) == list(range(NUM_CONTEXTS))
    middle = sorted(point["left"] for point in shown)[NUM_CONTEXTS // 2] + 0.5
    plot = page.locator(".js-plotly-plot .nsewdrag").bounding_box()
    assert plot
    left, top, right, bottom = plot["x"] + 2, plot["y"] + 2, middle, plot["y"] + plot["height"] - 2
    inside = [point for point in shown if point["left"] < middle]
    assert 0 < len(inside) < NUM_CONTEXTS
    drag(page, (left, top), (right, top), (right, bottom), (left, bottom), (left, top))
    expect(page.get_by_text(f"{len(inside)} of {NUM_CONTEXTS} contexts")).to_be_visible()
    expect(page.locator(SETTLED)).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name=f"The {len(inside)} selected as CSV").click()
    with download.value.path().open() as file:
        rows = list(csv.DictReader(file))
    # the file has the numbers of a float32 in as few digits as tell it from others
    assert _places([(float(row["x"]), float(row["y"])) for row in rows]) == _places([(p["x"], p["y"]) for p in inside])
    # another drawing starts without the selection of this one
    page.get_by_role("radio", name="t-SNE").click()
    expect(page.get_by_text(f"All {NUM_CONTEXTS} contexts")).to_be_visible(timeout=JOB_MS)


def test_placing_a_sentence_adds_exactly_one_marker(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/map?method=PCA", viewport=WIDE)
    wait_for_map(page)
    before = points(page)
    place = page.get_by_role("textbox", name="Place a sentence")
    place.fill("We sat on the <b>bank</b> of the river .")
    place.press("Enter")
    expect(page.locator(".js-plotly-plot .legendtext").filter(has_text="your sentence")).to_be_visible(timeout=JOB_MS)
    expect(page.locator(".js-plotly-plot")).to_have_count(1)  # the map before it stays until the page is through
    expect(page.locator(SETTLED)).to_be_visible()
    after = points(page)
    assert [(p["row"], p["x"], p["y"]) for p in after[:-1]] == [(p["row"], p["x"], p["y"]) for p in before]
    assert after[-1]["row"] == -1
    page.mouse.move(after[-1]["left"], after[-1]["top"])
    expect(page.locator(".hoverlayer")).to_contain_text("your sentence")
    expect(page.locator(".hoverlayer")).to_contain_text("<b>")
    place.fill("")
    place.press("Enter")
    expect(page.locator(".js-plotly-plot .legendtext").filter(has_text="your sentence")).to_have_count(0)
    assert len(points(page)) == len(before)


def test_a_long_drawing_goes_on_while_another_page_is_shown(open_page: OpenPage, families: str) -> None:
    words = "&".join(f"words_en={word}" for word in ("bank", "bat", "cell", "bow", "trunk", "scale", "port", "mole"))
    page = open_page(f"{families}/map?{words}&max_iter=5000", viewport=WIDE)
    expect(page.get_by_text("Drawing the map:")).to_be_visible(timeout=JOB_MS)
    page.get_by_role("link", name="Compare").click()
    wait_for_numbers(page)
    expect(page.get_by_text("Drawing the map:")).to_have_count(0)
    page.get_by_role("link", name="Map").click()
    expect(page.get_by_text("iterations 5000")).to_be_visible(timeout=JOB_MS)
    wait_for_map(page)
    # the same drawing, for whoever asks
    other = open_page(f"{families}/map?{words}&max_iter=5000", viewport=WIDE)
    wait_for_map(other)
    assert [(p["x"], p["y"]) for p in points(other)] == [(p["x"], p["y"]) for p in points(page)]


def test_two_maps_are_linked(open_page: OpenPage, families: str) -> None:
    page = open_page(f"{families}/map?method=PCA&beside=true", viewport={"width": 1400, "height": 1100})
    wait_for_map(page, chart=".vega-embed .marks")
    chart = page.locator(".vega-embed .marks").bounding_box()
    assert chart
    left, top = chart["x"] + 60, chart["y"] + 100
    drag(page, (left, top), (left + 170, top + 250))
    expect(page.get_by_text(f"of {NUM_CONTEXTS} contexts")).to_be_visible()
    expect(page.get_by_role("button", name="selected as CSV")).to_be_visible()


def test_nothing_sticks_out_in_the_dark_or_on_a_phone(open_page: OpenPage, families: str) -> None:
    for query in ("method=PCA&checkpoint=zh-contrastive", "method=PCA&beside=true"):
        page = open_page(f"{families}/map?{query}", viewport=WIDE, color_scheme="dark")
        wait_for_map(page, chart=".js-plotly-plot, .vega-embed")
        for viewport in (WIDE, NARROW):
            page.set_viewport_size(viewport)
            page.wait_for_function(FITS)
