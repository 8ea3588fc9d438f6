"""The app's table of contents: `streamlit run app.py`.

The folder is not called `pages`: streamlit would run its files by themselves when one is the first address asked for.
"""

import streamlit as st

st.set_page_config(page_title="ctxemb", page_icon="docs/icon.svg", layout="wide")
st.navigation(
    [
        st.Page("app_pages/compare.py", title="Compare", icon=":material/compare_arrows:", default=True),
        st.Page("app_pages/map.py", title="Map", icon=":material/scatter_plot:"),
        st.Page("app_pages/neighbours.py", title="Neighbours", icon=":material/hub:"),
        st.Page("app_pages/geometry.py", title="Geometry", icon=":material/deployed_code:"),
        st.Page("app_pages/train.py", title="Train", icon=":material/model_training:"),
        st.Page("app_pages/lexicon.py", title="Lexicon", icon=":material/menu_book:"),
        st.Page("app_pages/scores.py", title="Scores", icon=":material/leaderboard:"),
        st.Page("app_pages/checkup.py", title="Checkup", icon=":material/health_and_safety:"),
    ]
).run()
