"""Charts of the Compare page: every pair of uses, every layer.

N uses, L layers above layer 0.
"""

from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ctxemb.figures.style import (
    FONTS,
    NEUTRAL_COLOR,
    SENSE_COLORS,
    format_cosine,
    lay_out,
    layer_ticks,
    sense_colors,
    wrapped,
)

MAX_ROWS_WITH_VALUES, MAX_ROWS_WITH_LABELS = 20, 40
MIN_SPAN = 0.2  # over a smaller range, a scale would paint noise in full colour
# by `dark`; one colour of text is readable on the whole of each scale
SEQUENTIAL = {
    False: ["#f6f7fd", "#dde2f8", "#bfc9f3", "#9dacec", "#7b8ee4"],
    True: ["#1b2030", "#27305a", "#35448a", "#465bba", "#5a72ea"],
}
DIVERGING = {
    False: ["#eb9f69", "#f6d3b9", "#f8f8fa", "#bfc9f3", "#7b8ee4"],
    True: ["#b4622a", "#653c22", "#1f2433", "#35448a", "#5a72ea"],
}
VALUE_COLOR = {False: "#1d2433", True: "#f5f6ff"}


def cosine_heatmap(
    cosines_NN: np.ndarray,
    labels: Sequence[str],
    texts: Sequence[str],
    senses: Sequence[str | None],
    dark: bool = False,
) -> go.Figure:
    """Cosine of every pair of uses; the uses of one sense have to stand side by side.

    The diagonal, a use with itself, is left blank; a pair without a cosine (NaN) shows “–”.
    """
    num_uses = len(labels)
    rows = range(num_uses)
    shown_NN = np.where(np.eye(num_uses, dtype=bool), np.nan, cosines_NN)
    figure = go.Figure(
        go.Heatmap(
            z=shown_NN,
            text=[["" if i == j else format_cosine(cosines_NN[i, j]) for j in rows] for i in rows],
            texttemplate="%{text}" if num_uses <= MAX_ROWS_WITH_VALUES else None,
            customdata=[[_pair_hover(labels, texts, cosines_NN, i, j) for j in rows] for i in rows],
            hovertemplate="%{customdata}<extra></extra>",
            textfont={"color": VALUE_COLOR[dark]},
            xgap=2,
            ygap=2,
            colorbar={"thickness": 10, "outlinewidth": 0, "nticks": 6, "tickformat": ".2f"},
            **_color_scale(shown_NN, dark),
        )
    )
    marks = _marks(senses)
    _add_groups(figure, senses, marks)
    axis = {"tickmode": "array", "tickvals": list(rows), "showgrid": False, "zeroline": False, "ticks": ""}
    axis |= {
        "tickfont": {"size": 13},
        "range": [-0.5, num_uses - 0.5],
        "showticklabels": num_uses <= MAX_ROWS_WITH_LABELS,
    }
    figure.update_xaxes(axis, ticktext=[escape(label.split()[-1]) for label in labels], side="top", tickangle=0)
    figure.update_yaxes(
        axis,
        ticktext=[f"{mark} {escape(label)} " for mark, label in zip(marks, labels, strict=True)],
        range=[num_uses - 0.5, -0.5],
    )
    height = int(np.clip(46 * num_uses + 70, 260, 720))
    figure.update_layout(
        height=height, margin={"l": 10, "r": 10, "t": 66, "b": 10}, dragmode=False, font={"family": FONTS}
    )
    return figure


