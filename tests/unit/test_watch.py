"""Every rule fires on the records that it is about and not a step before; runs that go well are left alone."""

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import pytest

from ctxemb.corpora import open_corpus
from ctxemb.models.bilm import BiLMConfig
from ctxemb.progress import (
    ContrastiveStepRecord,
    ContrastiveValidationRecord,
    EndRecord,
    Progress,
    RescueRecord,
    StepRecord,
    ValidationRecord,
    progress_line,
    read_progress,
)
from ctxemb.recipes import prepare, run
from ctxemb.training import LanguageModelling, TrainingConfig, train
from ctxemb.watch import RULES, Watcher, watch
from ctxemb.watch.history import RunningMean
from tests.conftest import ALONE

WARMUP, TOTAL = 100, 1_000
VOCABULARY = 22_026  # ln V is 10.0 nats


def step(number: int, loss: float = 2.0, accuracy: float = 0.5, rate: float | None = None) -> ContrastiveStepRecord:
    """A step of a contrastive run at chance 4 nats: a linear warm-up, then a cosine's slow fall."""
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


def validation(number: int, random_cosine: float = 0.1, loss: float = 1.0) -> ContrastiveValidationRecord:
    numbers = dict.fromkeys(("accuracy", "positive_cosine", "negative_cosine", "alignment", "top10_energy"), 0.5)
    return ContrastiveValidationRecord(
        number, 0, 100, False, loss_nats=loss, chance_nats=4.0, random_cosine=random_cosine, uniformity=-1.0, **numbers
    )


def word_step(number: int, loss: float = 5.0, backward: float | None = None, epoch: int = 0) -> StepRecord:
    """A step of a BiLM at a constant rate, after a warm-up of ten steps."""
    rate = 1e-3 * min(number / 10, 1)
    backward = loss if backward is None else backward
    perplexity = math.exp((loss + backward) / 2)
    return StepRecord(
        number, TOTAL, epoch, 100 * number, 1.0, rate, 1.0, 1.0, 0.0, loss, backward, perplexity=perplexity
    )


def word_validation(number: int, loss: float, backward: float | None = None) -> ValidationRecord:
    backward = loss if backward is None else backward
    return ValidationRecord(number, 0, 100, False, loss, backward, math.exp(loss), math.exp(backward))


def steps(first: int, last: int, make: Callable[..., Progress] = step, **values: float) -> list[Progress]:
    return [make(number, **values) for number in range(first, last + 1)]


def looks(losses: Sequence[float], every: int = 60, training: Sequence[float] | None = None) -> list[Progress]:
    """A BiLM that is validated every so many steps; the training loss is 5 nats if it is not given."""
    parts = []
    for index, loss in enumerate(losses):
        found = 5.0 if training is None else training[index]
        parts += steps(every * index + 2, every * (index + 1) + 1, word_step, loss=found)
        parts.append(word_validation(every * (index + 1) + 1, loss))
    return parts


def names(records: Sequence[Progress], vocabulary_size: int | None = VOCABULARY) -> list[str]:
    return [finding.name for finding in watch(records, vocabulary_size)]


@pytest.mark.parametrize(
    ("records", "fires"),
    [
        (steps(1, 151, loss=4.0), True),
        (steps(1, 151, loss=3.81), True),
        (steps(1, 151, loss=3.79), False),
        (steps(1, 151, loss=5.0), True),  # worse than a guess
        (steps(1, 148, loss=4.0), False),  # not long enough after the warm-up
        (steps(1, 120, loss=4.0) + steps(121, 170, loss=2.0), False),  # it has left chance
        (steps(1, 48, loss=4.0, rate=1e-3), False),
        (steps(1, 50, loss=4.0, rate=1e-3), True),  # a constant rate without a warm-up
        ([*steps(101, 125, loss=4.0), validation(125, 0.1), *steps(126, 150, loss=4.0)], True),
        ([*steps(101, 160, loss=4.0), validation(160, 0.1), EndRecord(160, "stopped", 1.0)], True),
        (steps(2, 80, word_step, loss=9.6), True),
        (steps(2, 80, word_step, loss=9.4), False),
    ],
)
def test_stuck_at_chance(records, fires):
    assert names(records) == ["stuck at chance"] * fires


@pytest.mark.parametrize(
    ("records", "found"),
    [
        ([RescueRecord(4, "loss nan", 5e-4, 1.0, False)], ["not a number"]),
        (
            [RescueRecord(4 + n, "loss nan", 5e-4, 1.0, n == 2) for n in range(3)],
            ["not a number", "not a number, again and again"],
        ),
        ([word_validation(40, math.nan)], ["not a number"]),
    ],
)
def test_numbers_that_are_not_finite(records, found):
    assert names(records) == found


