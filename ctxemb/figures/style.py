"""Colours, fonts and texts that all charts share; plotly reads tags, so everything a user wrote is escaped here."""

from collections.abc import Sequence
from html import escape
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

SENSE_COLORS = ("#3b7dd8", "#e07b2e", "#2f9e77", "#a45fc9", "#c9476b", "#8a8f3c")
NEUTRAL_COLOR = "#8b90a0"
# Chinese glyphs first from fonts for simplified characters: the same code points look different in a Japanese font
FONTS = (
    "'Source Sans', 'Noto Sans', 'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', 'PingFang SC', "
    "'Hiragino Sans GB', 'Microsoft YaHei', 'WenQuanYi Micro Hei', 'WenQuanYi Zen Hei', sans-serif"
)
HOVER_COLUMNS = 60
MAX_NAMED_LAYERS = 5
FIRST_HAN = "\u4e00"


def lay_out(figure: go.Figure, height: int, **more: Any) -> go.Figure:
    """The frame of a chart: its legend above it, nothing to drag unless `more` says otherwise."""
    frame = {
        "height": height,
        "margin": {"l": 10, "r": 10, "t": 10, "b": 10},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
        "dragmode": False,
        "font": {"family": FONTS},
    }
    return figure.update_layout(frame | more)


def sense_colors(senses: Sequence[str | None]) -> dict[str | None, str]:
    """A colour for each sense, in order of appearance; grey for an unknown one."""
    known = list(dict.fromkeys(sense for sense in senses if sense))
    return {None: NEUTRAL_COLOR} | {s: SENSE_COLORS[i % len(SENSE_COLORS)] for i, s in enumerate(known)}


def format_cosine(value: float) -> str:
    """Two decimals without the leading zero, which every cell would repeat; “–” for NaN."""
    if np.isnan(value):
        return "–"
    text = f"{abs(value):.2f}".removeprefix("0")
    return f"−{text}" if value < 0 and text != ".00" else text


def layer_ticks(names: Sequence[str]) -> list[str]:
    """What stands below the layers of a chart: their names, or numbers where so many names would not find room."""
    return list(names) if len(names) <= MAX_NAMED_LAYERS else [str(layer) for layer in range(len(names))]


def wrapped(text: str) -> str:
    """A text escaped and broken into lines, for hover boxes."""
    # a Chinese character is as wide as two letters
    width = HOVER_COLUMNS // 2 if any(character >= FIRST_HAN for character in text) else HOVER_COLUMNS
    return "<br>".join(escape(line) for line in wrap(text, width, max_lines=4, placeholder=" …"))
