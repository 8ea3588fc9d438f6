"""Lists of neighbours, each with a bar as long as its cosine, as HTML. What a user wrote is escaped."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from ctxemb.figures.style import NEUTRAL_COLOR, format_cosine

MAX_CHARACTERS_AROUND = 130
LINE = "rgba(139,144,160,.25)"


@dataclass(frozen=True)
class Row:
    """A neighbour in words.

    Attributes:
        text, start, end: a sentence and where its word stands; or a word alone.
        note: what is known of it: where it is from, how often it was seen.
        label, color: its sense, if known.
        mark: a word of emphasis, for what two lists share.
    """

    cosine: float
    text: str
    start: int
    end: int
    note: str
    label: str = ""
    color: str = NEUTRAL_COLOR
    mark: str = ""


def neighbours_html(rows: Sequence[Row], color: str) -> str:
    """Rows below one another, nearest first: cosine with its bar, the text with its word marked, notes."""
    return f'<div style="border-top:1px solid {LINE}">{"".join(_row_html(row, color) for row in rows)}</div>'


def shortened(text: str, start: int, end: int) -> tuple[str, str, str]:
    """What stands before a word, the word, and what comes after; far parts of a long sentence become “…”."""
    before, after = text[:start], text[end:]
    if len(before) > MAX_CHARACTERS_AROUND:
        before = "… " + before[-MAX_CHARACTERS_AROUND:].partition(" ")[2] if " " in before else "…" + before[-40:]
    if len(after) > MAX_CHARACTERS_AROUND:
        after = after[:MAX_CHARACTERS_AROUND].rpartition(" ")[0] + " …" if " " in after else after[:40] + "…"
    return before, text[start:end], after


def words_html(rows: Sequence[tuple[float, str, int]], color: str) -> str:
    """Words below one another, nearest first: cosine with its bar, the word, how many contexts it is the mean of."""
    lines = [
        f'<div style="display:flex;gap:.9rem;padding:.3rem 0;border-bottom:1px solid {LINE}">'
        f'{_cosine_html(cosine, color)}<span style="flex:1 1 auto"><b>{escape(word)}</b></span>'
        f'<small style="opacity:.65">{num_contexts} contexts</small></div>'
        for cosine, word, num_contexts in rows
    ]
    return f'<div style="border-top:1px solid {LINE}">{"".join(lines)}</div>'


def _cosine_html(cosine: float, color: str) -> str:
    width = round(100 * min(max(cosine, 0.0), 1.0))
    return (
        f'<span style="flex:0 0 3.2rem;font-variant-numeric:tabular-nums">{format_cosine(cosine)}'
        f'<span style="display:block;height:4px;border-radius:2px;background:{LINE}">'
        f'<span style="display:block;height:4px;border-radius:2px;width:{width}%;background:{color}"></span>'
        "</span></span>"
    )


def _row_html(row: Row, color: str) -> str:
    before, word, after = map(escape, shortened(row.text, row.start, row.end))
    sense = f'<span style="color:{row.color}">■</span> {escape(row.label)} · ' if row.label else ""
    mark = f' · <b style="color:{color}">{escape(row.mark)}</b>' if row.mark else ""
    chip = f"background:{color};color:#fff;font-weight:600;padding:0 4px;border-radius:5px;display:inline-block"
    return (
        f'<div style="display:flex;gap:.9rem;padding:.5rem 0;border-bottom:1px solid {LINE}">'
        f"{_cosine_html(row.cosine, color)}"
        f'<span style="flex:1 1 auto;min-width:0;overflow-wrap:anywhere;line-height:1.5">'
        f'{before}<span style="{chip}">{word}</span>{after}'
        f'<small style="display:block;opacity:.65">{sense}{escape(row.note)}{mark}</small></span></div>'
    )
