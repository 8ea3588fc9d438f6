"""The app's side: jobs in a queue, and the thread that hands them to the child."""

import os
import pickle
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Literal, cast

from ctxemb.background.pipe import read_message, write_message

State = Literal["waiting", "running", "done", "failed", "cancelled"]
OnProgress = Callable[[float, str], None]
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "RAYON_NUM_THREADS",
    "LANCE_CPU_THREADS",
)


class WorkerError(RuntimeError):
    """The process that did the work ended before the work did."""


class CancelledError(RuntimeError):
    """The result of a cancelled job was asked for."""


def no_progress(fraction: float, stage: str) -> None:
    """An `on_progress` that nobody looks at."""


class Job:
    """A call that is waiting, under way or over; any thread may ask."""

    def __init__(self, worker: "Worker", call: tuple[Callable[..., Any], tuple, dict]):
        self._worker = worker
        self._call: tuple | None = call
        self._state: State = "waiting"
        self._fraction, self._stage = 0.0, ""
        self._started = self._ended = 0.0
        self._result: Any = None
        self._error: BaseException | None = None

    @property
    def state(self) -> State:
        """Where it stands; the last three are final."""
        return self._state

    @property
    def is_over(self) -> bool:
        """Whether it will not change any more."""
        return self._state in ("done", "failed", "cancelled")

    @property
    def fraction(self) -> float:
        """How much is done, 0 to 1."""
        return self._fraction

    @property
    def stage(self) -> str:
        """What is being done, in words."""
        return self._stage

    @property
    def num_ahead(self) -> int:
        """How many jobs have to end before this one begins."""
        return self._worker._num_ahead(self)

    @property
    def seconds(self) -> float:
        """How long it has been running, or ran; 0 while it waits."""
        return (self._ended or time.monotonic()) - self._started if self._started else 0.0

    @property
    def result(self) -> Any:
        """What the function returned; waits for it.

        Raises:
            WorkerError: if the process ended before the function did.
            CancelledError: if the job was cancelled.
            Exception: whatever the function raised, of the same type and text.
        """
        self.wait()
        if self._error is not None:
            raise self._error.with_traceback(None)  # it may be raised again and again
        return self._result

    def wait(self, timeout_seconds: float | None = None) -> bool:
        """Wait until it is over, or for so long; whether it is over."""
        with self._worker._changed:
            return self._worker._changed.wait_for(lambda: self.is_over, timeout_seconds)

    def cancel(self) -> bool:
        """Take it out of the queue, or end the process that runs it; False if it was over before."""
        return self._worker._cancel(self)

    def _start(self) -> tuple:
        call, self._call = self._call, None  # its arrays are not kept
        assert call is not None, "a job runs once"
        self._state, self._started, self._stage = "running", time.monotonic(), "starting"
        return call

    def _end(self, state: State, result: Any = None, error: BaseException | None = None) -> None:
        self._call, self._state, self._result, self._error = None, state, result, error
        self._ended = time.monotonic()
        self._fraction = 1.0 if state == "done" else self._fraction


