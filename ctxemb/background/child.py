"""The child's side: `python -m ctxemb.background.child [module:function]` makes the calls it is sent."""

import importlib
import os
import pickle
import queue
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from typing import BinaryIO

from ctxemb.background.pipe import read_message, write_message
from ctxemb.background.worker import WorkerError

NICENESS = 10
SECONDS_BETWEEN_REPORTS = 0.05
SECONDS_FOR_FIRST_JOB = 0.2


def main(warm_up: str | None = None) -> None:
    """Make the calls that standard input brings; a parent that is gone ends this process, whatever it is doing."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    if hasattr(os, "nice"):
        os.nice(max(0, NICENESS - os.nice(0)))  # a parent that is low already is low enough
    source, sink = _take_standard_streams()
    calls: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_receive, args=(source, calls), daemon=True).start()
    patience_seconds = SECONDS_FOR_FIRST_JOB  # the job for which this process was started goes before the warm-up
    steps = _warm_up_steps(warm_up) if warm_up else iter(())
    is_cold = True
    while True:
        try:
            message = calls.get(timeout=patience_seconds) if is_cold else calls.get()
        except queue.Empty:
            is_cold = next(steps, None) is not None
        else:
            _answer(message, sink)
        patience_seconds = 0.001


def _take_standard_streams() -> tuple[BinaryIO, BinaryIO]:
    """The pipes to the parent; what is printed from now on goes to standard error and cannot disturb them."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


def _receive(source: BinaryIO, calls: queue.Queue[bytes]) -> None:
    while True:
        try:
            calls.put(read_message(source))
        except (EOFError, OSError):
            os._exit(0)


def _warm_up_steps(name: str) -> Iterator[bool]:
    """Run the warm-up; True after each of its parts. Its failure costs no job anything but time."""
    module, _, function = name.partition(":")
    try:
        for _ in getattr(importlib.import_module(module), function)() or ():
            yield True
    except Exception:
        traceback.print_exc()


def _answer(message: bytes, sink: BinaryIO) -> None:
    report_seconds, reported_stage = 0.0, None

    def on_progress(fraction: float, stage: str) -> None:
        nonlocal report_seconds, reported_stage
        if stage != reported_stage or time.monotonic() - report_seconds >= SECONDS_BETWEEN_REPORTS:
            report_seconds, reported_stage = time.monotonic(), stage
            write_message(sink, pickle.dumps(("progress", min(max(float(fraction), 0.0), 1.0), stage)))

    try:
        function, arguments, named = pickle.loads(message)
        answer = pickle.dumps(("done", function(*arguments, **named, on_progress=on_progress)))
    except Exception as error:
        answer = _failure(error)
    write_message(sink, answer)


def _failure(error: Exception) -> bytes:
    """The error for the parent, with the traceback of this side as a note."""
    error.add_note("".join(traceback.format_exception(error)))
    try:
        message = pickle.dumps(("failed", error))
        pickle.loads(message)
    except Exception:  # an exception that cannot be rebuilt from its arguments
        return pickle.dumps(("failed", WorkerError(f"{type(error).__name__}: {error}")))
    return message


if __name__ == "__main__":
    main(*sys.argv[1:])
