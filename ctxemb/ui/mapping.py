"""The map: its picture, a sentence that is placed in it, and the uses that are selected."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.analysis.projection import Projection, ProjectionConfig, place, project
from ctxemb.analysis.separation import cluster
from ctxemb.comparison import Centring
from ctxemb.contexts import Contexts, with_coordinates
from ctxemb.figures.mapping import HEIGHT, ColorBy, context_map, map_points, own_text
from ctxemb.models.reading import Reading
from ctxemb.ui.contexts import Source, load_own
from ctxemb.ui.jobs import Lane, in_background, load_worker
from ctxemb.ui.loading import Model
from ctxemb.ui.map_controls import METHODS, SETTINGS, setting_label
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.results import is_dark

MAP_CONFIG = {
    "displaylogo": False,
    "displayModeBar": True,
    "modeBarButtons": [["lasso2d", "select2d", "zoom2d", "pan2d", "resetScale2d"]],
}
SPACE_CONFIG = {"displaylogo": False, "modeBarButtons": [["orbitRotation", "zoom3d", "pan3d", "resetCameraDefault3d"]]}
MAX_OWN_CHARACTERS = 500


@dataclass(frozen=True)
class Own:
    """A sentence of the user's, encoded."""

    key: str
    contexts: Contexts

    @property
    def text(self) -> str:
        """As it is shown beside its marker."""
        use = self.contexts.table.iloc[0]
        return own_text(use.sentence, int(use.start), int(use.end))


@dataclass(frozen=True)
class Drawing:
    """Where the uses lie, and the sentence of the user's if there is one.

    Attributes:
        key: tells this drawing from all others, without the sentence.
        own_K: (K,) where the sentence lies.
        was_moved: whether the others lie elsewhere because of it.
    """

    key: Hashable
    projection: Projection
    points_NK: np.ndarray
    own_K: np.ndarray | None = None
    was_moved: bool = False


def warm_up() -> None:
    """Make UMAP ready in the background, long before it is chosen."""
    load_worker("umap")


def key_of(source: Source, model: Model, reading: Reading, centring: Centring) -> Hashable:
    """Tells the vectors of some contexts from all others; vectors that came ready have no reading."""
    return source.key if source.vectors is not None else (source.key, model.key, reading, centring)


def lane_of(config: ProjectionConfig) -> Lane:
    """Which process draws it."""
    return "umap" if config.method == "umap" else "maps"


def type_own(contexts: Contexts, source: Source, model: Model, reading: Reading, centring: Centring) -> Own | None:
    """One sentence that is placed among the others; why not, if it cannot be."""
    if source.vectors is not None:
        st.caption(
            "To place a sentence of your own, take sentences instead of vectors: it has to be read the same way."
        )
        return None
    words = {word.casefold(): word for word in contexts.table.word.unique()}
    shown = " or ".join(f"“{word}”" for word in list(words.values())[:3])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        text = st.text_input(
            "Place a sentence",
            placeholder=f"Type a sentence with {shown} …",
            max_chars=MAX_OWN_CHARACTERS,
            key="place",
            bind="query-params",
            icon=":material/star:",
        ).strip()
        if not text:
            return None
        targets = _targets(text, words, model)
        if not targets:
            show_error(f"no word of this map stands in “{text}”; use {shown} in it")
            return None
        chosen = targets[0]
        if len(targets) > 1:
            labels = [f"{number}: {word}" for number, (word, _) in enumerate(targets, 1)]
            label = st.segmented_control("Which word?", labels, default=labels[0], required=True, key=f"target {text}")
            chosen = targets[labels.index(label)]
    own, key = load_own(text, *chosen, model, reading, centring)
    if own.problems:
        show_error(own.problems[0])
        return None
    return Own(key, own)


def draw_map(
    contexts: Contexts, key: Hashable, config: ProjectionConfig, own: Own | None = None, title: str = "Drawing the map"
) -> Drawing | None:
    """Where every use lies; None as long as that is computed in the background.

    PCA and UMAP place the sentence of the user's on the finished map. t-SNE cannot: the map is drawn with it.
    """
    key = (key, config)
    if own is not None and config.method == "t-sne":
        vectors_ND = np.concatenate([contexts.vectors_ND, own.contexts.vectors_ND])
        projection = in_background("maps", ("map", key, own.key), title, project, vectors_ND, config, height=HEIGHT)
        if projection is None:
            return None
        return Drawing(key, projection, projection.points_NK[:-1], projection.points_NK[-1], was_moved=True)
    lane = lane_of(config)
    projection = in_background(lane, ("map", key), title, project, contexts.vectors_ND, config, height=HEIGHT)
    if projection is None:
        return None
    if own is None:
        return Drawing(key, projection, projection.points_NK)
    vectors_1D = own.contexts.vectors_ND
    title = "Placing your sentence"
    placed = in_background(lane, ("placed", key, own.key), title, place, projection, vectors_1D, height=HEIGHT)
    return None if placed is None else Drawing(key, projection, projection.points_NK, placed[0])


