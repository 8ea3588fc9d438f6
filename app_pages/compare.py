"""Compare: one word in many sentences, how far apart its vectors lie, against what, and why."""

import streamlit as st

from ctxemb import ui
from ctxemb.comparison import pairs_table
from ctxemb.figures.comparing import cosine_heatmap
from ctxemb.figures.style import sense_colors
from ctxemb.sentence_list import label_uses
from ctxemb.verdict import nearest_sense, verdict

st.title("One word, many sentences")
st.markdown(
    "A static embedding has one vector for a word; a contextual encoder makes a new one in every sentence. "
    "See how far apart they lie, against which baselines, and why."
)

with st.sidebar:
    model = ui.choose_checkpoint()
    reading, centring = ui.choose_reading(model)

examples = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    word = ui.type_word(model.language)
    own = ui.type_own_sentence(model, word)
with examples:
    ui.choose_example(word, model.language)
results = st.container()

st.subheader("Sentences")
read, edit, paste, upload = st.tabs(["Read", "Edit", "Paste", "Upload"])
with edit:
    sentences = ui.edit_sentences(word, model.language)
with paste:
    ui.paste_sentences(word, model.language)
with upload:
    ui.upload_sentences(word, model.language)

with results, ui.user_errors():
    result = ui.run_comparison(model.key, reading, centring, word, tuple(sentences), own, model)
    ui.show_problems(result.problems)
    if result.comparison is None:
        st.info("Nothing to compare yet: choose a word above, or type sentences with it under *Edit* below.")
        st.stop()
    comparison = result.comparison

    senses = [use.sentence.sense for use in comparison.uses]
    texts = [use.sentence.text for use in comparison.uses]
    labels = label_uses(senses, has_own=result.own is not None)

    ui.show_headline(comparison, result.random)
    st.markdown(ui.plain(verdict(comparison)))
    if result.own is not None and (nearest := nearest_sense(comparison, result.own)):
        st.markdown(f"**Your sentence.** {ui.plain(nearest)}")

    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Every pair")
        heatmap = cosine_heatmap(comparison.cosines_NN, labels, texts, senses, ui.is_dark())
        st.plotly_chart(heatmap, key="heatmap", config=ui.CHART_CONFIG)
        st.download_button(
            "Pairs as CSV",
            lambda: pairs_table(comparison).to_csv(index=False),
            f"{word}-pairs.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )
    with right:
        st.subheader("Against what?")
        ui.show_baselines(comparison, result.random)
        ui.show_layers(model, comparison, reading, result.random_by_layer)

with read:
    ui.show_uses(comparison, labels, model.language)

st.subheader("Why?")


@st.fragment
def why() -> None:
    """What the vector of one sentence owes to each of its words."""
    label = st.selectbox(
        "Which words of a sentence move the vector?",
        labels,
        index=result.own or 0,
        format_func=lambda label: f"{label}: {texts[labels.index(label)]}",
        key="why" if result.own is None else "why_own",
    )
    row = labels.index(label)
    color = sense_colors(senses)[senses[row]]
    ui.show_why(model, reading, comparison.uses[row], result.mean_LD, color)


why()
