"""Recipes: named, complete settings, from the corpus to the last optimiser step."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from ctxemb.corpora import Corpus
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.progress import Progress
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import OnProgress, TokenizedCorpus, tokenize, train_tokenizer
from ctxemb.training import TrainingConfig, train


class Recipe(BaseModel):
    """Everything that decides a run, besides the machine."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    corpora: tuple[str, ...] = Field(description="Names of corpora, or paths of the user's own files")
    text: TextConfig
    model: BiLMConfig = Field(description="Sizes; the vocabulary size follows from the corpus")
    training: TrainingConfig
    reading: Reading = Field(default=Reading(), description="The checkpoint's default vector of a word")


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="en-bilm",
            description="The shipped English BiLM: Wikipedia and WordNet's examples, hours on two cores",
            corpora=("enwiki", "wordnet-examples"),
            text=TextConfig(max_vocabulary=25_000),
            # less than one pass over the text: no sentence is seen twice, so dropout would only slow it down
            model=BiLMConfig(
                embedding_size=160, hidden_size=320, num_layers=2, dropout=0, cutoffs=(1_000, 4_000, 12_000)
            ),
            training=TrainingConfig(
                max_tokens=30_000_000,
                batch_tokens=2_000,
                learning_rate=2e-3,
                warmup_steps=500,
                validate_every=1_000,
                max_validation_tokens=60_000,
                save_every=500,
            ),
            reading=Reading(readout="sentence", layer="last"),
        ),
        Recipe(
            name="cpu-small",
            description="One layer of 128 units: WikiText-2 in about twenty minutes on two cores",
            corpora=("wikitext-2",),
            text=TextConfig(max_vocabulary=20_000),
            model=BiLMConfig(embedding_size=128, hidden_size=128, num_layers=1, dropout=0.2),
            training=TrainingConfig(num_epochs=6, batch_tokens=1_000, validate_every=500),
        ),
        Recipe(
            name="gpu-base",
            description="Two layers of 256 units, batches of about 32 sentences: for a GPU",
            corpora=("enwiki",),
            text=TextConfig(max_vocabulary=50_000),
            model=BiLMConfig(embedding_size=256, hidden_size=256, num_layers=2, cutoffs=(2_000, 10_000)),
            training=TrainingConfig(num_epochs=5, batch_tokens=800, warmup_steps=1_000, validate_every=5_000),
        ),
        Recipe(
            name="quick",
            description="A minute on two cores, on the Wikipedia sample that is installed with gensim",
            corpora=("wiki-sample",),
            text=TextConfig(max_vocabulary=8_000),
            model=BiLMConfig(embedding_size=64, hidden_size=128, num_layers=1, dropout=0.1, cutoffs=(1_000,)),
            training=TrainingConfig(
                num_epochs=2,
                batch_tokens=1_000,
                learning_rate=3e-3,
                warmup_steps=50,
                validate_every=100,
                save_every=100,
            ),
        ),
    )
}


def prepare(
    recipe: Recipe, corpora: Sequence[Corpus], cache: Path, on_progress: OnProgress | None = None
) -> tuple[WordTokenizer, TokenizedCorpus]:
    """Vocabulary and token ids of a recipe's text; both are cached by content.

    Raises:
        CorpusError: if there is no text, or no sentence survives the length filter.
    """
    tokenizer = train_tokenizer(corpora, recipe.text, cache, on_progress)
    return tokenizer, tokenize(corpora, tokenizer, recipe.text, cache, on_progress)


def run(
    recipe: Recipe, tokenizer: WordTokenizer, corpus: TokenizedCorpus, out: Path, world: World
) -> Iterator[Progress]:
    """Train a recipe's model into `out`; see `training.train`."""
    model = recipe.model.model_copy(update={"vocabulary_size": len(tokenizer)})
    return train(model, recipe.training, corpus, tokenizer, recipe.text, out, world, recipe.reading)


def choose_recipe(name: str) -> Recipe:
    """A recipe by name.

    Raises:
        ValueError: if there is none of that name; the text lists those there are.
    """
    if name not in RECIPES:
        known = "; ".join(f"{recipe.name}: {recipe.description}" for recipe in RECIPES.values())
        raise ValueError(f"there is no recipe {name!r}; there are: {known}")
    return RECIPES[name]


def with_settings(recipe: Recipe, settings: Sequence[str]) -> Recipe:
    """Change single settings, written as `training.learning_rate=0.002`.

    Raises:
        ValueError: if a setting does not exist or its value is out of range.
    """
    values = recipe.model_dump()
    for setting in settings:
        path, equals, text = setting.partition("=")
        part, _, key = path.partition(".")
        if not equals or part not in ("text", "model", "training") or key not in values[part]:
            raise ValueError(f"{setting!r} is no setting; write part.name=value with part text, model or training")
        try:
            values[part][key] = json.loads(text)
        except ValueError:
            values[part][key] = text  # a word, such as a schedule's name
    return Recipe.model_validate(values)
