"""The runs of this machine, the same for every visitor: their list, and what can be done with one.

The address says what is open: `run` is the id of one, `compare` for several, or nothing for a new one.
"""

from collections.abc import Callable, Sequence
from typing import Final, Literal

import streamlit as st

from ctxemb.live_run import read_position
from ctxemb.runs import LIVE, RESUMABLE, Run, RunError, State, describe_error
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.run_store import checkpoint_name, open_store

REFRESH_SECONDS = 2.0
NUM_SHOWN = 12
COMPARE: Final = "compare"
PARAMETER = "run"
ICONS: dict[State, str] = {
    "queued": ":material/hourglass_empty:",
    "starting": ":material/rocket_launch:",
    "reading": ":material/menu_book:",
    "training": ":material/model_training:",
    "stopping": ":material/stop_circle:",
    "stopped": ":material/pause_circle:",
    "finished": ":material/check_circle:",
    "failed": ":material/error:",
    "interrupted": ":material/power_off:",
}
COLORS: dict[State, str] = {"finished": "green", "failed": "red", "interrupted": "orange", "stopped": "gray"}


def open_view(id: str | None) -> None:
    """Show a run, `compare`, or (None) the form for a new one."""
    if id is None:
        st.query_params.pop(PARAMETER, None)
    else:
        st.query_params[PARAMETER] = id
    st.session_state["open_run"] = id


def choose_run() -> Run | Literal["compare"] | None:
    """The list of runs, and which is open: a run, `compare`, or None for a new one."""
    if PARAMETER not in st.query_params and st.session_state.get("open_run"):
        open_view(st.session_state["open_run"])  # another page was shown meanwhile
    runs = open_store().list()
    st.session_state["runs_are_busy"] = _are_busy(runs)
    st.fragment(_list_runs, run_every=REFRESH_SECONDS if _are_busy(runs) else None)()
    for problem in open_store().problems():
        st.caption(f"Left out: {plain(problem)}")
    chosen = st.query_params.get(PARAMETER)
    st.session_state["open_run"] = chosen
    if chosen is None:
        return None
    if chosen == COMPARE:
        return COMPARE
    try:
        return open_store().get(chosen)
    except RunError as error:
        open_view(None)
        show_error(str(error))
        return None


def _list_runs() -> None:
    runs = open_store().list()
    shown = st.query_params.get(PARAMETER)
    chosen = _entry("New run", ":material/add:", shown is None, "new", None)
    if len(runs) > 1:
        chosen |= _entry("Compare runs", ":material/stacked_line_chart:", shown == COMPARE, COMPARE, COMPARE)
    if runs:
        st.caption("Runs on this machine, for all who look")
    for run in runs[:NUM_SHOWN]:
        chosen |= _run_entry(run, shown)
    if len(runs) > NUM_SHOWN:
        with st.expander(f"{len(runs) - NUM_SHOWN} older"):
            for run in runs[NUM_SHOWN:]:
                chosen |= _run_entry(run, shown)
    if chosen or _are_busy(runs) != st.session_state["runs_are_busy"]:
        st.rerun()


def _are_busy(runs: Sequence[Run]) -> bool:
    return any(run.state in (*LIVE, "queued") for run in runs)


def _run_entry(run: Run, shown: str | None) -> bool:
    state = run.state
    is_chosen = _entry(plain(run.name), ICONS[state], shown == run.id, run.id, run.id, help=_summary(run))
    position = read_position(run) if state in ("training", "stopping") else None
    if position:
        st.progress(position.share)
    return is_chosen


def _entry(label: str, icon: str, is_open: bool, key: str, id: str | None, help: str | None = None) -> bool:
    return st.button(
        label,
        icon=icon,
        key=f"open {key}",
        type="primary" if is_open else "tertiary",
        on_click=open_view,
        args=(id,),
        help=help,
    )


def _summary(run: Run) -> str:
    status = run.status()
    place = f", place {status.place}" if status.place else ""
    return plain(f"{status.state}{place}; {run.request.recipe}; {run.id}")


def show_actions(run: Run, state: State) -> None:
    """What can be done with a run in its state."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if run.checkpoint:
            st.page_link(
                "app_pages/compare.py",
                label="Open in Compare",
                icon=":material/compare_arrows:",
                query_params={"checkpoint": checkpoint_name(run)},
                help="Its best checkpoint so far",
            )
        if state in ("starting", "reading", "training", "queued"):
            _action(
                "Stop training" if state != "queued" else "Leave the queue",
                ":material/stop:",
                run.stop,
                f"stop {run.id}",
            )
        if state in RESUMABLE:
            _action("Resume", ":material/play_arrow:", run.resume, f"resume {run.id}")
        with st.popover("Rename", icon=":material/edit:", key=f"rename {run.id}"):
            name = st.text_input("Name", run.name, key=f"new name {run.id}")
            _action("Rename", ":material/edit:", lambda: run.rename(name), f"do rename {run.id}")
        if state not in LIVE:
            with st.popover("Delete", icon=":material/delete:", key=f"delete {run.id}"):
                st.markdown(f"Delete **{plain(run.name)}** with its checkpoints? This cannot be undone.")
                _action("Delete for ever", ":material/delete_forever:", lambda: _delete(run), f"do delete {run.id}")


def _delete(run: Run) -> None:
    run.delete()
    open_view(None)


def _action(label: str, icon: str, do: Callable[[], None], key: str) -> None:
    if not st.button(label, icon=icon, key=key):
        return
    try:
        do()
    except (RunError, OSError) as error:
        show_error(describe_error(error))
    else:
        st.rerun()
