"""Runs that really train: in this process where that is enough, in one of their own where it is to be killed."""

import os
import pkgutil
import resource
import signal

import pytest

from ctxemb import Encoder
from ctxemb.checkpoint import load_checkpoint, read_state
from ctxemb.progress import EndRecord, StepRecord, read_progress
from ctxemb.runs import Run, RunError, RunStore
from ctxemb.runs.lock import take_lock
from ctxemb.runs.report import read_report
from ctxemb.training import run as training
from ctxemb.training.folder import STATE

SAVE_EVERY = 10


def losses(run: Run) -> dict[int, float]:
    """Step -> loss; every step is there once."""
    steps = [record for record in read_progress(run.trained / "progress.jsonl") if isinstance(record, StepRecord)]
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    return {step.step: step.loss_forward_nats for step in steps}


def last_step(run: Run) -> int:
    reader = run.reader()
    reader.read()
    return (reader.last_step or {}).get("step", 0)


def test_a_run_says_how_it_goes_and_how_it_ended(untrained, train_here, store):
    assert train_here(untrained) == 0
    assert untrained.status().state == "finished"
    assert Encoder.load(untrained.checkpoint, device="cpu").encode(["the bank ."])[0].tokens == ["the", "bank", "."]
    with pytest.raises(RunError, match="is finished; only a run that has stopped before its end can be resumed"):
        untrained.resume()


def test_reading_is_reported(untrained, train_here, monkeypatch):
    seen = []
    monkeypatch.setattr("ctxemb.runs.report.Reporter.reading", lambda self, what, done: seen.append((what, done)))
    train_here(untrained)
    assert ("passages read for the vocabulary", 240) in seen
    assert ("passages read", 240) in seen


def test_a_heartbeat_goes_on_while_the_process_computes(untrained, train_here, monkeypatch, wait):
    monkeypatch.setattr("ctxemb.runs.report.BEAT_SECONDS", 0.01)
    beats = []

    def measure(*_: object) -> None:
        wait(lambda: (report := read_report(untrained.folder)) and report.beat > 20)
        beats.append(read_report(untrained.folder))

    monkeypatch.setattr("ctxemb.calibration.calibrate", measure)
    assert train_here(untrained) == 0
    (report,) = beats
    assert (report.stage, report.pid) == ("training", os.getpid())
    assert (untrained.folder / "report.json").stat().st_size == 4096


@pytest.mark.parametrize("moment", ["reading", "validation", "saving", "measuring"])
def test_a_stop_at_any_moment_is_a_stopped_run_that_can_be_resumed(
    untrained, train_here, uninterrupted, monkeypatch, moment
):
    place = {
        "reading": "ctxemb.recipes:prepare",
        "validation": "ctxemb.training.run:Run._validate",
        "saving": "ctxemb.training.run:save_state",
        "measuring": "ctxemb.calibration:calibrate",
    }[moment]
    work, calls = pkgutil.resolve_name(place), []

    def interrupted(*arguments: object, **options: object) -> object:
        calls.append(arguments)
        if len(calls) == (2 if moment == "saving" else 1):  # the first save is before the first step
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGTERM)  # pressed twice
        return work(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(place.replace(":", "."), interrupted)
        assert train_here(untrained) == 130
    assert untrained.state == "stopped"
    if moment in ("validation", "saving"):
        assert isinstance(read_progress(untrained.trained / "progress.jsonl")[-1], EndRecord)
    assert train_here(untrained) == 0
    assert untrained.state == "finished"
    assert losses(untrained) == uninterrupted
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_full_disk_ends_a_run_with_a_sentence_and_leaves_what_was_saved(
    untrained, train_here, uninterrupted, monkeypatch
):
    save_state, num_saves = training.save_state, []
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(*arguments: object) -> None:
        num_saves.append(arguments)
        if len(num_saves) == 4:  # at the start, after 10 and 20 steps, and now
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
        save_state(*arguments)

    try:
        with monkeypatch.context() as patch:
            patch.setattr(training, "save_state", fill)
            assert train_here(untrained) == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    status = untrained.status()
    assert status.state == "failed"
    assert status.detail.startswith("there is no space left on the disk")
    assert load_checkpoint(untrained.checkpoint).metrics["validation"]["step"] == 20
    assert train_here(untrained) == 0
    assert losses(untrained) == uninterrupted


def test_a_mistake_is_the_reason_that_a_run_failed(untrained, train_here, monkeypatch):
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("ctxemb.recipes.prepare", fail)
    with pytest.raises(ZeroDivisionError):
        train_here(untrained)
    assert (untrained.state, untrained.status().detail) == ("failed", "ZeroDivisionError: by zero")


def test_a_run_is_not_trained_twice_at_once(untrained, train_here):
    lock = take_lock(untrained.folder / "lock")
    try:
        assert train_here(untrained) == 1
        assert not untrained.trained.exists()
    finally:
        os.close(lock)


def test_kills_at_any_moment_lose_at_most_one_save_interval(store, request_run, uninterrupted, wait):
    run = store.start(request_run())
    for at in (len(uninterrupted) // 4, len(uninterrupted) // 2):
        wait(lambda run=run, at=at: last_step(run) >= at)
        os.killpg(run.pid, signal.SIGKILL)
        wait(lambda run=run: not run.is_live)
        run = RunStore(max_running=1, niceness=0).get(run.id)  # the app is another one meanwhile
        assert run.state == "interrupted"
        _, saved = read_state(run.trained / STATE)
        assert last_step(run) - SAVE_EVERY <= saved["step"] < len(uninterrupted)
        assert load_checkpoint(run.checkpoint).config.family == "bilm"
        run.resume()
    wait(lambda: run.state == "finished")
    assert losses(run) == uninterrupted
    assert not list(run.trained.glob("**/.*"))  # no draft of a killed process stays
