"""The store of runs, one for all sessions, and the checkpoints that it holds."""

from collections import Counter
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
    return _name(run, Counter(other.name for other in open_store().list()))


def run_checkpoints() -> dict[str, Path]:
    """The best checkpoint of each run that has one, by the name it is chosen under."""
    runs = open_store().list()
    counts = Counter(run.name for run in runs)
    return {_name(run, counts): path for run in runs if (path := run.checkpoint)}


def _name(run: Run, counts: Counter[str]) -> str:
    return f"run: {run.name}" if counts[run.name] == 1 else f"run: {run.name} ({run.id})"
