import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from ctxemb.cli import main
from ctxemb.corpora import open_corpus
from ctxemb.distributed import World
from ctxemb.progress import StepRecord
from ctxemb.recipes import choose_recipe, prepare, run, with_settings
from ctxemb.runs import Run, RunRequest, RunStore
from ctxemb.runs.process import send

ALONE = World(0, 1, torch.device("cpu"))
# the recipe `quick` on a text of some lines: a step takes some milliseconds
SMALL = (
    *("model.embedding_size=8", "model.hidden_size=8", "model.cutoffs=[16]", "training.batch_tokens=400"),
    *("training.warmup_steps=5", "training.validate_every=20", "training.save_every=10", "training.num_epochs=20"),
    "training.precision=float32",
)


@pytest.fixture
def wait() -> Callable[..., None]:
    """`wait(condition)`: until something is so that another process brings about."""

    def wait(condition: Callable[[], bool], seconds: float = 240.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, "it did not come about"
            threading.Event().wait(0.02)

    return wait


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of these tests reaches the user's own folders."""
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CTXEMB_RUNS", str(tmp_path / "runs"))


@pytest.fixture
def request_run(tiny_run: Path) -> Callable[..., RunRequest]:
    """`request_run(settings=[...])`: a small training."""

    def request_run(name: str = "small", **changes: object) -> RunRequest:
        settings = (*SMALL, *changes.pop("settings", ()))
        values = {"recipe": "quick", "corpora": (str(tiny_run.parent / "text.txt"),), "device": "cpu", "threads": 1}
        return RunRequest.model_validate({"name": name, "settings": settings, **values, **changes})

    return request_run


@pytest.fixture(scope="session")
def uninterrupted(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[int, float]:
    """Step -> loss of such a training that nobody disturbs."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    recipe = with_settings(choose_recipe("quick"), SMALL)
    material = prepare(recipe, [open_corpus(tiny_run.parent / "text.txt")], folder / "cache")
    records = run(recipe, material, folder / "run", ALONE)
    return {record.step: record.loss_forward_nats for record in records if isinstance(record, StepRecord)}


@pytest.fixture
def store(tmp_path: Path):
    """A store of one run at a time; what still runs at the end of a test is killed."""
    store = RunStore(max_running=1, niceness=0)
    yield store
    for folder in tmp_path.glob("runs/2*"):
        send(folder, 9)


@pytest.fixture
def sleepers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings are processes that only sleep: what they hold in their hands is the same."""
    stub = tmp_path / "sleeper"
    stub.write_text("#!/bin/sh\nexec sleep 100\n")
    stub.chmod(0o755)
    monkeypatch.setattr("ctxemb.runs.process.sys.executable", str(stub))


@pytest.fixture
def untrained(store: RunStore, request_run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run that left the queue before its turn: it is for `train_here`."""
    with monkeypatch.context() as patch:
        patch.setattr(RunStore, "advance", lambda self: None)
        untrained = store.start(request_run())
        untrained.stop()
    return untrained


@pytest.fixture
def train_here(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[[Run], int]:
    """Train a run in this process, by the command that its own process would be given; the exit code."""

    def train_here(run: Run) -> int:
        monkeypatch.setattr(sys, "argv", ["ctxemb", *run.request.arguments(run.trained, 1)])
        with pytest.raises(SystemExit) as end:
            main()
        assert "Traceback" not in capsys.readouterr().err
        return int(end.value.code or 0)

    return train_here
