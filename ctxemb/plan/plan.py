"""What follows from a sample and a few steps for the whole training; what cannot work is refused."""

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import torch

from ctxemb.batching import NUM_BOUNDARY_TOKENS
from ctxemb.models.families import ModelConfig, build_model
from ctxemb.plan.sample import Samples, open_samples
from ctxemb.plan.trial import Trial, try_steps
from ctxemb.recipes import Recipe, choose_recipe, with_settings
from ctxemb.runs import RunRequest, describe_error
from ctxemb.text import NUM_SPECIAL
from ctxemb.tokenized import TokenizedCorpus, tokenize
from ctxemb.training import TrainingConfig
from ctxemb.word2vec import Word2VecConfig, train_word2vec

MIN_WORDS = 10
START_SECONDS = 5.0  # Python and torch
PROCESS_BYTES = 450e6  # of a training process before it has a model
BYTES_PER_PARAMETER = 7 * 4  # weight, gradient and Adam's two means; three of them once more while they are saved
MAX_TRIED_PARAMETERS = 40_000_000
CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


class PlanError(ValueError):
    """A training that cannot work as asked; the text says why and what to do."""


@dataclass(frozen=True)
class Plan:
    """What a training will take, about.

    Attributes:
        num_words: of the text that is read.
        is_whole: whether the text was read to its end; then `num_words` and `vocabulary_size` are no estimates.
        vocabulary_size: entries, special ones included.
        num_parameters: of the model.
        num_steps: optimiser steps; None for Word2Vec, which has none.
        seconds: from start to end on one thread; None if the model is too large to be tried.
        memory_bytes: of the training process, at most.
    """

    num_words: int
    is_whole: bool
    vocabulary_size: int
    num_parameters: int
    num_steps: int | None
    seconds: float | None
    memory_bytes: float


def make_plan(request: RunRequest) -> Plan:
    """Look at the beginning of the text, and make a few steps.

    Raises:
        ValueError: if the request cannot be trained; the text says why.
    """
    request = request.checked()
    recipe = with_settings(choose_recipe(request.recipe), request.settings)
    samples = open_samples(request.corpora or recipe.corpora, request.text_column, request.max_tokens)
    started = time.perf_counter()
    tokenizer, vocabulary_size = samples.train_tokenizer(recipe.text)
    _check_vocabulary(vocabulary_size)
    model = recipe.model.model_copy(update={"vocabulary_size": vocabulary_size})
    num_parameters = _count_parameters(model)
    _check_memory(BYTES_PER_PARAMETER * num_parameters + PROCESS_BYTES, f"a model of {num_parameters:,} parameters")
    with tempfile.TemporaryDirectory(prefix="ctxemb-plan-") as folder:
        corpus = tokenize(samples.corpora, tokenizer, recipe.text, Path(folder))
        reading_seconds = (time.perf_counter() - started) / samples.share
        _check_batches(recipe, corpus)
        trial, vector_seconds = None, 0.0
        if num_parameters <= MAX_TRIED_PARAMETERS:
            vector_seconds = _time_word2vec(recipe, corpus, len(tokenizer)) / samples.share
            trial = _try(recipe, model, samples, corpus, tokenizer)
        num_words = round(corpus.report.num_tokens / samples.share)
    activations = trial.activation_bytes if trial else 0.0
    memory = PROCESS_BYTES + BYTES_PER_PARAMETER * num_parameters + activations + 8.0 * num_words
    _check_memory(memory, "this training")
    seconds = None
    if trial or (recipe.family == "static" and vector_seconds):
        seconds = START_SECONDS + reading_seconds + vector_seconds
        seconds += _training_seconds(recipe, trial, samples.share) if trial else 0.0
    return Plan(
        num_words,
        samples.is_whole,
        vocabulary_size,
        num_parameters,
        _num_steps(recipe, trial, samples.share) if trial else None,
        seconds,
        memory,
    )


