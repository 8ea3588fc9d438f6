import dataclasses
import itertools
import json
import math
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
import torch

from ctxemb.batching import make_batch
from ctxemb.checkpoint import load_checkpoint, read_state
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.progress import (
    EndRecord,
    Progress,
    RescueRecord,
    StepRecord,
    ValidationRecord,
    progress_line,
    read_progress,
)
from ctxemb.training import LanguageModelling, Run, TrainingConfig, TrainingError, evaluate, scheduled_rate
from tests.conftest import curve

ALONE = World(0, 1, torch.device("cpu"))
MODEL = BiLMConfig(vocabulary_size=28, embedding_size=8, hidden_size=16, num_layers=1, dropout=0.2, cutoffs=(10, 20))
# 495 training sentences in batches of 20: 24 full ones and a rest, 25 steps an epoch
SHORT = TrainingConfig(
    num_epochs=1,
    batch_tokens=140,
    learning_rate=1e-2,
    warmup_steps=5,
    validate_every=4,
    save_every=3,
    precision="float32",
    weight_type="float32",
)


@pytest.fixture
def start(slots, tmp_path):
    """`start(out="run", model={...}, **settings)`: a run on the `slots` text."""

    def start(out: str = "run", model: dict | None = None, **settings) -> Run:
        model_config = BiLMConfig.model_validate(MODEL.model_dump() | (model or {}))
        config = TrainingConfig.model_validate(SHORT.model_dump() | settings)
        objective = LanguageModelling(model_config, config, slots.corpus, slots.tokenizer, slots.text)
        return Run(objective, tmp_path / out, ALONE)

    return start


def weights(model: BiLM) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def assert_same_weights(one: BiLM, other: BiLM) -> None:
    assert all(torch.equal(value, weights(other)[name]) for name, value in weights(one).items())


def only(kind: type, records: Iterable[Progress]) -> list:
    return [record for record in records if isinstance(record, kind)]


# learning


def test_untrained_is_near_ln_v_and_trained_approaches_the_entropy_of_the_text(start, slots, slots_bound_nats):
    sizes = {"embedding_size": 12, "hidden_size": 24, "dropout": 0}
    run = start(num_epochs=8, learning_rate=3e-2, validate_every=100, model=sizes)
    untrained = evaluate(run.model, slots.corpus, run.objective.validation_S, 140, ALONE)
    assert untrained == pytest.approx((math.log(28), math.log(28)), abs=0.1)
    validations = only(ValidationRecord, run.records())
    for loss in (validations[-1].loss_forward_nats, validations[-1].loss_backward_nats):
        assert slots_bound_nats - 0.01 < loss < slots_bound_nats + 0.05
    assert validations[-1].perplexity_forward == pytest.approx(math.exp(validations[-1].loss_forward_nats))
    assert validations[-1].perplexity_backward == pytest.approx(math.exp(validations[-1].loss_backward_nats))


@pytest.mark.parametrize("model", [{"softmax": "full"}, {"shared_embeddings": False, "tied_weights": False}])
def test_every_kind_of_output_layer_learns(start, model):
    steps = only(StepRecord, start(num_epochs=3, learning_rate=3e-2, model=model).records())
    assert steps[0].loss_forward_nats == pytest.approx(math.log(28), abs=0.1)
    assert steps[-1].loss_forward_nats < 2.2
    assert steps[-1].loss_backward_nats < 2.2


def test_losses_are_means_over_all_predictions_of_a_step(start, slots):
    run = start(accumulate=3, model={"dropout": 0})
    sentences = [slots.corpus[int(s)] for s in np.concatenate(run.plan[:3])]
    with torch.no_grad():
        expected = [nll_N.mean().item() for nll_N in run.model(make_batch(sentences))]
    record = next(run.records())
    assert [record.loss_forward_nats, record.loss_backward_nats] == pytest.approx(expected, rel=1e-5)
    assert record.perplexity == pytest.approx(math.exp(sum(expected) / 2), rel=1e-5)
    assert record.num_tokens == sum(map(len, sentences))


def test_accumulated_batches_have_the_gradient_of_one_big_batch(start, slots):
    run = start(accumulate=3, clip_norm=1e9, model={"dropout": 0})
    sentences = [slots.corpus[int(s)] for s in np.concatenate(run.plan[:3])]
    model = BiLM(run.model.config)
    model.load_state_dict(run.model.state_dict())
    forward_N, backward_N = model(make_batch(sentences))
    ((forward_N.mean() + backward_N.mean()) / 2).backward()
    next(run.records())
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(run.model.get_parameter(name).grad, parameter.grad, atol=1e-7, rtol=1e-4)


