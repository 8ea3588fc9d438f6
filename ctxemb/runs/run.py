"""One run: its folder, what state it is in, and what can be done with it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from ctxemb.runs.errors import RunError, describe_error
from ctxemb.runs.lock import is_locked
from ctxemb.runs.process import LOG, living_process
from ctxemb.runs.reader import ProgressReader
from ctxemb.runs.report import ENDS, LOCK, REQUEST, STOP, TRAINED, Report, read_report
from ctxemb.runs.request import RunRequest
from ctxemb.training import PROGRESS

if TYPE_CHECKING:
    from ctxemb.runs.store import RunStore

ABOUT, TICKET = "about.json", "ticket"
LOG_TAIL_BYTES = 1 << 16

State = Literal["queued", "starting", "reading", "training", "stopping", "stopped", "finished", "failed", "interrupted"]
LIVE: tuple[State, ...] = ("starting", "reading", "training", "stopping")
RESUMABLE: tuple[State, ...] = ("stopped", "failed", "interrupted")


@dataclass(frozen=True)
class Status:
    """How a run is at this moment.

    Attributes:
        state: `interrupted` is a process that is gone without a word (killed, power cut): resume it.
        detail: what is being read, or why it failed; empty if there is nothing to say.
        done: how many of what is being read.
        place: in the queue, from 1; None if not queued.
        silent_seconds: since the process gave a sign of life, as far as this one has watched; 0 if it is not alive.
    """

    state: State
    detail: str = ""
    done: int = 0
    place: int | None = None
    silent_seconds: float = 0.0


class Run:
    """A run of a store; everything is read from its folder whenever it is asked for."""

    def __init__(self, store: "RunStore", folder: Path) -> None:
        self._store, self.folder = store, folder

    @property
    def id(self) -> str:
        """The folder's name; never changes."""
        return self.folder.name

    @property
    def request(self) -> RunRequest:
        """What was asked for.

        Raises:
            RunError: if the file is gone or damaged.
        """
        try:
            return RunRequest.model_validate_json((self.folder / REQUEST).read_bytes())
        except (OSError, ValidationError) as error:
            raise RunError(f"{self.folder / REQUEST} cannot be read: {describe_error(error)}") from error

    @property
    def problem(self) -> str | None:
        """Why the request cannot be read; None if it can."""
        try:
            self.request  # noqa: B018
        except RunError as error:
            return str(error)
        return None

    @property
    def name(self) -> str:
        """The name that people gave it."""
        return self.request.name

    @property
    def about(self) -> dict[str, Any]:
        """`created` (local time), `version` of ctxemb, and `corpora`: what is read, as far as known before."""
        return json.loads((self.folder / ABOUT).read_bytes())

    @property
    def trained(self) -> Path:
        """The folder that `train` writes to: run.json, progress.jsonl, the checkpoints."""
        return self.folder / TRAINED

    @property
    def checkpoint(self) -> Path | None:
        """The best checkpoint so far; None before the first validation."""
        best = self.trained / "best"
        return best if (best / "config.json").is_file() else None

    @property
    def state(self) -> State:
        """The state alone; see `status`."""
        return self.status().state

    @property
    def is_live(self) -> bool:
        """Whether a process trains it."""
        return is_locked(self.folder / LOCK)

    @property
    def pid(self) -> int | None:
        """Of its process, while that lives."""
        return living_process(self.folder)

    @property
    def ticket(self) -> int | None:
        """The smaller, the earlier its turn; None if it does not wait."""
        try:
            return int((self.folder / TICKET).read_text())
        except FileNotFoundError:
            return None

    def status(self) -> Status:
        """How it is, from the lock that its process holds and from what that said last."""
        is_live = self.is_live
        status = self._status(is_live)
        # between the two looks it may have been started, by whoever
        if not is_live and status.state == "interrupted" and self.is_live:
            status = self._status(True)
        return status

    def _status(self, is_live: bool) -> Status:
        report = read_report(self.folder)
        is_to_stop = (self.folder / STOP).exists()
        if is_live:
            silent = self._store.silent_seconds(self.id, report)
            if report is None:
                return Status("starting", silent_seconds=silent)
            is_stopping = is_to_stop and report.stage not in ENDS
            return Status("stopping" if is_stopping else report.stage, report.detail, report.done, None, silent)
        if self.ticket is not None:
            return Status("queued", place=self._store.place(self))
        if report is None:
            return Status("stopped", "it left the queue before its turn")
        if report.stage in ENDS:
            return Status(report.stage, report.detail)
        if is_to_stop:
            return Status("stopped")
        return self._ended_without_a_word(report)

    def _ended_without_a_word(self, report: Report) -> Status:
        said = f"\n{self.log_tail()}".rpartition("\n$ ")[2].partition("\n")[2].strip()
        if report.beat == 0 and said:
            return Status("failed", said.splitlines()[-1].removeprefix("error: "))
        return Status("interrupted", "its process is gone; what it had saved is there")

    def log_tail(self) -> str:
        """The end of what the process printed."""
        path = self.folder / LOG
        if not path.exists():
            return ""
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - LOG_TAIL_BYTES))
            return file.read().decode(errors="replace")

    def reader(self) -> ProgressReader:
        """A new reader of its curves; keep it, and call `read` now and then."""
        return ProgressReader(self.trained / PROGRESS)

    def stop(self) -> None:
        """Ask it to save and end, and return at once; a queued run leaves the queue. Asking twice does no harm.

        Raises:
            RunError: if it is neither training nor queued.
        """
        self._store.stop(self)

    def resume(self) -> None:
        """Let it go on from what it has saved, when it is its turn.

        Raises:
            RunError: if it is training, queued, or finished.
        """
        self._store.resume(self)

    def rename(self, name: str) -> None:
        """Give it another name; its id stays.

        Raises:
            RunError: if that is no name.
        """
        self._store.rename(self, name)

    def delete(self) -> None:
        """Delete its folder with everything in it.

        Raises:
            RunError: if it is training.
        """
        self._store.delete(self)
