"""Scores: how well each checkpoint does, against what, and what others published; every number out of a file."""

import streamlit as st

from ctxemb import ui

st.title("How well do they do?")
st.markdown(
    "Each checkpoint under each way of reading it, beside the two baselines that it has to beat: the static vector "
    "and the bag of context. Nothing is measured here: every number stands in a file, and below it the command that "
    "makes it."
)

recorded = ui.load_scores()
ours, tests, article, published = st.tabs(
    ["Checkpoints", "Public tests", "Word2Vec against contrastive", "Published by others"]
)
with ours:
    ui.show_checkpoint_scores(recorded)
with tests:
    ui.show_public_tests(recorded)
with article:
    ui.show_article_tables()
with published:
    st.markdown(
        "Numbers of other people, each under its own set-up: where that differs from ours, they do not compare."
    )
    ui.show_published()
