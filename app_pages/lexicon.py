"""Lexicon: which pairs of words training is told about, seen in their contexts, and candidates for more."""

import streamlit as st

from ctxemb import ui
from ctxemb.lexicon import LexiconConfig

st.title("Which words mean the same?")
st.markdown(
    "A contrastive encoder learns from pairs of synonyms and antonyms. See what a lexicon offers, what is left of it "
    "and why, look at the words where they are used, and keep the pairs that deserve it."
)

with st.sidebar:
    model = ui.choose_checkpoint()

source = ui.choose_lexicon(model)
with st.expander("Thresholds"):
    config = ui.choose_settings(LexiconConfig, leave_out=("max_pairs",))

with ui.user_errors():
    review = ui.load_review(source, config, model)

ui.show_counts(review.report)
pairs, candidates, report = st.tabs(["Pairs", "Candidates", "Kept and dropped"])
with pairs:
    shown = ui.edit_pairs(review)
    ui.look_at_pair("pairs", shown, model, review.sample)
with candidates:
    shown = ui.edit_candidates(model, review)
    ui.look_at_pair("candidates", shown, model, review.sample)
with report:
    ui.show_report(review.report)

ui.offer_kept(review, model)
