"""A run does not care what is learnt: here a family that draws its batches and reports what a BiLM does not."""

import dataclasses
import itertools
import json
import math
from pathlib import Path

import pytest
import torch
from pydantic import ValidationError
from torch import nn

from ctxemb.checkpoint import load_checkpoint
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLMConfig
from ctxemb.progress import (
    ContrastiveStepRecord,
    ContrastiveValidationRecord,
    EndRecord,
    RescueRecord,
    Validation,
    read_progress,
)
from ctxemb.training import LanguageModelling, ParameterGroup, Run, ScheduleConfig, TrainingConfig, TrainingError
from ctxemb.training.language_model import evaluate
from ctxemb.training.optimizer import build_optimizer, set_rate
from tests.conftest import curve

ALONE = World(0, 1, torch.device("cpu"))
MODEL = BiLMConfig(vocabulary_size=28, embedding_size=8, hidden_size=16, num_layers=1, dropout=0.2, cutoffs=(10, 20))
SETTINGS = {
    "num_epochs": 3,
    "batch_tokens": 140,
    "learning_rate": 1e-2,
    "warmup_steps": 0,
    "schedule": "constant",
    "validate_every": 4,
    "save_every": 3,
    "precision": "float32",
    "weight_type": "float32",
}
NUM_DRAWN, NUM_BATCHES = 15, 6


class Drawing(LanguageModelling):
    """Items are numbers, sentences are drawn when needed; the embedding learns at a rate of its own."""

    embedding_share = 1.0
    broken = ""  # the sum that is not a number

    def plan(self, epoch):
        return range(NUM_BATCHES)

    def weight(self, item):
        return NUM_DRAWN * 7

    def losses(self, item, device):
        drawn = torch.randint(len(self.training_S), (NUM_DRAWN,)).numpy()
        losses = super().losses(self.training_S[drawn], device)
        sums = {"loss_nats": losses.loss.detach(), "accuracy": torch.tensor(21.0)}
        return dataclasses.replace(
            losses, sums={name: value * (math.nan if name == self.broken else 1) for name, value in sums.items()}
        )

    def parameter_groups(self):
        embedding = self.model.forward_lm.embedding.weight
        rest = [parameter for parameter in self.model.parameters() if parameter is not embedding]
        return [ParameterGroup(rest), ParameterGroup([embedding], self.embedding_share)]

    def step_record(self, step, sums, weight):
        return ContrastiveStepRecord(
            **vars(step),
            loss_nats=sums["loss_nats"] / weight,
            chance_nats=math.log(28),
            positive_cosine=0.5,
            negative_cosine=0.0,
            accuracy=sums["accuracy"] / weight,
            num_anchors=weight,
            num_masked=0,
        )

    def validate(self, at, world):
        loss = sum(evaluate(self.model, self.corpus, self.validation_S, 140, world)) / 2
        return ContrastiveValidationRecord(**vars(at), loss_nats=loss, **dict.fromkeys(MEASURES, 0.0))


MEASURES = [
    field.name
    for field in dataclasses.fields(ContrastiveValidationRecord)
    if field.name not in ("loss_nats", *(common.name for common in dataclasses.fields(Validation)))
]


@pytest.fixture
def start(slots, tmp_path):
    """`start(out="run", kind=Drawing, **settings)`: a run on the `slots` text."""

    def start(out: str = "run", kind: type[LanguageModelling] = Drawing, **settings) -> Run:
        config = TrainingConfig.model_validate(SETTINGS | settings)
        return Run(kind(MODEL, config, slots.corpus, slots.tokenizer, slots.text), tmp_path / out, ALONE)

    return start


def weights(run: Run) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in run.model.named_parameters()}


def test_another_objective_learns_and_its_records_come_back_from_the_log(start, tmp_path):
    records = list(start(num_epochs=15, learning_rate=3e-2, validate_every=30, save_every=30).records())
    steps = [record for record in records if isinstance(record, ContrastiveStepRecord)]
    assert steps[0].loss_nats == pytest.approx(math.log(28), abs=0.1)
    assert steps[-1].loss_nats < 2.2
    assert [(step.accuracy, step.num_anchors) for step in (steps[0], steps[-1])] == [(0.2, 105)] * 2
    assert steps[-1].num_tokens == len(steps) * NUM_DRAWN * 6
    assert {type(record) for record in records} == {ContrastiveStepRecord, ContrastiveValidationRecord, EndRecord}
    assert read_progress(tmp_path / "run" / "progress.jsonl") == records


def test_the_best_checkpoint_is_that_of_the_lowest_loss(start, tmp_path):
    validations = [r for r in start().records() if isinstance(r, ContrastiveValidationRecord)]
    best = min(validations, key=lambda record: record.loss_nats)
    assert best.is_best
    assert load_checkpoint(tmp_path / "run" / "best").metrics["validation"] == dataclasses.asdict(best)


