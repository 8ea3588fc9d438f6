"""A folder with one small calibrated checkpoint, and the app opened on it without a browser."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxemb import Encoder
from ctxemb.calibration import calibrate
from ctxemb.corpora import open_corpus
from ctxemb.tokenized import tokenize

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def checkpoints(tiny_checkpoint: Path, tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoint folders: `tiny`, with the statistics that centring and the bag of context need."""
    folder = tmp_path_factory.mktemp("checkpoints")
    shutil.copytree(tiny_checkpoint, folder / "tiny")
    encoder = Encoder.load(folder / "tiny", device="cpu")
    text = [open_corpus(tiny_run.parent / "text.txt")]
    corpus = tokenize(text, encoder.tokenizer, encoder.config.text, tmp_path_factory.mktemp("cache"))
    calibrate(encoder, corpus, ["bank", "plant"])
    return folder


@pytest.fixture
def open_app(checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """`open_app(word="plant")`: the app on the tiny checkpoint, opened with these query parameters."""
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(checkpoints))
    monkeypatch.setattr("ctxemb.ui.loading.SHIPPED", checkpoints / "none")

    def open_one(**query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        app.query_params.update(query)
        return app.run()

    return open_one
