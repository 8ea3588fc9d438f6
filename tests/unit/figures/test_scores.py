"""Traces of the charts of the Scores page."""

import pytest

from ctxemb.figures.scores import ScoreLine, interval_chart, trade_off_chart


def test_scores_stand_between_their_ends_and_floors_across_them() -> None:
    lines = [
        ScoreLine("en-<b>", "own", 0.6, 0.5, 0.65, "of 9"),
        ScoreLine("bag", "baseline", 0.4, 0.3, 0.5),
        ScoreLine("other", "own", 0.7, 0.6, 0.9),
        ScoreLine("always <yes>", "floor", 0.5, float("nan"), float("nan")),
    ]
    figure = interval_chart(lines, "accuracy <i>")
    own, baseline = figure.data
    assert (list(own.x), list(own.y)) == ([0.6, 0.7], ["en-&lt;b&gt;", "other"])
    assert list(own.error_x.array) == pytest.approx([0.05, 0.2])
    assert list(own.error_x.arrayminus) == pytest.approx([0.1, 0.1])
    assert own.customdata[0] == [0.5, 0.65, "of 9"]
    assert (list(baseline.x), baseline.marker.color == own.marker.color) == ([0.4], False)
    assert list(figure.layout.yaxis.categoryarray) == ["other", "bag", "en-&lt;b&gt;"]  # from below
    (floor,), (text,) = figure.layout.shapes, figure.layout.annotations
    assert (floor.x0, floor.x1, text.text) == (0.5, 0.5, "always &lt;yes&gt;")
    assert figure.layout.xaxis.title.text == "accuracy &lt;i&gt;"


def test_a_line_an_encoder_over_its_seconds() -> None:
    figure = trade_off_chart({"en-<b>": [(30.0, 0.2, 0.5), (60.0, 0.3, 1.0)], "other": [(20.0, 0.5, 1.0)]}, "a <i>")
    first, second = figure.data
    assert (list(first.x), list(first.y), list(first.text)) == ([30, 60], [0.2, 0.3], ["50%", "100%"])
    assert first.name == "en-&lt;b&gt;"
    assert (list(second.x), list(second.y)) == ([20], [0.5])
    assert first.line.color != second.line.color
    assert figure.layout.yaxis.title.text == "a &lt;i&gt;"
