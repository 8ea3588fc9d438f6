"""Two maps of the same uses, linked: what is pointed at or selected in one stands out in the other.

Drawn by Altair, whose charts can share a selection; imported only where two maps are shown.
"""

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from ctxemb.figures.mapping import PLACE_SCALE, ColorBy, group_colors, plain_text
from ctxemb.figures.style import FONTS

SIDES = ("left", "right")
WIDTH, HEIGHT, GAP = 460, 420, 20
SHAPES = {"circle": "circle", "diamond": "diamond", "square": "square", "cross": "cross", "x": "triangle-up"}


def linked_maps(
    points: pd.DataFrame, places_N2: Sequence[np.ndarray], titles: Sequence[str], color_by: ColorBy
) -> alt.HConcatChart:
    """Two maps with one hover and a box in each; `selected_rows` tells what the boxes hold.

    Args:
        points: from `ctxemb.figures.mapping.map_points`.
        places_N2: where the uses lie on the left and on the right, (N, 2) each.
        titles: of the two maps.
    """
    frame = points[["word", "sense", "symbol", "group", "place"]].assign(row=points.index, text=_texts(points))
    for side, place_N2 in zip(SIDES, places_N2, strict=True):
        frame[[f"x_{side}", f"y_{side}"]] = place_N2
    hover = alt.selection_point(name="hover", on="pointerover", fields=["row"], empty=False)
    boxes = [alt.selection_interval(name=side, encodings=["x", "y"]) for side in SIDES]
    is_selected = boxes[0] & boxes[1]
    charts = [
        alt.Chart(frame, title=alt.TitleParams(title, anchor="start", font=FONTS))
        .mark_point(filled=True, strokeWidth=2)
        .encode(
            x=alt.X(f"x_{side}:Q", axis=None, scale=alt.Scale(zero=False, nice=False, padding=12)),
            y=alt.Y(f"y_{side}:Q", axis=None, scale=alt.Scale(zero=False, nice=False, padding=12)),
            color=_color(points, color_by),
            shape=alt.Shape("symbol:N", scale=_shapes(), legend=None),
            size=alt.when(hover).then(alt.value(320)).otherwise(alt.value(70 if len(points) <= 300 else 30)),
            opacity=alt.when(hover)
            .then(alt.value(1))
            .when(is_selected)
            .then(alt.value(0.85))
            .otherwise(alt.value(0.1)),
            tooltip=[alt.Tooltip("word:N"), alt.Tooltip("sense:N"), alt.Tooltip("text:N", title="sentence")],
        )
        .properties(name=f"map_{side}", width=WIDTH, height=HEIGHT)
        .add_params(box)
        for side, box, title in zip(SIDES, boxes, titles, strict=True)
    ]
    # one parameter of both charts; added to each, it would have to be merged
    shared = alt.TopLevelSelectionParameter(
        name="hover",
        select=alt.PointSelectionConfig(type="point", on="pointerover", fields=["row"]),
        views=[f"map_{side}" for side in SIDES],
    )
    return alt.hconcat(*charts, spacing=GAP, params=[shared])


def selected_rows(
    points: pd.DataFrame, places_N2: Sequence[np.ndarray], boxes: Mapping[str, Mapping[str, Sequence[float]]]
) -> pd.Index:
    """Rows inside every box that is drawn; all of them if there is none.

    Args:
        boxes: side -> field of `linked_maps` -> its ends, as the browser reports them.
    """
    inside_N = np.ones(len(points), dtype=bool)
    for side, place_N2 in zip(SIDES, places_N2, strict=True):
        for axis, place_N in zip("xy", place_N2.T, strict=True):
            if ends := boxes.get(side, {}).get(f"{axis}_{side}"):
                inside_N &= (place_N >= min(ends)) & (place_N <= max(ends))
    return points.index[inside_N]


def _color(points: pd.DataFrame, color_by: ColorBy) -> alt.Color:
    if color_by == "place":
        scale = alt.Scale(domain=[0, 0.5, 1], range=[str(color) for _, color in PLACE_SCALE])
        return alt.Color("place:Q", scale=scale, legend=alt.Legend(orient="bottom", title="place in the sentence"))
    groups = set(points.group)
    colors = {group: color for group, color in group_colors(points.group.tolist()).items() if group in groups}
    scale = alt.Scale(domain=list(colors), range=list(colors.values()))
    return alt.Color("group:N", scale=scale, legend=alt.Legend(orient="bottom", title=None, columns=6))


def _shapes() -> alt.Scale:
    return alt.Scale(domain=list(SHAPES), range=list(SHAPES.values()))


def _texts(points: pd.DataFrame) -> list[str]:
    return [plain_text(text) for text in points.text]
