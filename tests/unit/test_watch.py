from collections.abc import Callable, Sequence

import pytest

from ctxemb.progress import (
    ContrastiveStepRecord,
    ContrastiveValidationRecord,
    EndRecord,
    Progress,
    StepRecord,
    ValidationRecord,
)
from ctxemb.watch import RULES, watch

WARMUP, TOTAL = 100, 1_000
STUCK, COLLAPSE, TOO_GOOD = (rule.name for rule in RULES)


def step(number: int, loss: float = 2.0, accuracy: float = 0.5, rate: float | None = None) -> ContrastiveStepRecord:
    """A step of a run at chance 4 nats: a linear warm-up, then a cosine's slow fall."""
    usual = 1e-3 * (number / WARMUP if number <= WARMUP else 1 - number / TOTAL / 2)
    return ContrastiveStepRecord(
        step=number,
        total_steps=TOTAL,
        epoch=0,
        num_tokens=100 * number,
        gradient_norm=1.0,
        learning_rate=usual if rate is None else rate,
        tokens_per_second=1.0,
        eta_seconds=1.0,
        padding_share=0.0,
        loss_nats=loss,
        chance_nats=4.0,
        positive_cosine=0.5,
        negative_cosine=0.0,
        accuracy=accuracy,
        num_anchors=10,
        num_masked=0,
    )


def validation(number: int, random_cosine: float) -> ContrastiveValidationRecord:
    numbers = dict.fromkeys(("accuracy", "positive_cosine", "negative_cosine", "alignment", "top10_energy"), 0.5)
    return ContrastiveValidationRecord(
        number, 0, 100, False, loss_nats=1.0, chance_nats=4.0, random_cosine=random_cosine, uniformity=-1.0, **numbers
    )


def steps(first: int, last: int, make: Callable[..., ContrastiveStepRecord] = step, **values: float) -> list[Progress]:
    return [make(number, **values) for number in range(first, last + 1)]


def names(records: Sequence[Progress]) -> list[str]:
    return [rule.name for rule in watch(records)]


@pytest.mark.parametrize(
    ("records", "fires"),
    [
        (steps(1, 151, loss=4.0), True),
        (steps(1, 151, loss=3.81), True),
        (steps(1, 151, loss=3.79), False),
        (steps(1, 151, loss=5.0), True),  # worse than a guess
        (steps(1, 148, loss=4.0), False),  # not long enough after the warm-up
        (steps(1, 120, loss=4.0) + steps(121, 170, loss=2.0), False),  # it has left chance
        (steps(1, 120, loss=2.0) + steps(121, 170, loss=4.0), True),  # it has gone back
        (steps(1, 49, loss=4.0, rate=1e-3), False),
        (steps(1, 50, loss=4.0, rate=1e-3), True),  # a constant rate without a warm-up
        ([*steps(101, 125, loss=4.0), validation(125, 0.1), *steps(126, 150, loss=4.0)], True),
        ([*steps(101, 160, loss=4.0), validation(160, 0.1), EndRecord(160, "stopped", 1.0)], True),
    ],
)
def test_stuck_at_chance(records, fires):
    assert names(records) == [STUCK] * fires


@pytest.mark.parametrize(
    ("records", "fires"),
    [
        ([validation(50, 0.951)], True),
        ([validation(50, 0.949)], False),
        ([validation(50, 0.99), *steps(51, 60)], True),
        ([validation(50, 0.99), *steps(51, 60), validation(60, 0.2)], False),  # it has spread again
        (steps(1, 30), False),
    ],
)
def test_collapse(records, fires):
    assert names(records) == [COLLAPSE] * fires


@pytest.mark.parametrize(
    ("records", "fires"),
    [
        (steps(1, 50, accuracy=0.99), True),
        (steps(1, 50, accuracy=0.97), False),
        (steps(1, 40, accuracy=0.3) + steps(41, 50, accuracy=0.99), True),
        ([*steps(1, 49, accuracy=0.3), step(50, accuracy=1.0)], False),  # one easy batch
        (steps(1, 50, accuracy=0.3) + steps(51, 90, accuracy=1.0), False),  # later it may be as good as that
    ],
)
def test_too_good_too_early(records, fires):
    assert names(records) == [TOO_GOOD] * fires


def test_a_run_that_goes_well_and_runs_of_other_families_are_left_alone():
    well = [step(number, loss=4 - 3 * number / TOTAL, accuracy=number / TOTAL) for number in range(1, TOTAL + 1)]
    for number in (1, 10, 150, 999):
        assert names([*well[:number], validation(number, 0.1)]) == []
    other = [StepRecord(n, 100, 0, n, 1.0, 1e-3, 1.0, 1.0, 0.0, 9.0, 9.0, 8_000.0) for n in range(1, 90)]
    assert names([*other, ValidationRecord(90, 0, 90, True, 9.0, 9.0, 8_000.0, 8_000.0)]) == []
    assert names([]) == []


def test_a_rule_says_what_is_seen_and_what_to_do():
    for rule in RULES:
        assert str(rule) == f"{rule.name}: {rule.sentence} {rule.advice}"
        assert "training." in rule.advice
