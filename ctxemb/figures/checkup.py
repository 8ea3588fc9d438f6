"""Charts of the Checkup page: what a number was taken from, the checkpoint's own in full, the reference's dotted.

L layers above layer 0.
"""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import plotly.graph_objects as go

from ctxemb.figures.style import NEUTRAL_COLOR, SENSE_COLORS, lay_out, layer_ticks

HEIGHT, BAR_HEIGHT = 260, 46
FILLS = {NEUTRAL_COLOR: "rgba(139, 144, 160, 0.22)"} | {
    color: f"rgba({int(color[1:3], 16)}, {int(color[3:5], 16)}, {int(color[5:], 16)}, 0.15)" for color in SENSE_COLORS
}


def kinds_chart(
    kinds: Mapping[str, np.ndarray], beside: Mapping[str, np.ndarray], reference: str, bins: np.ndarray
) -> go.Figure:
    """How often pairs of each kind have each cosine.

    Args:
        kinds: kind -> share of its pairs in each bin.
        beside: the same of the reference; kinds that the checkpoint has not are left out.
        reference: its name.
        bins: the edges of the bins, evenly spaced.
    """
    figure = go.Figure()
    middles, width = (bins[1:] + bins[:-1]) / 2, bins[1] - bins[0]
    for (kind, share), color in zip(kinds.items(), (NEUTRAL_COLOR, *SENSE_COLORS), strict=False):
        curves = {"": (share, "solid")} | ({f", {reference}": (beside[kind], "dot")} if kind in beside else {})
        for suffix, (values, dash) in curves.items():
            name = escape(kind + suffix)
            figure.add_scatter(
                x=middles,
                y=values,
                name=name,
                mode="lines",
                line={"color": color, "width": 2, "shape": "hvh", "dash": dash},
                fill=None if suffix else "tozeroy",
                fillcolor=None if suffix else FILLS[color],
                hovertemplate=name + ", cosine about %{x:.2f}: %{y:.1%} of the pairs<extra></extra>",
            )
    used = np.flatnonzero(np.max([*kinds.values(), *beside.values()], axis=0) > 1e-3)
    low, high = (middles[used[0]], middles[used[-1]]) if len(used) else (-1, 1)
    figure.update_xaxes(title="cosine", range=[max(low - width, -1), min(high + width, 1)], showgrid=False)
    figure.update_yaxes(title="share of pairs", tickformat=".0%", rangemode="tozero")
    return lay_out(figure, HEIGHT, showlegend=True)


def layers_chart(
    names: Sequence[str], means: Sequence[float], beside: Sequence[float], reference: str, own: str
) -> go.Figure:
    """Mean cosine of two uses of one word, layer by layer.

    Args:
        names: of the L + 1 layers.
        means: at each.
        beside: those of the reference, at as many layers as it has; empty without.
        reference, own: the names of both checkpoints.
    """
    figure = go.Figure()
    for name, values, color, dash in (
        (own, means, SENSE_COLORS[0], "solid"),
        (reference, beside, NEUTRAL_COLOR, "dot"),
    ):
        if len(values):
            figure.add_scatter(
                x=list(range(len(values))),
                y=list(values),
                name=escape(name),
                mode="lines+markers",
                line={"color": color, "width": 3, "dash": dash},
                marker={"size": 8},
                hovertemplate=escape(name) + ", layer %{x}: %{y:.4f}<extra></extra>",
            )
    ticks = [*layer_ticks(names), *map(str, range(len(names), len(beside)))]
    figure.update_xaxes(tickmode="array", tickvals=list(range(len(ticks))), ticktext=ticks, showgrid=False)
    figure.update_yaxes(title="mean cosine", tickformat=".2f", rangemode="tozero", nticks=5)
    return lay_out(figure, HEIGHT, showlegend=True)


def losses_chart(own: Mapping[str, float], levels: Mapping[str, float]) -> go.Figure:
    """Losses as bars, and grey the levels from which to read them: shorter is better."""
    nats = {**own, **levels}
    figure = go.Figure(
        go.Bar(
            x=list(nats.values()),
            y=[escape(name) for name in nats],
            orientation="h",
            marker={"color": [SENSE_COLORS[0]] * len(own) + [NEUTRAL_COLOR] * len(levels)},
            text=[f"{value:.2f}" for value in nats.values()],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x:.3f} nats<extra></extra>",
        )
    )
    figure.update_xaxes(title="nats", rangemode="tozero", showgrid=False, range=[0, 1.12 * max(nats.values())])
    figure.update_yaxes(autorange="reversed", automargin=True)
    return lay_out(figure, BAR_HEIGHT * len(nats) + 70, showlegend=False)
