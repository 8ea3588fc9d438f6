"""How a map is drawn: widgets bound to the address."""

from dataclasses import dataclass
from typing import Any, cast

import streamlit as st

from ctxemb.analysis.projection import ProjectionConfig
from ctxemb.figures.mapping import COLORINGS, ColorBy
from ctxemb.ui.settings import field_range

METHODS = {"t-sne": "t-SNE", "umap": "UMAP", "pca": "PCA"}
SETTINGS = {"t-sne": ("perplexity", "max_iter"), "umap": ("num_neighbors", "min_dist"), "pca": ()}
LABELS = {"num_neighbors": "Neighbours", "min_dist": "Smallest distance", "max_iter": "Iterations"}
METHOD_HELP = """How 2 or 3 dimensions are made of hundreds.
- **t-SNE** keeps near neighbours near. Sizes of groups and distances between them mean little.
- **UMAP** likewise, keeps a little more of the whole, and can place a new sentence without moving the others.
- **PCA** turns the cloud until its widest sides are seen: distances are true, but most dimensions are left out."""
COLOR_HELP = """*word* and *sense* are labels; *cluster* is what k-means finds in the full space without any label;
*position* is where the word stands in its sentence: a map that it colours from end to end shows position, not meaning.
Shapes are senses, within each word."""


@dataclass(frozen=True)
class Choice:
    """How the map is drawn."""

    config: ProjectionConfig
    color_by: ColorBy

    @property
    def flat(self) -> ProjectionConfig:
        """The same in two dimensions."""
        return self.config.model_copy(update={"num_dimensions": 2})


def choose_map() -> Choice:
    """Method and colour, and everything else that decides the picture. Call it in a horizontal container."""
    method = st.segmented_control(
        "Method",
        list(METHODS),
        default="t-sne",
        format_func=lambda method: METHODS[method],
        required=True,
        key="method",
        bind="query-params",
        help=METHOD_HELP,
    )
    color_by = st.segmented_control(
        "Colour by",
        COLORINGS,
        default="word",
        format_func=lambda name: "position" if name == "place" else name,
        required=True,
        key="color",
        bind="query-params",
        help=COLOR_HELP,
    )
    with st.popover("Settings", icon=":material/tune:"):
        chosen: dict[str, Any] = {"method": method}
        chosen["num_dimensions"] = st.segmented_control(
            "Dimensions", [2, 3], default=2, required=True, key="dimensions", bind="query-params"
        )
        chosen["metric"] = st.segmented_control(
            "Metric",
            ["cosine", "euclidean"],
            default="cosine",
            required=True,
            key="metric",
            bind="query-params",
            help=ProjectionConfig.model_fields["metric"].description,
        )
        chosen |= {name: _choose_number(name) for name in (*SETTINGS[method], "seed")}
    return Choice(ProjectionConfig.model_validate(chosen), cast(ColorBy, color_by))


def setting_label(name: str) -> str:
    """What a setting is called."""
    return LABELS.get(name, name.replace("_", " ").capitalize())


def _choose_number(name: str) -> Any:
    field = ProjectionConfig.model_fields[name]
    kind = float if field.annotation is float else int
    lowest, highest = field_range(field, kind(1))
    return st.number_input(
        setting_label(name),
        lowest,
        highest,
        kind(field.default),
        step=kind(1) if highest > 1 else 0.05,
        format=None if kind is int else "%.0f" if highest > 1 else "%.2f",
        key=name,
        bind="query-params",
        help=field.description,
        width=150,
    )
