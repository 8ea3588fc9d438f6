import itertools
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ctxemb.progress import EndRecord, RescueRecord, StepRecord, ValidationRecord, keep_records_until, progress_line
from ctxemb.runs import ProgressReader, RunError


def step_line(step: int, loss: float = 5.0) -> str:
    record = StepRecord(
        step, 100_000, 0, 10 * step, 1.0, 1e-3, 5_000.0, 60.0, 0.1, loss_forward_nats=loss, loss_backward_nats=loss,
        perplexity=float(np.exp(loss)),
    )  # fmt: skip
    return progress_line(record) + "\n"


def validation_line(step: int, loss: float, is_best: bool) -> str:
    record = ValidationRecord(step, 0, 10 * step, is_best, loss, loss, float(np.exp(loss)), float(np.exp(loss)))
    return progress_line(record) + "\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "progress.jsonl"


@pytest.fixture
def append(path: Path):
    def append(*lines: str) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.writelines(lines)

    return append


def test_what_is_new_is_read_and_only_that(path, append):
    reader = ProgressReader(path)
    assert not reader.read()  # not there yet
    append(step_line(1, 9.0), step_line(2, 8.0), validation_line(2, 8.5, True))
    assert reader.read()
    assert reader.steps["loss_forward_nats"].x.tolist() == [1, 2]
    assert reader.steps["loss_forward_nats"].y.tolist() == [9, 8]
    assert reader.validations["perplexity_forward"].y.tolist() == [pytest.approx(np.exp(8.5))]
    assert not reader.read()
    append(step_line(3, 7.0), validation_line(3, 8.7, False), progress_line(EndRecord(3, "finished", 1.0)) + "\n")
    assert reader.read()
    assert reader.steps["loss_forward_nats"].y.tolist() == [9, 8, 7]
    assert reader.last_step["step"] == 3
    assert (reader.last_validation["step"], reader.best_validation["step"]) == (3, 2)
    assert reader.end == EndRecord(3, "finished", 1.0)
    assert reader.generation == 0


def test_a_half_written_line_waits_for_the_rest(path, append):
    reader, line = ProgressReader(path), step_line(1)
    for character in line[:-1]:
        append(character)
        reader.read()
        assert reader.last_step is None
    append(line[-1])
    assert reader.read()
    assert reader.last_step["step"] == 1


def test_a_resumed_run_is_read_anew_where_it_drops_steps(path, append):
    reader = ProgressReader(path)
    append(*(step_line(step, 9.0) for step in range(1, 11)))
    reader.read()
    keep_records_until(path, 5)
    append(*(step_line(step, 3.0) for step in range(6, 14)))  # longer than it was: its size tells nothing
    assert reader.read()
    assert reader.steps["loss_forward_nats"].x.tolist() == list(range(1, 14))
    assert reader.steps["loss_forward_nats"].y.tolist() == [9.0] * 5 + [3.0] * 8
    assert reader.generation == 1


@pytest.mark.parametrize("content", ["", step_line(1, 2.0)])
def test_a_file_that_was_cut_is_read_anew(path, append, content):
    reader = ProgressReader(path)
    append(*(step_line(step) for step in range(1, 11)))
    reader.read()
    path.write_text(content)
    assert reader.read()
    assert list(reader.steps) == ([] if not content else list(reader.steps))
    assert (reader.last_step or {}).get("loss_forward_nats") == (2.0 if content else None)


def test_a_resumed_run_has_not_ended(path, append):
    reader = ProgressReader(path)
    append(step_line(1), progress_line(EndRecord(1, "stopped", 1.0)) + "\n")
    reader.read()
    assert reader.end.reason == "stopped"
    keep_records_until(path, 1)
    reader.read()
    assert reader.end is None


def test_what_a_later_version_adds_is_skipped(path, append):
    reader = ProgressReader(path)
    append(json.dumps({"kind": "weather", "rain": 1}) + "\n", step_line(1))
    append(progress_line(RescueRecord(2, "loss nan", 1e-3, 1.0, False)) + "\n")
    reader.read()
    assert reader.last_step["step"] == 1
    assert list(reader.rescues) == [RescueRecord(2, "loss nan", 1e-3, 1.0, False)]


def test_a_line_that_is_no_record_is_said(path, append):
    append(step_line(1), "\0\0\0\n")
    with pytest.raises(RunError, match=r"progress\.jsonl: this line is no record"):
        ProgressReader(path).read()


def test_the_records_of_a_real_run(tiny_run):
    """Every number that was written is a curve, and the last of each curve is the last that was written."""
    reader = ProgressReader(tiny_run / "progress.jsonl")
    reader.read()
    lines = [json.loads(line) for line in (tiny_run / "progress.jsonl").read_text().splitlines()]
    steps = [line for line in lines if line["kind"] == "step"]
    assert reader.steps.keys() == steps[0].keys() - {"kind", "step"}
    for name, curve in reader.steps.items():
        assert curve.x.tolist() == [step["step"] for step in steps]
        assert curve.y.tolist() == [step[name] for step in steps]
    assert reader.end.reason == "finished"


def test_memory_stays_flat_over_a_long_run(path):
    """100,000 steps, looked at every 1,000, as by a page that polls."""

    def lines() -> Iterator[str]:
        line = step_line(1)
        for step in range(1, 100_001):
            yield line.replace('"step": 1,', f'"step": {step},')

    reader, records = ProgressReader(path), lines()
    sizes = []
    with path.open("w", encoding="utf-8") as file:
        tracemalloc.start()
        for _ in range(100):
            file.writelines(itertools.islice(records, 1_000))
            file.flush()
            reader.read()
            sizes.append(tracemalloc.get_traced_memory()[0])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert reader.last_step["step"] == 100_000
    assert all(len(curve) <= 2_000 for curve in reader.steps.values())
    assert peak < 50e6
    assert sizes[-1] < sizes[9] + 1e6
