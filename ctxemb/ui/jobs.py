"""Work in the background, as pages use it: shared by all sessions, and found again by what it answers.

A page asks for a result by its key on every run. The first to ask starts the job; whoever asks later, after a look at
another page or in another session, gets the same one. While it is under way the page shows how far it has come and a
button that cancels it, and runs again by itself when it is over.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Any, Literal, TypeVar

import streamlit as st

from ctxemb.background import Job, Worker, WorkerError
from ctxemb.ui.messages import show_error

# work of one kind waits in line, in a process of its own: a long store, or UMAP, which takes a third of a minute to
# compile, holds up no other map
Lane = Literal["maps", "umap", "stores", "checkups"]
WARM_UPS: dict[Lane, str | None] = {
    "maps": None,
    "umap": "ctxemb.analysis.projection:warm_up",
    "stores": None,
    "checkups": None,
}
MAX_RESULTS = 24
PATIENCE_SECONDS = 0.3  # a bar that is gone at once only flickers
POLL = "500ms"

Result = TypeVar("Result")


class Jobs:
    """Jobs by key; of those that are over, the longest unasked is forgotten first."""

    def __init__(self, max_results: int = MAX_RESULTS) -> None:
        self._max_results = max_results
        self._lock = Lock()
        self._jobs: OrderedDict[Hashable, Job] = OrderedDict()

    def __len__(self) -> int:
        return len(self._jobs)

    def find_or_submit(self, key: Hashable, submit: Callable[[], Job]) -> Job:
        """The job of a key, submitted if there is none yet."""
        with self._lock:
            if key not in self._jobs:
                self._jobs[key] = submit()
            self._jobs.move_to_end(key)
            over = [old for old, job in self._jobs.items() if job.is_over and old != key]
            for old in over[: max(len(self._jobs) - self._max_results, 0)]:
                del self._jobs[old]
            return self._jobs[key]

    def forget(self, key: Hashable) -> None:
        """Let the next to ask start it anew."""
        with self._lock:
            self._jobs.pop(key, None)


@st.cache_resource(show_spinner=False)
def all_jobs() -> Jobs:
    """The jobs of all sessions."""
    return Jobs()


@st.cache_resource(show_spinner=False)
def load_worker(lane: Lane) -> Worker:
    """The process that does work of one kind for all sessions; it warms up in the background once asked for."""
    worker = Worker(lane, warm_up=WARM_UPS[lane])
    worker.start()
    return worker


def in_background(
    lane: Lane,
    key: Hashable,
    title: str,
    function: Callable[..., Result],
    *args: Any,
    height: int | Literal["content"] = "content",
    **kwargs: Any,
) -> Result | None:
    """What a function returns, called in another process; None as long as that is not known, and the page says why.

    Args:
        lane: whose turn it waits for.
        key: tells this call from all others, whatever the session; equal keys share one job.
        title: what is being done, for people; one of a kind on its page.
        function: importable, of a module's top level, returning anything but None; it is given `on_progress` too.
        height: in pixels, of the place that its result will take, so that the page does not jump.

    Raises:
        ValueError: whatever the function has raised.
    """
    worker = load_worker(lane)
    job = all_jobs().find_or_submit((lane, key), lambda: worker.submit(function, *args, **kwargs))
    job.wait(PATIENCE_SECONDS)
    if job.state == "done":
        return job.result
    with st.container(height=height, border=False):
        if job.state == "failed":
            _show_failure(job, (lane, key), title)
        elif job.state == "cancelled":
            st.info(f"{title}: cancelled.")
            _offer_again("Start again", (lane, key), title)
        else:
            _watch(job, title)
    return None


@st.fragment(run_every=POLL)
def _watch(job: Job, title: str) -> None:
    if job.is_over:
        st.rerun()
    num_ahead = job.num_ahead
    others = f"{num_ahead} other {'job' if num_ahead == 1 else 'jobs'}"
    waiting = f"waiting for {others if num_ahead else 'a process that is just starting'}"
    stage = "the background process is getting ready" if job.stage == "starting" else job.stage
    st.progress(min(job.fraction, 1.0), text=f"**{title}**: {stage or waiting}")
    st.button("Cancel", icon=":material/close:", key=f"cancel {title}", on_click=_cancel, args=(job,))


def _cancel(job: Job) -> None:
    job.cancel()


def _show_failure(job: Job, key: Hashable, title: str) -> None:
    try:
        _ = job.result
    except WorkerError as error:
        show_error(str(error))
        _offer_again("Try again", key, title)


def _offer_again(label: str, key: Hashable, title: str) -> None:
    st.button(label, icon=":material/refresh:", key=f"again {title}", on_click=all_jobs().forget, args=(key,))
