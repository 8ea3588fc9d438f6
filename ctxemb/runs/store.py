"""All runs of a folder: starting, finding, and the queue.

There is no daemon. The queue is a ticket in each waiting run's folder, and whoever looks (any session of the app, or
the command line) starts what may start, under a lock: two who look at once start one run, not two.
"""

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

import ctxemb
from ctxemb.atomic import replace_file
from ctxemb.runs.errors import RunError, describe_error
from ctxemb.runs.lock import locked
from ctxemb.runs.process import NICENESS, chosen_gpu, num_gpus, reap, send, start_process
from ctxemb.runs.report import REQUEST, STOP, Report
from ctxemb.runs.request import RunRequest
from ctxemb.runs.run import ABOUT, RESUMABLE, TICKET, Run
from ctxemb.tokenized import cache_folder

ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
STORE_LOCK, DRAFT, DELETED = ".lock", ".new", ".deleted-"
GRACE_SECONDS = 60.0  # a validation and a save may lie between the wish to stop and the end


def runs_root() -> Path:
    """Where runs live: `$CTXEMB_RUNS`, else `runs` in the working folder, else (read-only) in the cache folder."""
    if given := os.environ.get("CTXEMB_RUNS"):
        return Path(given).absolute()
    here = Path.cwd() / "runs"
    return here if os.access(here if here.exists() else Path.cwd(), os.W_OK) else cache_folder() / "runs"


