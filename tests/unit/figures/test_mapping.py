"""What stands where on a map, in which colour and shape, and what becomes of tags in a user's text."""

import json

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from ctxemb.contexts import context_table
from ctxemb.figures.mapping import (
    AFTER,
    BEFORE,
    COLORINGS,
    GROUP_COLORS,
    MAX_SVG_POINTS,
    OTHERS,
    UNKNOWN,
    ColorBy,
    context_map,
    group_colors,
    map_points,
    own_text,
    plain_text,
)
from ctxemb.figures.side_by_side import linked_maps, selected_rows
from ctxemb.figures.style import NEUTRAL_COLOR

CLUSTERS = np.array([1, 0, 0, 1])


def uses() -> pd.DataFrame:
    table = context_table(
        ["One bank .", "Two <b>bank</b> .", "Three bank .", "A plant ."],
        ["bank", "bank", "bank", "plant"],
        ["money", "river", "", "tree"],
        [4, 7, 6, 2],
    )
    table.index = pd.Index([10, 11, 12, 13])
    return table.assign(end=table.start + table.word.str.len(), place=[0.25, 0.5, 0.75, 1.0])


POINTS = np.array([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]])


def rows(figure: go.Figure) -> dict[str, list[int]]:
    return {trace.name: [row for (row,) in trace.customdata] for trace in figure.data}


@pytest.mark.parametrize(
    ("color_by", "traces"),
    [
        ("word", {"bank · money": [10], "bank · river": [11], "bank": [12], "plant · tree": [13]}),
        ("sense", {"bank · money": [10], "bank · river": [11], "plant · tree": [13], UNKNOWN: [12]}),
        ("cluster", {"cluster 1": [11, 12], "cluster 2": [10, 13]}),
        ("place", {"uses": [10, 11, 12, 13]}),
    ],
)
def test_every_use_is_one_marker_in_its_place(color_by: ColorBy, traces: dict[str, list[int]]) -> None:
    figure = context_map(map_points(uses(), color_by, CLUSTERS), POINTS, color_by)
    assert rows(figure) == traces
    for trace in figure.data:
        found = np.array([trace.x, trace.y]).T
        np.testing.assert_array_equal(found, POINTS[[row - 10 for (row,) in trace.customdata]])


def test_words_have_colours_and_senses_shapes() -> None:
    figure = context_map(map_points(uses(), "word"), POINTS, "word")
    looks = {trace.name: (trace.marker.color, trace.marker.symbol[0]) for trace in figure.data}
    bank, plant = GROUP_COLORS[:2]
    assert looks == {
        "bank · money": (bank, "circle"),
        "bank · river": (bank, "diamond"),
        "bank": (bank, "circle"),
        "plant · tree": (plant, "circle"),
    }
    by_place = context_map(map_points(uses(), "place"), POINTS, "place").data[0]
    assert list(by_place.marker.color) == [0.25, 0.5, 0.75, 1.0]
    assert list(by_place.marker.symbol) == ["circle", "diamond", "circle", "circle"]


def test_one_word_alone_is_told_by_its_senses() -> None:
    table = uses().iloc[:3]
    assert map_points(table, "sense").label.tolist() == ["money", "river", UNKNOWN]
    assert group_colors(["river", UNKNOWN, "money"])[UNKNOWN] == NEUTRAL_COLOR


def test_the_hover_shows_the_sentence_with_its_word_bold_and_tags_as_text() -> None:
    figure = context_map(map_points(uses(), "word"), POINTS, "word")
    hover = {row: text for trace in figure.data for (row,), text in zip(trace.customdata, trace.hovertext, strict=True)}
    assert hover[10] == "<b>bank</b> · money<br>One <b>bank</b> ."
    assert hover[11] == "<b>bank</b> · river<br>Two &lt;b&gt;<b>bank</b>&lt;/b&gt; ."
    assert hover[12].startswith("<b>bank</b><br>")


def test_a_line_of_a_hover_box_is_as_long_in_english_as_elsewhere() -> None:
    text = "We pulled the boat onto the bank and had a rest there ."
    assert own_text(text, 28, 32) == "We pulled the boat onto the <b>bank</b> and had a rest there ."


def test_of_a_long_sentence_the_neighbourhood_of_the_word_is_shown() -> None:
    text = "word " * 200 + "bank" + " other" * 200
    shown = own_text(text, 1000, 1004)
    assert "<b>bank</b>" in shown
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shown) < 250
    chinese = own_text("字" * 300 + "苹果" + "字" * 300, 300, 302)
    assert "<b>苹果</b>" in chinese.replace("<br>", "")


