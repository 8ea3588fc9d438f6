"""Charts of the Geometry page. A curve a space, in the order of `SENSE_COLORS`; the page has one legend for them all.

R directions, L layers above layer 0, W words.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ctxemb.analysis.isotropy import SelfSimilarity, Spectrum
from ctxemb.figures.style import NEUTRAL_COLOR, SENSE_COLORS, lay_out, layer_ticks

HEIGHT = 300
MAX_SVG_POINTS = 1_000
FIRST_WIDTH, WIDTH = 5, 2.5  # the first curve stays visible under one that is equal to it
FIRST_FILL = "rgba(59, 125, 216, 0.15)"  # of SENSE_COLORS
BALL = "a perfect ball"


def energy_chart(spectra: Mapping[str, Spectrum], k: int) -> go.Figure:
    """Energy of the first 1, 2, ... directions together; dotted, that of a ball in as many dimensions as the first."""
    figure = go.Figure()
    for row, (name, spectrum) in enumerate(spectra.items()):
        figure.add_scatter(
            x=np.arange(1, len(spectrum.cumulative_energies) + 1),
            y=spectrum.cumulative_energies,
            name=escape(name),
            mode="lines",
            line=_curve(row),
            hovertemplate=escape(name) + ": %{x} directions, %{y:.0%}<extra></extra>",
        )
    num_dimensions = _num_dimensions(spectra)
    x = np.arange(1, num_dimensions + 1)
    _add_ball(figure, x, x / num_dimensions)
    figure.add_vline(x=k, line={"color": NEUTRAL_COLOR, "width": 1})
    figure.update_yaxes(tickformat=".0%", range=[0, 1.03], title="energy, cumulative")
    return _over_directions(figure, spectra)


def spectrum_chart(spectra: Mapping[str, Spectrum]) -> go.Figure:
    """Singular value of each direction, in units of their root mean square: 1 throughout in a ball."""
    figure = go.Figure()
    for row, (name, spectrum) in enumerate(spectra.items()):
        values_R = spectrum.values_R / np.sqrt((spectrum.values_R**2).sum() / spectrum.num_dimensions)
        figure.add_scatter(
            x=np.arange(1, len(values_R) + 1),
            y=values_R,
            name=escape(name),
            mode="lines",
            line=_curve(row),
            hovertemplate=escape(name) + ": direction %{x}, %{y:.2f} times as long as in a ball<extra></extra>",
        )
    x = np.arange(1, _num_dimensions(spectra) + 1)
    _add_ball(figure, x, np.ones(len(x)))
    figure.update_yaxes(title="singular value, ball = 1", rangemode="tozero")
    return _over_directions(figure, spectra)


def cosine_chart(shares: Mapping[str, np.ndarray], bins: np.ndarray) -> go.Figure:
    """How often random words have each cosine.

    Args:
        shares: name -> share of the pairs in each bin.
        bins: the edges of the bins, evenly spaced.
    """
    figure = go.Figure()
    middles, width = (bins[1:] + bins[:-1]) / 2, bins[1] - bins[0]
    for row, (name, share) in enumerate(shares.items()):
        figure.add_scatter(
            x=middles,
            y=share,
            name=escape(name),
            mode="lines",
            line={**_curve(row), "width": WIDTH, "shape": "hvh"},
            fill=None if row else "tozeroy",
            fillcolor=None if row else FIRST_FILL,
            hovertemplate=escape(name) + ", cosine about %{x:.2f}: %{y:.1%} of the pairs<extra></extra>",
        )
    used = np.flatnonzero(np.max(list(shares.values()), axis=0) > 1e-3)
    low, high = (middles[used[0]], middles[used[-1]]) if len(used) else (-1, 1)
    figure.update_xaxes(
        title="cosine of random words", range=[min(low - width, -0.2), max(high + width, 0.2)], showgrid=False
    )
    figure.update_yaxes(title="share of pairs", tickformat=".0%", rangemode="tozero")
    return lay_out(figure, HEIGHT, showlegend=False)


def similarity_chart(names: Sequence[str], layers: Sequence[SelfSimilarity], layer: int | None = None) -> go.Figure:
    """A word's own uses beside random words, at every layer, and the difference.

    Args:
        names: of the L + 1 layers, layer 0 first.
        layers: of them.
        layer: the one that the rest of the page is about, marked here.
    """
    figure = go.Figure()
    lines = {
        "a word's own uses": ([s.own for s in layers], SENSE_COLORS[0], "solid"),
        "random words": ([s.random for s in layers], NEUTRAL_COLOR, "dot"),
        "difference": ([s.above_random for s in layers], SENSE_COLORS[1], "solid"),
    }
    for name, (line, color, dash) in lines.items():
        figure.add_scatter(
            x=list(range(len(names))),
            y=line,
            text=names,
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 3, "dash": dash},
            marker={"size": 8},
            hovertemplate=f"{name}, %{{text}}: %{{y:.2f}}<extra></extra>",
        )
    if layer is not None:
        figure.add_vrect(x0=layer - 0.15, x1=layer + 0.15, fillcolor=NEUTRAL_COLOR, opacity=0.15, line_width=0)
    figure.update_xaxes(tickmode="array", tickvals=list(range(len(names))), ticktext=layer_ticks(names), showgrid=False)
    figure.update_yaxes(title="mean cosine", tickformat=".2f", rangemode="tozero", nticks=6)
    return lay_out(figure, HEIGHT, showlegend=True)


def norm_chart(words: Sequence[str], counts_W: np.ndarray, norms_W: np.ndarray) -> go.Figure:
    """Length of each word's vectors against its frequency."""
    scatter = go.Scattergl if len(words) > MAX_SVG_POINTS else go.Scatter
    figure = go.Figure(
        scatter(
            x=counts_W,
            y=norms_W,
            customdata=[escape(word) for word in words],
            mode="markers",
            marker={"color": SENSE_COLORS[0], "size": 6, "opacity": 0.45},
            hovertemplate="%{customdata}: length %{y:.2f}, %{x:,} times in the text<extra></extra>",
        )
    )
    figure.update_xaxes(
        title="times in the text", type="log", showgrid=False, tickvals=_round_numbers(int(counts_W.max()))
    )
    figure.update_yaxes(title="mean length", rangemode="tozero")
    return lay_out(figure, HEIGHT, showlegend=False)