def machine_bytes() -> float:
    """Memory that this machine has, or this container may use."""
    found = [float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))]
    for path in CGROUP_LIMITS:
        if path.exists() and (said := path.read_text().strip()).isdecimal():
            found.append(float(said))
    return min(found)


def _check_vocabulary(size: int) -> None:
    if size - NUM_SPECIAL < MIN_WORDS:
        raise PlanError(
            f"the vocabulary would hold {size - NUM_SPECIAL} words besides {NUM_SPECIAL} special entries, and there is "
            f"nothing to learn from fewer than {MIN_WORDS}; use a text of more different words, a lower "
            "text.min_frequency or a higher text.max_vocabulary"
        )


def _check_memory(needed: float, what: str) -> None:
    if needed > machine_bytes():
        raise PlanError(
            f"{what} would need about {needed / 1e9:,.1f} GB of memory, and this machine has "
            f"{machine_bytes() / 1e9:,.1f} GB; choose a smaller vocabulary (text.max_vocabulary), smaller layers or "
            "smaller batches"
        )


def _check_batches(recipe: Recipe, corpus: TokenizedCorpus) -> None:
    """A batch has to hold a sentence; a text has to have two passages, one of them for validation."""
    if isinstance(recipe.training, Word2VecConfig):
        return
    corpus.split(recipe.training.validation_share, recipe.training.max_validation_tokens, recipe.training.seed)
    longest = int(corpus.lengths.max()) + NUM_BOUNDARY_TOKENS
    if isinstance(recipe.training, TrainingConfig) and recipe.training.batch_tokens < longest:
        raise PlanError(
            f"training.batch_tokens is {recipe.training.batch_tokens}, and the longest sentence takes {longest} cells "
            "of a batch; raise it to that at least, or cut sentences earlier (text.max_sentence_tokens)"
        )


def _count_parameters(model: ModelConfig) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in build_model(model).parameters())


def _try(recipe: Recipe, model: ModelConfig, samples: Samples, corpus: TokenizedCorpus, tokenizer) -> Trial | None:
    if recipe.family == "static":
        return None
    try:
        return try_steps(recipe, model, corpus, tokenizer, samples.share)
    except ValueError as error:
        if samples.is_whole:
            raise PlanError(describe_error(error)) from error
        return None  # too small a sample says nothing about the whole


def _time_word2vec(recipe: Recipe, corpus: TokenizedCorpus, num_words: int) -> float:
    """Seconds that the recipe's static vectors take on the sample; 0 without any."""
    config = recipe.training if isinstance(recipe.training, Word2VecConfig) else recipe.initial
    if config is None:
        return 0.0
    started = time.perf_counter()
    train_word2vec(corpus, num_words, config.model_copy(update={"num_epochs": 1}), threads=1)
    return (time.perf_counter() - started) * config.num_epochs


def _num_tokens(recipe: Recipe, trial: Trial, share: float) -> float:
    """Words that are read in training, some several times."""
    training = recipe.training
    assert not isinstance(training, Word2VecConfig)
    num_tokens = training.num_epochs * (1 - training.validation_share) * trial.tokens_per_epoch / share
    if training.max_tokens:
        num_tokens = min(num_tokens, training.max_tokens)
    if training.max_steps:
        num_tokens = min(num_tokens, training.max_steps * trial.tokens_per_step)
    return num_tokens


def _num_steps(recipe: Recipe, trial: Trial, share: float) -> int:
    return max(round(_num_tokens(recipe, trial, share) / trial.tokens_per_step), 1)


def _training_seconds(recipe: Recipe, trial: Trial, share: float) -> float:
    training = recipe.training
    assert not isinstance(training, Word2VecConfig)
    num_looks = _num_steps(recipe, trial, share) / training.validate_every
    growth = 1.0
    if isinstance(training, TrainingConfig):  # contrastive looks are of one size
        growth = min(trial.num_validation_tokens / share, training.max_validation_tokens) / trial.num_validation_tokens
    looks = num_looks * trial.validation_seconds * growth
    return _num_tokens(recipe, trial, share) / trial.tokens_per_second + looks
