"""Shared fixtures: corpora out of a few lines, a text with a known bound, and one checkpoint trained in seconds."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, also in the processes that tests start
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import itertools
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.calibration import calibrate
from ctxemb.corpora import Corpus, open_corpus
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLMConfig
from ctxemb.recipes import Recipe, prepare, run
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus, tokenize, train_tokenizer
from ctxemb.training import TrainingConfig

torch.set_num_threads(1)

ALONE = World(0, 1, torch.device("cpu"))

# every noun in two surroundings, so that there is something for a context to tell apart
FRAMES = (
    "the {adjective} bank approved the loan for the {person} .",
    "the {person} paid the money to the bank in the city .",
    "we sat on the {adjective} bank of the river with the {person} .",
    "the boat drifted to the bank where the water was {adjective} .",
    "the {person} saw the {adjective} plant beside the road .",
    "a {person} worked in the {adjective} plant near the city .",
)
WORDS = {
    "adjective": ("old", "new", "green", "quiet", "small", "large"),
    "person": ("farmer", "teacher", "doctor", "singer", "student"),
}


class Tokenized(NamedTuple):
    """A corpus file and what became of it."""

    path: Path
    text: TextConfig
    tokenizer: WordTokenizer
    corpus: TokenizedCorpus
    cache: Path


@pytest.fixture
def write_corpus(tmp_path: Path) -> Callable[..., Corpus]:
    """`write_corpus(passages, name="text.txt")`: a corpus of one passage a line."""

    def write(passages: Sequence[str], name: str = "text.txt") -> Corpus:
        path = tmp_path / name
        path.write_text("\n".join(passages) + "\n", encoding="utf-8")
        return open_corpus(path)

    return write


def tokenize_lines(folder: Path, lines: Sequence[str], text: TextConfig) -> Tokenized:
    path = folder / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpora, cache = [open_corpus(path)], folder / "cache"
    tokenizer = train_tokenizer(corpora, text, cache)
    return Tokenized(path, text, tokenizer, tokenize(corpora, tokenizer, text, cache), cache)


@pytest.fixture(scope="session")
def slots(tmp_path_factory: pytest.TempPathFactory) -> Tokenized:
    """500 sentences of 6 words, each drawn evenly from the 4 words of its place.

    The best possible loss is known, the same for every held-out part and both directions: see `slots_bound_nats`.
    """
    rng = np.random.default_rng(0)
    words = [f"{a}{b}" for a, b in itertools.product("bdfgkl", "aeio")]
    picks = rng.integers(4, size=(500, 6))
    lines = [" ".join(words[4 * place + pick] for place, pick in enumerate(row)) for row in picks]
    return tokenize_lines(tmp_path_factory.mktemp("slots"), lines, TextConfig())


@pytest.fixture(scope="session")
def slots_bound_nats() -> float:
    """Entropy per prediction of `slots`: one of four for each of 6 words, nothing for the boundary."""
    return 6 / 7 * math.log(4)


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished training run on a small English text."""
    folder = tmp_path_factory.mktemp("tiny")
    rng = np.random.default_rng(0)
    lines = [frame.format(**{k: rng.choice(v) for k, v in WORDS.items()}) for frame in FRAMES for _ in range(40)]
    path = folder / "text.txt"
    path.write_text("\n".join(rng.permutation(lines)) + "\n", encoding="utf-8")
    recipe = Recipe(
        name="tiny",
        description="seconds on one core",
        corpora=(str(path),),
        text=TextConfig(),
        model=BiLMConfig(embedding_size=16, hidden_size=24, num_layers=2, dropout=0.2, cutoffs=(16,)),
        training=TrainingConfig(
            num_epochs=12, batch_tokens=200, learning_rate=1e-2, warmup_steps=10, validate_every=50, precision="float32"
        ),
    )
    tokenizer, corpus = prepare(recipe, [open_corpus(path)], folder / "cache")
    for _ in run(recipe, tokenizer, corpus, folder / "run", ALONE):
        pass
    return folder / "run"


@pytest.fixture(scope="session")
def tiny_checkpoint(tiny_run: Path) -> Path:
    """A loadable checkpoint folder; tests that change it copy it first."""
    return tiny_run / "best"


@pytest.fixture(scope="session")
def encoder(tiny_checkpoint: Path) -> Encoder:
    """The tiny checkpoint, ready to read."""
    return Encoder.load(tiny_checkpoint, device="cpu")


@pytest.fixture(scope="session")
def tiny_corpus(tiny_run: Path, encoder: Encoder) -> TokenizedCorpus:
    """The text of the tiny checkpoint, in its ids: one sentence a passage."""
    folder = tiny_run.parent
    return tokenize([open_corpus(folder / "text.txt")], encoder.tokenizer, encoder.config.text, folder / "cache")


@pytest.fixture(scope="session")
def calibrated(
    tiny_checkpoint: Path, tiny_corpus: TokenizedCorpus, tmp_path_factory: pytest.TempPathFactory
) -> Encoder:
    """A copy of the tiny checkpoint that keeps word counts and means; tests that change its folder copy it first."""
    folder = tmp_path_factory.mktemp("calibrated") / "checkpoint"
    shutil.copytree(tiny_checkpoint, folder)
    words = ["bank", "plant", "approved", "water", "zyzzyva"]
    calibrate(Encoder.load(folder, device="cpu"), tiny_corpus, words)
    return Encoder.load(folder, device="cpu")