def sweep_chart(aucs: Sequence[float], recalls: Sequence[float], chosen: int) -> go.Figure:
    """AUC and 1-NN recall without the main 0, 1, ... directions; the chosen number is marked."""
    figure = go.Figure()
    for color, (name, line) in zip(SENSE_COLORS, {"AUC": aucs, "1-NN recall": recalls}.items(), strict=False):
        figure.add_scatter(
            x=list(range(len(line))),
            y=list(line),
            name=name,
            mode="lines+markers",
            line={"color": color, "width": 3},
            marker={"size": 6},
            hovertemplate=f"{name} without %{{x}} directions: %{{y:.3f}}<extra></extra>",
        )
    figure.add_vrect(x0=chosen - 0.4, x1=chosen + 0.4, fillcolor=NEUTRAL_COLOR, opacity=0.15, line_width=0)
    figure.update_xaxes(title="main directions removed", showgrid=False, zeroline=False)
    figure.update_yaxes(tickformat=".2f", nticks=6, zeroline=False)
    return lay_out(figure, HEIGHT, showlegend=True)


def _curve(row: int) -> dict[str, Any]:
    return {"color": SENSE_COLORS[row % len(SENSE_COLORS)], "width": WIDTH if row else FIRST_WIDTH}


def _num_dimensions(spectra: Mapping[str, Spectrum]) -> int:
    return next(iter(spectra.values())).num_dimensions


def _add_ball(figure: go.Figure, x: np.ndarray, y: np.ndarray) -> None:
    line = {"color": NEUTRAL_COLOR, "width": 2, "dash": "dot"}
    figure.add_scatter(x=x, y=y, name=BALL, mode="lines", line=line, hoverinfo="skip")


def _over_directions(figure: go.Figure, spectra: Mapping[str, Spectrum]) -> go.Figure:
    most = max(spectrum.num_dimensions for spectrum in spectra.values())
    figure.update_xaxes(title="main directions", type="log", showgrid=False, tickvals=_round_numbers(most))
    return lay_out(figure, HEIGHT, showlegend=False)


def _round_numbers(highest: int) -> list[int]:
    """Round numbers for a logarithmic axis, which would else write powers."""
    steps = (1, 10, 100) if highest > 2_000 else (1, 2, 5, 10, 20, 50, 100, 200, 500)
    ticks = [step * 10**power for power in range(0, 9, 3) for step in steps]
    return [tick for tick in ticks if tick <= highest]
