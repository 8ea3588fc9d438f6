"""Charts of the Scores page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import plotly.graph_objects as go

from ctxemb.figures.style import NEUTRAL_COLOR, SENSE_COLORS, lay_out

ROW_HEIGHT, FRAME_HEIGHT = 40, 110  # room for two lines
# kind of a line: its title and colour
KINDS = {
    "own": ("the checkpoint's own reading", SENSE_COLORS[0]),
    "layer": ("other layers and read-outs", SENSE_COLORS[1]),
    "baseline": ("baselines", NEUTRAL_COLOR),
}


@dataclass(frozen=True)
class ScoreLine:
    """A score to draw.

    Attributes:
        name: of the line.
        kind: a key of `KINDS`, or `floor`.
        value: the score, between `low` and `high`.
        about: what it is of, for those who point at it.
    """

    name: str
    kind: str
    value: float
    low: float
    high: float
    about: str = ""


def interval_chart(lines: Sequence[ScoreLine], title: str) -> go.Figure:
    """Scores with their intervals, each on a line of its own; a floor is a dashed line across.

    Args:
        lines: the first is drawn on top.
        title: of the measure.
    """
    figure = go.Figure()
    for kind, (name, color) in KINDS.items():
        shown = [line for line in lines if line.kind == kind]
        if shown:
            figure.add_scatter(
                x=[line.value for line in shown],
                y=[_on_two_lines(line.name) for line in shown],
                name=name,
                mode="markers",
                marker={"size": 10, "color": color},
                error_x={
                    "array": [line.high - line.value for line in shown],
                    "arrayminus": [line.value - line.low for line in shown],
                    "color": color,
                    "thickness": 2,
                    "width": 5,
                },
                customdata=[(line.low, line.high, escape(line.about)) for line in shown],
                hovertemplate="%{y}<br>%{x:.3f} (%{customdata[0]:.3f} to %{customdata[1]:.3f})<br>"
                "%{customdata[2]}<extra></extra>",
            )
    for floor in (line for line in lines if line.kind == "floor"):
        figure.add_vline(
            x=floor.value,
            line={"dash": "dash", "color": NEUTRAL_COLOR},
            annotation={"text": escape(floor.name), "y": 0, "yanchor": "bottom"},
        )
    names = [_on_two_lines(line.name) for line in lines if line.kind != "floor"]
    figure.update_xaxes(title=escape(title), zeroline=False, nticks=6)
    figure.update_yaxes(categoryorder="array", categoryarray=names[::-1], automargin=True)
    return lay_out(figure, FRAME_HEIGHT + ROW_HEIGHT * len(names))


def _on_two_lines(name: str) -> str:
    return escape(name).replace(" · ", "<br>")  # a narrow window has to have room for the scores too


def trade_off_chart(lines: Mapping[str, Sequence[tuple[float, float, float]]], title: str) -> go.Figure:
    """What a measure is worth after how much training.

    Args:
        lines: name of an encoder -> its trainings as (seconds, value, share of the whole length), shortest first.
        title: of the measure.
    """
    figure = go.Figure()
    for color, (name, points) in zip(SENSE_COLORS, lines.items(), strict=False):
        figure.add_scatter(
            x=[seconds for seconds, _, _ in points],
            y=[value for _, value, _ in points],
            text=[f"{share:.0%}" for _, _, share in points],
            name=escape(name),
            mode="lines+markers+text",
            textposition="top center",
            line={"color": color, "width": 3},
            marker={"size": 9, "color": color},
            hovertemplate=f"{escape(name)}, %{{text}} of its length<br>%{{x:,.0f}} s: %{{y:.3f}}<extra></extra>",
        )
    figure.update_xaxes(title="training time in seconds", rangemode="tozero", zeroline=False)
    figure.update_yaxes(title=escape(title), rangemode="tozero", zeroline=False, tickformat=".2f")
    return lay_out(figure, 320)
