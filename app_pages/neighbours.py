"""Neighbours: which contexts of an indexed text a use of a word is closest to, and which words are used alike."""

import streamlit as st

from ctxemb import ui

st.title("What is this use closest to?")
st.markdown(
    "A use of a word is looked up by its vector among all the uses of a text: the nearest ones say, in other people's "
    "words, what the encoder takes it to mean."
)

with st.sidebar:
    model = ui.choose_checkpoint()
    place = ui.choose_store(model)
    ui.follow_language(model)

examples = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    word = ui.type_word(model.language)
    choice = ui.choose_search()
with examples:
    ui.choose_example_word(word, model.language)
sentences = ui.type_sentences(model, word)

with ui.user_errors():
    opened = ui.open_store(place, model)
if opened is None:
    st.stop()

with st.sidebar:
    asked = ui.choose_asked()
    ui.describe_store(opened, model)
sides = ui.find_both(opened, model, sentences, word, choice, asked)
ui.show_pair(sides)
ui.show_lists(sides, word)

similar, analogy = st.columns(2, gap="large")
with similar:
    st.subheader("Words used alike")
    ui.show_similar_words(opened, word)
with analogy:
    st.subheader("Analogies")
    ui.show_analogy(opened, model.language)
