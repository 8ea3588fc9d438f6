"""The app's table of contents: `streamlit run app.py`."""

import streamlit as st

st.set_page_config(page_title="ctxemb", page_icon="docs/icon.svg", layout="wide")
st.navigation([st.Page("pages/compare.py", title="Compare", icon=":material/compare_arrows:", default=True)]).run()
