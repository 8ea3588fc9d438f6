"""The store of runs, one for all sessions, and the checkpoints that it holds."""

from pathlib import Path

import streamlit as st

from ctxemb.runs import Run, RunStore, runs_root


@st.cache_resource(max_entries=4)
def _store(root: Path) -> RunStore:
    return RunStore(root)


def open_store() -> RunStore:
    """The runs of this machine, one store for all sessions."""
    return _store(runs_root())


def checkpoint_name(run: Run) -> str:
    """Under which its checkpoint is chosen on other pages; the id goes with a name that several have."""
    names = [other.name for other in open_store().list()]
    return f"run: {run.name}" if names.count(run.name) == 1 else f"run: {run.name} ({run.id})"


def run_checkpoints() -> dict[str, Path]:
    """The best checkpoint of each run that has one, by the name it is chosen under."""
    return {checkpoint_name(run): path for run in open_store().list() if (path := run.checkpoint)}
