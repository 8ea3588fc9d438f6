"""Several runs over each other, the settings in which they differ, and what came of them."""

from collections import Counter
from typing import cast

import streamlit as st

from ctxemb.figures.training import overlay_chart
from ctxemb.run_comparison import (
    AXES,
    Axis,
    Part,
    curve,
    curves_table,
    differing_settings,
    open_runs,
    outcomes,
    shared_measures,
)
from ctxemb.training import RUN
from ctxemb.ui.run_store import open_store

MAX_COMPARED = 8
PARTS: tuple[Part, ...] = ("validation", "training")
CHART_CONFIG = {"displaylogo": False}  # with plotly's own tools: a picture, zoom
NUMBERS = {
    "best_loss_nats": st.column_config.NumberColumn("best loss, nats", format="%.3f"),
    "perplexity": st.column_config.NumberColumn(format="%.1f"),
    "accuracy": st.column_config.NumberColumn(format="percent"),
    "best_step": st.column_config.NumberColumn("best step", format="localized"),
    "steps": st.column_config.NumberColumn(format="localized"),
    "tokens": st.column_config.NumberColumn(format="localized"),
    "seconds": st.column_config.NumberColumn(format="%.0f"),
    "gap": st.column_config.NumberColumn(format="%.3f"),
    "auc": st.column_config.NumberColumn("AUC", format="%.3f"),
}


def compare_runs() -> None:
    """Several runs over each other, the settings in which they differ, and what came of them."""
    runs = {run.id: run for run in open_store().list() if (run.trained / RUN).is_file()}
    counts = Counter(run.name for run in runs.values())
    names = {id: run.name if counts[run.name] == 1 else id for id, run in runs.items()}
    chosen = st.multiselect(
        "Runs",
        list(runs),
        list(runs)[:2],
        format_func=names.__getitem__,
        key="compared runs",
        max_selections=MAX_COMPARED,
    )
    if len(chosen) < 2:
        st.info("Choose two runs or more that have begun to train.")
        return
    opened = open_runs({names[id]: runs[id].trained for id in chosen})
    with st.container(horizontal=True):
        part = cast(Part, st.segmented_control("Part", PARTS, default=PARTS[0], required=True, key="part"))
        axis = cast(Axis, st.segmented_control("Over", AXES, default=AXES[0], required=True, key="axis"))
        measures = shared_measures(opened, part)
        if not measures:
            st.info("These runs have no measure in common yet.")
            return
        preferred = next((name for name in ("loss_nats", "loss_forward_nats") if name in measures), measures[0])
        measure = st.selectbox("Measure", measures, measures.index(preferred), key=f"measure of {part}", width=260)
        is_log = st.toggle("Logarithmic", key="overlay log")
    lines = {run.name: curve(run, measure, part, axis) for run in opened}
    st.plotly_chart(overlay_chart(lines, axis, measure, is_log), key="overlay", config=CHART_CONFIG)
    st.subheader("What came of them")
    came_of = outcomes(opened)
    st.dataframe(came_of, key="outcomes", column_config=NUMBERS, placeholder="–")
    st.caption("Gap and AUC are of the probed sentences: they compare only between runs probed with the same ones.")
    st.subheader("Where they differ")
    differing = differing_settings(opened)
    if differing.empty:
        st.info("All settings are the same.")
    else:
        st.dataframe(differing, key="differing")
    with st.container(horizontal=True):
        for label, table, index in (
            ("Curves as CSV", curves_table(opened, measure, part), False),
            ("Settings as CSV", differing, True),
            ("Outcomes as CSV", came_of, True),
        ):
            st.download_button(
                label,
                table.to_csv(index=index),
                f"{label.split()[0].lower()}.csv",
                "text/csv",
                icon=":material/download:",
                on_click="ignore",
            )
