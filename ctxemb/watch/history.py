"""The last stretch of a run, and the little of what went before that rules ask for.

Neither memory nor the time that a record costs grows with the run.
"""

import math
from collections import deque
from dataclasses import dataclass, field

from ctxemb.progress import (
    AnyStep,
    AnyValidation,
    ContrastiveStepRecord,
    ContrastiveValidationRecord,
    Progress,
    RescueRecord,
    StepRecord,
    ValidationRecord,
)

WINDOW_STEPS = 50
WINDOW_VALIDATIONS = 8
FEW_STEPS = 10


@dataclass
class RunningMean:
    """The mean of the last values, at most so many; NaN before the first."""

    size: int
    _values: deque[float] = field(default_factory=deque)
    _sum: float = 0.0

    def add(self, value: float) -> None:
        """Take in a value, and drop the oldest if there are too many."""
        self._values.append(value)
        self._sum += value
        if len(self._values) > self.size:
            self._sum -= self._values.popleft()

    @property
    def value(self) -> float:
        """The mean."""
        return self._sum / len(self._values) if self._values else math.nan

    @property
    def is_full(self) -> bool:
        """Whether it is a mean of as many values as it may hold."""
        return len(self._values) == self.size


@dataclass(frozen=True)
class Look:
    """A validation, with the mean training loss of the steps before it (NaN at the very start)."""

    record: AnyValidation
    training_nats: float

    @property
    def loss_nats(self) -> float:
        """What decides which checkpoint is best."""
        return self.record.loss_nats


@dataclass
class History:
    """What rules look at; `add` takes a run's records in order.

    Attributes:
        vocabulary_size: of the run; None leaves rules silent that compare a BiLM's loss with a guess.
        first: the first step of a BiLM, whose loss is that of untrained weights.
        step: the last one.
        loss: training loss over the last steps; of a BiLM, the mean of both directions.
        swing: how far the loss is from that of the step before.
        accuracy: of a contrastive run, over a few steps.
        num_falling: steps since the rate last rose, which it does in the warm-up only.
        lowest_nats: the lowest that `loss` has been.
        looks: the last validations.
        best: the validation with the lowest loss.
        rescue: the last skipped step.
    """

    vocabulary_size: int | None = None
    first: StepRecord | None = None
    step: AnyStep | None = None
    loss: RunningMean = field(default_factory=lambda: RunningMean(WINDOW_STEPS))
    swing: RunningMean = field(default_factory=lambda: RunningMean(WINDOW_STEPS))
    accuracy: RunningMean = field(default_factory=lambda: RunningMean(FEW_STEPS))
    num_falling: int = 0
    lowest_nats: float = math.inf
    looks: deque[Look] = field(default_factory=lambda: deque(maxlen=WINDOW_VALIDATIONS))
    best: Look | None = None
    rescue: RescueRecord | None = None
    num_rescues: int = 0
    num_restores: int = 0

    def add(self, record: Progress) -> None:
        """Take in the next record."""
        match record:
            case StepRecord() | ContrastiveStepRecord():
                self._add_step(record)
            case ValidationRecord() | ContrastiveValidationRecord():
                look = Look(record, self.loss.value)
                self.looks.append(look)
                if math.isfinite(look.loss_nats) and (self.best is None or look.loss_nats < self.best.loss_nats):
                    self.best = look
            case RescueRecord():
                self.rescue = record
                self.num_rescues += 1
                self.num_restores += record.is_restored

    @property
    def is_warm(self) -> bool:
        """Whether so many steps lie after the warm-up."""
        return self.num_falling >= WINDOW_STEPS

    @property
    def chance_nats(self) -> float:
        """The loss of a guess, the measure of what is much and little; NaN if it is not known."""
        match self.step:
            case ContrastiveStepRecord():
                return self.step.chance_nats
            case StepRecord() if self.vocabulary_size:
                return math.log(self.vocabulary_size)
        return math.nan

    def last_looks(self, number: int) -> list[Look]:
        """The last validations in order; none if there are fewer."""
        return list(self.looks)[-number:] if len(self.looks) >= number else []

    def _add_step(self, step: AnyStep) -> None:
        loss, before = step_nats(step), self.step
        if isinstance(step, ContrastiveStepRecord):
            self.accuracy.add(step.accuracy)
        elif step.step == 1:
            self.first = step
        self.num_falling = 1 if before is None or step.learning_rate > before.learning_rate else self.num_falling + 1
        if before is not None:
            self.swing.add(abs(loss - step_nats(before)))
        self.loss.add(loss)
        if self.loss.is_full:
            self.lowest_nats = min(self.lowest_nats, self.loss.value)
        self.step = step


def step_nats(step: AnyStep) -> float:
    """The loss that a step's family is judged by; of a BiLM, the mean of both directions."""
    if isinstance(step, StepRecord):
        return (step.loss_forward_nats + step.loss_backward_nats) / 2
    return step.loss_nats
