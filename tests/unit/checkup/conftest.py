"""Checkpoints to examine: the shipped ones, copies with one fault each, and a small untrained BiLM."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from ctxemb import Encoder
from ctxemb.checkpoint import load_checkpoint, save_checkpoint
from ctxemb.examples import load_examples
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.families import build_model
from ctxemb.text import TextConfig, WordTokenizer

SHIPPED = Path(__file__).parents[3] / "checkpoints"
NAMES = ("en-bilm", "en-contrastive", "en-static", "zh-contrastive", "zh-static")


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine as it is after installation: no text but our examples and what comes with gensim."""
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "no data"))
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def copy(tmp_path: Path) -> Callable[[str], Path]:
    """`copy("en-static")`: a folder with that shipped checkpoint, to be changed."""

    def copy_one(name: str) -> Path:
        return Path(shutil.copytree(SHIPPED / name, tmp_path / "checkpoint"))

    return copy_one


@pytest.fixture(scope="session")
def untrained(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    """A BiLM with random weights that knows every word of our example sentences."""
    text = TextConfig(min_frequency=1)
    tokenizer = WordTokenizer.train(load_examples("en").sentence, text)
    torch.manual_seed(0)
    config = BiLMConfig(vocabulary_size=len(tokenizer), embedding_size=12, hidden_size=16, cutoffs=(500,), dropout=0.3)
    folder = tmp_path_factory.mktemp("untrained") / "bilm"
    save_checkpoint(folder, BiLM(config).eval(), tokenizer, text)
    return Encoder.load(folder, "cpu")


def change_weights(folder: Path, change: Callable[[dict[str, torch.Tensor]], None]) -> None:
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def change_json(path: Path, change: Callable[[dict], None]) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def forget_training(folder: Path) -> None:
    """The same sizes, words and settings with random weights."""
    checkpoint = load_checkpoint(folder)
    torch.manual_seed(1)
    model = build_model(checkpoint.config.model).eval()
    shutil.rmtree(folder)
    save_checkpoint(folder, model, checkpoint.tokenizer, checkpoint.config.text, checkpoint.config.reading)
