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
from ctxemb.calibration import Statistics, load_statistics, sample_text
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
from ctxemb.tokenized import TokenizedCorpus

CHECKPOINTS_VARIABLE = "CTXEMB_CHECKPOINTS"
SHIPPED = Path(__file__).parents[2] / "checkpoints"


@dataclass(frozen=True)
class Model:
    """A checkpoint as pages use it: shared by all sessions, never changed."""

    key: tuple[str, int]
    encoder: Encoder
    statistics: Statistics | None
    bag: ContextBag | None


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
    """Checkpoint folders by name: those under $CTXEMB_CHECKPOINTS first, then the ones that ship with the app."""
    roots = [Path(root) for root in (os.environ.get(CHECKPOINTS_VARIABLE), SHIPPED) if root]
    return {path.parent.name: path.parent for root in reversed(roots) for path in sorted(root.glob(f"*/{CONFIG}"))}


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
    """What centring subtracts; a word without a kept mean has its uses looked up in a sample of Wikipedia."""
    encoder = _model.encoder.with_reading(reading)
    return centring_mean(centring, encoder, _model.statistics, word, sample=lambda _: _load_sample(key, _model))


@st.cache_resource(max_entries=1, show_spinner="Reading a sample of Wikipedia, once …")
def _load_sample(key: tuple[str, int], _model: Model) -> TokenizedCorpus:
    return sample_text(_model.encoder)


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
        problems=[str(problem) for problem in [*own_problems, *problems]],
        mean_LD=mean_LD,
        random=random,
        random_by_layer=random_by_layer,
    )