def test_many_small_groups_share_the_last_colour() -> None:
    words = [f"w{number}" for number in range(20) for _ in range(20 - number)]
    table = context_table(["s"] * len(words), words, [""] * len(words)).assign(end=-1, place=0.0)
    points = map_points(table, "word")
    kept = set(points.group) - {OTHERS}
    assert kept == {f"w{number}" for number in range(len(GROUP_COLORS))}
    colors = group_colors(points.group.tolist())
    assert len({colors[group] for group in kept}) == len(GROUP_COLORS)
    assert colors[OTHERS] == NEUTRAL_COLOR
    figure = context_map(points, np.zeros((len(points), 2)), "word")
    assert sum(len(found) for found in rows(figure).values()) == len(points)
    assert [trace.name for trace in figure.data].count(OTHERS) == 1


def test_an_own_sentence_is_exactly_one_more_marker() -> None:
    points = map_points(uses(), "word")
    before = context_map(points, POINTS, "word")
    after = context_map(points, POINTS, "word", own=(np.array([9.0, 9.0]), own_text("my bank", 3, 7)))
    assert list(after.data[:-1]) == list(before.data)
    own = after.data[-1]
    assert (list(own.x), list(own.y), list(own.customdata[0])) == ([9.0], [9.0], [-1])
    assert own.hovertext[0].endswith("my <b>bank</b>")


@pytest.mark.parametrize(("number", "kind"), [(10, go.Scatter), (MAX_SVG_POINTS + 1, go.Scattergl)])
def test_many_points_are_drawn_by_the_graphics_card(number: int, kind: type) -> None:
    table = context_table(["s"] * number, ["w"] * number, [""] * number).assign(end=-1, place=0.0)
    figure = context_map(map_points(table, "word"), np.zeros((number, 2)), "word")
    assert {type(trace) for trace in figure.data} == {kind}


@pytest.mark.parametrize("color_by", COLORINGS)
def test_three_dimensions_have_every_use_too(color_by: ColorBy) -> None:
    points_N3 = np.arange(12.0).reshape(4, 3)
    figure = context_map(map_points(uses(), color_by, CLUSTERS), points_N3, color_by, own=(np.ones(3), ""))
    assert all(isinstance(trace, go.Scatter3d) for trace in figure.data)
    assert sorted(z for trace in figure.data for z in trace.z) == [1.0, 2.0, 5.0, 8.0, 11.0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("color_by", COLORINGS)
def test_two_maps_share_hover_and_boxes(color_by: ColorBy) -> None:
    points = map_points(uses(), color_by, CLUSTERS)
    spec = linked_maps(points, [POINTS, -POINTS], ["Left", "Right"], color_by).to_dict()
    params = {param["name"]: param for param in spec["params"]}
    assert set(params) == {"hover", "left", "right"}
    views = [view["name"] for view in spec["hconcat"]]
    assert params["hover"]["views"] == views
    assert params["hover"]["select"]["fields"] == ["row"]
    (data,) = spec["datasets"].values()
    assert [(use["row"], use["x_left"], use["y_right"]) for use in data] == [
        (row, *pair) for row, pair in zip(range(10, 14), [(0, -1), (2, -3), (4, -5), (6, -7)], strict=True)
    ]
    assert next(use["text"] for use in data) == "One «bank» ."
    assert not any(mark in use["text"] for use in data for mark in (BEFORE, AFTER))
    for view in spec["hconcat"]:
        tests = json.dumps(view["encoding"]["opacity"])
        assert all(name in tests for name in params)


def test_boxes_on_both_sides_select_what_lies_in_both() -> None:
    points, places = map_points(uses(), "word"), [POINTS, -POINTS]
    left = {"left": {"x_left": [1, 5], "y_left": [2, 9]}}
    right = {"right": {"x_right": [-6.5, -3.5], "y_right": [-9, 0]}}
    assert selected_rows(points, places, {}).tolist() == [10, 11, 12, 13]
    assert selected_rows(points, places, left).tolist() == [11, 12]
    assert selected_rows(points, places, right).tolist() == [12, 13]
    assert selected_rows(points, places, left | right).tolist() == [12]


def test_plain_text_marks_the_word_without_tags() -> None:
    points = map_points(uses(), "word")
    assert plain_text(points.text[11]) == "Two <b>«bank»</b> ."
