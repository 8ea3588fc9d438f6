"""Traces and values of each figure, and what becomes of tags in a user's text."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from ctxemb.figures.comparing import MAX_ROWS_WITH_VALUES, cosine_heatmap, layer_chart
from ctxemb.figures.style import FONTS, NEUTRAL_COLOR, SENSE_COLORS, format_cosine, sense_colors

COSINES = np.array([[1.0, 0.9, 0.5], [0.9, 1.0, np.nan], [0.5, np.nan, 1.0]])
LABELS, TEXTS, SENSES = (
    ["money 1", "money 2", "river 1"],
    ["One bank .", "Two bank .", "Three bank ."],
    ["money", "money", "river"],
)


def test_heatmap_shows_every_pair_but_the_diagonal() -> None:
    figure = cosine_heatmap(COSINES, LABELS, TEXTS, SENSES)
    heatmap = figure.data[0]
    np.testing.assert_array_equal(heatmap.z, [[np.nan, 0.9, 0.5], [0.9, np.nan, np.nan], [0.5, np.nan, np.nan]])
    np.testing.assert_array_equal(heatmap.text, [["", ".90", ".50"], [".90", "", "–"], [".50", "–", ""]])
    assert (heatmap.zmin, heatmap.zmax) == pytest.approx((0.5, 0.9))
    assert "money 1 · river 1: .50" in heatmap.customdata[0][2]
    assert "One bank ." in heatmap.customdata[0][2]
    assert "Three bank ." in heatmap.customdata[0][2]


def test_heatmap_names_the_senses_and_parts_them() -> None:
    figure = cosine_heatmap(COSINES, LABELS, TEXTS, SENSES)
    assert [(a.x, a.text.split()[-1]) for a in figure.layout.annotations] == [(0.5, "money"), (2.0, "river")]
    assert [(s.x0, s.x1, s.y0, s.y1) for s in figure.layout.shapes] == [(1.5, 1.5, -0.5, 2.5), (-0.5, 2.5, 1.5, 1.5)]
    assert list(figure.layout.xaxis.ticktext) == ["1", "2", "1"]
    assert [text.split("> ")[-1].strip() for text in figure.layout.yaxis.ticktext] == LABELS
    unlabelled = cosine_heatmap(COSINES, ["use 1", "use 2", "yours"], TEXTS, [None] * 3)
    assert not unlabelled.layout.annotations
    assert not unlabelled.layout.shapes


def test_heatmap_shows_values_as_text_only_while_they_can_be_read() -> None:
    for num_uses, shown in ((MAX_ROWS_WITH_VALUES, True), (MAX_ROWS_WITH_VALUES + 1, False)):
        figure = cosine_heatmap(np.eye(num_uses), ["use"] * num_uses, ["bank"] * num_uses, [None] * num_uses)
        assert bool(figure.data[0].texttemplate) is shown


def test_color_scale_does_not_paint_noise_and_turns_around_zero() -> None:
    same = cosine_heatmap(np.full((2, 2), 1.0), ["use 1", "use 2"], TEXTS[:2], [None, None]).data[0]
    assert (same.zmin, same.zmax) == pytest.approx((0.8, 1.0))
    opposed = cosine_heatmap(np.array([[1, -0.31], [-0.31, 1]]), ["use 1", "use 2"], TEXTS[:2], [None, None]).data[0]
    assert (opposed.zmin, opposed.zmax) == pytest.approx((-0.4, 0.4))
    undefined = cosine_heatmap(np.full((2, 2), np.nan), ["use 1", "use 2"], TEXTS[:2], [None, None]).data[0]
    assert undefined.text[0][1] == "–"
    dark = cosine_heatmap(COSINES, LABELS, TEXTS, SENSES, dark=True).data[0]
    assert dark.colorscale != cosine_heatmap(COSINES, LABELS, TEXTS, SENSES).data[0].colorscale


def test_layer_chart_has_a_line_a_kind_and_the_bag_beside() -> None:
    names = ["embedding", "LSTM", "projection"]
    figure = layer_chart(
        names, {"same": [1, 0.8, 0.7], "cross": [1, 0.6, 0.5]}, {"same": 0.4, "cross": 0.1}, [0.2, 0.3, 0.4], 1
    )
    drawn = {(trace.name, trace.mode): list(trace.y) for trace in figure.data}
    assert drawn == {
        ("same", "lines+markers"): [1, 0.8, 0.7],
        ("same", "markers"): [0.4],
        ("cross", "lines+markers"): [1, 0.6, 0.5],
        ("cross", "markers"): [0.1],
        ("random", "lines"): [0.2, 0.3, 0.4],
    }
    assert list(figure.layout.xaxis.ticktext) == [*names, "bag"]
    assert figure.layout.shapes[0].x0 < 1 < figure.layout.shapes[0].x1
    alone = layer_chart(names[:2], {"all pairs": [1, 0.5]}, {}, [])
    assert [trace.name for trace in alone.data] == ["all pairs"]
    assert list(alone.layout.xaxis.ticktext) == names[:2]
    assert not alone.layout.shapes


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.656, ".66"), (-0.1234, "−.12"), (1.0, "1.00"), (0.999, "1.00"), (0.994, ".99"), (-0.001, ".00"), (np.nan, "–")],
)
def test_format_cosine(value: float, text: str) -> None:
    assert format_cosine(value) == text


def test_sense_colors_follow_first_appearance() -> None:
    assert sense_colors(["river", None, "money", "river"]) == {
        None: NEUTRAL_COLOR,
        "river": SENSE_COLORS[0],
        "money": SENSE_COLORS[1],
    }
    many = sense_colors([str(i) for i in range(len(SENSE_COLORS) + 1)])
    assert many[str(len(SENSE_COLORS))] == SENSE_COLORS[0]


def test_text_of_users_is_escaped_in_figures() -> None:
    tag = "<img src=x onerror=alert(1)>"
    figure = cosine_heatmap(np.eye(2), [f"{tag} 1", f"{tag} 2"], [tag, tag], [tag, tag])
    drawn = figure.to_json()
    assert "<img" not in drawn
    assert "\\u003cimg" not in drawn
    assert "&lt;img" in drawn or "\\u0026lt;img" in drawn


def test_chinese_has_fonts_in_charts_and_on_the_page() -> None:
    config = tomllib.loads((Path(__file__).parents[3] / ".streamlit" / "config.toml").read_text())
    assert config["theme"]["font"] == FONTS
    assert "'Noto Sans CJK SC'" in FONTS
    for figure in (
        cosine_heatmap(COSINES, LABELS, TEXTS, SENSES),
        layer_chart(["embedding"], {"all pairs": [1.0]}, {}, []),
    ):
        assert figure.layout.font.family == FONTS


def test_hover_texts_of_chinese_are_wrapped_at_half_the_characters() -> None:
    figure = cosine_heatmap(np.eye(2), ["用 1", "用 2"], ["苹果" * 25, "bank " * 15], [None, None])
    _, chinese, rest, *english = figure.data[0].customdata[0][1].split("<br>")
    assert (len(chinese), len(rest)) == (30, 20)
    assert [len(line) for line in english] == [59, 14]
