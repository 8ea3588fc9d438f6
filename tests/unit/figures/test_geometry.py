"""Traces of each chart of the Geometry page, and what becomes of tags in a name."""

import numpy as np
import plotly.graph_objects as go
import pytest

from ctxemb.analysis.isotropy import SelfSimilarity, Spectrum
from ctxemb.figures.geometry import (
    BALL,
    FIRST_WIDTH,
    MAX_SVG_POINTS,
    WIDTH,
    cosine_chart,
    energy_chart,
    norm_chart,
    similarity_chart,
    spectrum_chart,
    sweep_chart,
)
from ctxemb.figures.style import FONTS, SENSE_COLORS

TAG = "<img src=x onerror=alert(1)>"
LONG, SHORT = Spectrum(np.array([3.0, 1, 1, 1]), 4), Spectrum(np.array([2.0, 2]), 2)
BINS = np.linspace(-1, 1, 5)


def every_chart(name: str = "space") -> list[go.Figure]:
    return [
        energy_chart({name: LONG}, 2),
        spectrum_chart({name: LONG}),
        cosine_chart({name: np.full(4, 0.25)}, BINS),
        similarity_chart(["embedding", "LSTM"], [SelfSimilarity(1, 0, 9), SelfSimilarity(0.6, 0.5, 9)], 1),
        norm_chart([name, "b"], np.array([1, 1_000]), np.array([2.0, 3.0])),
        sweep_chart([0.7, 0.8], [0.6, 0.7], 1),
    ]


def test_energy_rises_to_1_beside_that_of_a_ball_in_as_many_dimensions_as_the_first() -> None:
    figure = energy_chart({"one": LONG, "other": SHORT}, 2)
    one, other, ball = figure.data
    np.testing.assert_allclose(one.y, [9 / 12, 10 / 12, 11 / 12, 1])
    np.testing.assert_allclose(other.y, [0.5, 1])
    np.testing.assert_allclose(ball.y, [0.25, 0.5, 0.75, 1])
    assert list(one.x) == [1, 2, 3, 4]
    assert [trace.name for trace in figure.data] == ["one", "other", BALL]
    assert [one.line.color, other.line.color] == list(SENSE_COLORS[:2])
    # one that lies under an equal curve can still be seen
    assert (one.line.width, other.line.width) == (FIRST_WIDTH, WIDTH)
    assert figure.layout.shapes[0].x0 == figure.layout.shapes[0].x1 == 2
    assert figure.layout.xaxis.type == "log"
    assert list(figure.layout.xaxis.tickvals) == [1, 2]


def test_singular_values_are_in_units_of_a_ball() -> None:
    figure = spectrum_chart({"one": LONG, "other": SHORT})
    one, other, ball = figure.data
    np.testing.assert_allclose(one.y, np.array([3, 1, 1, 1]) / np.sqrt(3))
    np.testing.assert_allclose(other.y, [1, 1])
    np.testing.assert_allclose(ball.y, np.ones(4))
    fewer_than_dimensions = spectrum_chart({"one": Spectrum(np.array([2.0, 2]), 8)}).data[0]
    np.testing.assert_allclose(fewer_than_dimensions.y, [2, 2])


def test_cosines_are_drawn_in_the_middle_of_their_bins_and_only_where_there_are_any() -> None:
    figure = cosine_chart({"as read": np.array([0, 0, 0.4, 0.6]), "centred": np.array([0, 0.5, 0.5, 0])}, BINS)
    first, second = figure.data
    assert list(first.x) == [-0.75, -0.25, 0.25, 0.75]
    assert list(first.y) == [0, 0, 0.4, 0.6]
    assert (first.fill, second.fill) == ("tozeroy", None)
    assert list(figure.layout.xaxis.range) == [-0.75, 1.25]
    assert list(cosine_chart({"empty": np.zeros(4)}, BINS).layout.xaxis.range) == [-1.5, 1.5]


def test_layers_have_own_uses_random_words_and_the_difference() -> None:
    layers = [SelfSimilarity(1.0, 0.1, 9), SelfSimilarity(0.6, 0.5, 9)]
    figure = similarity_chart(["embedding", "LSTM"], layers, 1)
    drawn = {trace.name: list(trace.y) for trace in figure.data}
    assert drawn["a word's own uses"] == [1.0, 0.6]
    assert drawn["random words"] == [0.1, 0.5]
    assert drawn["difference"] == pytest.approx([0.9, 0.1])
    assert figure.layout.shapes[0].x0 < 1 < figure.layout.shapes[0].x1
    assert not similarity_chart(["embedding", "LSTM"], layers).layout.shapes


@pytest.mark.parametrize(("num_words", "kind"), [(MAX_SVG_POINTS, "scatter"), (MAX_SVG_POINTS + 1, "scattergl")])
def test_a_word_is_a_point_with_its_name_and_many_are_drawn_by_the_graphics_card(num_words: int, kind: str) -> None:
    words = [f"w{i}" for i in range(num_words)]
    figure = norm_chart(words, np.arange(1, num_words + 1), np.linspace(1, 2, num_words))
    points = figure.data[0]
    assert points.type == kind
    assert (points.customdata[0], points.x[0], points.y[0]) == ("w0", 1, 1.0)
    assert (figure.layout.xaxis.type, figure.layout.xaxis.tickvals[-1]) == ("log", 1_000)
    assert not figure.layout.showlegend


def test_the_sweep_starts_at_no_direction_and_marks_the_chosen_number() -> None:
    figure = sweep_chart([0.7, 0.8, 0.75], [0.6, 0.65, 0.7], 2)
    assert {trace.name: list(trace.y) for trace in figure.data} == {
        "AUC": [0.7, 0.8, 0.75],
        "1-NN recall": [0.6, 0.65, 0.7],
    }
    assert list(figure.data[0].x) == [0, 1, 2]
    assert figure.layout.shapes[0].x0 < 2 < figure.layout.shapes[0].x1


def test_names_are_escaped_and_chinese_has_fonts() -> None:
    for figure in every_chart(TAG):
        drawn = figure.to_json()
        assert "<img" not in drawn
        assert "\\u003cimg" not in drawn
        assert figure.layout.font.family == FONTS
    assert sum("lt;img" in figure.to_json() for figure in every_chart(TAG)) == 4
