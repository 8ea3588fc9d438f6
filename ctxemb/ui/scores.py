"""Recorded numbers on the page: each table says which command makes its file."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.evaluation.public.catalogue import PUBLIC_TESTS
from ctxemb.evaluation.public.score import WHOLE, PublicScore, reading_name
from ctxemb.evaluation.table import ArticleTable
from ctxemb.figures.scores import ScoreLine, interval_chart, trade_off_chart
from ctxemb.scores import (
    PublicRow,
    Scores,
    ScoresError,
    article_table,
    find_table,
    public_rows,
    public_scores,
    published_table,
    read_scores,
    read_table,
    readings_table,
    trade_off_lines,
)
from ctxemb.text import Language
from ctxemb.ui import loading
from ctxemb.ui.help import LANGUAGE_NAMES
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.results import CHART_CONFIG

READING_NAME = re.compile(r"(\w+), layer (\w+)")
INTERVAL_HELP = (
    "95 % bootstrap interval: how far the number would move on other items of the same kind, with the same vectors and "
    "thresholds"
)
READING_HELP = "How the vector of a word is read; the best one first, then what it has to beat"


@dataclass(frozen=True)
class Recorded:
    """A checkpoint's folder, and what is recorded in it."""

    path: Path
    scores: Scores


def load_scores() -> dict[str, Recorded]:
    """What is recorded of each checkpoint, by its name; a file that cannot be read is said, and left out."""
    found = {}
    for name, path in loading.find_checkpoints().items():
        try:
            found[name] = Recorded(path, read_scores(path))
        except ValueError as error:
            show_error(str(error))
    return found


def show_checkpoint_scores(recorded: Mapping[str, Recorded]) -> None:
    """The readings of each checkpoint."""
    if not recorded:
        st.info(f"There is no checkpoint in {loading.SHIPPED}.")
    for name, checkpoint in recorded.items():
        st.subheader(plain(name))
        _show_scores(checkpoint.scores, checkpoint.path)


