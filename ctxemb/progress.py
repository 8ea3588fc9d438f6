"""What a training run says of itself: a typed record a step, and its file of JSON lines."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal

from ctxemb.checkpoint import replace_file


@dataclass(frozen=True)
class StepRecord:
    """One optimiser step. Losses are means per prediction in nats; the padding share is 0 to 1."""

    kind: ClassVar[str] = "step"
    step: int
    total_steps: int
    epoch: int
    num_tokens: int
    loss_forward_nats: float
    loss_backward_nats: float
    perplexity: float
    gradient_norm: float
    learning_rate: float
    tokens_per_second: float
    eta_seconds: float
    padding_share: float


@dataclass(frozen=True)
class ValidationRecord:
    """Loss on the held-out passages, per direction, in nats per prediction (words and one boundary a sentence)."""

    kind: ClassVar[str] = "validation"
    step: int
    epoch: int
    num_tokens: int
    loss_forward_nats: float
    loss_backward_nats: float
    perplexity_forward: float
    perplexity_backward: float
    is_best: bool


@dataclass(frozen=True)
class RescueRecord:
    """A step that was skipped because its loss or gradient was not finite."""

    kind: ClassVar[str] = "rescue"
    step: int
    reason: str
    learning_rate: float
    clip_norm: float
    is_restored: bool


@dataclass(frozen=True)
class EndRecord:
    """Why and when the run ended."""

    kind: ClassVar[str] = "end"
    step: int
    reason: Literal["finished", "early stop", "stopped"]
    seconds: float


Progress = StepRecord | ValidationRecord | RescueRecord | EndRecord


def progress_line(record: Progress) -> str:
    """A record as one line of JSON."""
    return json.dumps({"kind": record.kind, **asdict(record)})


def read_progress(path: Path) -> list[Progress]:
    """The records of a progress.jsonl; a half-written last line is left for the next reading."""
    kinds = {kind.kind: kind for kind in (StepRecord, ValidationRecord, RescueRecord, EndRecord)}
    records = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            values = json.loads(line)
            records.append(kinds[values.pop("kind")](**values))
    return records


def keep_records_until(path: Path, step: int) -> None:
    """Drop the records of steps that will be done again, and the end mark of the interrupted stretch."""
    kept = [
        record
        for record in (read_progress(path) if path.exists() else [])
        if record.step <= step and not isinstance(record, EndRecord)
    ]
    replace_file(path, "".join(progress_line(record) + "\n" for record in kept).encode())
