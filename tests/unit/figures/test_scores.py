"""Traces of the charts of the Scores page."""

from ctxemb.figures.scores import trade_off_chart


def test_a_line_an_encoder_over_its_seconds() -> None:
    figure = trade_off_chart({"en-<b>": [(30.0, 0.2, 0.5), (60.0, 0.3, 1.0)], "other": [(20.0, 0.5, 1.0)]}, "a <i>")
    first, second = figure.data
    assert (list(first.x), list(first.y), list(first.text)) == ([30, 60], [0.2, 0.3], ["50%", "100%"])
    assert first.name == "en-&lt;b&gt;"
    assert (list(second.x), list(second.y)) == ([20], [0.5])
    assert first.line.color != second.line.color
    assert figure.layout.yaxis.title.text == "a &lt;i&gt;"
