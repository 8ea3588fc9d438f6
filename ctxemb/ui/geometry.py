"""The shape of a space on the page: beside other spaces, and before and after corrections."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.figures.geometry import (
    BALL,
    cosine_chart,
    energy_chart,
    norm_chart,
    similarity_chart,
    spectrum_chart,
    sweep_chart,
)
from ctxemb.figures.style import NEUTRAL_COLOR, SENSE_COLORS
from ctxemb.geometry import BINS, Corrected, Shape, correction_verdict, shape_verdict
from ctxemb.models.layers import layer_names
from ctxemb.models.reading import Reading
from ctxemb.ui import loading
from ctxemb.ui.loading import Model
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.results import AUC_HELP, CHART_CONFIG, format_number, show_metrics
from ctxemb.ui.spaces import Space, load_corrections, load_other, load_space, most_directions

STATIC_VECTORS = "static vectors"
MAX_TOP, MAX_BESIDE = 100, len(SENSE_COLORS) - 1
ENERGY_HELP = """Share of the main directions in the sum of squared singular values, once the mean is subtracted. In a
perfect ball it is their number divided by that of the dimensions."""
RANDOM_HELP = "Mean cosine of all pairs of uses of different words: 0 in a ball around the origin, near 1 in a cone"
ISOSCORE_HELP = """Roughly the share of dimensions that are evenly used: 0 (a line) to 1 (a ball). It does not know
where the middle is, so a cone may still be round. Source: Rudman et al. 2022."""
UNIFORMITY_HELP = """How evenly directions cover the sphere: 0 if all are one, about −4 if they are spread evenly.
Source: Wang and Isola 2020."""
BESIDE_HELP = (
    "Spaces to draw beside this one: its layer 0, one vector a word, or other checkpoints, each read its own way"
)
DIRECTIONS_HELP = """How many main directions all-but-the-top takes away after the mean. Its authors advise about a
hundredth of the dimensions. To choose it by the AUC is to look at the labels."""
SIMILARITY_CAPTION = """Mean cosine of a word's own uses ({num_words:,} words with several), and of different words. In
a cone all uses are alike: only the difference says what a word keeps of itself in every sentence
([Ethayarajh 2019](https://arxiv.org/abs/1909.00512))."""
CORRECTIONS_CAPTION = """*Centred*: the mean is subtracted. *Without the top*: so is all that lies in the main
directions ([all-but-the-top](https://arxiv.org/abs/1702.01417)). *Whitened*: made equally long in every direction,
after variances were drawn towards their mean by {shrinkage:.1%} (Ledoit and Wolf's estimate of what so few vectors
need). All are fitted without labels, on as many other words of the text. Gap, AUC and recall are those of our example
sentences."""
COLUMNS_HELP = f"""**gap**: mean cosine of same-sense pairs less that of cross-sense pairs. **AUC**: {AUC_HELP.lower()}.
**1-NN recall**: how often the nearest other use of the word has the same sense; every sense counts as much."""


def choose_top() -> int:
    """How many directions count as main ones."""
    return int(
        st.number_input(
            "Main directions",
            min_value=1,
            max_value=MAX_TOP,
            value=10,
            key="top",
            bind="query-params",
            width=150,
            help="Whose share of the energy is shown",
        )
    )


def choose_beside(space: Space, model: Model, reading: Reading) -> list[Space]:
    """Other spaces to draw; one that cannot be measured is said so, and none is drawn twice."""
    paths = loading.find_checkpoints()
    chosen = st.multiselect(
        "Beside it",
        [STATIC_VECTORS, *paths],
        default=[STATIC_VECTORS],
        max_selections=MAX_BESIDE,
        key="beside",
        bind="query-params",
        help=BESIDE_HELP,
        placeholder="nothing",
    )
    spaces = {space.name: space}
    for name in chosen:
        try:
            if name == STATIC_VECTORS:
                other = load_space(model, model.encoder.reading_for(reading.readout, 0))
            else:
                other = load_other(str(paths[name]), loading.last_changed(paths[name]))
        except ValueError as error:
            show_error(f"{name} cannot be drawn: {error}")
        else:
            spaces.setdefault(other.name, other)
    return list(spaces.values())[1:]


def show_shape(space: Space, k: int) -> None:
    """The four numbers that are read first, and what they say."""
    shape = space.geometry.shape
    show_metrics(
        {
            f"Top-{k} energy": (f"{shape.spectrum.share(k):.0%}", ENERGY_HELP),
            "Random words": (format_number(shape.random_cosine), RANDOM_HELP),
            "IsoScore": (format_number(shape.spectrum.isoscore), ISOSCORE_HELP),
            "Uniformity": (format_number(shape.uniformity), UNIFORMITY_HELP),
        }
    )
    st.markdown(plain(shape_verdict(shape, k)))


def show_spaces(spaces: Sequence[Space], k: int) -> None:
    """Energy, singular values and cosines of spaces, a curve each."""
    shapes = {space.name: space.geometry.shape for space in spaces}
    _show_curves(shapes, {space.name: space.vectors for space in spaces}, k, "spaces")


def show_self_similarity(space: Space, model: Model, reading: Reading) -> None:
    """Whether a word's uses are alike, layer by layer."""
    st.subheader("Are a word's uses alike?")
    layers = space.geometry.layers
    if not model.encoder.num_layers:
        st.info("Every use of a word has the same vector here, so they are all alike: a static embedding.")
        return
    layer = len(layers) - 1 if reading.layer == "last" else reading.layer
    names = layer_names(model.encoder.config.model)
    chart = similarity_chart(names, layers, layer if isinstance(layer, int) else None)
    st.plotly_chart(chart, key="self-similarity", config=CHART_CONFIG)
    st.caption(SIMILARITY_CAPTION.format(num_words=layers[-1].num_words))


def show_norms(space: Space) -> None:
    """Whether frequent words are longer."""
    st.subheader("Are frequent words longer?")
    norms = space.geometry.norms
    chart = norm_chart(norms.words, norms.counts_W, norms.norms_W)
    st.plotly_chart(chart, key="norms", config=CHART_CONFIG)
    spread = float(np.std(norms.norms_W) / np.mean(norms.norms_W))
    st.caption(
        f"A point a word. Rank correlation of length and frequency: {format_number(norms.rank_correlation, '+.2f')}; "
        f"the standard deviation of lengths is {spread:.1%} of their mean. A cosine does not see length."
    )


def show_corrections(model: Model, reading: Reading, k: int) -> None:
    """The space before and after it is made rounder, and what that does to the senses of our examples."""
    width, most = model.encoder.config.model.width, most_directions(model)
    number = 1
    if most > 1:
        number = st.slider(
            "Main directions removed",
            1,
            most,
            min(max(1, round(width / 100)), most),
            key="removed",
            bind="query-params",
            help=DIRECTIONS_HELP,
            width=420,
        )
    result = load_corrections(model, reading, number)
    st.markdown(plain(correction_verdict(result.as_read, result.after)))
    left, right = st.columns([3, 2], gap="large", vertical_alignment="center")
    with left:
        table = corrections_table([result.as_read, *result.after], k)
        st.table(table.style.format(format_number), border="horizontal")
        st.caption(CORRECTIONS_CAPTION.format(shrinkage=result.shrinkage), help=COLUMNS_HELP)
    with right:
        chart = sweep_chart([s.pairs.auc for s in result.sweep], [s.recall for s in result.sweep], number)
        st.plotly_chart(chart, key="sweep", config=CHART_CONFIG)
    shapes = {corrected.name: corrected.shape for corrected in [result.as_read, *result.after]}
    _show_curves(shapes, dict.fromkeys(shapes, ""), k, "corrected")


def corrections_table(rows: Sequence[Corrected], k: int) -> pd.DataFrame:
    """A row a correction: the shape of the space, then the senses of the examples."""
    return pd.DataFrame(
        {
            f"top-{k}": [row.shape.spectrum.share(k) for row in rows],
            "random": [row.shape.random_cosine for row in rows],
            "IsoScore": [row.shape.spectrum.isoscore for row in rows],
            "gap": [row.senses.pairs.gap for row in rows],
            "AUC": [row.senses.pairs.auc for row in rows],
            "1-NN recall": [row.senses.recall for row in rows],
        },
        index=[row.name for row in rows],
    )


def _show_curves(shapes: Mapping[str, Shape], notes: Mapping[str, str], k: int, key: str) -> None:
    """Three charts and one legend for them."""
    spectra = {name: shape.spectrum for name, shape in shapes.items()}
    shares = {name: shape.cosine_shares for name, shape in shapes.items()}
    charts = {
        "energy": energy_chart(spectra, k),
        "singular values": spectrum_chart(spectra),
        "cosines": cosine_chart(shares, BINS),
    }
    for column, (name, chart) in zip(st.columns(3, gap="medium"), charts.items(), strict=True):
        column.plotly_chart(chart, key=f"{key}: {name}", config=CHART_CONFIG)
    entries = [("■", color, *entry) for color, entry in zip(SENSE_COLORS, notes.items(), strict=False)]
    st.html(_legend_html([*entries, ("┅", NEUTRAL_COLOR, BALL, "")]))


def _legend_html(entries: Sequence[tuple[str, str, str, str]]) -> str:
    """Mark, colour, name and note of each curve."""
    spans = [
        f"<span><span style='color:{color}'>{mark}</span> {escape(name)}"
        f"{f': <span style=opacity:0.7>{escape(note)}</span>' if note else ''}</span>"
        for mark, color, name, note in entries
    ]
    return f"<div style='display:flex;flex-wrap:wrap;gap:0.2rem 1.5rem;font-size:0.875rem'>{''.join(spans)}</div>"
