"""Charts of the Scores page."""

from collections.abc import Mapping, Sequence
from html import escape

import plotly.graph_objects as go

from ctxemb.figures.style import FONTS, SENSE_COLORS


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
    figure.update_layout(
        height=320,
        margin={"l": 10, "r": 10, "t": 10, "b": 10},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        dragmode=False,
        font={"family": FONTS},
    )
    return figure
