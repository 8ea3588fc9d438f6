"""A run while it goes on and afterwards: how far it is, its curves, what the rules found, and its senses coming apart.

What changes is drawn in fragments that refresh themselves as long as the run is busy; the page around them stays.
"""

from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.checkpoint import WEIGHTS
from ctxemb.comparison import Centring, TargetError
from ctxemb.encoder import Encoder
from ctxemb.evaluation.lab import LabScore, score_lab
from ctxemb.figures.training import loss_chart, probe_chart, probe_map_chart, small_chart
from ctxemb.live_run import LiveRun, position_of
from ctxemb.probe import ALL_WORDS, ProbeHistory, ProbeMap, probe_map
from ctxemb.probe.probe import PROBE_CENTRINGS
from ctxemb.runs import LIVE, Run, State
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.results import AUC_HELP, CHART_CONFIG, format_number, format_seconds, show_metrics
from ctxemb.ui.run_store import open_store
from ctxemb.ui.runs import COLORS, ICONS, show_actions

REFRESH_SECONDS = 1.0
SILENT_SECONDS, STARTING_SECONDS = 30.0, 120.0  # it cannot speak while it imports
NUM_LOG_LINES = 30
MEASURES = {
    "perplexity": "perplexity",
    "accuracy": "accuracy",
    "learning_rate": "learning rate",
    "gradient_norm": "gradient norm",
    "tokens_per_second": "words a second",
}
PROBE_CAPTION = (
    "At each validation the training reads labelled sentences that it does not learn from. **Gap**: same-sense minus "
    "cross-sense mean cosine. Centred *per word*: without what all sentences of a word share."
)
MAP_CAPTION = (
    "Each point is the word in one sentence; hover to read it. The plane is that of the last look, and its axes stay: "
    "a point that moves has moved. {share:.0%} of the spread is in this plane."
)


def show_run(run: Run) -> None:
    """Everything about a run."""
    is_busy = run.state in (*LIVE, "queued")
    interval = REFRESH_SECONDS if is_busy else None
    st.fragment(_show_progress, run_every=interval)(run, is_busy)
    st.fragment(_show_probe, run_every=interval)(run)
    if not is_busy:
        _show_lab_score(run)
    st.fragment(_show_files, run_every=None)(run)


def _follow(run: Run) -> LiveRun:
    """This session's view of the run, up to now; that of one run is kept."""
    live: LiveRun | None = st.session_state.get("live_run")
    if live is None or live.run.folder != run.folder:
        live = st.session_state["live_run"] = LiveRun(run)
    live.update()
    return live


def _show_progress(run: Run, was_busy: bool) -> None:
    open_store().advance()
    if not run.folder.exists():
        st.rerun()  # somebody has deleted it
    status, live = run.status(), _follow(run)
    if was_busy != (status.state in (*LIVE, "queued")):
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(run.name), width="content")
        st.badge(status.state, icon=ICONS[status.state], color=COLORS.get(status.state, "blue"))  # pyright: ignore
        show_actions(run, status.state)
    _show_place(live, status.state, status.detail, status.done, status.place, status.silent_seconds)
    _show_numbers(live)
    for finding in live.findings:
        st.warning(f"**{plain(finding.name)}** (step {finding.step:,}): {plain(finding.seen)} {plain(finding.advice)}")
    _show_curves(live)


def _show_place(live: LiveRun, state: State, detail: str, done: int, place: int | None, silent: float) -> None:
    position = position_of(live.reader.last_step)
    if state == "queued":
        st.info(f"It waits for those before it: place {place} in the queue.")
    elif state in ("failed", "interrupted"):
        show_error(f"{detail or state}")
    elif state in ("starting", "reading"):
        st.progress(0.0, f"{plain(detail) or state} {f'({done:,})' if done else ''} …")
    if position and state != "reading":
        left = ""
        if state == "training":
            left = f" · {format_seconds(position.eta_seconds)} left · {position.tokens_per_second:,.0f} words/s"
        st.progress(position.share, f"step {position.step:,} of {position.total_steps:,}{left}")
    if silent > (STARTING_SECONDS if state == "starting" else SILENT_SECONDS):
        st.warning(f"Its process has given no sign of life for {silent:.0f} s.")


def _show_numbers(live: LiveRun) -> None:
    best, looks = live.reader.best_validation, live.probe
    numbers: dict[str, tuple[str, str | None]] = {}
    if best and "perplexity_forward" in best:
        mean = np.exp((best["loss_forward_nats"] + best["loss_backward_nats"]) / 2)
        numbers["Perplexity"] = (
            f"{mean:,.1f}",
            f"Of both directions on held-out passages, the best: step {best['step']:,}",
        )
    elif best:
        numbers["Accuracy"] = (f"{best['accuracy']:.1%}", f"Held-out passages, the best loss: step {best['step']:,}")
    if best and "loss_nats" in best:
        numbers["Loss"] = (f"{best['loss_nats']:.2f}", f"Nats; a guess has {best['chance_nats']:.2f}")
    if looks:
        pairs = looks.points[-1].pairs["off"][ALL_WORDS]
        first = looks.points[0].pairs["off"][ALL_WORDS]
        numbers["Gap"] = (format_number(pairs.gap, "+.2f"), f"Same sense minus cross sense; untrained {first.gap:+.2f}")
        numbers["AUC"] = (format_number(pairs.auc), AUC_HELP)
    if numbers:
        show_metrics(numbers)


