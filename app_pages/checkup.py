"""Checkup: whether a checkpoint is sound, what is wrong with it, and how it compares with a shipped one."""

import streamlit as st

from ctxemb import ui

st.title("Is this checkpoint sound?")
st.markdown(
    "Choose a checkpoint or drop one here. A battery of checks asks what can go wrong: broken files and weights, a "
    "vocabulary that does not fit, sentences that depend on their neighbours, a direction that sees the word it "
    "predicts, an encoder that has learnt nothing or has collapsed."
)

with ui.user_errors():
    checked, beside = ui.choose_checked()
    checkup = ui.load_checkup(checked) if checked else None
    if checked is None or checkup is None:
        st.stop()

    ui.show_summary(checkup)
    reference = ui.load_reference(checked, checkup, beside)
    ui.show_results(checkup, reference)
    if checkup.verdict != "unreadable":
        ui.show_table(checkup, reference)
    ui.offer_reports(checkup, reference)