def test_drawn_batches_are_drawn_again_after_a_resume(start):
    whole = start("whole")
    expected = curve(whole.records())
    assert len({row["loss_nats"] for row in expected}) == len(expected)
    for stop_after in (1, 6, 13):
        records = start(f"stopped-{stop_after}").records()
        list(itertools.islice(records, stop_after))
        records.close()
        resumed = start(f"stopped-{stop_after}")
        list(resumed.records())
        done = read_progress(resumed.out / "progress.jsonl")
        assert curve(done) == expected
        assert all(torch.equal(value, weights(whole)[name]) for name, value in weights(resumed).items())


@pytest.mark.parametrize(("broken", "kind"), [("loss_nats", RescueRecord), ("accuracy", ContrastiveStepRecord)])
def test_a_step_is_skipped_for_a_broken_loss_but_not_for_another_measure(start, broken, kind):
    run = start()
    run.objective.broken = broken
    record = next(run.records())
    assert type(record) is kind
    if kind is RescueRecord:
        assert record.reason.startswith("loss nan, gradient norm ")


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_a_group_learns_at_its_share_of_the_scheduled_rate(start, monkeypatch, share):
    monkeypatch.setattr(Drawing, "embedding_share", share)
    run = start()
    before = weights(run)
    record = next(run.records())
    moved = {name: (value - before[name]).abs().max().item() for name, value in weights(run).items()}
    assert record.learning_rate == 0.01
    # the first step of Adam moves every weight that has a gradient by the rate
    assert moved["forward_lm.embedding.weight"] == pytest.approx(share * 0.01, rel=1e-3)
    assert moved["forward_lm.layers.0.weight_hh_l0"] == pytest.approx(0.01, rel=1e-3)


def test_max_steps_ends_the_run_at_the_earlier_of_both_ends(start):
    for num_steps, expected in ((5, 5), (1_000, 3 * NUM_BATCHES)):
        *_, end = start(f"run-{num_steps}", max_steps=num_steps).records()
        assert (end.step, end.reason) == (expected, "finished")


# the optimiser


def test_only_matrices_decay_by_the_rate_of_their_group():
    config = ScheduleConfig(optimizer="adamw", weight_decay=0.5, learning_rate=0.1)
    matrix, slow, bias = (nn.Parameter(torch.ones(shape)) for shape in ((2, 3), (3, 2), (4,)))
    optimizer = build_optimizer(config, [ParameterGroup([matrix, bias]), ParameterGroup([slow], 0.1)])
    for parameter in (matrix, slow, bias):
        parameter.grad = torch.zeros_like(parameter)
    set_rate(optimizer, 0.2)
    optimizer.step()
    found = [parameter.detach().unique().tolist() for parameter in (matrix, slow, bias)]
    assert found == [pytest.approx([1 - 0.2 * 0.5]), pytest.approx([1 - 0.02 * 0.5]), [1.0]]


def test_adamw_without_decay_is_adam(start):
    one, other = start("adam"), start("adamw", optimizer="adamw")
    assert curve(one.records()) == curve(other.records())
    decayed = start("decayed", optimizer="adamw", weight_decay=5.0)
    list(decayed.records())
    sizes = [run.model.forward_lm.embedding.weight.norm().item() for run in (one, decayed)]
    assert sizes[1] < 0.9 * sizes[0]


def test_decay_without_its_optimizer_is_refused():
    with pytest.raises(ValidationError, match=r"weight_decay 0\.1 needs optimizer adamw, not adam"):
        ScheduleConfig(weight_decay=0.1)


# runs of an earlier version


@pytest.fixture
def earlier_run(start, tmp_path) -> Path:
    """A stopped run of a BiLM whose run.json does not know today's settings."""
    records = start(kind=LanguageModelling).records()
    list(itertools.islice(records, 7))
    records.close()
    path = tmp_path / "run" / "run.json"
    settings = json.loads(path.read_text())
    for name in ("optimizer", "weight_decay", "max_steps"):
        del settings["training"][name]
    path.write_text(json.dumps(settings))
    return path


def test_a_run_from_before_a_setting_existed_resumes_with_its_default(start, earlier_run):
    expected = curve(start("whole", kind=LanguageModelling).records())
    list(start(kind=LanguageModelling).records())
    assert curve(read_progress(earlier_run.parent / "progress.jsonl")) == expected


def test_but_not_with_another_value(start, earlier_run):
    with pytest.raises(TrainingError, match=r"other settings \(training\.max_steps, training\.optimizer\)"):
        start(kind=LanguageModelling, optimizer="adamw", max_steps=70)


def test_what_is_learnt_from_has_to_be_the_same(start):
    class WithLexicon(Drawing):
        num_pairs = 3

        def __init__(self, *arguments):
            super().__init__(*arguments)
            self.data_reports["lexicon"] = {"num_pairs": self.num_pairs}

    list(itertools.islice(start(kind=WithLexicon).records(), 2))
    WithLexicon.num_pairs = 4
    with pytest.raises(TrainingError, match=r"other settings \(lexicon\.num_pairs\)"):
        start(kind=WithLexicon)
    with pytest.raises(TrainingError, match=r"other settings \(lexicon\.num_pairs\)"):
        start(kind=Drawing)
