"""Charts of the Map page: uses as points, coloured by what they might fall into groups by.

What both charts know of a use is in `map_points`; a row of it is named by its index, which selections bring back.

N uses, K dimensions.
"""

from collections.abc import Sequence
from html import escape
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from ctxemb.figures.style import FIRST_HAN, FONTS, NEUTRAL_COLOR, SENSE_COLORS, wrapped

ColorBy = Literal["word", "sense", "cluster", "place"]
COLORINGS: tuple[ColorBy, ...] = get_args(ColorBy)
GROUP_COLORS = (*SENSE_COLORS, "#1f9bb0", "#8f6146", "#d06fb1", "#b59a23", "#6a5acd", "#5d9655")
OTHERS, UNKNOWN = "others", "unknown"
SYMBOLS = ("circle", "diamond", "square", "cross", "x")  # those that a chart in three dimensions has too
PLACE_SCALE = [[0, "#3b7dd8"], [0.5, "#a45fc9"], [1, "#e07b2e"]]
OWN_COLOR = {False: "#1d2433", True: "#f5f6ff"}
MAX_SVG_POINTS = 1_000
EXCERPT_CHARACTERS = 90  # on each side of the word
BEFORE, AFTER = "\x02", "\x03"  # where the word begins and ends while the text is escaped and broken into lines
HEIGHT = 560


def map_points(table: pd.DataFrame, color_by: ColorBy, clusters_N: np.ndarray | None = None) -> pd.DataFrame:
    """What is shown of each use: `group` (its colour), `symbol` (its sense within its word), `label` and `text`.

    Args:
        table: from `ctxemb.contexts`.
        color_by: what decides the colour; `place` has no groups, but a scale.
        clusters_N: number of each use's cluster, for `cluster`.

    The largest groups have a colour each; all others share one.
    """
    several = table.word.nunique() > 1
    named = table.word + " · " + table.sense if several else table.sense
    labels = named.where(table.sense != "", table.word if several else UNKNOWN)
    match color_by:
        case "word":
            groups = table.word
        case "sense":
            groups = labels.where(table.sense != "", UNKNOWN)
        case "cluster":
            assert clusters_N is not None, "clusters are coloured once they are known"
            groups = pd.Series(clusters_N, index=table.index).map(lambda number: f"cluster {number + 1}")
        case "place":
            groups = pd.Series("", index=table.index)
    counts = groups.value_counts(sort=False).sort_values(ascending=False, kind="stable")
    groups = groups.where(groups.isin(counts.index[: len(GROUP_COLORS)]), OTHERS)
    excerpts = [_excerpt(*row) for row in zip(table.sentence, table.start, table.end, strict=True)]
    return table.assign(group=groups, symbol=_symbols(table), label=labels, text=excerpts)


def group_colors(groups: Sequence[str]) -> dict[str, str]:
    """A colour for each group, in the order in which they first stand; grey for what is unknown or too small."""
    grey = {OTHERS: NEUTRAL_COLOR, UNKNOWN: NEUTRAL_COLOR}
    known = sorted(dict.fromkeys(group for group in groups if group not in grey), key=_cluster_number)
    return dict(zip(known, GROUP_COLORS, strict=False)) | grey


def context_map(
    points: pd.DataFrame,
    points_NK: np.ndarray,
    color_by: ColorBy,
    own: tuple[np.ndarray, str] | None = None,
    dark: bool = False,
) -> go.Figure:
    """Uses as points; the row of each is in its `customdata`.

    Args:
        points: from `map_points`.
        points_NK: (N, 2) or (N, 3).
        own: where a sentence of the user's lies, (K,), and its text; one more marker, whose row is -1.
    """
    is_flat = points_NK.shape[1] == 2
    kind = go.Scatter3d if not is_flat else go.Scattergl if len(points) > MAX_SVG_POINTS else go.Scatter
    size = 9 if len(points) <= 300 else 7 if len(points) <= MAX_SVG_POINTS else 5
    size = size if is_flat else size * 0.6
    figure = go.Figure()
    for name, rows, colors in _traces(points, color_by):
        place = np.flatnonzero(points.index.isin(rows))
        shown = points.iloc[place]
        figure.add_trace(
            kind(
                **_coordinates(points_NK[place]),
                mode="markers",
                name=escape(name),
                showlegend=color_by != "place",
                customdata=[[int(row)] for row in shown.index],
                hovertext=[_hover(*use) for use in zip(shown.word, shown.sense, shown.text, strict=True)],
                hovertemplate="%{hovertext}<extra></extra>",
                marker={"size": size, "opacity": 0.85, "symbol": shown.symbol.tolist(), "line": {"width": 0}} | colors,
            )
        )
    if own is not None:
        point_K, text = own
        figure.add_trace(
            (go.Scatter if is_flat else go.Scatter3d)(
                **_coordinates(point_K[None]),
                mode="markers",
                name="your sentence",
                customdata=[[-1]],
                hovertext=[f"<b>your sentence</b><br>{text}"],
                hovertemplate="%{hovertext}<extra></extra>",
                marker={
                    "size": 20 if is_flat else 10,
                    "symbol": "star" if is_flat else "diamond-open",
                    "color": OWN_COLOR[dark],
                    "line": {"width": 2, "color": OWN_COLOR[not dark]},
                },
            )
        )
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 4, "r": 4, "t": 4, "b": 4},
        font={"family": FONTS},
        legend={"orientation": "h", "y": -0.02, "yanchor": "top", "x": 0, "itemsizing": "constant"},
        dragmode="lasso" if is_flat else "turntable",
        hoverlabel={"align": "left"},
        uirevision="map",
    )
    axis = {"showticklabels": False, "showgrid": False, "zeroline": False, "title": "", "ticks": ""}
    figure.update_xaxes(axis)
    figure.update_yaxes(axis, scaleanchor="x")  # distances mean the same in every direction
    solid = axis | {"showgrid": True}
    figure.update_scenes(xaxis=solid, yaxis=solid, zaxis=solid, aspectmode="data")
    return figure


