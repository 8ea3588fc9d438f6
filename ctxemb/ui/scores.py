"""Recorded numbers on the page: each table says which command makes its file."""

import os
from pathlib import Path

import pandas as pd
import streamlit as st

from ctxemb.evaluation.table import ArticleTable
from ctxemb.figures.scores import trade_off_chart
from ctxemb.scores import (
    Scores,
    ScoresError,
    article_table,
    find_table,
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

READING_HELP = "How the vector of a word is read; the best one first, then what it has to beat"


def show_checkpoint_scores() -> None:
    """What is recorded of each checkpoint."""
    paths = loading.find_checkpoints()
    if not paths:
        st.info(f"There is no checkpoint in {loading.SHIPPED}.")
    for name, path in paths.items():
        st.subheader(plain(name))
        try:
            _show_scores(read_scores(path), path)
        except ValueError as error:
            show_error(str(error))


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


def _show_scores(scores: Scores, path: Path) -> None:
    path = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    command = f"`python -m ctxemb evaluate {path} --save`"
    if not scores.readings:
        st.info(f"Nothing is recorded of it; {command} does so.")
        return
    table = readings_table(scores)
    numbers = {column: st.column_config.NumberColumn(format="%.3f") for column in table.columns[1:]}
    names = {"reading": st.column_config.TextColumn(width=250, help=READING_HELP)}
    marked = _with_best_marked(table, scores.best)
    st.dataframe(marked, hide_index=True, column_config=numbers | names, placeholder="–")
    words = f"{LANGUAGE_NAMES[scores.config.text.language]}, {scores.config.family}. "
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