class RunStore:
    """The runs in one folder.

    Several stores on one folder, in one or in many processes, agree, because everything is in the folder. A store
    itself only remembers since when it has seen a process silent or stopping, on its own monotonic clock.
    """

    def __init__(
        self,
        root: Path | None = None,
        *,
        max_running: int | None = None,
        niceness: int = NICENESS,
        grace_seconds: float = GRACE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open the runs below `root`, by default `runs_root()`; the folder is made when the first run is.

        Args:
            max_running: how many run at once; by default one, or one a GPU.
            niceness: how much lower the priority of a run is than that of the process that starts it.
            grace_seconds: after so long, a run that does not heed a stop is killed.
            clock: seconds that never jump.
        """
        self.root = (root or runs_root()).absolute()
        self._max_running, self._niceness, self._grace_seconds, self._clock = (
            max_running,
            niceness,
            grace_seconds,
            clock,
        )
        self._beats: dict[str, tuple[int, float]] = {}  # id -> beat, since when
        self._stopping: dict[str, float] = {}  # id -> since when

    @cached_property
    def max_running(self) -> int:
        """How many run at once."""
        return self._max_running or max(num_gpus(), 1)

    # look

    def list(self) -> Sequence[Run]:
        """All runs that can be read, the newest first; starts those whose turn it is."""
        self.advance()
        return [run for run in self._runs() if run.problem is None]

    def problems(self) -> Sequence[str]:
        """A sentence for each run that cannot be read."""
        return [problem for run in self._runs() if (problem := run.problem)]

    def get(self, id: str) -> Run:
        """A run by its id.

        Raises:
            RunError: if that is no id, or there is no such run.
        """
        if not ID.fullmatch(id):
            raise RunError(f"{id!r} is no id of a run: those are letters, digits, - and _")
        folder = self.root / id
        if folder.is_symlink() or not (folder / REQUEST).is_file():
            raise RunError(f"there is no run {id} in {self.root}; `runs list` shows those there are")
        return Run(self, folder)

    def place(self, run: Run) -> int:
        """Its place in the queue, from 1."""
        return next((place for place, queued in enumerate(self._queue(), start=1) if queued.id == run.id), 1)

    def silent_seconds(self, id: str, report: Report | None) -> float:
        """For how long this store has seen the same beat."""
        beat, now = report.beat if report else -1, self._clock()
        known, since = self._beats.get(id, (None, now))
        if known != beat:
            since = now
        self._beats[id] = (beat, since)
        return now - since

    def _runs(self) -> Sequence[Run]:
        if not self.root.is_dir():
            return []
        names = sorted((path.name for path in self.root.iterdir() if ID.fullmatch(path.name)), reverse=True)
        folders = [self.root / name for name in names]
        return [Run(self, f) for f in folders if not f.is_symlink() and (f / REQUEST).is_file()]

    def _queue(self) -> Sequence[Run]:
        waiting = [(ticket, run) for run in self._runs() if (ticket := run.ticket) is not None and not run.is_live]
        return [run for _, run in sorted(waiting, key=lambda pair: pair[0])]

    # start

    def start(self, request: RunRequest) -> Run:
        """Check a request, make its folder, and start it, or queue it behind others.

        Raises:
            RunError: if it cannot be trained as asked; nothing is left behind then.
            OSError: if the folder cannot be written to.
        """
        request = request.checked()
        now = datetime.now().astimezone()
        about = {
            "created": now.isoformat(timespec="seconds"),
            "version": ctxemb.__version__,
            "corpora": request.describe_corpora(),
        }
        self.root.mkdir(parents=True, exist_ok=True)
        draft = self.root / DRAFT
        with self._lock():
            shutil.rmtree(draft, ignore_errors=True)  # of a starter that was killed
            try:
                draft.mkdir()
                (draft / REQUEST).write_text(request.model_dump_json(indent=2), encoding="utf-8")
                (draft / ABOUT).write_text(json.dumps(about, indent=2), encoding="utf-8")
                (draft / TICKET).write_text(str(self._next_ticket()))
                folder = self._free_folder(f"{now:%Y%m%d-%H%M%S}-{request.recipe}")
                draft.rename(folder)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        self.advance()
        return Run(self, folder)

    def advance(self) -> None:
        """Start queued runs as far as there is room, in order, and kill those that do not heed a stop.

        Raises:
            RunError: if a process cannot be started; its run leaves the queue.
        """
        reap()
        self._kill_the_deaf()
        if not any(run.ticket is not None for run in self._runs()):
            return
        with self._lock():
            live = [run for run in self._runs() if run.is_live]
            for run in live:
                (run.folder / TICKET).unlink(missing_ok=True)  # its starter was killed before it could
            for run in self._queue()[: max(self.max_running - len(live), 0)]:
                try:
                    start_process(run.folder, run.request, self._free_gpu(), self._niceness)
                except OSError as error:
                    raise RunError(f"{run.id} cannot be started: {describe_error(error)}") from error
                finally:
                    (run.folder / TICKET).unlink(missing_ok=True)

    def resume(self, run: Run) -> None:
        """See `Run.resume`."""
        with self._lock():
            state = self.get(run.id).state
            if state not in RESUMABLE or run.is_live:
                raise RunError(f"{run.id} is {state}; only a run that has stopped before its end can be resumed")
            (run.folder / STOP).unlink(missing_ok=True)
            replace_file(run.folder / TICKET, str(self._next_ticket()).encode())
        self.advance()

    def _next_ticket(self) -> int:
        return max((run.ticket or 0 for run in self._runs()), default=0) + 1

    def _free_folder(self, id: str) -> Path:
        number = 1
        while (folder := self.root / (id if number == 1 else f"{id}-{number}")).exists():
            number += 1
        return folder

    def _free_gpu(self) -> int | None:
        """One that no run of this store has; None without a choice."""
        if self.max_running == 1 or num_gpus() < 2:
            return None
        taken = {chosen_gpu(run.folder) for run in self._runs() if run.is_live}
        return next((gpu for gpu in range(num_gpus()) if gpu not in taken), None)

    # end

    def stop(self, run: Run) -> None:
        """See `Run.stop`."""
        with self._lock():
            if run.is_live:
                # the wish is in the folder, where a restarted app finds it
                (run.folder / STOP).touch()
                send(run.folder, signal.SIGTERM)
            elif run.ticket is not None:
                (run.folder / TICKET).unlink()
            else:
                raise RunError(f"{run.id} is {run.state}; there is nothing to stop")
        self.advance()

    def _kill_the_deaf(self) -> None:
        asked = [run for run in self._runs() if (run.folder / STOP).exists()]
        stopping = {run.id: run for run in asked if run.state == "stopping"}
        self._stopping = {id: self._stopping.get(id, self._clock()) for id in stopping}
        for id, since in self._stopping.items():
            if self._clock() - since > self._grace_seconds:
                send(stopping[id].folder, signal.SIGKILL)

    # change

    def rename(self, run: Run, name: str) -> None:
        """See `Run.rename`."""
        with self._lock():
            try:
                renamed = RunRequest.model_validate(self.get(run.id).request.model_dump() | {"name": name})
            except ValidationError as error:
                raise RunError(describe_error(error)) from error
            replace_file(run.folder / REQUEST, renamed.model_dump_json(indent=2).encode())

    def delete(self, run: Run) -> None:
        """See `Run.delete`."""
        with self._lock():
            folder = self.get(run.id).folder  # inside this root, no link, and a run
            if run.is_live:
                raise RunError(f"{run.id} is {run.state}; stop it before you delete it")
            folder.rename(self.root / f"{DELETED}{run.id}")
        for grave in self.root.glob(f"{DELETED}*"):  # also those that an earlier delete did not finish
            shutil.rmtree(grave)

    def _lock(self) -> AbstractContextManager[None]:
        return locked(self.root / STORE_LOCK)
