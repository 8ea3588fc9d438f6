import pytest
import torch

from ctxemb.checkpoint import load_checkpoint, read_config
from ctxemb.corpora import named_corpora
from ctxemb.models.bilm import BiLM
from ctxemb.recipes import RECIPES, choose_recipe, with_settings


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES)
def test_a_recipe_reads_named_corpora_and_survives_its_json(recipe):
    known = {corpus.name for corpus in named_corpora()}
    assert set(recipe.corpora) <= known
    assert type(recipe).model_validate_json(recipe.model_dump_json()) == recipe


def test_the_shipped_recipe_fits_into_16_mb():
    recipe = RECIPES["en-bilm"]
    model = recipe.model.model_copy(update={"vocabulary_size": recipe.text.max_vocabulary})
    with torch.device("meta"):
        num_parameters = sum(p.numel() for p in BiLM(model).parameters())
    assert recipe.training.weight_type == "float16"
    assert 2 * num_parameters < 16e6


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
    ],
)
def test_settings_that_do_not_exist_or_do_not_fit_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        with_settings(RECIPES["quick"], [setting])
