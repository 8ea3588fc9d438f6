"""Folders of small checkpoints, and the app opened on them without a browser."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxemb import Encoder
from ctxemb.calibration import calibrate
from ctxemb.corpora import open_corpus
from ctxemb.tokenized import tokenize
from tests.untrained import write_checkpoints

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


@pytest.fixture(scope="session")
def families(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained checkpoint of every family in both languages: `en-bilm` to `zh-static`."""
    folder = tmp_path_factory.mktemp("families")
    write_checkpoints(folder, tmp_path_factory.mktemp("cache"))
    return folder


@pytest.fixture
def open_app(checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """`open_app(word="plant")`: the app on the tiny checkpoint, opened with these query parameters.

    There is no lexicon and no text on its machine, but our own example sentences.
    """
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(checkpoints))
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "no data"))
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CTXEMB_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr("ctxemb.ui.loading.SHIPPED", checkpoints / "none")
    monkeypatch.setattr("ctxemb.calibration.SAMPLES", {"en": (), "zh": ()})

    def open_one(page: str = "", **query: str) -> AppTest:
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
        app.query_params.update(query)
        if page:
            app.switch_page(f"app_pages/{page}.py")
        return app.run()

    return open_one


@pytest.fixture
def open_family(
    open_app: Callable[..., AppTest], families: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """`open_app` on the checkpoints of every family."""
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(families))
    return open_app
