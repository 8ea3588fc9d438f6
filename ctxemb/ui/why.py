"""Why a vector lies where it lies: two answers, a row of bars each."""

import numpy as np
import streamlit as st

from ctxemb.comparison import Use, attention, influence
from ctxemb.models.reading import Reading
from ctxemb.sentence_html import bars_html
from ctxemb.ui.loading import Model

MAX_WORDS = 100
INFLUENCE_CAPTION = (
    "**Without each word.** 1 − cosine between the vector of the target with and without the word, under the reading "
    "chosen. Longer is more telling."
)
ATTENTION_CAPTION = (
    "**Attention.** The share of each word in the attention that goes into the projection, mean over the heads; all "
    "shares add up to 1. It knows only how telling a word is anywhere and how far away it stands, not the target nor "
    "the sentence, and the LSTMs, which read in order, are not in it: a part of the computation, not its explanation."
)


def show_why(model: Model, reading: Reading, use: Use, mean_LD: np.ndarray | None, color: str) -> None:
    """How far the target's vector moves without each other word, and how much attention each gets."""
    tokens = use.encoding.tokens
    if not model.encoder.num_layers:
        st.info("No word around it moves a static vector: it is the same in every sentence.")
        return
    if len(tokens) > MAX_WORDS:
        st.info(f"This sentence has {len(tokens)} words; the view is for at most {MAX_WORDS}.")
        return
    moved_T = influence(model.encoder.with_reading(reading), use, mean_LD)
    if np.isnan(moved_T).all():
        st.info("There is nothing to leave out, or nothing left of the vector after centring.")
    else:
        st.html(bars_html(tokens, moved_T, use.position, color))
        st.caption(INFLUENCE_CAPTION)
    shares_T = attention(model.encoder, use)
    if shares_T is not None and len(tokens) > 1:
        st.html(bars_html(tokens, shares_T, use.position, color))
        st.caption(ATTENTION_CAPTION)
