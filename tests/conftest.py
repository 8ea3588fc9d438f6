"""Shared fixtures: corpora out of a few lines, a text with a known bound, and one checkpoint trained in seconds."""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before torch is imported, also in the processes that tests start
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import dataclasses
import itertools
import math
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.models.static import StaticConfig
from ctxemb.progress import EndRecord, Progress
from ctxemb.recipes import LexiconChoice, Recipe, prepare, run
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus, tokenize, train_tokenizer
from ctxemb.training import ContrastiveTrainingConfig, TrainingConfig
from ctxemb.word2vec import Word2VecConfig

torch.set_num_threads(1)
# a shell that runs in the background ignores Ctrl-C, and what it starts inherits that
signal.signal(signal.SIGINT, signal.default_int_handler)

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
# passages of two sentences, so that a noun is used twice in one sense
PASSAGES = (
    "The {adjective} bank approved the loan for the {person} . The {person} paid the money to the bank in the city .",
    "We sat on the {adjective} bank of the river . The boat drifted to the bank where the water was {adjective} .",
    "The {person} saw the {adjective} plant beside the road . The {person} watered a {adjective} plant at home .",
    "A {person} worked in the {adjective} plant near the city . The plant made {adjective} cars for the {person} .",
)
SYNONYMS = ("old,quiet", "new,green", "farmer,singer", "teacher,doctor", "river,water", "loan,money")


def curve(records: Iterable[Progress]) -> list[dict]:
    """Everything in steps, validations and rescues that does not depend on the clock."""
    clock = ("tokens_per_second", "eta_seconds", "seconds")
    return [
        {key: value for key, value in dataclasses.asdict(record).items() if key not in clock}
        for record in records
        if not isinstance(record, EndRecord)
    ]


def write_two_senses(path: Path) -> None:
    """240 sentences out of FRAMES and WORDS, one a line, the same every time."""
    rng = np.random.default_rng(0)
    lines = [frame.format(**{k: rng.choice(v) for k, v in WORDS.items()}) for frame in FRAMES for _ in range(40)]
    path.write_text("\n".join(rng.permutation(lines)) + "\n", encoding="utf-8")


class TinyRecipes(NamedTuple):
    """A contrastive recipe and its control, for the same file; a training takes a second or two."""

    control: Recipe
    contrastive: Recipe
    path: Path


class Tokenized(NamedTuple):
    """A corpus file and what became of it."""

    path: Path
    text: TextConfig
    tokenizer: WordTokenizer
    corpus: TokenizedCorpus
    cache: Path


@pytest.fixture
def full_disk() -> Callable[[int], AbstractContextManager[None]]:
    """`with full_disk(3):` writing beyond 3 bytes of a file fails as on a full disk (OSError)."""
    import resource  # not on Windows

    @contextmanager
    def limit(num_bytes: int) -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (num_bytes, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limit


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
    path = folder / "text.txt"
    write_two_senses(path)
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
    material = prepare(recipe, [open_corpus(path)], folder / "cache")
    for _ in run(recipe, material, folder / "run", ALONE):
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


@pytest.fixture(scope="session")
def tiny_recipes(tmp_path_factory: pytest.TempPathFactory) -> TinyRecipes:
    """Word2Vec against a contrastive encoder with a lexicon of its own, on 100 passages."""
    folder = tmp_path_factory.mktemp("tiny-recipes")
    rng = np.random.default_rng(0)
    passages = [frame.format(**{k: rng.choice(v) for k, v in WORDS.items()}) for frame in PASSAGES for _ in range(25)]
    path, lexicon = folder / "text.txt", folder / "lexicon.csv"
    path.write_text("\n".join(rng.permutation(passages)) + "\n", encoding="utf-8")
    lexicon.write_text("\n".join(["kind,a,b", *(f"synonym,{pair}" for pair in SYNONYMS), "antonym,small,large"]))
    shared = {"description": "seconds on one core", "corpora": (str(path),), "text": TextConfig()}
    contrastive = Recipe(
        name="tiny-contrastive",
        family="contrastive",
        model=ContrastiveConfig(embedding_size=16, hidden_size=8),
        training=ContrastiveTrainingConfig(
            num_epochs=100,
            max_steps=12,
            words_per_batch=2,
            passages_per_word=4,
            min_word_count=5,
            max_word_share=0.2,
            num_negatives=8,
            warmup_steps=2,
            validation_share=0.1,
            validate_every=6,
            save_every=5,
            precision="float32",
        ),
        initial=Word2VecConfig(vector_size=16, num_epochs=3),
        lexicon=LexiconChoice(source=str(lexicon)),
        **shared,
    )
    control = Recipe(
        name="tiny-static",
        family="static",
        model=StaticConfig(vector_size=12),
        training=Word2VecConfig(vector_size=12, num_epochs=3),
        **shared,
    )
    return TinyRecipes(control, contrastive, path)
