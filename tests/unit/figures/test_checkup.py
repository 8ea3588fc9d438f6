import numpy as np

from ctxemb.figures.checkup import kinds_chart, layers_chart, losses_chart
from ctxemb.figures.style import NEUTRAL_COLOR, SENSE_COLORS

BINS = np.linspace(-1, 1, 5)


def test_kinds_are_drawn_with_the_reference_dotted_in_the_same_colour() -> None:
    kinds = {"random": np.array([0.0, 0.5, 0.5, 0.0]), "<same>": np.array([0.0, 0.0, 0.2, 0.8])}
    beside = {"random": np.array([0.0, 1.0, 0.0, 0.0]), "other": np.array([1.0, 0.0, 0.0, 0.0])}
    figure = kinds_chart(kinds, beside, "a<b>", BINS)
    assert [trace.name for trace in figure.data] == ["random", "random, a&lt;b&gt;", "&lt;same&gt;"]
    assert [trace.line.dash for trace in figure.data] == ["solid", "dot", "solid"]
    assert [trace.line.color for trace in figure.data] == [NEUTRAL_COLOR, NEUTRAL_COLOR, SENSE_COLORS[0]]
    np.testing.assert_allclose(figure.data[0].x, [-0.75, -0.25, 0.25, 0.75])
    np.testing.assert_allclose(figure.data[2].y, [0.0, 0.0, 0.2, 0.8])


def test_layers_of_both_are_drawn_also_where_one_has_more() -> None:
    figure = layers_chart(["embedding", "LSTM"], [1.0, 0.6], [1.0, 0.7, 0.8], "other", "mine")
    assert [list(trace.y) for trace in figure.data] == [[1.0, 0.6], [1.0, 0.7, 0.8]]
    assert list(figure.layout.xaxis.ticktext) == ["embedding", "LSTM", "2"]
    assert len(layers_chart(["embedding", "LSTM"], [1.0, 0.6], [], "", "mine").data) == 1


def test_losses_are_bars_and_the_levels_grey() -> None:
    figure = losses_chart({"forward": 5.0, "backward": 5.5}, {"a guess": 10.0})
    (bars,) = figure.data
    assert list(bars.x) == [5.0, 5.5, 10.0]
    assert list(bars.marker.color) == [SENSE_COLORS[0], SENSE_COLORS[0], NEUTRAL_COLOR]
    assert list(bars.text) == ["5.00", "5.50", "10.00"]
