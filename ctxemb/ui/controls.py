"""What is compared, and how it is read: widgets bound to the address, so that a link shows the same view."""

from typing import Literal, cast

import streamlit as st

from ctxemb.comparison import CENTRINGS, Centring, Sentence
from ctxemb.examples import example_words
from ctxemb.models.layers import layer_names
from ctxemb.models.reading import Reading, Readout
from ctxemb.text import Language
from ctxemb.ui import loading
from ctxemb.ui.help import CENTRING_HELP, LAYER_HELP, STATIC_CENTRING_HELP, describe, readout_help
from ctxemb.ui.loading import Model
from ctxemb.ui.messages import plain, show_error, user_errors
from ctxemb.ui.sentences import OWN, home_of, keep_sentence

FIRST_WORDS: dict[Language, str] = {"en": "bank", "zh": "苹果"}
MAX_WORD_CHARACTERS, MAX_OWN_CHARACTERS = 50, 500

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
        name = st.selectbox("Checkpoint", list(paths), key="checkpoint", bind="query-params")
        return loading.open_model(paths[name])


def choose_reading(model: Model, offer_centring: bool = True) -> tuple[Reading, Centring]:
    """Read-out, layer and centring; the checkpoint's own reading to begin with. No control for what has one choice.

    Args:
        model: what is read.
        offer_centring: if not, it is off, whatever other pages do.
    """
    _take_over(model)
    encoder, config = model.encoder, model.encoder.config
    readout, layer = config.reading.readout, "0"
    if len(config.model.readouts) > 1:
        readout = st.segmented_control(
            "Read-out",
            config.model.readouts,
            default=readout,
            required=True,
            key="readout",
            bind="query-params",
            help=readout_help(config),
        )
    readout = cast(Readout, readout)
    layers: dict[str, int | Literal["mean", "weighted"]] = {str(i): i for i in range(encoder.num_layers + 1)}
    if encoder.num_layers:
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
            help=LAYER_HELP[config.family],
        )
        st.caption(", ".join(f"{i}: {name}" for i, name in enumerate(layer_names(config.model))))
    centring = "off"
    if offer_centring:
        centring = st.segmented_control(
            "Centring",
            CENTRINGS if encoder.num_layers else CENTRINGS[:2],  # nothing of a single vector is left without its mean
            default="off",
            required=True,
            key="centring",
            bind="query-params",
            help=CENTRING_HELP if encoder.num_layers else STATIC_CENTRING_HELP,
        )
    st.caption(f"{describe(config)} The address bar holds this view: copy it to share.")
    return encoder.reading_for(readout, layers[layer]), cast(Centring, centring)


def type_word(language: Language) -> str:
    """The target word: one with examples, or any other."""
    return st.text_input(
        "Target word", FIRST_WORDS[language], max_chars=MAX_WORD_CHARACTERS, key="word", bind="query-params", width=180
    ).strip()


def choose_example(word: str, language: Language) -> None:
    """Words with example sentences; choosing one makes it the target."""
    st.session_state["example"] = home_of(word, language)
    options = [*example_words(language), OWN[language]]
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
    own = choose_occurrence(model, text, word, f"Which “{plain(word)}”?", "which")
    st.button(
        "Keep",
        icon=":material/add:",
        disabled=not own,
        on_click=keep_sentence,
        args=(home_of(word, model.language), own),
        help=KEEP_HELP,
    )
    return own


def choose_occurrence(model: Model, text: str, word: str, label: str, key: str) -> Sentence | None:
    """A typed sentence with the occurrence of the word that is meant, asked for where there are several; None without.

    Args:
        label, key: of the control.
    """
    count = sum(token.casefold() == word.casefold() for token in model.encoder.tokenizer.encode(text).words)
    chosen = 1
    if count > 1:
        chosen = st.segmented_control(label, range(1, count + 1), default=1, required=True, key=key)
    return Sentence(text, None, chosen) if text else None


def _take_over(model: Model) -> None:
    """A newly chosen checkpoint is first read its own way, and on a word of its language.

    Not a callback of the choice, which another page may offer too.
    """
    before = st.session_state.get("compared_model")
    st.session_state["compared_model"] = (model.key[0], model.language)
    if before is None:
        return  # the address decides
    path, language = before
    if path != model.key[0]:
        config = model.encoder.config
        st.session_state["readout"] = config.reading.readout
        st.session_state["layer"] = _layer_option(config.reading, config.model.num_layers)
        if not config.model.num_layers and st.session_state.get("centring") == "per word":
            st.session_state["centring"] = "off"
    if language != model.language:
        st.session_state["word"] = FIRST_WORDS[model.language]
        st.session_state["own"] = ""


def _layer_option(reading: Reading, num_layers: int) -> str:
    return str(num_layers if reading.layer == "last" else reading.layer)


def _take_example() -> None:
    chosen = st.session_state["example"]
    st.session_state["word"] = "" if chosen in OWN.values() else chosen
    st.session_state["own"] = ""
