"""Work that must not run in the app's process: one child process that takes one job after another.

A `Worker` starts its child with the first job (or early, with `start`) as `python -m ctxemb.background.child`, and
speaks to it through its standard streams; pickles go only between these two processes. The child has a budget of
threads and a low priority, so that pages stay quick while it computes; it ends when its parent ends, however that
happens. Other jobs wait in order. Cancelling the running one kills the child, and a fresh one takes the next.
"""

from ctxemb.background.worker import CancelledError, Job, OnProgress, State, Worker, WorkerError, no_progress

__all__ = ["CancelledError", "Job", "OnProgress", "State", "Worker", "WorkerError", "no_progress"]