def test_evaluation_agrees_with_one_sentence_at_a_time(slots):
    torch.manual_seed(3)
    model = BiLM(MODEL)
    chosen = np.arange(0, 500, 17)
    model.eval()
    with torch.no_grad():
        losses = [torch.stack(model(make_batch([slots.corpus[int(s)]]))) for s in chosen]
    model.train()
    expected = torch.cat(losses, dim=1).mean(1).tolist()
    assert evaluate(model, slots.corpus, chosen, 100, ALONE) == pytest.approx(expected, rel=1e-5)
    assert model.training


def test_an_epoch_reads_every_training_sentence_once_in_an_order_of_its_own(start):
    run = start(num_epochs=2)
    first = np.concatenate(run.plan)
    list(itertools.islice(run.records(), run.steps_per_epoch + 10))
    second = np.concatenate(run.plan)
    assert sorted(first) == sorted(second) == run.objective.training_S.tolist()
    assert first.tolist() != second.tolist()
    assert not set(first) & set(run.objective.validation_S)


@pytest.mark.parametrize("accumulate", [1, 5])
def test_an_epoch_costs_the_tokens_of_the_training_text(start, slots, accumulate):
    run = start(accumulate=accumulate, validate_every=100)
    *_, last, _, _ = run.records()
    assert (last.step, last.num_tokens) == (25 // accumulate, slots.corpus.lengths[run.objective.training_S].sum())


def test_max_tokens_ends_the_run(start):
    *_, last, end = only((StepRecord, EndRecord), start(num_epochs=9, max_tokens=1_000).records())
    assert 1_000 <= last.num_tokens < 1_000 + 20 * 6
    assert (end.reason, end.step) == ("finished", last.total_steps)


# the gradient is clipped


def test_a_long_gradient_is_shortened_and_its_length_before_is_reported(start):
    run = start(clip_norm=0.01)
    record = next(run.records())
    clipped = torch.cat([p.grad.flatten() for p in run.model.parameters()]).norm().item()
    assert clipped == pytest.approx(0.01, rel=1e-3)
    free = start("free", clip_norm=1e9)
    unclipped = next(free.records())
    length = torch.cat([p.grad.flatten() for p in free.model.parameters()]).norm().item()
    assert record.gradient_norm == unclipped.gradient_norm == pytest.approx(length, rel=1e-5)
    assert record.gradient_norm > 0.01


# schedules


@pytest.mark.parametrize(
    ("schedule", "step", "rate"),
    [
        ("constant", 1, 0.1),
        ("constant", 10, 1.0),
        ("constant", 11, 1.0),
        ("constant", 110, 1.0),
        ("plateau", 5, 0.5),
        ("plateau", 60, 1.0),
        ("cosine", 5, 0.5),
        ("cosine", 10, 1.0),
        ("cosine", 60, 0.6),  # half-way between 1 and 0.2
        ("cosine", 35, 0.6 + 0.4 * math.cos(math.pi / 4)),
        ("cosine", 110, 0.2),
        ("cosine", 200, 0.2),
    ],
)
def test_scheduled_rate(schedule, step, rate):
    config = TrainingConfig(learning_rate=1.0, schedule=schedule, warmup_steps=10, final_rate_share=0.2)
    assert scheduled_rate(config, step, total_steps=110) == pytest.approx(rate)


@pytest.mark.parametrize("total_steps", [1, 3])
def test_a_schedule_without_warm_up_or_longer_than_the_run_is_no_error(total_steps):
    assert scheduled_rate(TrainingConfig(learning_rate=1.0, warmup_steps=0), 1, total_steps) <= 1
    assert scheduled_rate(TrainingConfig(learning_rate=1.0, warmup_steps=9), 1, total_steps) == pytest.approx(1 / 9)


@pytest.fixture
def validation_losses(monkeypatch):
    """`validation_losses([...])`: what the next validations find."""

    def script(losses: list[float]) -> None:
        remaining = iter(losses)
        monkeypatch.setattr("ctxemb.training.language_model.evaluate", lambda *_: (next(remaining),) * 2)

    return script


def test_plateau_halves_the_rate_after_validations_without_gain(start, validation_losses):
    validation_losses([3, 2, 2.5, 2, 1.9, 2, 2, 2])
    run = start(schedule="plateau", plateau_patience=2, warmup_steps=0, validate_every=1, max_tokens=8 * 118)
    records = list(run.records())
    rates = [record.learning_rate for record in only(StepRecord, records)]
    assert rates == [0.01, 0.01, 0.01, 0.01, 0.005, 0.005, 0.005, 0.0025]
    assert [v.is_best for v in only(ValidationRecord, records)] == [True, True, False, False, True, False, False, False]


def test_early_stop_ends_after_validations_without_gain_and_stays_ended(start, validation_losses):
    validation_losses([3, 2, 2.5, 2.4, 1])
    *_, last, end = start(early_stop_patience=2, validate_every=2).records()
    assert (last.step, end.reason) == (8, "early stop")
    (end,) = start(early_stop_patience=2, validate_every=2).records()
    assert (end.step, end.reason) == (8, "early stop")


def test_best_is_the_checkpoint_of_the_best_validation_and_last_of_the_last(start, validation_losses, tmp_path):
    validation_losses([3, 1, 2])
    list(start(validate_every=2, max_tokens=6 * 118).records())
    found = {name: load_checkpoint(tmp_path / "run" / name).metrics["validation"] for name in ("best", "last")}
    assert [(found[name]["step"], found[name]["loss_forward_nats"]) for name in ("best", "last")] == [(4, 1), (6, 2)]


# exact resume


def test_a_run_stopped_anywhere_and_resumed_has_the_curve_and_weights_of_an_uninterrupted_one(start, tmp_path):
    settings = {"num_epochs": 2, "batch_tokens": 420}
    whole = start("whole", **settings)
    expected = list(whole.records())
    assert len(expected) == 18 + 5 + 1  # steps, validations, end
    for stop_after in range(1, len(expected)):
        out = f"stopped-{stop_after}"
        records = start(out, **settings).records()
        first = list(itertools.islice(records, stop_after))
        records.close()
        resumed = start(out, **settings)
        done = read_progress(tmp_path / out / "progress.jsonl")
        assert curve(first) == curve(done)[:stop_after]
        assert curve(done) + curve(resumed.records()) == curve(expected)
        assert curve(read_progress(tmp_path / out / "progress.jsonl")) == curve(expected)
        assert_same_weights(resumed.model, whole.model)
        for name in ("best", "last"):
            assert_same_weights(*(load_checkpoint(tmp_path / folder / name).model for folder in ("whole", out)))


def test_a_fixed_seed_reproduces_a_run_and_another_seed_does_not(start):
    one, same, other = (start(out, seed=seed, max_tokens=600) for out, seed in (("a", 1), ("b", 1), ("c", 2)))
    curves = [curve(run.records()) for run in (one, same, other)]
    assert curves[0] == curves[1] != curves[2]
    assert_same_weights(one.model, same.model)


def test_a_finished_run_does_nothing_when_started_again(start, tmp_path):
    first = list(start(max_tokens=600).records())
    (end,) = start(max_tokens=600).records()
    assert (end.reason, end.step) == ("finished", first[-1].step)
    assert curve(read_progress(tmp_path / "run" / "progress.jsonl")) == curve(first)


def test_time_goes_on_counting_after_a_resume(start, monkeypatch):
    clock = itertools.count()  # every look at it costs a second
    monkeypatch.setattr("ctxemb.training.run.time.perf_counter", lambda: float(next(clock)))
    records = start().records()
    list(itertools.islice(records, 12))
    records.close()
    resumed = start()
    before = resumed.state.seconds
    assert before > 12
    *_, last, _, end = resumed.records()
    assert end.seconds > before + 12
    assert last.eta_seconds == 0


def test_other_settings_do_not_resume_a_run_and_leave_it_alone(start, tmp_path):
    list(start(max_tokens=600).records())
    before = {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()}
    with pytest.raises(TrainingError, match=r"other settings \(model\.hidden_size, training\.seed\).* another --out"):
        start(max_tokens=600, seed=1, model={"hidden_size": 17})
    assert {path: path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file()} == before


def test_another_text_does_not_resume_a_run(start, slots, tmp_path):
    list(start(max_tokens=600).records())
    report = dataclasses.replace(slots.corpus.report, num_tokens=3_001)
    other = dataclasses.replace(slots.corpus, report=report)
    config = TrainingConfig.model_validate(SHORT.model_dump() | {"max_tokens": 600})
    with pytest.raises(TrainingError, match=r"other settings \(corpus\.num_tokens\)"):
        Run(LanguageModelling(MODEL, config, other, slots.tokenizer, slots.text), tmp_path / "run", ALONE)


def test_a_folder_with_something_else_in_it_is_not_touched(start, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("mine")
    with pytest.raises(TrainingError, match="is not empty and holds no training run; choose another --out"):
        start()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["thesis.tex"]


def test_too_little_text_for_a_step_is_said(start):
    with pytest.raises(TrainingError, match="25 batches are too few for 26 a step"):
        start(accumulate=26)


# rescue from numbers that are not finite


@pytest.fixture
def poisoned(monkeypatch):
    """`poisoned(run, steps)`: the loss of these steps is not a number."""

    def poison(run: Run, steps: Iterable[int]) -> Run:
        steps, healthy = set(steps), run.objective.losses

        def poisoned_losses(*arguments):
            losses = healthy(*arguments)
            if run.state.step + 1 not in steps:
                return losses
            sums = losses.sums | {"loss_forward_nats": losses.sums["loss_forward_nats"] * math.nan}
            return dataclasses.replace(losses, loss=losses.loss * math.nan, sums=sums)

        monkeypatch.setattr(run.objective, "losses", poisoned_losses)
        return run

    return poison


def test_a_step_with_a_nan_loss_is_skipped_the_rate_halved_and_clipping_tightened(start, poisoned):
    run = poisoned(start(schedule="constant", warmup_steps=0, validate_every=100), [3])
    records = run.records()
    list(itertools.islice(records, 2))
    before = weights(run.model)
    rescue = next(records)
    assert (rescue.step, rescue.learning_rate, rescue.clip_norm, rescue.is_restored) == (3, 0.005, 1.0, False)
    assert rescue.reason.startswith("loss nan / ")
    assert all(torch.equal(value, before[name]) for name, value in weights(run.model).items())
    step = next(records)
    assert (step.step, step.learning_rate) == (4, 0.005)
    assert math.isfinite(step.loss_forward_nats)
    assert run.state.clip_norm == 1.0


def test_a_gradient_that_is_not_finite_is_rescued_though_the_loss_is(start):
    run = start()
    parameter = run.model.forward_lm.layers[0].weight_hh_l0
    hook = parameter.register_hook(lambda gradient: gradient * math.inf)
    records = run.records()
    rescue = next(records)
    assert isinstance(rescue, RescueRecord)
    assert "gradient norm nan" in rescue.reason or "gradient norm inf" in rescue.reason
    assert "loss nan" not in rescue.reason
    hook.remove()
    assert isinstance(next(records), StepRecord)


def test_a_tighter_clip_than_the_rescue_stays(start, poisoned):
    assert next(poisoned(start(clip_norm=0.5), [1]).records()).clip_norm == 0.5


def test_the_last_good_state_returns_after_three_failures_in_a_row(start, poisoned, tmp_path):
    run = poisoned(start(save_every=4, validate_every=100), [7, 8, 9, 11, 12])
    records = run.records()
    list(itertools.islice(records, 6))
    assert [record.is_restored for record in itertools.islice(records, 3)] == [False, False, True]
    tensors, counters = read_state(tmp_path / "run" / "state.safetensors")
    assert counters["step"] == 4  # step 8 was due for saving, but stands among failures
    assert all(torch.equal(value, tensors[f"model.{name}"]) for name, value in weights(run.model).items())
    kinds = [(record.step, getattr(record, "is_restored", None)) for record in itertools.islice(records, 4)]
    assert kinds == [(10, None), (11, False), (12, False), (13, None)]


def files_are_finite(out: Path) -> bool:
    tensors, _ = read_state(out / "state.safetensors")
    checkpoints = [load_checkpoint(out / name) for name in ("best", "last") if (out / name).exists()]
    tensors |= {f"{c.path.name}.{name}": value for c in checkpoints for name, value in weights(c.model).items()}
    return all(torch.isfinite(value).all() for value in tensors.values())


def test_a_run_that_cannot_be_rescued_gives_up_with_the_last_good_checkpoint_on_disk(start, poisoned, tmp_path):
    run = poisoned(start(num_epochs=2), range(6, 100))
    records = []
    message = r"still not finite at step 23, after 5 returns .* try a lower learning_rate"
    with pytest.raises(TrainingError, match=message):
        records.extend(run.records())
    assert files_are_finite(tmp_path / "run")
    logged = read_progress(tmp_path / "run" / "progress.jsonl")
    assert sum(record.is_restored for record in only(RescueRecord, logged)) == 5
    assert len(only(RescueRecord, logged)) == 17


def test_a_rescued_run_resumes_exactly(start, poisoned, tmp_path):
    bad = [5, 9, 10, 16]
    whole = poisoned(start("whole"), bad)
    expected = list(whole.records())
    assert files_are_finite(tmp_path / "whole")
    for stop_after in (6, 13, 14, 22):
        records = poisoned(start(f"stopped-{stop_after}"), bad).records()
        list(itertools.islice(records, stop_after))
        records.close()
        resumed = poisoned(start(f"stopped-{stop_after}"), bad)
        list(resumed.records())
        assert curve(read_progress(tmp_path / f"stopped-{stop_after}" / "progress.jsonl")) == curve(expected)
        assert_same_weights(resumed.model, whole.model)


def test_nan_weights_are_not_saved(start, tmp_path):
    run = start()
    records = run.records()
    list(itertools.islice(records, 8))
    with torch.no_grad():
        run.model.forward_lm.embedding.weight[5] = math.nan
    with pytest.raises(TrainingError, match="weights are not finite at step"):
        records.close()
    assert files_are_finite(tmp_path / "run")


# the log


def test_records_come_back_from_the_log_as_they_were_yielded(start, poisoned, tmp_path):
    records = list(poisoned(start(), [2]).records())
    assert {type(record) for record in records} == {StepRecord, ValidationRecord, RescueRecord, EndRecord}
    assert read_progress(tmp_path / "run" / "progress.jsonl") == records


def test_a_half_written_last_line_is_left_for_the_next_reading(tmp_path):
    path = tmp_path / "progress.jsonl"
    record = EndRecord(3, "finished", 1.5)
    line = progress_line(record) + "\n"
    for cut in range(len(line)):
        path.write_text(line + line[:cut])
        assert read_progress(path) == [record]
    path.write_text(line + line)
    assert read_progress(path) == [record, record]


def test_a_resumed_run_drops_a_half_written_line(start, tmp_path):
    records = start().records()
    list(itertools.islice(records, 5))
    records.close()
    path = tmp_path / "run" / "progress.jsonl"
    with path.open("a") as file:
        file.write('{"kind": "st')
    rest = list(start().records())
    assert [record.step for record in only(StepRecord, read_progress(path))] == list(range(1, 26))
    assert read_progress(path)[-1] == rest[-1]


# kill -9

LOOP = """
import json, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from ctxemb.corpora import open_corpus
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLMConfig
from ctxemb.text import TextConfig
from ctxemb.tokenized import tokenize, train_tokenizer
from ctxemb.training import LanguageModelling, TrainingConfig, train
text, cache, out = map(Path, sys.argv[1:4])
corpora = [open_corpus(text)]
tokenizer = train_tokenizer(corpora, TextConfig(), cache)
corpus = tokenize(corpora, tokenizer, TextConfig(), cache)
settings = [json.loads(argument) for argument in sys.argv[4:6]]
world = World(0, 1, torch.device("cpu"))
model, config = BiLMConfig(**settings[0]), TrainingConfig(**settings[1])
print("ready", flush=True)
for record in train(LanguageModelling(model, config, corpus, tokenizer, TextConfig()), out, world):
    print(record.kind, flush=True)
    input()
"""


def test_a_run_killed_at_any_moment_has_loadable_checkpoints_and_goes_on_exactly(slots, start, tmp_path):
    settings = {"num_epochs": 4, "validate_every": 2, "save_every": 1}
    expected = start("whole", **settings)
    expected_curve = curve(expected.records())
    arguments = [MODEL.model_dump_json(), expected.config.model_dump_json()]
    out = tmp_path / "killed"
    rng = np.random.default_rng(0)
    num_done = 0
    for num_lines in (0, *rng.integers(3, 60, size=2)):
        command = [sys.executable, "-c", LOOP, slots.path, slots.cache, out, *arguments]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, cwd=Path(__file__).parents[2], bufsize=0, **pipes) as process:
            for _ in range(num_lines + 1):  # in step with the run, so that a slow machine does not let it finish
                assert process.stdout.readline()
                process.stdin.write(b"\n")
            process.kill()
        if (out / "best").exists():
            assert files_are_finite(out)
        if num_lines:
            num_done = len(only(StepRecord, read_progress(out / "progress.jsonl")))
    assert 0 < num_done < 100
    resumed = start("killed", **settings)
    list(resumed.records())
    assert curve(read_progress(out / "progress.jsonl")) == expected_curve
    assert_same_weights(resumed.model, expected.model)


def test_a_run_killed_before_its_first_state_starts_anew(start, tmp_path):
    run = start()
    expected = curve(run.records())
    (tmp_path / "young").mkdir()
    (tmp_path / "young" / "run.json").write_bytes((tmp_path / "run" / "run.json").read_bytes())
    assert curve(start("young").records()) == expected
    assert json.loads((tmp_path / "young" / "run.json").read_text())["training"]["seed"] == 0
