"""A few steps of a recipe on a sample of its text: how fast they are, and what they hold in memory."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.autograd.graph import saved_tensors_hooks

from ctxemb.distributed import World
from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.models.families import ModelConfig
from ctxemb.progress import Validation
from ctxemb.recipes import Recipe
from ctxemb.text import WordTokenizer
from ctxemb.tokenized import TokenizedCorpus
from ctxemb.training import ContrastiveLearning, ContrastiveTrainingConfig, LanguageModelling, Objective, TrainingConfig
from ctxemb.training.objective import Differentiated
from ctxemb.training.optimizer import build_optimizer
from ctxemb.training.schedule import compute_type

MAX_STEPS, MAX_SECONDS = 5, 1.5
# larger batches are tried at this size, and what they hold grows with them
TRIED_CELLS, TRIED_WORDS, TRIED_PASSAGES = 2_000, 24, 12
HELD_OUT_SHARE = 0.2  # of a sample; a usual share of it would be too little to look at
ALONE = World(0, 1, torch.device("cpu"))


@dataclass(frozen=True)
class Trial:
    """What the steps showed, on one thread.

    Attributes:
        tokens_per_step: of a step with the recipe's own batches, on average.
        tokens_per_second: while steps are made.
        tokens_per_epoch: of the sample, if nothing of it were held out.
        validation_seconds: of one look at the held-out part of the sample.
        num_validation_tokens: of that part.
        activation_bytes: what a step holds besides weights, with the recipe's own batches.
    """

    tokens_per_step: float
    tokens_per_second: float
    tokens_per_epoch: float
    validation_seconds: float
    num_validation_tokens: int
    activation_bytes: float


def try_steps(
    recipe: Recipe, model: ModelConfig, corpus: TokenizedCorpus, tokenizer: WordTokenizer, share: float
) -> Trial:
    """Make a few steps.

    Args:
        recipe: of a family that learns in steps.
        model: its sizes, with the whole text's vocabulary.
        corpus: the sample.
        tokenizer: of the sample.
        share: of the text that the sample is.

    Raises:
        ValueError: if the sample is too small for the recipe.
    """
    objective, growth = _objective(recipe, model, corpus, tokenizer, share)
    items = objective.plan(0)
    losses = Differentiated(objective, ALONE.device, compute_type(objective.config.precision, ALONE.device))
    losses.train()
    optimizer = build_optimizer(objective.config, objective.parameter_groups())
    seconds, tokens, held = [], [], 0
    while len(seconds) < min(MAX_STEPS, len(items)) and sum(seconds) < MAX_SECONDS:
        item, started = items[len(seconds)], time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        saved = _Held()
        with saved:
            found = losses(item)
        found.loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - started)
        tokens.append(found.num_tokens)
        held = max(held, saved.num_bytes)
    # the first step also makes what the later ones find
    first = 1 if len(seconds) > 1 else 0
    started = time.perf_counter()
    objective.validate(Validation(0, 0, 0, False), ALONE)
    validation_seconds = time.perf_counter() - started
    tried = objective.config
    _, validation_S = corpus.split(tried.validation_share, tried.max_validation_tokens, tried.seed)
    per_step = objective.tokens_per_epoch / len(items)
    return Trial(
        tokens_per_step=per_step * growth * tried.accumulate,
        tokens_per_second=sum(tokens[first:]) / sum(seconds[first:]),
        tokens_per_epoch=objective.tokens_per_epoch / (1 - tried.validation_share),
        validation_seconds=validation_seconds,
        num_validation_tokens=int(corpus.lengths[validation_S].sum()),
        activation_bytes=held * growth,
    )


def _objective(
    recipe: Recipe, model: ModelConfig, corpus: TokenizedCorpus, tokenizer: WordTokenizer, share: float
) -> tuple[Objective[Any], float]:
    """The recipe's objective with batches that are no larger than is tried, and how much larger its own are."""
    shared = (corpus, tokenizer, recipe.text, recipe.reading)
    match model, recipe.training:
        case BiLMConfig(), TrainingConfig() as training:
            tried = training.model_copy(
                update={
                    "batch_tokens": min(training.batch_tokens, TRIED_CELLS),
                    "validation_share": max(training.validation_share, HELD_OUT_SHARE),
                }
            )
            return LanguageModelling(model, tried, *shared), training.batch_tokens / tried.batch_tokens
        case ContrastiveConfig(), ContrastiveTrainingConfig() as training:
            words, passages = training.words_per_batch, training.passages_per_word
            tried = training.model_copy(
                update={
                    "words_per_batch": min(words, TRIED_WORDS),
                    "passages_per_word": min(passages, TRIED_PASSAGES),
                    "min_word_count": max(round(training.min_word_count * share), 2),
                    "max_word_share": 1.0,  # rare words are too few in a sample; what a batch costs is the same
                    "validation_share": max(training.validation_share, HELD_OUT_SHARE),
                }
            )
            size = (model.vocabulary_size, model.embedding_size)
            initial_VE = np.random.default_rng(0).normal(size=size).astype(np.float32) if recipe.initial else None
            growth = words * passages / (tried.words_per_batch * tried.passages_per_word)
            return ContrastiveLearning(model, tried, *shared, initial_VE), growth
    raise AssertionError(f"{recipe.family} makes no steps")


class _Held(saved_tensors_hooks):
    """Counts what a forward pass keeps for the way back, each storage once."""

    def __init__(self) -> None:
        self._storages: dict[int, int] = {}
        super().__init__(self._count, lambda tensor: tensor)

    @property
    def num_bytes(self) -> int:
        return sum(self._storages.values())

    def _count(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        self._storages[storage.data_ptr()] = storage.nbytes()
        return tensor
