"""Numbers beside a map: what is true of the full space, and how far the picture itself can be trusted."""

from collections.abc import Hashable

import pandas as pd
import streamlit as st

from ctxemb.analysis.projection import ProjectionConfig
from ctxemb.analysis.separation import Separation, separation
from ctxemb.analysis.stability import Stability, stability
from ctxemb.contexts import Contexts
from ctxemb.ui.jobs import in_background
from ctxemb.ui.mapping import lane_of
from ctxemb.ui.messages import plain
from ctxemb.ui.results import format_number

NUM_OTHER_SEEDS = 4
SILHOUETTE_HELP = """How much nearer the uses of the same sense are than those of the nearest other sense, −1 to 1, by
cosine in the full space. 0: senses do not lie apart."""
ACCURACY_HELP = "How often the nearest other use of the word, by cosine in the full space, has the same sense"
SEPARATION_CAPTION = """In all dimensions, by cosine, within each word: what a picture can only hint at. *Chance*: the
same with the senses dealt out anew."""
STABILITY_CAPTION = """Each picture keeps only some neighbours, and each seed others. Groups that come back are the
data's; single points may well be the seed's."""


def load_separation(contexts: Contexts, key: Hashable) -> Separation | None:
    """How well senses are told apart; None as long as that is computed in the background."""
    words, senses = contexts.table.word.tolist(), contexts.table.sense.tolist()
    title = "Measuring the senses"
    return in_background("maps", ("separation", key), title, separation, contexts.vectors_ND, words, senses)


def show_separation(measured: Separation) -> None:
    """Silhouette and nearest-neighbour accuracy, of all words and of each, beside chance."""
    total = measured.total
    if total.is_defined:
        with st.container(horizontal=True):
            _show_beside_chance(
                "Silhouette", format_number(total.silhouette), format_number(total.silhouette_chance), SILHOUETTE_HELP
            )
            _show_beside_chance(
                "1-NN accuracy", _percent(total.accuracy), _percent(total.accuracy_chance), ACCURACY_HELP
            )
    rows = [*measured.words, total] if len(measured.words) > 1 else measured.words
    table = pd.DataFrame(
        {
            "word": [row.word if row.word is not None else "all words" for row in rows],
            "uses": [row.num_uses for row in rows],
            "senses": [row.num_senses for row in rows],
            "silhouette": [row.silhouette for row in rows],
            "chance": [row.silhouette_chance for row in rows],
            "1-NN": [100 * row.accuracy for row in rows],
            "by chance": [100 * row.accuracy_chance for row in rows],
            "top sense": [100 * row.most_frequent_share for row in rows],
            "note": [row.note for row in rows],
        }
    )
    if not table.note.any():
        table = table.drop(columns="note")
    decimal = st.column_config.NumberColumn(format="%.2f", width=75)
    percent = st.column_config.NumberColumn(format="%.0f%%", width=75)
    st.dataframe(
        table,
        hide_index=True,
        placeholder="–",
        column_config={
            "word": st.column_config.TextColumn(width=80),
            "uses": st.column_config.NumberColumn(width=55, help="That have a sense which another use has too"),
            "senses": st.column_config.NumberColumn(width=60),
            "silhouette": st.column_config.NumberColumn(format="%.2f", width=80, help=SILHOUETTE_HELP),
            "chance": decimal,
            "1-NN": st.column_config.NumberColumn(format="%.0f%%", width=65, help=ACCURACY_HELP),
            "by chance": percent,
            "top sense": st.column_config.NumberColumn(
                format="%.0f%%", width=80, help="Accuracy of always saying the word's most frequent sense"
            ),
            "note": st.column_config.TextColumn(width=300),
        },
    )
    st.caption(SEPARATION_CAPTION)


def show_stability(contexts: Contexts, key: Hashable, config: ProjectionConfig) -> None:
    """On request, the same map from other seeds: how much of it stays."""
    asked = st.session_state.setdefault("stability_asked", set())
    st.button(
        "How stable is this map?",
        icon=":material/casino:",
        on_click=asked.add,
        args=((key, config),),
        help=f"Draws it {NUM_OTHER_SEEDS} times more, from other seeds",
    )
    if (key, config) not in asked:
        return
    seeds = [config.seed + number for number in range(1, NUM_OTHER_SEEDS + 1)]
    title = "Drawing it again"
    found = in_background(
        lane_of(config), ("stability", key, config), title, stability, contexts.vectors_ND, config, seeds
    )
    if found is not None:
        _show_stability(found)


def _show_stability(found: Stability) -> None:
    kept = sum(picture.overlap for picture in found.pictures) / len(found.pictures)
    st.markdown(
        f"Of the {found.k} nearest neighbours of a point, a picture keeps **{_percent(kept)}**, and two pictures have "
        f"**{_percent(found.agreement)}** in common; by chance both were {_percent(found.chance)}."
    )
    table = pd.DataFrame(
        [(str(p.seed), 100 * p.overlap, p.trustworthiness) for p in found.pictures],
        columns=["seed", "kept", "trustworthiness"],
    )
    st.dataframe(
        table,
        hide_index=True,
        column_config={
            "kept": st.column_config.NumberColumn(
                format="%.0f%%", help="Share of the nearest neighbours in the full space that are so in the picture"
            ),
            "trustworthiness": st.column_config.NumberColumn(
                format="%.2f", help="1 if all neighbours in the picture are near in the full space too"
            ),
        },
    )
    st.caption(" ".join([STABILITY_CAPTION, *map(plain, found.notes)]))


def _show_beside_chance(name: str, value: str, chance: str, help_text: str) -> None:
    st.metric(name, value, f"{chance} by chance", delta_color="off", delta_arrow="off", help=help_text, border=True)


def _percent(share: float) -> str:
    return f"{share:.0%}"
