"""What is compared, and how it is read: widgets bound to the address, so that a link shows the same view."""

from pathlib import Path
from typing import Literal, cast

import streamlit as st

from ctxemb.checkpoint import read_config
from ctxemb.comparison import CENTRINGS, Centring, Sentence
from ctxemb.models.bilm import READOUTS, Readout
from ctxemb.models.reading import Reading
from ctxemb.sentence_list import example_words
from ctxemb.ui import loading
from ctxemb.ui.loading import Model
from ctxemb.ui.messages import plain, show_error, user_errors
from ctxemb.ui.sentences import OWN, home_of, keep_sentence

FIRST_WORD = "bank"
MAX_WORD_CHARACTERS, MAX_OWN_CHARACTERS = 50, 500

READOUT_HELP = """Which states are the vector.
- **here**: those that have just read the word, as in the ELMo article. They mostly say *which word* it is.
- **context**: the forward state before the word and the backward state after it, which have not seen the word.
- **sentence**: the state at the word and the mean state at the other words, added."""
LAYER_HELP = """Layer 0 is the embedding: one vector a word, whatever the sentence. Higher layers have read the context.
*mean* averages all layers; *weighted* is ELMo's sum, with weights learnt without sense labels."""
CENTRING_HELP = """Subtract what vectors have in common before measuring angles.
- **all words**: the mean of running text.
- **per word**: the mean of this word's own uses; what remains is what changes with the context."""
KEEP_HELP = "Move your sentence into the table below, where it can get a sense"


def choose_checkpoint() -> Model:
    """The checkpoint to look into."""
    paths = loading.find_checkpoints()
    if not paths:
        show_error(
            f"there is no checkpoint in {loading.SHIPPED}; train one (python -m ctxemb train quick "
            f"--out checkpoints/quick), or set {loading.CHECKPOINTS_VARIABLE} to a folder that holds checkpoint folders"
        )
        st.stop()
    with user_errors():
        name = st.selectbox(
            "Checkpoint", list(paths), key="checkpoint", bind="query-params", on_change=_take_reading, args=(paths,)
        )
        changed = max(path.stat().st_mtime_ns for path in paths[name].iterdir())
        return loading.load_model(str(paths[name]), changed)


def choose_reading(model: Model) -> tuple[Reading, Centring]:
    """Read-out, layer and centring; the checkpoint's own reading to begin with."""
    encoder, config = model.encoder, model.encoder.config
    readout = st.segmented_control(
        "Read-out",
        READOUTS,
        default=config.reading.readout,
        required=True,
        key="readout",
        bind="query-params",
        help=READOUT_HELP,
    )
    readout = cast(Readout, readout)
    layers: dict[str, int | Literal["mean", "weighted"]] = {str(i): i for i in range(encoder.num_layers + 1)}
    layers["mean"] = "mean"
    if config.layer_weights.get(readout):
        layers["weighted"] = "weighted"
    default = _layer_option(config.reading, encoder.num_layers)
    layer = st.pills(
        "Layer",
        list(layers),
        default=default if default in layers else str(encoder.num_layers),
        required=True,
        key="layer",
        bind="query-params",
        help=LAYER_HELP,
    )
    centring = st.segmented_control(
        "Centring", CENTRINGS, default="off", required=True, key="centring", bind="query-params", help=CENTRING_HELP
    )
    st.caption(
        f"{config.model.vocabulary_size:,} words, {encoder.num_layers} layers, {config.model.width} numbers a vector. "
        "The address bar holds this view: copy it to share."
    )
    return encoder.reading_for(readout, layers[layer]), cast(Centring, centring)


def type_word() -> str:
    """The target word: one with examples, or any other."""
    return st.text_input(
        "Target word", FIRST_WORD, max_chars=MAX_WORD_CHARACTERS, key="word", bind="query-params", width=180
    ).strip()


def choose_example(word: str) -> None:
    """Words with example sentences; choosing one makes it the target."""
    st.session_state["example"] = home_of(word)
    options = [*example_words(), OWN]
    st.pills("Examples", options, key="example", required=True, on_change=_take_example, label_visibility="collapsed")


def type_own_sentence(model: Model, word: str) -> Sentence | None:
    """One sentence that is compared while it is typed."""
    text = st.text_input(
        "Your sentence",
        placeholder=f"Type a sentence with “{word}” and watch where it goes" if word else "First choose a target word",
        max_chars=MAX_OWN_CHARACTERS,
        live="150ms",
        key="own",
        bind="query-params",
    ).strip()
    count = sum(token.casefold() == word.casefold() for token in model.encoder.tokenizer.encode(text).words)
    chosen = 1
    if count > 1:
        options = range(1, count + 1)
        chosen = st.segmented_control(f"Which “{plain(word)}”?", options, default=1, required=True, key="which")
    own = Sentence(text, None, chosen) if text else None
    st.button(
        "Keep",
        icon=":material/add:",
        disabled=not own,
        on_click=keep_sentence,
        args=(home_of(word), own),
        help=KEEP_HELP,
    )
    return own


def _layer_option(reading: Reading, num_layers: int) -> str:
    return str(num_layers if reading.layer == "last" else reading.layer)


def _take_reading(paths: dict[str, Path]) -> None:
    """A newly chosen checkpoint is first read its own way."""
    try:
        config = read_config(paths[st.session_state["checkpoint"]])
    except ValueError:
        return  # said so when the checkpoint is opened
    st.session_state["readout"] = config.reading.readout
    st.session_state["layer"] = _layer_option(config.reading, config.model.num_layers)


def _take_example() -> None:
    chosen = st.session_state["example"]
    st.session_state["word"] = "" if chosen == OWN else chosen
    st.session_state["own"] = ""
