"""Traces, axes and levels of the charts of a run."""

import numpy as np
import plotly.graph_objects as go
import pytest

from ctxemb.figures.style import FONTS, SENSE_COLORS
from ctxemb.figures.training import (
    MAX_POINTS,
    loss_chart,
    overlay_chart,
    probe_chart,
    probe_map_chart,
    small_chart,
    smoothed,
    thinned,
)

STEPS = np.arange(1.0, 5.0)
FORWARD, BACKWARD = (STEPS, np.array([9.0, 7, 6, 5])), (STEPS, np.array([9.5, 8, 7, 6]))
VALIDATION = (STEPS[1::2], np.array([7.5, 5.5]))


def traces(figure: go.Figure) -> dict[str, list[float]]:
    return {trace.name: list(trace.y) for trace in figure.data}


def test_loss_chart_has_both_directions_their_validation_and_the_level_of_a_guess() -> None:
    curves = {"forward": FORWARD, "backward": BACKWARD}
    figure = loss_chart(curves, {"forward": VALIDATION}, ("ln V", 9.2))
    assert traces(figure) == {
        "training, forward": [9, 7, 6, 5],
        "training, backward": [9.5, 8, 7, 6],
        "validation, forward": [7.5, 5.5],
    }
    assert figure.data[0].line.color == figure.data[2].line.color != figure.data[1].line.color
    assert figure.layout.shapes[0].y0 == 9.2
    assert figure.layout.annotations[0].text == "ln V = 9.20"
    assert figure.layout.yaxis.type == "linear"
    assert not loss_chart(curves, {}).layout.shapes


def test_a_logarithmic_loss_keeps_the_label_at_its_line() -> None:
    figure = loss_chart({"forward": FORWARD}, {}, ("ln V", 10.0), log=True)
    assert figure.layout.yaxis.type == "log"
    assert (figure.layout.shapes[0].y0, figure.layout.annotations[0].y) == (10.0, 1.0)


def test_smoothing_draws_the_raw_curve_faintly_below() -> None:
    figure = loss_chart({"forward": FORWARD}, {}, smoothing=0.5)
    raw, smooth = figure.data
    assert (raw.name, list(raw.y), raw.showlegend) == ("training, forward, raw", [9, 7, 6, 5], False)
    # by hand: (.5 * 7 + .25 * 9) / .75 at the second step
    assert list(smooth.y[:2]) == pytest.approx([9, 23 / 3])
    assert raw.opacity < 0.5


def test_smoothed_agrees_with_pandas_and_leaves_a_constant_alone() -> None:
    import pandas as pd

    values = np.random.default_rng(0).normal(size=50)
    np.testing.assert_allclose(smoothed(values, 0.9), pd.Series(values).ewm(alpha=0.1).mean())
    np.testing.assert_allclose(smoothed(np.full(5, 3.0), 0.99), 3)
    np.testing.assert_array_equal(smoothed(values, 0.0), values)


def test_a_long_curve_is_thinned_and_keeps_its_ends_and_spikes() -> None:
    y = np.random.default_rng(0).normal(size=100_003)
    y[[0, 777, 50_000, -1]] = 0.5, 99, -99, 0.25
    x_kept, y_kept = thinned(np.arange(len(y)), y)
    assert len(x_kept) <= MAX_POINTS
    assert (np.diff(x_kept) > 0).all()
    np.testing.assert_array_equal(y_kept, y[x_kept])
    assert {0, 777, 50_000, len(y) - 1} <= set(x_kept)
    long = (np.arange(float(len(y))), y)
    for figure in (
        loss_chart({"a": long}, {"b": long}, smoothing=0.9),
        small_chart(long, "rate"),
        overlay_chart({"a": long}, "step", "loss"),
        probe_chart(long[0], y, y),
    ):
        assert max(len(trace.x) for trace in figure.data) <= MAX_POINTS


def test_small_chart_is_one_line_under_its_name() -> None:
    figure = small_chart(FORWARD, "learning rate", log=True)
    assert [list(trace.y) for trace in figure.data] == [[9, 7, 6, 5]]
    assert (figure.layout.yaxis.title.text, figure.layout.yaxis.type) == ("learning rate", "log")


def test_probe_chart_shades_the_gap_between_the_senses() -> None:
    figure = probe_chart(np.array([0, 100]), np.array([0.8, 0.7]), np.array([0.8, 0.3]))
    cross, same = figure.data
    assert (cross.name, list(cross.y), cross.fill) == ("different senses", [0.8, 0.3], None)
    assert (same.name, list(same.y), same.fill) == ("same sense", [0.8, 0.7], "tonexty")


def test_probe_map_has_a_trace_a_sense_and_the_same_axes_at_every_step() -> None:
    words, senses = ["bank", "bank", "bank"], ["money", "river", "money"]
    texts = ["One bank .", "Two bank .", "Three bank ."]
    start = probe_map_chart(np.zeros((3, 2)), words, senses, texts, limit=0.5)
    positions = np.array([[0.5, 0.1], [-0.5, 0], [0.4, 0.2]])
    end = probe_map_chart(positions, words, senses, texts, limit=0.5)
    assert [(trace.name, list(trace.x)) for trace in end.data] == [("money", [0.5, 0.4]), ("river", [-0.5])]
    assert [row for row, _ in end.data[0].customdata] == [0, 2]
    assert "Three bank ." in end.data[0].customdata[1][1]
    assert start.layout.xaxis.range == end.layout.xaxis.range == (-0.54, 0.54)
    assert end.layout.yaxis.range == end.layout.xaxis.range
    assert end.layout.yaxis.scaleanchor == "x"


def test_words_of_a_map_are_told_apart_by_symbols() -> None:
    figure = probe_map_chart(
        np.zeros((4, 2)), ["bank", "bank", "bat", "bat"], ["money", "river", "animal", "sport"], ["x"] * 4, limit=0.0
    )
    assert [trace.name for trace in figure.data] == ["bank: money", "bank: river", "bat: animal", "bat: sport"]
    assert [trace.marker.symbol for trace in figure.data] == ["circle", "circle", "diamond", "diamond"]
    assert [trace.marker.color for trace in figure.data] == [*SENSE_COLORS[:2], *SENSE_COLORS[:2]]
    assert figure.layout.xaxis.range == (-1, 1)


def test_more_runs_than_colours_are_told_apart_by_their_dashes() -> None:
    figure = overlay_chart({f"run {n}": FORWARD for n in range(8)}, "tokens", "loss")
    looks = [(trace.line.color, trace.line.dash) for trace in figure.data]
    assert len(set(looks)) == 8
    assert figure.layout.xaxis.title.text == "tokens"


def test_live_charts_keep_the_readers_zoom_and_escape_what_users_wrote() -> None:
    tag = "<img src=x onerror=alert(1)>"
    figures = [
        loss_chart({tag: FORWARD}, {tag: VALIDATION}, (tag, 2.0)),
        small_chart(FORWARD, tag),
        overlay_chart({tag: FORWARD}, tag, tag),
        probe_map_chart(np.zeros((1, 2)), [tag], [tag], [tag], 1.0),
        probe_chart(STEPS, STEPS, STEPS),
    ]
    for figure in figures:
        assert figure.layout.uirevision == "training"
        assert figure.layout.font.family == FONTS
        assert "<img" not in figure.to_json()
        assert "\\u003cimg" not in figure.to_json()
