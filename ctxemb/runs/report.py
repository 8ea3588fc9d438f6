"""What a training process says of itself: one small file beside its folder, written anew about once a second.

The file is overwritten in place and keeps its length, so that a process can still say how it ended on a full disk.
`train` finds it by itself: a run's folder is the same whether the app or a person at a terminal goes on with it.
"""

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from ctxemb.runs.errors import RunError, describe_error
from ctxemb.runs.lock import take_lock

REQUEST, REPORT, LOCK, STOP, TRAINED = "request.json", "report.json", "lock", "stop", "run"
REPORT_BYTES = 4096  # one block
MAX_DETAIL_CHARACTERS = 600  # of at most 6 bytes as JSON
BEAT_SECONDS = 1.0
LOCK_VARIABLE = "CTXEMB_RUN_LOCK"  # descriptor of the lock that the starter hands over

Stage = Literal["starting", "reading", "training", "finished", "stopped", "failed"]
ENDS: tuple[Stage, ...] = ("finished", "stopped", "failed")


@dataclass(frozen=True)
class Report:
    """What a training process said last.

    Attributes:
        beat: counts up; one that stands still is of a process that hangs, or is gone.
        stage: how far it is, or how it ended.
        pid: its id; None before it has begun.
        detail: what is counted while reading; why it failed.
        done: how many of these are done.
    """

    beat: int
    stage: Stage
    detail: str = ""
    done: int = 0
    pid: int | None = None


def read_report(folder: Path) -> Report | None:
    """The report in a run's folder; None if there is none yet, or it is being written."""
    try:
        return Report(**json.loads((folder / REPORT).read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None


def write_report(folder: Path, report: Report) -> None:
    """Overwrite the report in one write, or make it.

    Raises:
        OSError: if there is no space for a new one.
    """
    cut = replace(report, detail=report.detail[:MAX_DETAIL_CHARACTERS])
    descriptor = os.open(folder / REPORT, os.O_WRONLY | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, json.dumps(asdict(cut)).encode().ljust(REPORT_BYTES))
    finally:
        os.close(descriptor)


class Reporter:
    """Keeps the report of one training process; does nothing for a process that belongs to no run's folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._said = Report(0, "reading")  # set by the process; the beat is the thread's
        self._num_beats = 0
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        if folder:
            self._write(folder)
            self._thread.start()

    @property
    def stage(self) -> Stage:
        """What was said last."""
        return self._said.stage

    def say(self, stage: Stage, detail: str = "", done: int = 0) -> None:
        """What the next beats say."""
        self._said = Report(0, stage, detail, done)

    def reading(self, what: str, done: int) -> None:
        """What is being read, and how many of them are."""
        self.say("reading", what, done)

    def end(self) -> None:
        """Write the last word at once."""
        if self._folder:
            self._is_over.set()
            self._thread.join()
            self._write(self._folder)

    def _beat(self) -> None:
        assert self._folder
        while not self._is_over.wait(BEAT_SECONDS):
            with suppress(OSError):  # a beat that cannot be written is silence, and silence is what watchers look for
                self._write(self._folder)

    def _write(self, folder: Path) -> None:
        self._num_beats += 1
        write_report(folder, replace(self._said, beat=self._num_beats, pid=os.getpid()))


@contextmanager
def reporting(out: Path) -> Iterator[Reporter]:
    """Report on the training into `out`, if that is the folder of a run, until it ends, and how.

    A training that was stopped says so with `say("stopped")`. SIGTERM ends it like Ctrl-C.

    Raises:
        RunError: if another process trains this run.
    """
    folder = out.absolute().parent
    if out.name != TRAINED or not (folder / REQUEST).is_file() or os.environ.get("RANK", "0") != "0":
        yield Reporter(None)
        return
    lock = _own_lock(folder)
    earlier = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        reporter = Reporter(folder)
        try:
            yield reporter
        except KeyboardInterrupt:
            reporter.say("stopped")
            raise
        except Exception as error:
            if reporter.stage != "stopped":
                reporter.say("failed", describe_error(error))
            raise
        else:
            reporter.say("finished")
        finally:
            reporter.end()
    finally:
        signal.signal(signal.SIGTERM, earlier)
        os.close(lock)


def _own_lock(folder: Path) -> int:
    """The lock that whoever started this process took for it; else taken now."""
    given = os.environ.pop(LOCK_VARIABLE, "")
    if given.isdecimal() and os.path.samestat(os.fstat(int(given)), (folder / LOCK).stat()):
        os.set_inheritable(int(given), False)  # what this process starts may outlive it
        return int(given)
    lock = take_lock(folder / LOCK)
    if lock is None:
        raise RunError(f"{folder} is being trained by another process; wait for its end, or stop it")
    (folder / STOP).unlink(missing_ok=True)  # an earlier wish
    return lock
