"""Charts of the Train page: the loss and what goes with it, the probe, several runs over each other.

They are drawn anew every second while a run goes on: `uirevision` keeps the reader's zoom, and no trace has more than
MAX_POINTS points.

N points or uses, S steps.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from ctxemb.figures.style import NEUTRAL_COLOR, SENSE_COLORS, lay_out, sense_colors, wrapped

MAX_POINTS = 2_000
SAME_COLOR, CROSS_COLOR = SENSE_COLORS[0], SENSE_COLORS[1]
SYMBOLS = ("circle", "diamond", "square", "cross", "triangle-up", "star", "hexagon", "x", "pentagon", "bowtie")

Line = tuple[np.ndarray, np.ndarray]  # x and y, (N,) each


def loss_chart(
    training: Mapping[str, Line],
    validation: Mapping[str, Line],
    chance: tuple[str, float] | None = None,
    smoothing: float = 0.0,
    log: bool = False,
    unit: str = "nats",
) -> go.Figure:
    """Training and validation loss, or perplexity, over steps; a direction has one colour in both.

    Args:
        training: direction -> its curve, drawn thin, and smoothed over it.
        validation: direction -> its curve, drawn as points.
        chance: name and value of the loss of a guess, such as ln V; a dotted line.
        smoothing: weight of what was before in the moving average, 0 (none) to below 1.
        log: whether the vertical axis is logarithmic.
        unit: of the vertical axis.
    """
    figure = go.Figure()
    for color, (name, line) in zip(SENSE_COLORS, training.items(), strict=False):
        shown, hover = escape(f"training, {name}"), escape(name) + ", step %{x:,.0f}: %{y:.3f}<extra></extra>"
        if smoothing:
            x, y = thinned(*line)
            figure.add_scatter(x=x, y=y, name=f"{shown}, raw", showlegend=False, hoverinfo="skip")
            figure.data[-1].update(mode="lines", line={"color": color, "width": 1}, opacity=0.25)
        x, y = thinned(line[0], smoothed(line[1], smoothing))
        style = {"color": color, "width": 2}
        figure.add_scatter(x=x, y=y, mode="lines", line=style, name=shown, hovertemplate=hover)
    for color, (name, line) in zip(SENSE_COLORS, validation.items(), strict=False):
        x, y = thinned(*line)
        figure.add_scatter(
            x=x,
            y=y,
            mode="lines+markers",
            name=escape(f"validation, {name}"),
            line={"color": color, "width": 2, "dash": "dash"},
            marker={"size": 7, "color": color},
            hovertemplate=f"validation, {escape(name)}, step %{{x:,.0f}}: %{{y:.3f}}<extra></extra>",
        )
    if chance:
        _add_level(figure, *chance, log)
    return _laid_out(figure, "step", unit, log, height=360)


def small_chart(line: Line, title: str, log: bool = False, number_format: str = ",.4~g") -> go.Figure:
    """One measure over steps: learning rate, gradient norm, words a second, perplexity."""
    x, y = thinned(*line)
    figure = go.Figure()
    hover = f"step %{{x:,.0f}}: %{{y:{number_format}}}<extra></extra>"
    figure.add_scatter(x=x, y=y, mode="lines", line={"color": SENSE_COLORS[0], "width": 2}, hovertemplate=hover)
    _laid_out(figure, "step", title, log, height=200)
    return figure.update_layout(showlegend=False)


def overlay_chart(lines: Mapping[str, Line], x_title: str, y_title: str, log: bool = False) -> go.Figure:
    """One measure of several runs over each other."""
    figure = go.Figure()
    for index, (name, line) in enumerate(lines.items()):
        x, y = thinned(*line)
        style = {"color": SENSE_COLORS[index % len(SENSE_COLORS)], "width": 2}
        style |= {"dash": ("solid", "dash", "dot", "dashdot")[index // len(SENSE_COLORS) % 4]}
        hover = f"{escape(name)}<br>{escape(x_title)} %{{x:,.0f}}: %{{y:.4~g}}<extra></extra>"
        figure.add_scatter(x=x, y=y, mode="lines", line=style, name=escape(name), hovertemplate=hover)
    return _laid_out(figure, x_title, y_title, log, height=360)


def probe_chart(steps_S: np.ndarray, same_S: np.ndarray, cross_S: np.ndarray) -> go.Figure:
    """Mean cosine of same-sense and of cross-sense pairs after each look; the gap between them is shaded."""
    figure = go.Figure()
    cross_x, cross_y = thinned(steps_S, cross_S)
    x, y = thinned(steps_S, same_S)
    for name, color, (line_x, line_y) in (
        ("different senses", CROSS_COLOR, (cross_x, cross_y)),
        ("same sense", SAME_COLOR, (x, y)),
    ):
        figure.add_scatter(
            x=line_x,
            y=line_y,
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 3},
            marker={"size": 6, "color": color},
            fill="tonexty" if name == "same sense" else None,
            fillcolor="rgba(139, 144, 160, 0.18)",
            hovertemplate=f"{name}, step %{{x:,.0f}}: %{{y:.3f}}<extra></extra>",
        )
    return _laid_out(figure, "step", "mean cosine", log=False, height=300)


def probe_map_chart(
    positions_N2: np.ndarray, words: Sequence[str], senses: Sequence[str], texts: Sequence[str], limit: float
) -> go.Figure:
    """Uses on the plane of a `ProbeMap` at one of its steps; a colour a sense and, of several words, a symbol a word.

    Args:
        positions_N2: (N, 2).
        limit: half the side of the plane, the same at every step: a point that moves has moved.
    """
    named = list(dict.fromkeys(words))
    has_words = len(named) > 1
    groups = list(dict.fromkeys(zip(words, senses, strict=True)))
    colors = {word: sense_colors([sense for other, sense in groups if other == word]) for word in named}
    figure = go.Figure()
    for word, sense in groups:
        rows = [row for row, pair in enumerate(zip(words, senses, strict=True)) if pair == (word, sense)]
        label = escape(f"{word}: {sense}" if has_words else sense)
        symbol = SYMBOLS[named.index(word) % len(SYMBOLS)]
        figure.add_scatter(
            x=positions_N2[rows, 0],
            y=positions_N2[rows, 1],
            mode="markers",
            name=label,
            marker={"size": 11, "color": colors[word][sense], "symbol": symbol, "opacity": 0.85},
            customdata=[[row, f"<b>{label}</b><br>{wrapped(texts[row])}"] for row in rows],
            hovertemplate="%{customdata[1]}<extra></extra>",
        )
    bound = 1.08 * limit or 1.0
    axis = {"range": [-bound, bound], "showticklabels": False, "showgrid": False, "zeroline": True, "title": None}
    _laid_out(figure, "", "", log=False, height=460)
    figure.update_xaxes(axis)
    return figure.update_yaxes(axis | {"scaleanchor": "x"})


def smoothed(y_N: np.ndarray, weight: float) -> np.ndarray:
    """Exponential moving average whose start is not drawn towards 0; as it is for a weight of 0."""
    if not weight:
        return y_N
    out_N, mean, share = np.empty(len(y_N)), 0.0, 0.0
    for index, value in enumerate(y_N):
        mean = weight * mean + (1 - weight) * value
        share = weight * share + 1 - weight
        out_N[index] = mean / share
    return out_N


def thinned(x_N: np.ndarray, y_N: np.ndarray) -> Line:
    """At most MAX_POINTS points: the lowest and the highest of each stretch, and both ends."""
    x_N, y_N = np.asarray(x_N), np.asarray(y_N, dtype=np.float64)
    if len(x_N) <= MAX_POINTS:
        return x_N, y_N
    edges = np.linspace(0, len(x_N), MAX_POINTS // 2, dtype=int)
    kept = {0, len(x_N) - 1}
    for start, end in zip(edges, edges[1:], strict=False):
        kept |= {start + int(y_N[start:end].argmin()), start + int(y_N[start:end].argmax())}
    rows = sorted(kept)
    return x_N[rows], y_N[rows]


def _add_level(figure: go.Figure, name: str, value: float, log: bool) -> None:
    figure.add_hline(
        # plotly takes the position of a shape on a logarithmic axis as it is, that of its label as an exponent
        y=value,
        line={"color": NEUTRAL_COLOR, "width": 2, "dash": "dot"},
    )
    figure.add_annotation(
        text=f"{escape(name)} = {value:.2f}",
        x=1,
        xref="paper",
        xanchor="right",
        y=np.log10(value) if log else value,
        yanchor="bottom",
        showarrow=False,
        font={"color": NEUTRAL_COLOR},
    )


def _laid_out(figure: go.Figure, x_title: str, y_title: str, log: bool, height: int) -> go.Figure:
    figure.update_xaxes(title=escape(x_title), zeroline=False, showgrid=False)
    figure.update_yaxes(title=escape(y_title), zeroline=False, type="log" if log else "linear", nticks=8)
    return lay_out(figure, height, dragmode="zoom", uirevision="training")