def _show_curves(live: LiveRun) -> None:
    losses = live.training_losses()
    if not losses:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Loss", width="content")
        smoothing = st.slider("Smoothing", 0.0, 0.99, 0.9, 0.01, key="smoothing", width=220)
        is_log = st.toggle("Logarithmic", key="log loss")
    chart = loss_chart(losses, live.validation_losses(), live.chance, smoothing, is_log)
    st.plotly_chart(chart, key="loss", config=CHART_CONFIG)
    shown = {name: line for name in MEASURES if (line := live.measure(name)) is not None}
    for column, (name, line) in zip(st.columns(len(shown)), shown.items(), strict=True):
        with column:
            chart = small_chart(line, MEASURES[name], log=name == "perplexity")
            st.plotly_chart(chart, key=f"chart of {name}", config=CHART_CONFIG)


def _show_probe(run: Run) -> None:
    live = _follow(run)
    history = live.probe
    if history is None:
        return
    st.subheader("Do senses come apart?")
    left, right = st.columns(2, gap="large")
    with left:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            word = st.selectbox("Pairs of", [ALL_WORDS, *history.words], key="probed word", width=180)
            options = PROBE_CENTRINGS
            centring = st.segmented_control(
                "Centring", options, default=options[0], required=True, key="probe centring"
            )
        series = history.series(word, cast(Centring, centring))
        chart = probe_chart(series.steps_S, series.same_S, series.cross_S)
        st.plotly_chart(chart, key="probe", config=CHART_CONFIG)
        gap = series.same_S[-1] - series.cross_S[-1]
        st.markdown(
            f"Step {series.steps_S[-1]:,}: gap **{format_number(float(gap), '+.2f')}**, "
            f"AUC **{format_number(float(series.auc_S[-1]))}**."
        )
        st.caption(PROBE_CAPTION)
    with right:
        _show_map(live, history)


def _show_map(live: LiveRun, history: ProbeHistory) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        word = st.selectbox("Uses of", history.words, key="mapped word", width=180)
        found = _map_of(live, history, word)
        if found is None:
            st.info("None of its sentences can be drawn.")
            return
        index = _replayed(live.run.id, found.steps)
    senses, texts = [use.sense for use in found.uses], [use.text for use in found.uses]
    words = [use.word for use in found.uses]
    chart = probe_map_chart(found.positions_SN2[index], words, senses, texts, found.limit)
    st.plotly_chart(chart, key="probe map", config=CHART_CONFIG)
    st.caption(MAP_CAPTION.format(share=found.variance_share))


def _map_of(live: LiveRun, history: ProbeHistory, word: str) -> ProbeMap | None:
    """The map, computed anew only after another look."""
    key = (live.run.id, len(history.points), history.points[-1].step, word)
    kept = st.session_state.get("probe_map")
    if kept is None or kept[0] != key:
        kept = st.session_state["probe_map"] = (key, probe_map(history, [word]))
    return kept[1]


def _replayed(id: str, steps: list[int]) -> int:
    """The row of the step that is shown: the last one, until another is chosen."""
    chosen = st.session_state.setdefault("replayed", {})
    if len(steps) < 2:
        return len(steps) - 1
    value = chosen.get(id)
    key = f"replay {id} {len(steps)} {steps[-1]}"  # a new control when there is a new step

    def choose() -> None:
        step = st.session_state[key]
        chosen[id] = None if step == steps[-1] else step

    step = st.select_slider(
        "Replay: step",
        steps,
        value if value in steps else steps[-1],
        format_func=lambda step: f"{step:,}",
        key=key,
        on_change=choose,
    )
    return steps.index(step)


@st.cache_resource(max_entries=16, show_spinner="Reading the lab's and our example sentences …")
def _load_lab_score(path: str, changed: int) -> LabScore | None:
    try:
        return score_lab(Encoder.load(path, device="cpu"))
    except TargetError:  # it knows none of these words
        return None


def _show_lab_score(run: Run) -> None:
    """Held-out sentences of the lab beside hand-written ones: how far what was learnt carries."""
    path = run.checkpoint
    if path is None:
        return
    score = _load_lab_score(str(path), (path / WEIGHTS).stat().st_mtime_ns)
    if score is None:
        return
    st.subheader("How far does it carry?")
    rows = {"sentences of the lab, held out": score.held_out, "our hand-written examples": score.examples}
    table = {name: (p.same_mean, p.cross_mean, p.gap, p.auc) for name, p in rows.items()}
    frame = pd.DataFrame.from_dict(table, orient="index", columns=["same sense", "cross sense", "gap", "AUC"])
    st.table(frame.style.format(format_number), border="horizontal")
    st.caption(
        "The same words, the best checkpoint, its own reading. A grammar wrote the lab's sentences, people ours."
    )


def _show_files(run: Run) -> None:
    about = run.about
    with st.expander("What was asked for, and the log", icon=":material/description:"):
        st.caption(f"Created {about['created']}; ctxemb {about['version']}; {plain(str(run.folder))}")
        st.json(run.request.model_dump(mode="json") | {"texts": about["corpora"]}, expanded=True)
        lines = [line for line in run.log_tail().replace("\r", "\n").splitlines() if line.strip()]
        st.code("\n".join(lines[-NUM_LOG_LINES:]), language=None)
        st.button("Read it again", icon=":material/refresh:", key="log again")
