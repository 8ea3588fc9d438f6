"""Map: whether the uses of a word fall into groups, seen in two or three dimensions and measured in all of them."""

import streamlit as st

from ctxemb import ui

st.title("Do the uses of a word fall into groups?")
st.markdown(
    "Every point is a word in a sentence, and near points have similar vectors. The encoder was told no sense: where "
    "the senses of a word lie apart all the same, it has learnt them from their contexts."
)

ui.warm_up()

with st.sidebar:
    model = ui.choose_checkpoint()
    reading, centring = ui.choose_reading(model)

with ui.user_errors():
    source = ui.choose_contexts(model)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        choice = ui.choose_map()
        is_beside = st.toggle("Beside a second reading", key="beside", bind="query-params")
    second = ui.choose_second(model) if is_beside else None
    if source is None or source.table.empty:
        st.info("Nothing to draw yet: choose words above, or a file that has them.")
        st.stop()
    contexts = ui.load_contexts(source, model, reading, centring)
    if contexts is None:
        st.stop()
    ui.show_sources(source, contexts)
    own = None if second else ui.type_own(contexts, source, model, reading, centring)

key = ui.key_of(source, model, reading, centring)
config = choice.flat if second else choice.config
picture, table = (st.container(), st.container()) if second else st.columns([3, 2], gap="large")
st.subheader("What stands behind the picture")
senses, seeds = st.columns([3, 2], gap="large")

with picture, ui.user_errors():
    drawing = ui.draw_map(contexts, key, config, own)
    clusters = ui.load_clusters(contexts, key) if choice.color_by == "cluster" else None
with senses, ui.user_errors():
    measured = ui.load_separation(contexts, key)
    if measured:
        ui.show_separation(measured)
with seeds, ui.user_errors():
    ui.show_stability(contexts, key, config)
if drawing is None or (choice.color_by == "cluster" and clusters is None):
    st.stop()

with picture, ui.user_errors():
    if second is None:
        selected = ui.show_map(contexts, drawing, choice.color_by, clusters, own)
    else:
        views = ui.View(model, reading, centring), second
        selected = ui.show_side_by_side(contexts, drawing, source, choice, clusters, *views)
    ui.describe_drawing(drawing)
with table:
    if selected is not None:
        ui.show_selected(contexts, drawing, selected)
