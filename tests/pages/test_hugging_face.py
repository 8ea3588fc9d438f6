"""Pages on a folder of Hugging Face encoders beside our own checkpoints, with and without their library."""

import importlib.util
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.hugging_face import write_config, write_encoder, write_words

OpenApp = Callable[..., AppTest]
needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None,
    reason="transformers is an extra: pip install -r requirements-transformers.txt",
)


@pytest.fixture
def open_beside(open_app: OpenApp, families: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OpenApp:
    """`open_app` with a Hugging Face encoder, `bert`, beside an English contrastive checkpoint of ours."""
    folder = tmp_path / "checkpoints"
    shutil.copytree(families / "en-contrastive", folder / "en-contrastive")
    if importlib.util.find_spec("transformers") is None:
        write_words(folder / "bert")
        write_config(folder / "bert")
        (folder / "bert" / "model.safetensors").write_bytes(b"not read")
    else:
        write_encoder(folder / "bert")
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(folder))
    return open_app


def text(app: AppTest) -> str:
    return " ".join(element.value for element in [*app.markdown, *app.info, *app.caption]).replace("\\", "")


@needs_transformers
def test_compare_shows_it_like_any_encoder(open_beside: OpenApp):
    app = open_beside(checkpoint="bert", word="bank")
    assert not app.exception
    assert not app.error
    assert [metric.label for metric in app.metric] == ["Same sense", "Cross sense", "Gap", "AUC"]
    assert app.pills(key="layer").options == ["0", "1", "2", "mean"]
    static = {metric.label: metric.value for metric in open_beside(checkpoint="bert", word="bank", layer="0").metric}
    assert (static["Same sense"], static["Gap"]) == ("1.00", "+0.00")
    app.text_input(key="word").set_value("zyzzyva").run()
    assert not app.exception
    assert "vocabulary" not in text(app)


@needs_transformers
def test_only_an_encoder_with_a_vocabulary_has_words_read_as_unknown(open_beside: OpenApp):
    own = "The zyzzyva sat on the bank ."
    for name, is_said in (("bert", False), ("en-contrastive", True)):
        app = open_beside(checkpoint=name, word="bank", own=own)
        assert not app.exception
        assert ("Dashed: not in the vocabulary" in text(app)) == is_said


@needs_transformers
def test_it_says_what_it_is(open_beside: OpenApp):
    app = open_beside(checkpoint="bert")
    assert "A Hugging Face encoder, read only: English, words of any spelling, 8 numbers a vector, 2 layers." in text(
        app
    )


def test_without_its_library_the_page_says_how_to_get_it(open_beside: OpenApp, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    app = open_beside(checkpoint="bert")
    assert not app.exception
    (error,) = app.error
    assert "pip install -r requirements-transformers.txt" in error.value.replace("\\", "")
    app.selectbox(key="checkpoint").set_value("en-contrastive").run()
    assert not app.error
    assert len(app.metric) == 4


def test_nothing_is_recorded_of_it(open_beside: OpenApp, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    app = open_beside("scores")
    assert not app.exception
    assert not [error.value for error in app.error if "bert" in error.value]
    assert "A Hugging Face encoder is opened read-only, so nothing is recorded" in text(app)
