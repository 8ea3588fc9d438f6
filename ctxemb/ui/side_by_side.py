"""Two maps of the same uses, linked: another checkpoint, or the same one read another way."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.analysis.alignment import turned_towards
from ctxemb.checkpoint import CheckpointError, read_config
from ctxemb.comparison import CENTRINGS, Centring
from ctxemb.contexts import Contexts
from ctxemb.figures.mapping import map_points
from ctxemb.models.layers import layer_names
from ctxemb.models.reading import Reading
from ctxemb.text import Language
from ctxemb.ui import loading
from ctxemb.ui.contexts import Source, load_contexts
from ctxemb.ui.loading import Model
from ctxemb.ui.map_controls import Choice
from ctxemb.ui.mapping import Drawing, draw_map, key_of

CHART_HEIGHT = 530
CAPTION = """The same uses twice; the right map is turned, not stretched, to lie as much like the left one as it can.
Point at a use to find it on the other side; drag a box to select, in one map or in both."""


@dataclass(frozen=True)
class View:
    """A checkpoint and how it is read."""

    model: Model
    reading: Reading
    centring: Centring

    @property
    def title(self) -> str:
        """What stands above its map."""
        name = self.model.encoder.checkpoint.path.name
        centred = "" if self.centring == "off" else f", centred on {self.centring.removeprefix('per ')}"
        return f"{name}: {_label(self.model, self.reading)}{centred}"


def choose_second(first: Model) -> View:
    """A second way to read the same uses: at first another checkpoint of the language, else another layer."""
    paths = {name: path for name, path in loading.find_checkpoints().items() if _language(str(path)) == first.language}
    names = list(paths)
    others = [name for name in names if str(paths[name]) != first.key[0]]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Second checkpoint",
            names,
            index=names.index((others or names)[0]),
            key=f"second_{first.language}",
            bind="query-params",
            width=220,
        )
        model = loading.open_model(paths[name])
        readings = _readings(model)
        labels = [_label(model, reading) for reading in readings]
        own = labels.index(_label(model, model.encoder.config.reading))
        label = st.selectbox(
            "Read as",
            labels,
            index=own if others or len(labels) == 1 else (own + 1) % len(labels),
            key=f"second_reading_{name}",
            bind="query-params",
            width=260,
        )
        centring = st.selectbox(
            "Second centring",
            CENTRINGS if model.encoder.num_layers else CENTRINGS[:2],
            key="second_centring",
            bind="query-params",
            width=150,
        )
    return View(model, readings[labels.index(label)], cast(Centring, centring))


def show_side_by_side(
    contexts: Contexts,
    drawing: Drawing,
    source: Source,
    choice: Choice,
    clusters_N: np.ndarray | None,
    first: View,
    second: View,
) -> pd.Index | None:
    """Two linked maps; the rows that are selected, or all. None as long as the second is computed.

    Raises:
        ValueError: if the second checkpoint knows fewer than three of the uses.
    """
    from ctxemb.figures.side_by_side import SIDES, linked_maps, selected_rows  # brings Altair, which others need not

    other = load_contexts(source, second.model, second.reading, second.centring)
    if other is None:
        return None
    key = key_of(source, second.model, second.reading, second.centring)
    beside = draw_map(other, key, choice.flat, title="Drawing the second map")
    if beside is None:
        return None
    is_common = contexts.table.index.isin(other.table.index)
    left_N2 = drawing.points_NK[is_common]
    right_N2 = turned_towards(beside.points_NK[other.table.index.isin(contexts.table.index)], left_N2)
    points = map_points(contexts.table, choice.color_by, clusters_N).loc[is_common]
    places = [left_N2, right_N2]
    with st.container(height=CHART_HEIGHT, border=False):  # scrolls where there is no room for two
        event = st.altair_chart(
            linked_maps(points, places, [first.title, second.title], choice.color_by),
            key=f"maps {abs(hash((drawing.key, beside.key)))}",
            on_select="rerun",
            selection_mode=list(SIDES),
        )
    st.caption(CAPTION)
    if not is_common.all():
        st.caption(f"{(~is_common).sum():,} uses are left out, because only one of the two can read them.")
    return selected_rows(points, places, cast(Any, event).selection)


@st.cache_data(max_entries=64)
def _language(path: str) -> Language | None:
    """None for a folder that cannot be opened, which is said where it is chosen."""
    try:
        return read_config(Path(path)).text.language
    except CheckpointError:
        return None


def _readings(model: Model) -> list[Reading]:
    encoder, config = model.encoder, model.encoder.config
    layers: list[int | Literal["mean", "weighted"]] = [*range(encoder.num_layers, -1, -1)]
    found = []
    for readout in config.model.readouts:
        mixes: list[Any] = ["mean", "weighted"] if config.layer_weights.get(readout) else ["mean"]
        found += [encoder.reading_for(readout, layer) for layer in [*layers, *(mixes if encoder.num_layers else [])]]
    return found


def _label(model: Model, reading: Reading) -> str:
    names = layer_names(model.encoder.config.model)
    layer = len(names) - 1 if reading.layer == "last" else reading.layer
    return f"{reading.readout}, {names[layer] if isinstance(layer, int) else layer}"
