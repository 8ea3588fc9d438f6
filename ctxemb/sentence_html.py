"""Sentences as small pieces of HTML: words as chips, lists of them, bars under them. What a user wrote is escaped.

T tokens.
"""

from collections.abc import Sequence
from html import escape

import numpy as np

from ctxemb.figures.style import NEUTRAL_COLOR, format_cosine, sense_colors

BAR_PIXELS = 56
GROUND = "rgba(139,144,160,.16)"


def tokens_html(
    tokens: Sequence[str],
    oov: Sequence[bool],
    targets: Sequence[int],
    chosen: int,
    color: str,
    between: Sequence[str] | None = None,
) -> str:
    """A sentence as chips: the target filled, its other occurrences outlined, unknown words dashed.

    Args:
        between: for a language without spaces, what stands before each token and after the last; then every token
            has a ground of its own, so that one sees how the sentence was cut.
    """
    chips = [_faint(between[0])] if between else []
    for i, token in enumerate(tokens):
        style, title = f"background:{GROUND}" if between else "", ""
        if i == chosen:
            style = f"background:{color};color:#fff;font-weight:600"
        elif i in targets:
            style, title = f"box-shadow:inset 0 0 0 1.5px {color}", "another occurrence"
        elif oov[i]:
            style, title = f"border-bottom:2px dashed {NEUTRAL_COLOR};opacity:.65", "not in the vocabulary"
        chips.append(f'<span title="{title}" style="padding:1px 4px;border-radius:5px;{style}">{escape(token)}</span>')
        if between:
            chips.append(_faint(between[i + 1]))
    gap = "3px" if between else "1px"
    return f'<span style="display:inline-flex;flex-wrap:wrap;gap:{gap};line-height:1.5">{"".join(chips)}</span>'


def uses_html(
    labels: Sequence[str], sentences: Sequence[str], senses: Sequence[str | None], notes: Sequence[str]
) -> str:
    """A list of sentences, each made by `tokens_html`, under the labels that the heatmap uses."""
    colors = sense_colors(senses)
    rows = [
        f'<div style="display:flex;flex-wrap:wrap;gap:0 .9rem;padding:.25rem 0">'
        f'<span style="flex:0 0 7rem;opacity:.85"><span style="color:{colors[sense]}">■</span> {escape(label)}</span>'
        f'<span style="flex:1 1 20rem">{sentence} <small style="opacity:.6">{escape(note)}</small></span></div>'
        for label, sentence, sense, note in zip(labels, sentences, senses, notes, strict=True)
    ]
    return f"<div>{''.join(rows)}</div>"


def bars_html(tokens: Sequence[str], values_T: np.ndarray, position: int, color: str) -> str:
    """The sentence with a bar hanging from each word, the longest for the largest value; NaN has no bar."""
    largest = float(np.nanmax(values_T, initial=1e-9))
    columns = []
    for i, token in enumerate(tokens):
        known = not np.isnan(values_T[i])
        height = round(BAR_PIXELS * float(values_T[i]) / largest) if known else 0
        word = f"background:{color};color:#fff;font-weight:600" if i == position else ""
        bar = f'<span style="width:1.6rem;height:{height}px;background:{color};border-radius:0 0 4px 4px"></span>'
        value = f'<span style="font-size:.75em;opacity:.7">{format_cosine(values_T[i]) if known else ""}</span>'
        columns.append(
            '<span style="display:flex;flex-direction:column;align-items:center;min-width:2.1rem">'
            f'<span style="padding:1px 4px;border-radius:5px;{word}">{escape(token)}</span>{bar}{value}</span>'
        )
    style = "display:flex;flex-wrap:wrap;gap:.7rem .15rem;align-items:flex-start"
    return f'<div style="{style}">{"".join(columns)}</div>'


def contexts_html(sentences: Sequence[str]) -> str:
    """Sentences, each made by `tokens_html`, one under the other."""
    rows = [f'<div style="padding:.3rem 0;border-top:1px solid {GROUND}">{sentence}</div>' for sentence in sentences]
    return f"<div>{''.join(rows)}</div>"


def _faint(text: str) -> str:
    return f'<span style="opacity:.6">{escape(text)}</span>' if text.strip() else ""