def show_public_tests(recorded: Mapping[str, Recorded]) -> None:
    """One public test set: every checkpoint that was scored on it, with intervals and baselines."""
    tests = public_scores({name: checkpoint.scores for name, checkpoint in recorded.items()})
    if not tests:
        st.info("Nothing is recorded yet; `python -m ctxemb evaluate CHECKPOINT --test all --save` records it.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = st.selectbox("Test set", list(tests), key="test", bind="query-params", width=360)
        found = tests[title]
        rows = public_rows(found)
        measures = list(dict.fromkeys(row.row.measure for row in rows))
        measure = st.selectbox("Measure", measures, key="measure", width=360)
        every_layer = st.toggle("Every layer and read-out", key="every_layer")
    st.markdown(_about(found))
    shown = [row for row in rows if row.row.measure == measure and (every_layer or row.kind != "layer")]
    title, drawn = measure, [row for row in shown if not np.isnan(row.row.value)]
    if measure.startswith("perplexity"):
        # that of all words alike is a hundred times as far away
        title, drawn = f"{measure}: lower is better", [row for row in drawn if row.kind != "floor"]
    chart = interval_chart([_line(row) for row in drawn], title)
    st.plotly_chart(chart, key="public_chart", config=CHART_CONFIG)
    st.dataframe(
        pd.DataFrame([_cells(row) for row in shown]),
        hide_index=True,
        height="content",
        placeholder="–",
        column_config={
            "value": st.column_config.NumberColumn(format="%.1f" if measure.startswith("perplexity") else "%.3f"),
            "95 % interval": st.column_config.TextColumn(help=INTERVAL_HELP),
            "of": st.column_config.NumberColumn(
                format="localized", help="What the number is of: pairs, uses, questions, sentences"
            ),
            "skipped": st.column_config.NumberColumn(
                format="localized", help="Items with a word that the encoder does not know"
            ),
        },
    )
    notes = dict.fromkeys(note for score in found.values() for note in score.notes)
    st.markdown("\n".join(f"- {plain(note)}" for note in notes))
    commands = [_test_command(recorded[name], score) for name, score in found.items()]
    st.caption("These commands make the numbers; they stand in each checkpoint's `metrics.json`, under `tests`.")
    st.code("\n".join(commands), language=None)


def show_article_tables() -> None:
    """Word2Vec against the contrastive encoder, for each language of which the table was made."""
    folders = [Path(root) for root in (os.environ.get(loading.CHECKPOINTS_VARIABLE), loading.SHIPPED) if root]
    for language, title in LANGUAGE_NAMES.items():
        st.subheader(title)
        path = find_table(language, folders)
        if path is None:
            st.info(f"This table was not made here yet. {_table_command(language)}")
            continue
        try:
            table = read_table(path)
        except ScoresError as error:
            show_error(str(error))
            continue
        st.dataframe(
            article_table(table),
            hide_index=True,
            column_config={
                "measure": st.column_config.TextColumn(width=300),
                "control": st.column_config.TextColumn(table.control, width=150),
                "contrastive": st.column_config.TextColumn(table.contrastive, width=150),
                "known": st.column_config.TextColumn(help="Share of the questions that are in the vocabulary"),
            },
            height="content",
        )
        st.caption(
            plain(
                f"Mean over {len(table.seeds)} seeds, and their range. Text: {', '.join(table.corpora)}, "
                f"{table.num_tokens:,} words; {table.num_words:,} words measured; {table.threads} threads. "
            )
            + _table_command(language)
        )
        st.markdown("\n".join(f"- {plain(note)}" for note in table.notes))
        if table.trade_off:
            _show_trade_off(table)


def show_published() -> None:
    """Numbers of others; no number of ours stands among them."""
    st.dataframe(
        published_table(),
        hide_index=True,
        height="content",
        column_config={
            "value": st.column_config.TextColumn(width=120),
            "set-up": st.column_config.TextColumn(width=440),
            "source": st.column_config.TextColumn(width=400),
        },
    )


def _show_trade_off(table: ArticleTable) -> None:
    rows = {row.name: row.title for row in table.rows if row.control and row.unit == "share"}
    st.markdown("**Quality against time**: the same trainings made shorter, seed 0.")
    name = st.selectbox("Measure", list(rows), format_func=rows.__getitem__, key=f"trade_off_{table.language}")
    chart = trade_off_chart(trade_off_lines(table, name), "value")
    st.plotly_chart(chart, key=f"trade_off_chart_{table.language}", config=CHART_CONFIG)


def _line(shown: PublicRow) -> ScoreLine:
    row = shown.row
    name = f"{shown.checkpoint} · {row.reading}" if shown.checkpoint else row.reading
    return ScoreLine(
        name, shown.kind, row.value, row.low, row.high, f"of {row.num_items:,}, {row.num_skipped:,} skipped"
    )


def _cells(shown: PublicRow) -> dict[str, object]:
    row = shown.row
    is_floor = shown.kind == "floor"
    return {
        "checkpoint": shown.checkpoint,
        "reading": row.reading,
        "value": row.value,
        "95 % interval": None if np.isnan(row.low) else f"{row.low:.3f} – {row.high:.3f}",
        "of": None if is_floor else row.num_items,
        "skipped": None if is_floor else row.num_skipped,
    }


def _about(found: Mapping[str, PublicScore]) -> str:
    """What the test set asks; nothing of one that this version does not know."""
    test = PUBLIC_TESTS.get(next(iter(found.values())).name)
    return test.about if test else ""


def _test_command(checkpoint: Recorded, score: PublicScore) -> str:
    config = checkpoint.scores.config
    split = "" if score.split == WHOLE else f" --split {score.split.partition(' ')[0]}"
    named = READING_NAME.fullmatch(score.reading)
    is_default = score.reading == reading_name(config.reading, config.model.num_layers)
    reading = f" --readout {named[1]} --layer {named[2]}" if named and not is_default else ""
    return f"python -m ctxemb evaluate {_short(checkpoint.path)} --test {score.name}{split}{reading} --save"


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _show_scores(scores: Scores, path: Path) -> None:
    path = _short(path)
    command = f"`python -m ctxemb evaluate {path} --save`"
    if scores.config.family == "transformer":
        printed = command.replace(" --save", "")
        st.info(f"A Hugging Face encoder is opened read-only, so nothing is recorded; {printed} prints its numbers.")
        return
    if not scores.readings:
        st.info(f"Nothing is recorded of it yet; {command} measures and records it.")
        return
    table = readings_table(scores)
    numbers = {column: st.column_config.NumberColumn(format="%.3f") for column in table.columns[1:]}
    names = {"reading": st.column_config.TextColumn(width=250, help=READING_HELP)}
    marked = _with_best_marked(table, scores.best)
    st.dataframe(marked, hide_index=True, column_config=numbers | names, placeholder="–")
    words = f"{LANGUAGE_NAMES[scores.config.text.language]}, {scores.config.family}. "
    words += f"★ is the reading that does best on {next(iter(scores.floors), 'the examples')}. "
    if scores.perplexity:
        forward, backward = scores.perplexity
        words += f"Perplexity on WikiText-2, validation part: {forward:.1f} forward, {backward:.1f} backward. "
    if scores.known_shares:
        shares = ", ".join(f"{share:.0%} in {plain(name)}" for name, share in scores.known_shares.items())
        words += f"Targets in the vocabulary: {shares}. "
    st.caption(f"{words}{command} makes these numbers; they stand in `{path / 'metrics.json'}`.")


def _with_best_marked(table: pd.DataFrame, best: str) -> pd.DataFrame:
    return table.assign(reading=[f"★ {name}" if name == best else name for name in table.reading])


def _table_command(language: Language) -> str:
    return f"`python -m ctxemb table --language {language} --save` makes it."
