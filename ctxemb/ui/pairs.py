"""Pairs of words on the page: ticked, looked at in their contexts, proposed, taken along as a file.

State: `decisions`, what a person has unticked and added, by source; `views`, what each editor started from. Both
outlive the widgets.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st

from ctxemb.analysis.candidates import CandidateConfig
from ctxemb.figures.style import SENSE_COLORS
from ctxemb.lexicon import pairs_csv
from ctxemb.lexicon.lexicon import KINDS
from ctxemb.review import PAIR, Sample, context_words, entries_of, search_pairs
from ctxemb.sentence_html import contexts_html, tokens_html
from ctxemb.ui.lexicon import Review, load_candidates
from ctxemb.ui.loading import Model
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.settings import choose_settings

MAX_ROWS, MAX_CHOICES, NUM_CONTEXTS = 5_000, 300, 6
COLUMNS = {
    "a": st.column_config.TextColumn("word a", width=130),
    "b": st.column_config.TextColumn("word b", width=130),
    "kind": st.column_config.TextColumn(width=90),
    "count_a": st.column_config.NumberColumn("uses of a", width=80, format="localized"),
    "count_b": st.column_config.NumberColumn("uses of b", width=80, format="localized"),
    "listed": st.column_config.TextColumn("listed", width=90, help="What the lexicon has them as"),
    "cosine": st.column_config.NumberColumn(width=70, format="%.2f"),
}
Pair = tuple[str, str, str]


@dataclass
class Decisions:
    """What a person has decided about a source's pairs; all others are kept."""

    dropped: set[Pair] = field(default_factory=set)
    added: dict[Pair, None] = field(default_factory=dict)


def edit_pairs(review: Review) -> pd.DataFrame:
    """The lexicon's pairs with a tick each; gives those that are shown."""
    if review.lexicon is None:
        st.info("No lexicon is chosen: choose one above, or let the checkpoint propose pairs under *Candidates*.")
        return review.pairs
    text = st.text_input("Search", key="search", placeholder="a word, or a part of one", icon=":material/search:")
    found = search_pairs(review.pairs, text)
    shown = found.head(MAX_ROWS)
    dropped = _decisions(review).dropped
    start = shown.assign(keep=[pair not in dropped for pair in _pairs(shown)])
    edited = _edit(
        "pairs",
        (review.key, text),
        start.reindex(columns=["keep", *shown.columns]),
        {"keep": st.column_config.CheckboxColumn(width=60, help="Untick a pair that is none")},
    )
    for pair, keep in zip(_pairs(edited), edited.keep, strict=True):
        (dropped.discard if keep else dropped.add)(pair)
    more = f" The first {MAX_ROWS:,} are shown: search for others." if len(found) > MAX_ROWS else ""
    where = f"{review.sample.name} ({review.sample.description})"
    st.caption(f"{len(found):,} pairs, frequent words first. Uses are looked for in {where}.{more}")
    return shown


def edit_candidates(model: Model, review: Review) -> pd.DataFrame:
    """Words with similar contexts, each with a tick that adds it to the kept pairs."""
    config = choose_settings(CandidateConfig, leave_out=("is_centred", "max_component_words"))
    if not st.session_state.get("has_proposed"):
        st.button("Propose pairs", type="primary", key="propose", on_click=_propose)
        st.caption(f"Reads {review.sample.name} with the checkpoint: a few seconds, once.")
        return pd.DataFrame()
    try:
        found = load_candidates(review.key, config, review, model)
    except ValueError as error:
        show_error(str(error))
        return pd.DataFrame()
    added = _decisions(review).added
    kinds = {(a, b): kind for a, b, kind in added}
    shown = found.head(MAX_ROWS)
    words = list(zip(shown.a, shown.b, strict=True))
    start = shown.assign(add=[pair in kinds for pair in words], kind=[kinds.get(pair, "synonym") for pair in words])
    edited = _edit(
        "candidates",
        (review.key, config),
        start.reindex(columns=["add", "a", "b", "kind", "cosine", "count_a", "count_b", "listed"]),
        {
            "add": st.column_config.CheckboxColumn(width=60, help="Take it among the kept pairs"),
            "kind": st.column_config.SelectboxColumn(width=90, options=KINDS, required=True),
        },
    )
    for a, b, kind, is_added in zip(edited.a, edited.b, edited.kind, edited["add"], strict=True):
        for other in KINDS:
            added.pop((a, b, other), None)
        if is_added:
            added[a, b, kind] = None
    st.caption(
        f"{len(found):,} pairs of words whose mean contexts in {review.sample.name} are alike. Antonyms and words of "
        "one kind (Monday, Tuesday) share contexts just as synonyms do: look before you add."
    )
    return shown