@pytest.mark.parametrize(
    ("after", "fires"),
    [
        (steps(101, 150, word_step, loss=5.41), True),
        (steps(101, 150, word_step, loss=5.39), False),
        (steps(101, 104, word_step, loss=9.0), False),  # a few hard batches
        (steps(101, 150, word_step, loss=4.0), False),
    ],
)
def test_rebound(after, fires):
    assert names([*steps(2, 100, word_step, loss=5.0), *after]) == ["rebound"] * fires


@pytest.mark.parametrize(
    ("records", "fires"),
    [
        ([word_step(n, loss=5 + n % 2 * 1.21) for n in range(2, 60)], True),
        ([word_step(n, loss=5 + n % 2 * 1.19) for n in range(2, 60)], False),
        (looks([6, 5.7, 6, 5.7, 6, 5.7, 6]), True),
        (looks([6, 5.85, 6, 5.85, 6, 5.85, 6]), False),  # small
        (looks([7, 6.7, 6.4, 6.1, 5.8, 5.5, 5.2]), False),  # always down
        (looks([6, 5.7, 6, 5.7, 6, 5.7]), False),  # a look too few
    ],
)
def test_oscillation(records, fires):
    assert names(records) == ["oscillation"] * fires


@pytest.mark.parametrize(
    ("losses", "training", "fires"),
    [
        ([5, 4.6, 4.7, 4.8, 4.9], [5, 4.6, 4.3, 4.1, 3.9], True),
        ([5, 4.6, 4.7, 4.8], [5, 4.6, 4.3, 4.1], False),  # two looks are no trend
        ([5, 4.6, 4.61, 4.62, 4.62], [5, 4.6, 4.3, 4.1, 3.9], False),  # hardly
        ([5, 4.6, 4.7, 4.8, 4.9], [5, 4.6, 4.65, 4.7, 4.7], False),  # the training rises with it
        ([5, 4.6, 4.9, 4.8, 4.7], [5, 4.6, 4.3, 4.1, 3.9], False),  # on its way back
        ([5, 4.6, 4.4, 4.2, 4.0], [5, 4.6, 4.3, 4.1, 3.9], False),
    ],
)
def test_over_fitting(losses, training, fires):
    found = watch(looks(losses, training=training), VOCABULARY)
    assert [finding.name for finding in found] == ["over-fitting"] * fires
    if fires:
        assert "risen from 4.60 to 4.90 nats" in found[0].seen
        assert "fell from 4.60 to 3.90; the best was at step 121" in found[0].seen
        assert "`best`" in found[0].advice


@pytest.mark.parametrize(
    ("losses", "fires"),
    [
        ([5.0, 4.51, 4.5, 4.505, 4.5, 4.503, 4.5], True),
        ([4.51, 4.5, 4.505, 4.5, 4.503], False),
        ([4.60, 4.58, 4.56, 4.54, 4.52, 4.50], False),  # slow, but going
    ],
)
def test_plateau(losses, fires):
    assert names(looks(losses)) == ["plateau"] * fires


def test_the_end_of_a_schedule_is_no_plateau():
    late = [dataclasses.replace(record, step=record.step + TOTAL - 400) for record in looks([4.5] * 6)]
    assert names(late) == []
    assert names(looks([4.5] * 6)) == ["plateau"]


@pytest.mark.parametrize(
    ("forward", "backward", "fires"),
    [(10.05, 9.9, False), (9.6, 10.0, True), (10.0, 0.4, True), (10.5, 10.0, True)],
)
def test_the_untrained_loss_is_ln_v_per_direction(forward, backward, fires):
    found = watch([word_step(1, forward, backward)], VOCABULARY)
    assert [finding.name for finding in found] == ["untrained loss off"] * fires
    later = watch([word_step(2, forward, backward)], VOCABULARY)
    assert not later  # a resumed run is trained already
    assert not watch([word_step(1, forward, backward)])  # nothing to compare with


def test_the_untrained_loss_says_what_it_means():
    assert (
        "0.40 nats backward, and ln(22,026) is 10.00: it knows words"
        in watch([word_step(1, 10.0, 0.4)], VOCABULARY)[0].seen
    )
    assert (
        "12.00 nats forward, and ln(22,026) is 10.00: it is worse"
        in watch([word_step(1, 12.0, 10.0)], VOCABULARY)[0].seen
    )


@pytest.mark.parametrize(
    ("loss", "epoch", "fires"), [(8.05, 3, True), (7.95, 3, False), (8.05, 2, False), (8.05, 30, True)]
)
def test_a_loss_that_is_still_high_after_several_passes(loss, epoch, fires):
    assert names(steps(2, 80, word_step, loss=loss, epoch=epoch)) == ["loss still high"] * fires


