"""Geometry: whether a space is a ball or a cone, and what correcting it does."""

import streamlit as st

from ctxemb import ui

st.title("A ball or a cone?")
st.markdown(
    "Vectors that use all their dimensions evenly fill a ball, and unrelated words stand at right angles. In many "
    "encoders they crowd into a cone, where even unrelated words look alike. See which it is, and whether making the "
    "space rounder tells senses apart."
)

with st.sidebar:
    model = ui.choose_checkpoint()
    reading, _ = ui.choose_reading(model, offer_centring=False)  # here it is one of the corrections

with ui.user_errors():
    space = ui.load_space(model, reading)
    headline = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        k = ui.choose_top()
        with headline:
            ui.show_shape(space, k)
        others = ui.choose_beside(space, model, reading)
    ui.show_spaces([space, *others], k)

    left, right = st.columns(2, gap="large")
    with left:
        ui.show_self_similarity(space, model, reading)
    with right:
        ui.show_norms(space)

st.subheader("What does correcting it do?")


@st.fragment
def corrections() -> None:
    """The space before and after, as many directions as the slider says removed."""
    with ui.user_errors():
        ui.show_corrections(model, reading, k)


corrections()
