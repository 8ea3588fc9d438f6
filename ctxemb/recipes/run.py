"""A recipe with its material becomes a run: the family decides how."""

import time
from collections.abc import Iterator
from pathlib import Path

import torch

from ctxemb.checkpoint import save_checkpoint
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.models.static import Static, StaticConfig
from ctxemb.progress import EndRecord, Progress
from ctxemb.recipes.material import Material
from ctxemb.recipes.recipe import Recipe
from ctxemb.training import (
    ContrastiveLearning,
    ContrastiveTrainingConfig,
    LanguageModelling,
    OnValidation,
    TrainingConfig,
    TrainingError,
    train,
)
from ctxemb.word2vec import Word2VecConfig, train_word2vec


def run(
    recipe: Recipe, material: Material, out: Path, world: World, on_validation: OnValidation | None = None
) -> Iterator[Progress]:
    """Train a recipe's model into `out`; see `training.train`.

    Word2Vec is trained by gensim, in one piece and without validation.
    """
    model = recipe.model.model_copy(update={"vocabulary_size": len(material.tokenizer)})
    shared = (material.corpus, material.tokenizer, recipe.text, recipe.reading)
    match model, recipe.training:
        case BiLMConfig(), TrainingConfig() as training:
            return train(LanguageModelling(model, training, *shared), out, world, on_validation)
        case ContrastiveConfig(), ContrastiveTrainingConfig() as training:
            vectors_VE = material.initial.vectors_VE if material.initial else None
            lexicon = material.lexicon.train if material.lexicon else None
            objective = ContrastiveLearning(model, training, *shared, vectors_VE, lexicon)
            return train(objective, out, world, on_validation)
        case StaticConfig(), Word2VecConfig() as training:
            return _train_static(training, recipe, material, out, world)
    raise AssertionError("a recipe's parts are of its family")


def _train_static(
    training: Word2VecConfig, recipe: Recipe, material: Material, out: Path, world: World
) -> Iterator[Progress]:
    if world.size > 1:
        raise TrainingError("Word2Vec is trained by one process with many threads; start it without torchrun")
    if out.exists() and any(out.iterdir()):
        raise TrainingError(f"{out} is not empty, and Word2Vec is not resumed; choose another --out")
    started = time.perf_counter()
    vectors_VD = train_word2vec(material.corpus, len(material.tokenizer), training, torch.get_num_threads())
    seconds = time.perf_counter() - started
    static = Static.from_vectors(vectors_VD)
    metrics = {"training_seconds": round(seconds, 1), "word2vec": training.model_dump()}
    save_checkpoint(
        out / "best", static, material.tokenizer, recipe.text, recipe.reading, metrics, weight_type="float16"
    )
    yield EndRecord(step=training.num_epochs, reason="finished", seconds=seconds)
