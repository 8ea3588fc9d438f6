"""Watching a contrastive run: what its records show to be going wrong, said once in plain words with what to do.

Rules look at the last records only, so they can be asked after every one of them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from ctxemb.progress import (
    ContrastiveStepRecord,
    ContrastiveValidationRecord,
    Progress,
    StepRecord,
    ValidationRecord,
)

STUCK_STEPS = 50  # after the warm-up, time enough to leave chance
STUCK_SHARE = 0.95
COLLAPSED_COSINE = 0.95
EARLY_SHARE = 0.05
EARLY_ACCURACY = 0.98
MEAN_STEPS = 10  # a single batch may be easy


@dataclass(frozen=True)
class Rule:
    """One way of going wrong.

    Attributes:
        name: a word or two.
        sentence: what is seen, and what it means.
        advice: what to do.
        holds: whether a run's records, in order and up to now, show it.
    """

    name: str
    sentence: str
    advice: str
    holds: Callable[[Sequence[Progress]], bool]

    def __str__(self) -> str:
        return f"{self.name}: {self.sentence} {self.advice}"


def watch(records: Sequence[Progress]) -> list[Rule]:
    """The rules that hold at the end of these records; none for those of another family."""
    if records and isinstance(records[-1], StepRecord | ValidationRecord):
        return []  # a long run of a BiLM is not searched for what it does not have
    return [rule for rule in RULES if rule.holds(records)]


def _is_stuck(records: Sequence[Progress]) -> bool:
    steps = _last_steps(records, STUCK_STEPS)
    # the rate rises during the warm-up, and never after it
    is_warm = all(
        later.learning_rate <= earlier.learning_rate for earlier, later in zip(steps, steps[1:], strict=False)
    )
    if len(steps) < STUCK_STEPS or not is_warm:
        return False
    return fmean(step.loss_nats for step in steps) >= STUCK_SHARE * fmean(step.chance_nats for step in steps)


def _is_collapsed(records: Sequence[Progress]) -> bool:
    last = next((record for record in reversed(records) if isinstance(record, ContrastiveValidationRecord)), None)
    return last is not None and last.random_cosine > COLLAPSED_COSINE


def _is_too_good(records: Sequence[Progress]) -> bool:
    steps = _last_steps(records, MEAN_STEPS)
    if not steps or steps[-1].step > EARLY_SHARE * steps[-1].total_steps:
        return False
    return fmean(step.accuracy for step in steps) > EARLY_ACCURACY


def _last_steps(records: Sequence[Progress], number: int) -> list[ContrastiveStepRecord]:
    """The last steps in order, at most so many."""
    found: list[ContrastiveStepRecord] = []
    for record in reversed(records):
        if len(found) == number:
            break
        if isinstance(record, ContrastiveStepRecord):
            found.append(record)
    return found[::-1]


RULES = (
    Rule(
        "stuck at chance",
        f"for {STUCK_STEPS} steps after the warm-up, the loss has been no better than that of a guess.",
        "Look at training.temperature (0.05 to 0.2 is usual); and passages have to hold a word in two sentences that "
        "share some of what they are about.",
        _is_stuck,
    ),
    Rule(
        "collapse",
        f"two random uses have a cosine above {COLLAPSED_COSINE}, so all vectors are becoming one.",
        "Give it more negatives (training.words_per_batch, training.passages_per_word), a lower "
        "training.learning_rate, or some training.uniformity_weight.",
        _is_collapsed,
    ),
    Rule(
        "too good too early",
        f"the positive is the nearest for more than {EARLY_ACCURACY:.0%} of the anchors, within the first "
        f"{EARLY_SHARE:.0%} of the steps.",
        "Look for a shortcut (the word itself or its frequency gives the answer: raise training.passages_per_word) and "
        "for a leak (a passage that says the same sentence twice).",
        _is_too_good,
    ),
)
