"""A run as a page shows it: its curves, what the rules found in them, and what its probe saw, followed as it goes."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctxemb.probe import ProbeHistory, read_probe
from ctxemb.probe.folder import POINTS
from ctxemb.progress import parse_record
from ctxemb.runs import ProgressReader, Run
from ctxemb.training import PROGRESS, RUN
from ctxemb.watch import Finding, Watcher

TAIL_BYTES = 4_096
Curve = tuple[np.ndarray, np.ndarray]  # steps and values, (N,) each
# measure of the records -> its name on the page
LOSSES = {"loss_forward_nats": "forward", "loss_backward_nats": "backward", "loss_nats": "passages"}


class WatchedReader(ProgressReader):
    """A reader that also shows every record to the rules, once."""

    def _begin(self) -> None:
        super()._begin()
        self.watcher: Watcher | None = None

    def _take(self, lines: bytes) -> None:
        super()._take(lines)
        if self.watcher is None:
            self.watcher = Watcher(_vocabulary_size(self.path.parent / RUN))
        for line in lines.splitlines():
            if record := parse_record(line):
                self.watcher.see(record)


class LiveRun:
    """Follows a run; `update` reads what is new.

    Attributes:
        reader: its curves.
        probe: what its probe saw; None before the first look.
        num_updates: how often there was something new.
    """

    def __init__(self, run: Run) -> None:
        self.run, self.reader = run, WatchedReader(run.trained / PROGRESS)
        self.probe: ProbeHistory | None = None
        self.num_updates = 0
        self._probed = (0, 0)

    def update(self) -> None:
        """Read what is new."""
        has_news = self.reader.read()
        path = self.run.trained / POINTS
        if path.exists():
            stat = path.stat()
            if (stat.st_mtime_ns, stat.st_size) != self._probed:
                self._probed = (stat.st_mtime_ns, stat.st_size)
                self.probe, has_news = read_probe(self.run.trained), True
        self.num_updates += has_news

    @property
    def findings(self) -> list[Finding]:
        """What the rules found, in the order in which it was seen."""
        return self.reader.watcher.findings if self.reader.watcher else []

    @property
    def vocabulary_size(self) -> int | None:
        """Entries of its vocabulary; None before it trains."""
        return _vocabulary_size(self.run.trained / RUN)

    def training_losses(self) -> dict[str, Curve]:
        """Direction -> its training loss."""
        return {shown: _curve(self.reader.steps[name]) for name, shown in LOSSES.items() if name in self.reader.steps}

    def validation_losses(self) -> dict[str, Curve]:
        """Direction -> its loss on the held-out passages."""
        found = self.reader.validations
        return {shown: _curve(found[name]) for name, shown in LOSSES.items() if name in found}

    def measure(self, name: str) -> Curve | None:
        """A measure of the steps; None if they have none of that name."""
        found = self.reader.steps.get(name)
        return _curve(found) if found else None

    @property
    def chance(self) -> tuple[str, float] | None:
        """Name and loss of a guess; None before the first step."""
        last = self.reader.last_step
        if last is None:
            return None
        if "chance_nats" in last:
            return "a guess", last["chance_nats"]
        size = self.vocabulary_size
        return (f"ln {size:,}, a guess", math.log(size)) if size else None


@dataclass(frozen=True)
class Position:
    """How far a run is."""

    step: int
    total_steps: int
    eta_seconds: float
    tokens_per_second: float

    @property
    def share(self) -> float:
        """0 to 1."""
        return min(self.step / max(self.total_steps, 1), 1.0)


def read_position(run: Run) -> Position | None:
    """How far a run is, from the end of its records alone; None before the first step."""
    path = run.trained / PROGRESS
    try:
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
            lines = file.read().split(b"\n")[1 if file.tell() > TAIL_BYTES else 0 : -1]
    except FileNotFoundError:
        return None
    return next((found for line in reversed(lines) if (found := position_of(json.loads(line)))), None)


def position_of(step: Mapping[str, Any] | None) -> Position | None:
    """How far a run is after a step."""
    if not step or "total_steps" not in step:
        return None
    return Position(**{name: step[name] for name in Position.__dataclass_fields__})


def _curve(found: Any) -> Curve:
    return found.x, found.y


def _vocabulary_size(path: Path) -> int | None:
    """Of a run.json."""
    if not path.exists():
        return None
    return json.loads(path.read_bytes()).get("model", {}).get("vocabulary_size")