def layer_chart(
    names: Sequence[str],
    lines: Mapping[str, Sequence[float]],
    bag: Mapping[str, float],
    random: Sequence[float],
    layer: int | None = None,
) -> go.Figure:
    """Mean cosine of each kind of pair at every layer.

    Args:
        names: of the L + 1 layers, layer 0 first.
        lines: kind of pair -> L + 1 means.
        bag: kind of pair -> mean of the bag of context, which has no layers; drawn beside them.
        random: L + 1 means of random word pairs; may be empty.
        layer: the layer that is shown elsewhere on the page, marked here.
    """
    num_layers = len(names)
    beside = num_layers - 0.2
    figure = go.Figure()
    for color, (kind, line) in zip(SENSE_COLORS, lines.items(), strict=False):
        style = {"name": escape(kind), "line": {"color": color, "width": 3}, "marker": {"size": 8, "color": color}}
        hover = escape(kind) + ", %{text}: %{y:.2f}<extra></extra>"
        figure.add_scatter(
            x=list(range(num_layers)), y=list(line), text=names, hovertemplate=hover, mode="lines+markers", **style
        )
        if kind in bag:
            style["marker"] = {"size": 11, "color": color, "symbol": "diamond"}
            figure.add_scatter(
                x=[beside],
                y=[bag[kind]],
                text=["bag of context"],
                hovertemplate=hover,
                mode="markers",
                **style,
                showlegend=False,
            )
    if len(random):
        figure.add_scatter(
            x=list(range(num_layers)),
            y=list(random),
            name="random",
            mode="lines",
            line={"color": NEUTRAL_COLOR, "width": 2, "dash": "dot"},
            hovertemplate="random: %{y:.2f}<extra></extra>",
        )
    if layer is not None:
        figure.add_vrect(x0=layer - 0.2, x1=layer + 0.2, fillcolor=NEUTRAL_COLOR, opacity=0.15, line_width=0)
    ticks = dict(enumerate(layer_ticks(names))) | ({beside: "bag"} if bag else {})
    figure.update_xaxes(
        tickmode="array", tickvals=list(ticks), ticktext=list(ticks.values()), showgrid=False, zeroline=False
    )
    figure.update_yaxes(tickformat=".2f", zeroline=False, nticks=6)
    return lay_out(figure, 300)


def _pair_hover(labels: Sequence[str], texts: Sequence[str], cosines_NN: np.ndarray, i: int, j: int) -> str:
    pair = [i] if i == j else [i, j]
    title = " · ".join(escape(labels[row]) for row in pair)
    value = "" if i == j else f": {format_cosine(cosines_NN[i, j])}"
    # the texts of 200 x 200 pairs would be megabytes
    lines = [wrapped(texts[row]) for row in pair] if len(labels) <= MAX_ROWS_WITH_LABELS else []
    return "<br>".join([f"<b>{title}{value}</b>", *lines])


def _color_scale(shown_NN: np.ndarray, dark: bool) -> dict[str, Any]:
    """Sequential over the values there are, to the next tenth; diverging around 0 if some are clearly negative."""
    values = shown_NN[~np.isnan(shown_NN)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
    if low < -0.05:
        limit = np.ceil(max(-low, high, MIN_SPAN) * 10) / 10
        return {"zmin": -limit, "zmax": limit, "colorscale": _stops(DIVERGING[dark])}
    top = min(np.ceil(high * 10) / 10, 1.0)
    return {"zmin": min(np.floor(low * 10) / 10, top - MIN_SPAN), "zmax": top, "colorscale": _stops(SEQUENTIAL[dark])}


def _stops(colors: Sequence[str]) -> list[list[float | str]]:
    return [[i / (len(colors) - 1), color] for i, color in enumerate(colors)]


def _marks(senses: Sequence[str | None]) -> list[str]:
    """A coloured square for each use."""
    colors = sense_colors(senses)
    return [f"<span style='color:{colors[sense]}'>■</span>" for sense in senses]


def _add_groups(figure: go.Figure, senses: Sequence[str | None], marks: Sequence[str]) -> None:
    """The name of each sense above its columns, and a line between two senses."""
    start, end = 0, len(senses)
    for sense, members in groupby(senses):
        size = len(list(members))
        if sense:
            figure.add_annotation(
                x=start + (size - 1) / 2,
                y=1,
                yref="paper",
                yanchor="bottom",
                yshift=26,
                text=f"{marks[start]} {escape(sense)}",
                font={"size": 14},
                showarrow=False,
            )
        if start:
            edge, line = start - 0.5, {"color": NEUTRAL_COLOR, "width": 2}
            figure.add_shape(type="line", x0=edge, x1=edge, y0=-0.5, y1=end - 0.5, line=line)
            figure.add_shape(type="line", x0=-0.5, x1=end - 0.5, y0=edge, y1=edge, line=line)
        start += size