def load_clusters(contexts: Contexts, key: Hashable) -> np.ndarray | None:
    """The cluster of each use, (N,); None as long as that is computed in the background."""
    return in_background("maps", ("clusters", key), "Looking for clusters", cluster, contexts.vectors_ND)


def show_map(
    contexts: Contexts, drawing: Drawing, color_by: ColorBy, clusters_N: np.ndarray | None, own: Own | None
) -> pd.Index:
    """The picture; the rows that are selected in it, or all."""
    points = map_points(contexts.table, color_by, clusters_N)
    placed = (drawing.own_K, own.text) if own is not None and drawing.own_K is not None else None
    figure = context_map(points, drawing.points_NK, color_by, placed, is_dark())
    # another drawing is another chart, so that nothing of the last one stays selected
    key = f"map {abs(hash(drawing.key))}"
    if drawing.points_NK.shape[1] == 3:
        st.plotly_chart(figure, key=key, config=SPACE_CONFIG)
        return points.index
    event = st.plotly_chart(
        figure, key=key, on_select="rerun", selection_mode=("box", "lasso", "points"), config=MAP_CONFIG
    )
    rows = [point["customdata"][0] for point in cast(Any, event).selection.points]
    selected = points.index[points.index.isin(rows)]
    return selected if len(selected) else points.index


def describe_drawing(drawing: Drawing) -> None:
    """How the map was made, and what was changed on the way."""
    projection = drawing.projection
    config = projection.config
    settings = {name: getattr(config, name) for name in SETTINGS[config.method]}
    words = [f"{len(drawing.points_NK):,} contexts", METHODS[config.method], config.metric]
    words += [f"{setting_label(name).lower()} {value:.4g}" for name, value in settings.items()]
    words += [f"seed {config.seed}", f"trustworthiness {projection.trustworthiness:.2f}"]
    words += [f"{library} {version}" for library, version in projection.versions.items()]
    notes = list(projection.notes)
    if drawing.was_moved and config.method == "t-sne":
        notes.append(
            "t-SNE has no place for a new point on a finished map: this one was drawn again with your sentence in it, "
            "and the other points have moved. UMAP and PCA place it among the points as they are."
        )
    st.caption(plain(" · ".join(words)))
    st.caption(" ".join(plain(note) for note in notes))


def show_selected(contexts: Contexts, drawing: Drawing, selected: pd.Index) -> None:
    """The uses that are selected in the picture, as a table and as a file."""
    num_all, num_shown = len(contexts.table), len(selected)
    is_part = num_shown < num_all
    table = with_coordinates(contexts.table, drawing.points_NK)
    st.markdown(f"**{num_shown:,} of {num_all:,} contexts**" if is_part else f"**All {num_all:,} contexts**")
    st.dataframe(
        table.loc[selected],
        column_order=("word", "sense", "sentence", *"xyz"),
        hide_index=True,
        height=HEIGHT - 120,
        column_config={
            "sentence": st.column_config.TextColumn(width=320),
            "word": st.column_config.TextColumn(width=70),
            "sense": st.column_config.TextColumn(width=80),
        }
        | {axis: st.column_config.NumberColumn(format="%.2f", width=60) for axis in "xyz"},
        key="contexts",
    )
    with st.container(horizontal=True):
        _offer(table, f"All {num_all:,} as CSV", "contexts.csv")
        if is_part:
            _offer(table.loc[selected], f"The {num_shown:,} selected as CSV", "selected-contexts.csv")


def _offer(table: pd.DataFrame, label: str, name: str) -> None:
    st.download_button(
        label, lambda: table.to_csv(index=False), name, "text/csv", icon=":material/download:", on_click="ignore"
    )


def _targets(text: str, words: dict[str, str], model: Model) -> list[tuple[str, int]]:
    """Words of the map in a sentence, and where each begins."""
    tokens = model.encoder.tokenizer.encode(text)
    found = [
        (words[token.casefold()], start)
        for token, (start, _) in zip(tokens.words, tokens.spans, strict=True)
        if token.casefold() in words
    ]
    # a Chinese word may be hidden in a longer one, where the likeliest cut is another
    hidden = [(word, text.find(word)) for word in words.values() if model.language == "zh" and word in text]
    return found or hidden
