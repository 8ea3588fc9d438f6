"""Which store a page looks into: the small one of the checkpoint, built on first use, or one that the server offers.

A visitor chooses among the stores that whoever runs the server has listed, and can name no other place.
"""

import os
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from ctxemb.encoder import Encoder
from ctxemb.store import About, Source, StoreError, VectorStore, build_small_store, is_local, open_small_store
from ctxemb.ui.jobs import all_jobs, in_background
from ctxemb.ui.loading import Model
from ctxemb.ui.messages import show_problems

STORES_VARIABLE = "CTXEMB_STORES"
SMALL = "small"
STORE_HELP = f"""The contexts that are looked through. *small*: our example sentences and a text that is on this
machine. `python -m ctxemb index` makes others; the server offers those that `{STORES_VARIABLE}` lists."""


@dataclass(frozen=True)
class Opened:
    """A store, and the checkpoint under the store's reading."""

    store: VectorStore
    encoder: Encoder
    sources: tuple[Source, ...]


def choose_store(model: Model) -> str:
    """Where the store is: `small`, or the place of one of those listed that the checkpoint has made."""
    offered, problems = find_stores(os.environ.get(STORES_VARIABLE, ""), model.key, model)
    show_problems(problems)
    if not offered:
        return SMALL
    name = st.selectbox("Store", [SMALL, *offered], key=f"store of {model.key[0]}", help=STORE_HELP)
    return offered.get(name, SMALL)


@st.cache_data(ttl="30s", max_entries=8, show_spinner=False)
def find_stores(listed: str, key: tuple[str, int], _model: Model) -> tuple[dict[str, str], list[str]]:
    """Names and places of the stores of a checkpoint, and what is wrong with others.

    Args:
        listed: stores, and folders that hold stores, with commas between.
    """
    offered, problems = {}, []
    for place in filter(None, map(str.strip, listed.split(","))):
        folders = [place]
        if is_local(place) and not (Path(place) / "contexts.lance").is_dir():
            folders = [str(path.parent) for path in sorted(Path(place).glob("*/contexts.lance"))]
        if not folders:
            problems.append(f"{STORES_VARIABLE} names {place}, which holds no store")
        for folder in folders:
            try:
                if VectorStore.open(folder).about.identity == About.of(_model.encoder).identity:
                    offered[folder.rstrip("/").rpartition("/")[2]] = folder
            except StoreError as error:
                problems.append(str(error))
    return offered, problems


def open_store(place: str, model: Model) -> Opened | None:
    """The chosen store; None while the small one is being built, and the page shows how far it has come.

    Raises:
        StoreError: if it cannot be read.
    """
    store = open_small_store(model.encoder) if place == SMALL else VectorStore.open(place)
    if store is None:
        key, path = ("small store", model.key), str(model.encoder.checkpoint.path)
        if in_background("stores", key, "Collecting contexts, once", build_small_store, path) is None:
            return None
        if (store := open_small_store(model.encoder)) is None:
            all_jobs().forget(("stores", key))
            raise StoreError("the contexts that were collected are gone from the cache folder; reload this page")
    encoder = model.encoder.with_reading(store.about.reading)
    return Opened(store, encoder, tuple(store.sources()))