class Worker:
    """One child process and the jobs that wait for it; also a context manager, which closes it.

    Args:
        name: of the thread that waits for the child, for debuggers.
        warm_up: "module:function", called in a fresh child as long as no job is waiting; it may be a generator, and
            jobs then go first between its steps.
        num_threads: of the child; by default all cores but one.
    """

    def __init__(self, name: str, warm_up: str | None = None, num_threads: int | None = None):
        self._name, self._warm_up = name, warm_up
        self._num_threads = num_threads or max(1, _num_cores() - 1)
        self._changed = threading.Condition()
        self._waiting: deque[Job] = deque()
        self._running: Job | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the child now and warm it up, so that the first job finds it ready."""
        with self._changed:
            if self._is_closed:
                raise WorkerError(f"the worker {self._name!r} is closed; make a new one")
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name=f"worker {self._name}", daemon=True)
                self._thread.start()

    def submit(self, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Job:
        """Call a function in the child, when the jobs before it are over.

        Args:
            function: of the top level of a module that can be imported; it is also given `on_progress`, to be called
                with a fraction (0 to 1) and a stage in words.
            args, kwargs: its arguments; they are pickled.
        """
        if function.__module__ == "__main__" or "<" in function.__qualname__:
            raise TypeError(f"{function.__qualname__} cannot be imported by another process; put it into a module")
        job = Job(self, (function, args, kwargs))
        with self._changed:
            self.start()
            self._waiting.append(job)
            self._changed.notify_all()
        return job

    def close(self) -> None:
        """End the child; jobs that are not over are cancelled."""
        with self._changed:
            self._is_closed = True
            for job in [*self._waiting, *([self._running] if self._running else [])]:
                self._cancel(job)
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _num_ahead(self, job: Job) -> int:
        with self._changed:
            return self._waiting.index(job) + (self._running is not None) if job in self._waiting else 0

    def _cancel(self, job: Job) -> bool:
        with self._changed:
            if job.is_over:
                return False
            if job is self._running:
                assert self._child is not None, "a job runs in a child"
                self._child.kill()
            else:
                self._waiting.remove(job)
            job._end("cancelled", error=CancelledError("this job was cancelled; start it again to have its result"))
            self._changed.notify_all()
            return True

    def _serve(self) -> None:
        """Hand jobs to the child, one at a time; the life of the worker's thread."""
        while not self._is_closed:
            child, problem = self._child, None
            if child is None or child.poll() is not None:
                self._end_child()
                try:
                    child = self._child = _start_child(self._num_threads, self._warm_up)
                except OSError as error:
                    child, problem = None, WorkerError(f"the background process cannot be started: {error}")
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._is_closed)
                if self._is_closed:
                    break
                if child is None:
                    self._waiting.popleft()._end("failed", error=problem)
                    self._changed.notify_all()
                    continue
                if child.poll() is not None:
                    continue  # it died while it was idle: a fresh one takes the job
                job = self._running = self._waiting.popleft()
                call = job._start()
            state, result, error = _converse(job, call, child)
            with self._changed:
                self._running = None
                if not job.is_over:
                    job._end(state, result, error)
                self._changed.notify_all()
            if job.state == "cancelled":
                child.wait()
        self._end_child()

    def _end_child(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            with suppress(OSError):  # what was not sent is lost with the child
                child.communicate()


def _start_child(num_threads: int, warm_up: str | None) -> subprocess.Popen[bytes]:
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(num_threads)) | {"OMP_WAIT_POLICY": "PASSIVE"}
    # what can be imported here has to be found there too, whatever started this process
    environment["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    command = [sys.executable, "-P", "-m", "ctxemb.background.child", *([warm_up] if warm_up else [])]
    flags = subprocess.BELOW_NORMAL_PRIORITY_CLASS | subprocess.CREATE_NO_WINDOW if sys.platform == "win32" else 0
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, creationflags=flags
    )


def _converse(job: Job, call: tuple, child: subprocess.Popen[bytes]) -> tuple[State, Any, Exception | None]:
    """Send a call and listen until it is over."""
    sink, source = cast(BinaryIO, child.stdin), cast(BinaryIO, child.stdout)
    try:
        write_message(sink, pickle.dumps(call))
        while True:
            kind, *content = pickle.loads(read_message(source))
            if kind == "done":
                return "done", content[0], None
            if kind == "failed":
                return "failed", None, content[0]
            job._fraction, job._stage = content
    except (EOFError, OSError):
        child.kill()
        return "failed", None, WorkerError(_last_words(child.wait()))
    except Exception as error:  # what cannot be pickled says so in many ways, and is the caller's to know
        return "failed", None, error


def _last_words(exit_code: int) -> str:
    how = f"was ended by signal {-exit_code}" if exit_code < 0 else f"ended with exit code {exit_code}"
    return f"the background process {how} before its work was done; if memory ran out, try it with less data"


def _num_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
