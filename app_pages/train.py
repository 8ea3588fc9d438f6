"""Train: a training started, watched, stopped and resumed; several held against each other."""

import streamlit as st

from ctxemb import ui

st.title("What happens while it learns?")
st.markdown(
    "Train an encoder on a text, watch its loss fall and the senses of its words come apart, then look into it on "
    "*Compare*. Trainings are processes of their own: closing this page, or restarting the app, does not end them."
)

with st.sidebar:
    chosen = ui.choose_run()

with ui.user_errors():
    if chosen is None:
        ui.start_run()
    elif chosen == "compare":
        ui.compare_runs()
    else:
        ui.show_run(chosen)
