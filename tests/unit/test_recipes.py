from pathlib import Path

import pytest
import torch
from pydantic import ValidationError

from ctxemb.checkpoint import load_checkpoint, read_config
from ctxemb.corpora import named_corpora
from ctxemb.lexicon import LexiconConfig
from ctxemb.models.families import CONFIGS, build_model
from ctxemb.recipes import RECIPES, Recipe, choose_recipe, with_settings
from ctxemb.recipes.recipe import TRAININGS
from ctxemb.text import NUM_SPECIAL

SHIPPED = ("en-bilm", "en-contrastive", "zh-contrastive", "en-static", "zh-static")
# of a word, in tokenizer.json and in the counts of statistics.safetensors
TOKENIZER_BYTES, COUNT_BYTES = 25, 8


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_reads_named_corpora_and_survives_its_json(recipe):
    known = {corpus.name for corpus in named_corpora()}
    assert set(recipe.corpora) <= known
    assert type(recipe).model_validate_json(recipe.model_dump_json()) == recipe


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_the_parts_of_a_recipe_fit_each_other(recipe):
    assert type(recipe.model) is CONFIGS[recipe.family]
    assert type(recipe.training) is TRAININGS[recipe.family]
    assert recipe.reading.readout in recipe.model.readouts
    if recipe.family == "static":
        assert recipe.model.vector_size == recipe.training.vector_size
    if recipe.initial:
        assert recipe.initial.vector_size == recipe.model.embedding_size
    if recipe.family == "contrastive":
        assert recipe.training.num_negatives <= recipe.text.max_vocabulary - NUM_SPECIAL
    if recipe.family == "contrastive" and recipe.training.max_steps:
        assert recipe.training.warmup_steps < recipe.training.max_steps
        # what stops a run is the number of steps, and a run of that many is validated more than once
        assert recipe.training.validate_every < recipe.training.max_steps


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_recipe_fits_into_16_mb(name):
    recipe = RECIPES[name]
    num_words = recipe.text.max_vocabulary
    with torch.device("meta"):
        model = build_model(recipe.model.model_copy(update={"vocabulary_size": num_words}))
    num_parameters = sum(parameter.numel() for parameter in model.parameters())
    if recipe.family != "static":  # which is always saved so
        assert recipe.training.weight_type == "float16"
    assert 2 * num_parameters + (TOKENIZER_BYTES + COUNT_BYTES) * num_words < 16e6


def test_a_word_of_a_vocabulary_takes_no_more_bytes_than_estimated():
    checkpoint = Path(__file__).parents[2] / "checkpoints" / "en-bilm"
    size = (checkpoint / "tokenizer.json").stat().st_size
    assert size <= TOKENIZER_BYTES * len(load_checkpoint(checkpoint).tokenizer)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"family": "bilm", "model": {}, "training": {}}, "bilm takes no initial vectors and no lexicon"),
        ({"reading": {"readout": "sentence"}}, "contrastive has no read-out sentence"),
        ({"training": {"batch_tokens": 5}}, "training.batch_tokens"),
        ({"family": "static"}, r"model\.embedding_size"),
    ],
)
def test_parts_of_another_family_are_refused(changes, message):
    recipe = RECIPES["en-contrastive"]
    with pytest.raises(ValidationError, match=message):
        Recipe.model_validate(recipe.model_dump() | changes)


def test_a_lexicon_is_chosen_and_cleaned_by_one_part_of_a_recipe():
    changed = with_settings(RECIPES["en-contrastive"], ["lexicon.max_senses=3", "lexicon.source=mine.csv"])
    assert (changed.lexicon.source, changed.lexicon.cleaning.max_senses) == ("mine.csv", 3)
    assert type(changed.lexicon.cleaning) is LexiconConfig


def test_the_vocabulary_of_the_text_decides_the_size_of_the_model(tiny_checkpoint):
    assert read_config(tiny_checkpoint).model.vocabulary_size == len(load_checkpoint(tiny_checkpoint).tokenizer) > 40


def test_an_unknown_recipe_lists_the_known_ones():
    assert choose_recipe("quick") is RECIPES["quick"]
    with pytest.raises(ValueError, match=r"there is no recipe 'slow'; there are: en-bilm: .*; quick: "):
        choose_recipe("slow")


def test_single_settings_are_changed_and_the_rest_is_kept():
    changed = with_settings(
        RECIPES["quick"], ["training.learning_rate=0.5", "training.schedule=plateau", "model.cutoffs=[10, 20]"]
    )
    assert (changed.training.learning_rate, changed.training.schedule) == (0.5, "plateau")
    assert changed.model.cutoffs == (10, 20)
    assert with_settings(changed, []) == changed
    assert changed.text == RECIPES["quick"].text


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.colour=red", "'training.colour=red' is no setting"),
        ("training.seed", "'training.seed' is no setting"),
        ("seed=3", "'seed=3' is no setting"),
        ("name.x=3", "'name.x=3' is no setting"),
        ("training.learning_rate=-1", "learning_rate"),
        ("model.embedding_size=999", "embedding_size 999 is larger than hidden_size"),
        ("lexicon.source=wordnet", "'lexicon.source=wordnet' is no setting"),
    ],
)
def test_settings_that_do_not_exist_or_do_not_fit_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        with_settings(RECIPES["quick"], [setting])