def look_at_pair(name: str, shown: pd.DataFrame, model: Model, sample: Sample) -> None:
    """The contexts of both words of one pair, side by side."""
    if shown.empty:
        return
    pairs = list(zip(shown.a, shown.b, strict=True))[:MAX_CHOICES]
    chosen = st.selectbox("Look at a pair", pairs, format_func=" / ".join, key=f"look at {name}", width=360)
    for column, word, color in zip(st.columns(2, gap="large"), chosen, SENSE_COLORS, strict=False):
        with column:
            _show_contexts(word, model, sample, color)


def offer_kept(review: Review, model: Model) -> None:
    """The kept pairs as a file that training takes."""
    decisions = _decisions(review)
    listed = dict.fromkeys(pair for pair in _pairs(review.pairs) if pair not in decisions.dropped)
    kept = list(listed | decisions.added)
    st.download_button(
        f"{len(kept):,} kept pairs as CSV",
        pairs_csv(entries_of(kept)),  # not deferred: a rerun between click and fetch would lose the file
        "pairs.csv",
        "text/csv",
        icon=":material/download:",
        on_click="ignore",
        disabled=not kept,
    )
    st.caption(
        f"Train on them: `python -m ctxemb train {model.language}-contrastive --out runs/own "
        "--set lexicon.source=pairs.csv`"
    )


def _show_contexts(word: str, model: Model, sample: Sample, color: str) -> None:
    tokenizer = model.encoder.tokenizer
    uses = sample.index.uses(tokenizer.word_id(word), NUM_CONTEXTS)
    if not uses:
        st.markdown(f"**{plain(word)}** does not occur in {sample.name}.")
        return
    count = int(sample.counts_V[tokenizer.word_id(word)])
    st.markdown(f"**{plain(word)}**: {min(count, len(uses))} of {count:,} uses in {sample.name}")
    sentences = []
    for use in uses:
        words, oov = context_words(tokenizer, use)
        between = [""] * (len(words) + 1) if model.language == "zh" else None
        sentences.append(tokens_html(words, oov, [use.position], use.position, color, between))
    st.html(contexts_html(sentences))


def _propose() -> None:
    st.session_state["has_proposed"] = True


def _decisions(review: Review) -> Decisions:
    return st.session_state.setdefault("decisions", {}).setdefault(review.source, Decisions())


def _pairs(table: pd.DataFrame) -> list[Pair]:
    return list(table[PAIR].itertuples(index=False, name=None))


def _edit(name: str, view: Hashable, start: pd.DataFrame, columns: dict[str, Any]) -> pd.DataFrame:
    """An editor whose start stays as it is while the same view is shown, because its edits count from there."""
    views = st.session_state.setdefault("views", {})
    before, version, base = views.get(name, (None, 0, start))
    if before != view or f"{name} {version}" not in st.session_state:
        version, base = version + 1, start
        views[name] = (view, version, base)
    return st.data_editor(
        base,
        key=f"{name} {version}",
        hide_index=True,
        disabled=[column for column in base.columns if column not in columns],
        column_config=COLUMNS | columns,
        height=320,
    )
