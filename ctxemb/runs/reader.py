"""Following a progress.jsonl that another process writes: only what is new is read, and memory stays bounded."""

import json
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

from ctxemb.progress import EndRecord, RescueRecord
from ctxemb.runs.downsampled import MAX_POINTS, Downsampled
from ctxemb.runs.errors import RunError

CHUNK_BYTES = 1 << 22
MAX_RESCUES = 200
STEP, VALIDATION = "step", "validation"  # kinds are `step`, `contrastive-step`, `validation`, ...


class ProgressReader:
    """The state of a run's curves after the last `read`.

    Attributes:
        steps: measure -> its curve over steps, such as `perplexity` or `loss_nats`; as the records name them.
        validations: the same for the held-out passages.
        last_step, last_validation, best_validation: the values of such a record, all of them; None before the first.
        rescues: the last skipped steps.
        end: how the run ended; None while it goes on, or if it was interrupted.
        generation: counts how often the file was begun anew; curves of another generation are others.
    """

    def __init__(self, path: Path, max_points: int = MAX_POINTS) -> None:
        self.path, self.max_points, self.generation = path, max_points, -1
        self._begin()

    def _begin(self) -> None:
        self.generation += 1
        self._offset, self._last_line = 0, b""
        self.steps: dict[str, Downsampled] = {}
        self.validations: dict[str, Downsampled] = {}
        self.last_step: dict[str, Any] | None = None
        self.last_validation: dict[str, Any] | None = None
        self.best_validation: dict[str, Any] | None = None
        self.rescues: deque[RescueRecord] = deque(maxlen=MAX_RESCUES)
        self.end: EndRecord | None = None

    def read(self) -> bool:
        """Read what is new, up to a half-written last line; True if there was something.

        A file that no longer continues what was read (a resumed run drops the steps that it does again) is read anew.
        """
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return False
        with file:
            # judged by content: neither inodes nor times tell for certain that this is the same file
            file.seek(self._offset - len(self._last_line))
            is_anew = file.read(len(self._last_line)) != self._last_line
            if is_anew:
                self._begin()
                file.seek(0)
            has_news = is_anew
            while chunk := file.read(CHUNK_BYTES):
                chunk += b"" if chunk.endswith(b"\n") else file.readline()
                whole = chunk[: chunk.rfind(b"\n") + 1]
                if not whole:
                    break
                self._take(whole)
                self._offset += len(whole)
                has_news = True
            return has_news

    def _take(self, lines: bytes) -> None:
        found: dict[str, list[dict[str, Any]]] = {STEP: [], VALIDATION: []}
        last_line = b""
        for last_line in lines.splitlines(keepends=True):
            try:
                record = json.loads(last_line)
            except ValueError as error:
                raise RunError(f"{self.path}: this line is no record, so delete the run: {last_line[:80]!r}") from error
            match record.pop("kind").rpartition("-")[2]:  # what a later version adds is skipped
                case "step" | "validation" as role:
                    found[role].append(record)
                    self.end = None
                case "rescue":
                    self.rescues.append(RescueRecord(**record))
                case "end":
                    self.end = EndRecord(**record)
        self._last_line = last_line
        self._extend(self.steps, found[STEP])
        self._extend(self.validations, found[VALIDATION])
        if found[STEP]:
            self.last_step = found[STEP][-1]
        if found[VALIDATION]:
            self.last_validation = found[VALIDATION][-1]
            best = [record for record in found[VALIDATION] if record["is_best"]]
            self.best_validation = best[-1] if best else self.best_validation

    def _extend(self, curves: dict[str, Downsampled], records: list[dict[str, Any]]) -> None:
        if not records:
            return
        steps_N = np.array([record["step"] for record in records], dtype=np.float64)
        for name in [name for name, value in records[-1].items() if _is_number(value) and name != "step"]:
            values_N = np.array([record.get(name, np.nan) for record in records], dtype=np.float64)
            curves.setdefault(name, Downsampled(self.max_points)).extend(steps_N, values_N)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