def own_text(sentence: str, start: int, end: int) -> str:
    """A sentence of the user's as it is shown beside its marker."""
    return _as_html(_excerpt(sentence, start, end))


def plain_text(excerpt: str) -> str:
    """An excerpt for charts that know no bold."""
    return excerpt.replace(BEFORE, "«").replace(AFTER, "»")


def _traces(points: pd.DataFrame, color_by: ColorBy) -> list[tuple[str, pd.Index, dict[str, Any]]]:
    """Name, rows and colours of each trace, as the legend lists them."""
    if color_by == "place":
        bar = {"title": {"text": "place in the sentence", "side": "right"}, "thickness": 10, "outlinewidth": 0}
        bar |= {"tickvals": [0, 1], "ticktext": ["first", "last"], "len": 0.5}
        scale = {"color": points.place.tolist(), "cmin": 0, "cmax": 1, "colorscale": PLACE_SCALE, "colorbar": bar}
        return [("uses", points.index, scale)]
    colors = group_colors(points.group.tolist())
    order = {group: number for number, group in enumerate(colors)}
    # the senses of a word share its colour, and have a place of their own in the legend
    names = points.label.where(points.group != OTHERS, OTHERS) if color_by == "word" else points.group
    pairs = list(dict.fromkeys(zip(points.group, names, strict=True)))
    pairs.sort(key=lambda pair: order[pair[0]])
    return [
        (name, points.index[(points.group == group) & (names == name)], {"color": colors[group]})
        for group, name in pairs
    ]


def _symbols(table: pd.DataFrame) -> pd.Series:
    """A symbol for each sense of a word, in the order in which they first stand; a circle where none is known."""
    known = table[table.sense != ""]
    numbers = known.groupby("word").sense.transform(lambda senses: pd.factorize(senses)[0]).astype(int)
    return numbers.reindex(table.index, fill_value=0).map(lambda number: SYMBOLS[number % len(SYMBOLS)])


def _excerpt(sentence: str, start: int, end: int) -> str:
    """The neighbourhood of a word, which stands between marks."""
    if start < 0 or end < 0:
        return sentence[: 2 * EXCERPT_CHARACTERS]
    size = EXCERPT_CHARACTERS // 2 if any(character >= FIRST_HAN for character in sentence) else EXCERPT_CHARACTERS
    first, last = max(start - size, 0), end + size
    before, word, after = (_unmarked(text) for text in (sentence[first:start], sentence[start:end], sentence[end:last]))
    return f"{'… ' if first else ''}{before}{BEFORE}{word}{AFTER}{after}{' …' if last < len(sentence) else ''}"


def _unmarked(text: str) -> str:
    return text.replace(BEFORE, "").replace(AFTER, "")


def _as_html(excerpt: str) -> str:
    return wrapped(excerpt).replace(BEFORE, "<b>").replace(AFTER, "</b>")


def _hover(word: str, sense: str, excerpt: str) -> str:
    return f"<b>{escape(word)}</b>{f' · {escape(sense)}' if sense else ''}<br>{_as_html(excerpt)}"


def _coordinates(points_NK: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip("xyz", points_NK.T, strict=False))


def _cluster_number(group: str) -> int:
    number = group.removeprefix("cluster ")
    return int(number) if number != group and number.isdigit() else 0
