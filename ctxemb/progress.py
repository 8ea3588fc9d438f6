"""What a training run says of itself: a typed record a step, and its file of JSON lines.

`Step` and `Validation` hold what every family reports; each family adds its own measures.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal

from ctxemb.atomic import replace_file


@dataclass(frozen=True)
class Step:
    """One optimiser step, whatever was trained. The padding share is 0 to 1."""

    kind: ClassVar[str]
    step: int
    total_steps: int
    epoch: int
    num_tokens: int
    gradient_norm: float
    learning_rate: float
    tokens_per_second: float
    eta_seconds: float
    padding_share: float


@dataclass(frozen=True)
class StepRecord(Step):
    """A step of a BiLM. Losses are means per prediction in nats."""

    kind: ClassVar[str] = "step"
    loss_forward_nats: float
    loss_backward_nats: float
    perplexity: float


@dataclass(frozen=True)
class ContrastiveStepRecord(Step):
    """A step of a contrastive encoder. Losses are means per anchor in nats; accuracy is 0 to 1."""

    kind: ClassVar[str] = "contrastive-step"
    loss_nats: float
    chance_nats: float  # ln(candidates): the loss of a guess
    positive_cosine: float
    negative_cosine: float
    accuracy: float  # share of anchors whose positive is the nearest candidate
    num_anchors: int
    num_masked: int


@dataclass(frozen=True)
class Validation:
    """One look at the held-out passages, whatever is trained."""

    kind: ClassVar[str]
    step: int
    epoch: int
    num_tokens: int
    is_best: bool


@dataclass(frozen=True)
class ValidationRecord(Validation):
    """Loss of a BiLM per direction, in nats per prediction (words and one boundary a sentence)."""

    kind: ClassVar[str] = "validation"
    loss_forward_nats: float
    loss_backward_nats: float
    perplexity_forward: float
    perplexity_backward: float

    @property
    def loss_nats(self) -> float:
        """The mean of both directions, which decides what is best."""
        return (self.loss_forward_nats + self.loss_backward_nats) / 2


@dataclass(frozen=True)
class ContrastiveValidationRecord(Validation):
    """Loss of a contrastive encoder in nats per anchor, and the shape of its space."""

    kind: ClassVar[str] = "contrastive-validation"
    loss_nats: float
    chance_nats: float
    accuracy: float
    positive_cosine: float
    negative_cosine: float
    random_cosine: float
    alignment: float
    uniformity: float
    top10_energy: float


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


AnyStep = StepRecord | ContrastiveStepRecord
AnyValidation = ValidationRecord | ContrastiveValidationRecord
Progress = AnyStep | AnyValidation | RescueRecord | EndRecord
_KINDS = {
    kind.kind: kind
    for kind in (
        StepRecord,
        ContrastiveStepRecord,
        ValidationRecord,
        ContrastiveValidationRecord,
        RescueRecord,
        EndRecord,
    )
}


def progress_line(record: Progress) -> str:
    """A record as one line of JSON."""
    return json.dumps({"kind": record.kind, **asdict(record)})


def parse_record(line: str | bytes) -> Progress | None:
    """The record of a line of JSON; None for one of a kind that a later version has."""
    values = json.loads(line)
    kind = _KINDS.get(values.pop("kind"))
    return kind(**values) if kind else None


def read_progress(path: Path) -> list[Progress]:
    """The records of a progress.jsonl; a half-written last line is left for the next reading."""
    records = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            values = json.loads(line)
            records.append(_KINDS[values.pop("kind")](**values))
    return records


def keep_records_until(path: Path, step: int) -> None:
    """Drop the records of steps that will be done again, and the end mark of the interrupted stretch."""
    kept = [
        record
        for record in (read_progress(path) if path.exists() else [])
        if record.step <= step and not isinstance(record, EndRecord)
    ]
    replace_file(path, "".join(progress_line(record) + "\n" for record in kept).encode())
