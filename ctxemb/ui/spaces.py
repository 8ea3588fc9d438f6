"""Spaces, measured once for all sessions. Clouds of vectors are large and few are kept; what is measured is small."""

from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from ctxemb.geometry import (
    USES_PER_WORD,
    Cloud,
    Corrected,
    Corrections,
    Geometry,
    LabelledUses,
    Senses,
    labelled_uses,
    measure,
    sample_uses,
)
from ctxemb.models.reading import Reading, Readout
from ctxemb.ui import loading
from ctxemb.ui.loading import Model

MAX_DIRECTIONS = 20


@dataclass(frozen=True)
class Space:
    """A space to be drawn: its name, what its vectors are, and what was measured."""

    name: str
    vectors: str
    geometry: Geometry = field(repr=False)


@dataclass(frozen=True)
class BeforeAndAfter:
    """A space as it is read and after each correction, and what removing more directions does to the senses."""

    as_read: Corrected
    after: list[Corrected]
    sweep: list[Senses]
    shrinkage: float


def load_space(model: Model, reading: Reading) -> Space:
    """A checkpoint's space under one reading.

    Raises:
        ValueError: the text cannot be read or has too few words, or the vectors have no shape.
    """
    return _load_space(model.key, reading, model)


@st.cache_resource(max_entries=16, show_spinner=False)
def load_other(path: str, changed: int) -> Space:
    """The space of another checkpoint, read its own way; the checkpoint itself need not stay loaded.

    Raises:
        ValueError: see `load_space`; or the checkpoint cannot be opened.
    """
    model = loading.load_model(path, changed)
    return load_space(model, model.encoder.reading)


def load_corrections(model: Model, reading: Reading, num_directions: int) -> BeforeAndAfter:
    """Every correction; only what the number of directions changes is measured anew.

    Raises:
        ValueError: see `load_space`; or no example word is known.
    """
    key = model.key
    as_read, centred, whitened = _load_fixed(key, reading, model)
    return BeforeAndAfter(
        as_read,
        [centred, _load_without_top(key, reading, num_directions, model), whitened],
        _load_sweep(key, reading, most_directions(model), model),
        _load_fit(key, reading, model).shrinkage,
    )


def most_directions(model: Model) -> int:
    """How many main directions may be removed."""
    return min(MAX_DIRECTIONS, model.encoder.config.model.width - 1)


@st.cache_resource(max_entries=32, show_spinner="Measuring the space …")
def _load_space(key: tuple[str, int], reading: Reading, _model: Model) -> Space:
    cloud = _load_cloud(key, reading.readout, _model).half(0)
    geometry = measure(cloud, reading)
    num_words, text = f"{len(cloud.words):,}", loading.load_sample(key, _model).name
    vectors = f"{geometry.num_uses:,} uses of {num_words} words in {text}, none more than {USES_PER_WORD} times"
    if not _model.encoder.num_layers:
        vectors = f"{num_words} words of {text}, one vector each"
    return Space(_name(_model, reading), vectors, geometry)


@st.cache_resource(max_entries=4, show_spinner="Reading some sentences …")
def _load_cloud(key: tuple[str, int], readout: Readout, _model: Model) -> Cloud:
    encoder = _model.encoder.with_reading(Reading(readout=readout))
    return sample_uses(encoder, loading.load_sample(key, _model).corpus)


@st.cache_resource(max_entries=4, show_spinner="Reading the example sentences …")
def _load_labelled(key: tuple[str, int], readout: Readout, _model: Model) -> LabelledUses:
    return labelled_uses(_model.encoder.with_reading(Reading(readout=readout)))


@st.cache_resource(max_entries=2, show_spinner=False)
def _load_fit(key: tuple[str, int], reading: Reading, _model: Model) -> Corrections:
    cloud, uses = _load_cloud(key, reading.readout, _model), _load_labelled(key, reading.readout, _model)
    return Corrections.fit(cloud.half(1), cloud.half(0), uses, reading)


@st.cache_resource(max_entries=16, show_spinner="Correcting the space …")
def _load_fixed(key: tuple[str, int], reading: Reading, _model: Model) -> tuple[Corrected, Corrected, Corrected]:
    corrections = _load_fit(key, reading, _model)
    return corrections.as_read(), corrections.centred(), corrections.whitened()


@st.cache_resource(max_entries=64, show_spinner=False)
def _load_without_top(key: tuple[str, int], reading: Reading, num_directions: int, _model: Model) -> Corrected:
    return _load_fit(key, reading, _model).without_top(num_directions)


@st.cache_resource(max_entries=16, show_spinner="Removing one direction after the other …")
def _load_sweep(key: tuple[str, int], reading: Reading, max_directions: int, _model: Model) -> list[Senses]:
    return _load_fit(key, reading, _model).sweep(max_directions)


def _name(model: Model, reading: Reading) -> str:
    name = Path(model.key[0]).name
    if not model.encoder.num_layers:
        return name
    layer = model.encoder.num_layers if reading.layer == "last" else reading.layer
    return f"{name}, layer 0" if layer == 0 else f"{name}, {reading.readout}, layer {layer}"
