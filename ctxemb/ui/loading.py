"""Checkpoints and comparisons, loaded once and shared by all sessions; nothing in here is ever changed.

They are cached as resources, because copies of their arrays would cost more than computing them.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import streamlit as st
import torch

from ctxemb.analysis.context_bag import ContextBag
from ctxemb.analysis.similarity import RandomPairs
from ctxemb.calibration import Statistics, load_statistics
from ctxemb.checkpoint import CONFIG
from ctxemb.comparison import (
    Centring,
    Comparison,
    Sentence,
    TargetError,
    centring_mean,
    compare,
    context_bag,
    find_uses,
    random_baselines,
)
from ctxemb.encoder import Encoder
from ctxemb.models.reading import Reading
from ctxemb.review import Sample, open_sample
from ctxemb.text import Language, script_problem
from ctxemb.ui.run_store import run_checkpoints

FIRST_CHECKPOINT = "en-contrastive"
CHECKPOINTS_VARIABLE = "CTXEMB_CHECKPOINTS"
SHIPPED = Path(__file__).parents[2] / "checkpoints"


@dataclass(frozen=True)
class Model:
    """A checkpoint as pages use it: shared by all sessions, never changed."""

    key: tuple[str, int]
    encoder: Encoder
    statistics: Statistics | None
    bag: ContextBag | None

    @property
    def language(self) -> Language:
        """What its text is written in."""
        return self.encoder.config.text.language


@dataclass(frozen=True)
class Result:
    """What one comparison gives a page; `own` is the row of the sentence typed on its own, if it could be used."""

    comparison: Comparison | None = None
    own: int | None = None
    problems: Sequence[str] = ()
    mean_LD: np.ndarray | None = None
    random: RandomPairs | None = None
    random_by_layer: Sequence[RandomPairs] = ()


def find_checkpoints() -> dict[str, Path]:
    """Checkpoint folders by name: those that ship with the app, unless $CTXEMB_CHECKPOINTS holds one of that name, and
    the best ones of the runs on this machine.
    """
    roots = [Path(root) for root in (SHIPPED, os.environ.get(CHECKPOINTS_VARIABLE)) if root]
    found = {path.parent.name: path.parent for root in roots for path in sorted(root.glob(f"*/{CONFIG}"))}
    first = {FIRST_CHECKPOINT: found[FIRST_CHECKPOINT]} if FIRST_CHECKPOINT in found else {}
    return first | found | run_checkpoints()


def open_model(path: Path) -> Model:
    """A checkpoint as it is on disk now.

    Raises:
        CheckpointError: if it cannot be opened.
    """
    return load_model(str(path), last_changed(path))


def last_changed(path: Path) -> int:
    """When the newest file of a checkpoint was written, in nanoseconds."""
    return max(file.stat().st_mtime_ns for file in path.iterdir())


@st.cache_resource(max_entries=2, show_spinner="Loading the checkpoint …")
def load_model(path: str, changed: int) -> Model:
    """Open a checkpoint once for all sessions (Streamlit locks the load); `changed` tells a new file from an old."""
    torch.set_num_threads(1)  # encodes are short here, and a training run may want the cores
    encoder = Encoder.load(path)
    statistics = load_statistics(encoder)
    return Model((path, changed), encoder, statistics, context_bag(encoder, statistics))


@st.cache_resource(max_entries=8, show_spinner=False)
def load_random(
    key: tuple[str, int], reading: Reading, centring: Centring, _model: Model
) -> tuple[RandomPairs, list[RandomPairs]]:
    """The level of random word pairs for a reading."""
    return random_baselines(_model.encoder.with_reading(reading), centring, _model.statistics)


@st.cache_resource(max_entries=16, show_spinner=False)
def load_mean(
    key: tuple[str, int], reading: Reading, centring: Centring, word: str, _model: Model
) -> np.ndarray | None:
    """What centring subtracts; a word without a kept mean has its uses looked up in a sample text."""
    encoder = _model.encoder.with_reading(reading)
    return centring_mean(centring, encoder, _model.statistics, word, sample=lambda _: load_sample(key, _model).corpus)


@st.cache_resource(max_entries=2, show_spinner="Reading a sample text, once …")
def load_sample(key: tuple[str, int], _model: Model) -> Sample:
    """A text on this machine, in the checkpoint's ids."""
    return open_sample(_model.encoder)


@st.cache_resource(max_entries=16, show_spinner=False)
def run_comparison(
    key: tuple[str, int],
    reading: Reading,
    centring: Centring,
    word: str,
    sentences: tuple[Sentence, ...],
    own: Sentence | None,
    _model: Model,
) -> Result:
    """Everything the Compare page shows. Kept as a resource, because copies of its arrays would cost more than it."""
    if not word:
        return Result()
    encoder = _model.encoder.with_reading(reading)
    uses, problems = find_uses(encoder, sentences, word)
    own_uses, own_problems = find_uses(encoder, [own] if own else [], word)
    all_uses = [*uses, *own_uses]
    mean_LD = load_mean(key, reading, centring, word, _model) if all_uses else None
    try:
        random, random_by_layer = load_random(key, reading, centring, _model)
    except TargetError:  # a baseline less is no reason to show nothing
        random, random_by_layer = None, []
    return Result(
        comparison=compare(encoder, all_uses, word, mean_LD, _model.bag) if all_uses else None,
        own=len(uses) if own_uses else None,
        problems=[*_script_problems(_model, word, sentences, own), *map(str, [*own_problems, *problems])],
        mean_LD=mean_LD,
        random=random,
        random_by_layer=random_by_layer,
    )


def _script_problems(model: Model, word: str, sentences: Sequence[Sentence], own: Sentence | None) -> list[str]:
    """What a checkpoint of simplified characters cannot read."""
    texts = [word, *([own.text] if own else []), *(sentence.text for sentence in sentences)]
    return [problem for text in texts if (problem := script_problem(text))] if model.language == "zh" else []