@pytest.mark.parametrize(
    ("loss", "backward", "vocabulary_size", "fires"),
    [
        (math.log(2.9), math.log(2.9), VOCABULARY, True),
        (math.log(60), math.log(1.1), VOCABULARY, True),  # one direction reads ahead
        (math.log(3.1), math.log(3.1), VOCABULARY, False),
        (math.log(2.9), math.log(2.9), 999, False),  # a small language may be as regular as that
    ],
)
def test_a_loss_that_is_implausibly_low(loss, backward, vocabulary_size, fires):
    records = [*steps(2, 10, word_step, loss=2.0), word_validation(10, loss, backward)]
    assert names(records, vocabulary_size) == ["implausibly low"] * fires


@pytest.mark.parametrize(
    ("records", "fires"),
    [
        ([validation(50, 0.951)], True),
        ([validation(50, 0.949)], False),
        (steps(1, 30), False),
    ],
)
def test_collapse(records, fires):
    assert names(records) == ["collapse"] * fires


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
    assert names(records) == ["too good too early"] * fires


def test_a_made_up_run_that_goes_well_is_left_alone():
    well = [step(number, loss=4 - 3 * number / TOTAL, accuracy=number / TOTAL) for number in range(1, TOTAL + 1)]
    looked_at = chain.from_iterable(
        [s, validation(s.step, loss=s.loss_nats)] if s.step % 50 == 0 else [s] for s in well
    )
    assert names(list(looked_at)) == []
    assert names([]) == []


def test_real_runs_of_both_families_that_go_well_are_left_alone(tiny_run: Path, tiny_recipes, tmp_path):
    size = json.loads((tiny_run / "run.json").read_text())["model"]["vocabulary_size"]
    records = read_progress(tiny_run / "progress.jsonl")
    assert len(records) > 100
    assert watch(records, size) == []
    recipe = tiny_recipes.contrastive
    material = prepare(recipe, [open_corpus(tiny_recipes.path)], tmp_path / "cache")
    assert watch(run(recipe, material, tmp_path / "run", ALONE)) == []


def test_a_real_run_at_far_too_high_a_rate_is_noticed(slots, tmp_path):
    model = BiLMConfig(vocabulary_size=28, embedding_size=8, hidden_size=16, num_layers=1, cutoffs=())
    config = TrainingConfig(
        num_epochs=6, batch_tokens=140, learning_rate=5.0, warmup_steps=0, schedule="constant", precision="float32"
    )
    objective = LanguageModelling(model, config, slots.corpus, slots.tokenizer, slots.text)
    found = {finding.name for finding in watch(train(objective, tmp_path / "run", ALONE), 28)}
    assert found & {"stuck at chance", "rebound", "oscillation"}


def test_each_finding_is_said_once_as_it_is_seen():
    watcher = Watcher(VOCABULARY)
    said = [watcher.see(record) for record in steps(2, 200, word_step, loss=9.9)]
    assert sum(map(len, said)) == 1
    (finding,) = watcher.findings
    assert said[finding.step - 2] == [finding]
    assert finding.step == 10 + 49  # the first fifty steps at the full rate
    assert str(finding) == f"stuck at chance: {finding.seen} {finding.advice}"


def test_a_resumed_run_is_judged_by_all_of_it_and_says_nothing_twice(tmp_path):
    records = [*looks([5, 4.6, 4.7, 4.8, 4.9], training=[5, 4.6, 4.3, 4.1, 3.9]), *steps(400, 450, word_step, loss=4.7)]
    path = tmp_path / "progress.jsonl"
    path.write_text("".join(progress_line(record) + "\n" for record in records))
    at_once = [finding.name for finding in watch(records, VOCABULARY)]
    assert at_once == ["over-fitting", "rebound"]
    for start in (200, len(records) - 3):
        watcher = Watcher(VOCABULARY, path)
        said = [finding.name for record in records[start:] for finding in watcher.see(record)]
        assert [finding.name for finding in watcher.findings] == at_once
        assert said == (at_once if start == 200 else [])


def test_names_of_rules_are_all_different_and_each_says_what_to_do():
    assert len({rule.name for rule in RULES}) == len(RULES) == 12
    assert all(rule.advice.endswith(".") for rule in RULES)


def test_what_a_long_run_costs_does_not_grow():
    mean = RunningMean(50)
    for number in range(1_000):
        mean.add(float(number))
    assert mean.value == pytest.approx(974.5)  # of 950 to 999
    assert len(mean._values) == 50
