import math
import shutil
from pathlib import Path

import pytest

from ctxemb.live_run import LiveRun, position_of, read_position
from ctxemb.progress import StepRecord, read_progress
from ctxemb.runs import Run, RunRequest, RunStore
from ctxemb.watch import watch


@pytest.fixture
def run(tiny_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run whose process has written what `tiny_run` wrote."""
    monkeypatch.setattr(RunStore, "advance", lambda self: None)
    text = str(tiny_run.parent / "text.txt")
    run = RunStore(tmp_path / "runs").start(RunRequest(name="tiny", recipe="quick", corpora=(text,)))
    shutil.copytree(tiny_run, run.trained)
    return run


def test_curves_and_findings_are_those_of_the_records(run: Run) -> None:
    records = read_progress(run.trained / "progress.jsonl")
    steps = [record for record in records if isinstance(record, StepRecord)]
    live = LiveRun(run)
    live.update()
    x, y = live.training_losses()["backward"]
    assert x.tolist() == [step.step for step in steps]
    assert y.tolist() == [step.loss_backward_nats for step in steps]
    assert list(live.validation_losses()) == ["forward", "backward"]
    size = live.vocabulary_size
    assert size
    assert live.chance == (f"ln {size:,}, a guess", math.log(size))
    assert live.findings == watch(records, size)
    assert live.measure("no such measure") is None


def test_it_follows_a_growing_file_and_one_that_is_begun_anew(run: Run) -> None:
    path = run.trained / "progress.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    live = LiveRun(run)
    path.write_bytes(b"".join(lines[:10]) + lines[10][:20])  # the last line is half-written
    live.update()
    assert len(live.training_losses()["forward"][0]) == 10
    assert live.num_updates == 1
    live.update()
    assert live.num_updates == 1
    path.write_bytes(b"".join(lines[:20]))
    live.update()
    assert len(live.training_losses()["forward"][0]) == 20
    assert live.num_updates == 2
    path.write_bytes(b"".join(lines[:5]).replace(b'"epoch": 0', b'"epoch":  0'))
    live.update()
    assert len(live.training_losses()["forward"][0]) == 5


def test_the_position_is_that_of_the_last_whole_step(run: Run) -> None:
    path = run.trained / "progress.jsonl"
    position = read_position(run)
    last = [record for record in read_progress(path) if isinstance(record, StepRecord)][-1]
    assert position == position_of(vars(last))
    assert position
    assert (position.step, position.share) == (last.step, last.step / last.total_steps)
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    first = read_position(run)
    assert first
    assert first.step == 1
    path.write_bytes(b'{"kind": "st')
    assert read_position(run) is None
    path.unlink()
    assert read_position(run) is None
