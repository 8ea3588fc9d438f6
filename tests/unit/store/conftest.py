"""A corpus of known sentences, and the store that was built from it."""

import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from ctxemb import Encoder
from ctxemb.corpora import Corpus, open_corpus
from ctxemb.store import SelectionConfig, VectorStore, index_corpus
from tests.conftest import FRAMES, WORDS

WANTED = SelectionConfig(words=("bank", "plant", "river"), max_per_word=None)


class Indexed(NamedTuple):
    """A corpus and its store; tests that change the store copy it first."""

    encoder: Encoder
    corpus: Corpus
    folder: Path
    cache: Path

    def copy(self, folder: Path) -> Path:
        return Path(shutil.copytree(self.folder, folder))

    def sentences(self) -> list[str]:
        return list(self.corpus.passages())


@pytest.fixture(scope="session")
def lines() -> list[str]:
    """600 different sentences of the tiny checkpoint's words, three chunks of them."""
    rng = np.random.default_rng(1)
    drawn = (frame.format(**{k: rng.choice(v) for k, v in WORDS.items()}) for frame in FRAMES for _ in range(100))
    return [
        f"{line[:-2]} when the {rng.choice(WORDS['person'])} saw it {number} ." for number, line in enumerate(drawn)
    ]


@pytest.fixture(scope="session")
def indexed(encoder: Encoder, lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    folder = tmp_path_factory.mktemp("store")
    path = folder / "text.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    corpus = open_corpus(path)
    index_corpus(encoder, corpus, folder / "store", folder / "cache", WANTED)
    return Indexed(encoder, corpus, folder / "store", folder / "cache")


@pytest.fixture
def store(indexed: Indexed) -> VectorStore:
    return VectorStore.open(indexed.folder)


@pytest.fixture
def other_encoder(tiny_checkpoint: Path, tmp_path: Path) -> Encoder:
    """Another checkpoint: the same files but for one weight."""
    folder = tmp_path / "other"
    shutil.copytree(tiny_checkpoint, folder)
    weights = load_file(folder / "model.safetensors")
    name = next(iter(weights))
    weights[name] = weights[name] + 1e-3
    save_file(weights, folder / "model.safetensors")
    return Encoder.load(folder, device="cpu")
