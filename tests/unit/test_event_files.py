import sys

import pytest

from ctxemb.event_files import EventFiles
from ctxemb.progress import ContrastiveStepRecord, EndRecord, RescueRecord, StepRecord, ValidationRecord

STEP = {"total_steps": 9, "epoch": 0, "num_tokens": 60, "gradient_norm": 1.5, "learning_rate": 1e-3}
SPEED = {"tokens_per_second": 2_000.0, "eta_seconds": 120.0, "padding_share": 0.125}


def step(number: int, perplexity: float = 20.0) -> StepRecord:
    return StepRecord(number, **STEP, **SPEED, loss_forward_nats=2.0, loss_backward_nats=4.0, perplexity=perplexity)


def test_without_tensorboard_a_sentence_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    for name in [name for name in sys.modules if name.startswith("torch.utils.tensorboard")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ValueError, match="`pip install tensorboard`, or leave out --tensorboard"):
        EventFiles(tmp_path / "events")
    assert not (tmp_path / "events").exists()


def test_every_measure_is_a_scalar_that_tensorboard_reads(tmp_path):
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="the optional package tensorboard is not here"
    )
    validation = ValidationRecord(2, 0, 60, True, 2.0, 4.0, 7.4, 54.6)
    pairs = {"loss_nats": 2.25, "chance_nats": 4.5, "accuracy": 0.625, "positive_cosine": 0.75, "negative_cosine": 0.25}
    contrastive = ContrastiveStepRecord(3, **STEP, **SPEED, **pairs, num_anchors=24, num_masked=5)
    rescue = RescueRecord(4, "loss nan", 5e-4, 1.0, False)
    with EventFiles(tmp_path) as events:
        for record in (step(1), step(2, 19.0), validation, contrastive, rescue, EndRecord(4, "stopped", 1.0)):
            events.write(record)
    with EventFiles(tmp_path) as events:  # resumed at step 2
        events.write(step(2, 18.0))
    found = accumulator.EventAccumulator(str(tmp_path)).Reload()
    scalars = {tag: [(e.step, e.value) for e in found.Scalars(tag)] for tag in found.Tags()["scalars"]}
    assert scalars["step/perplexity"] == [(1, 20.0), (2, 18.0)]
    assert set(scalars) >= {"step/perplexity", "step/gradient_norm", "step/loss_forward_nats"}
    assert "step/total_steps" not in scalars


def test_nothing_is_written_for_a_run_without_records(tmp_path):
    pytest.importorskip("tensorboard", reason="the optional package tensorboard is not here")
    with EventFiles(tmp_path / "events"):
        pass
    assert not (tmp_path / "events").exists()
