"""A BiLM that reads characters: it learns what a spelling tells about words it has never seen."""

import itertools
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.batching import make_batch
from ctxemb.checkpoint import load_checkpoint
from ctxemb.corpora import open_corpus
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.families import spell_vocabulary
from ctxemb.recipes import RECIPES, Material, Recipe, prepare, run, with_settings
from ctxemb.text import TextConfig
from ctxemb.training import LanguageModelling, TrainingConfig
from tests.conftest import ALONE, curve

STEMS = np.random.default_rng(0).permutation(["".join(p) for p in itertools.product("bdgmt", "aiou", "lnr", "ek")])
KNOWN, UNSEEN = STEMS[:60].tolist(), STEMS[60:].tolist()


class CharRun(NamedTuple):
    recipe: Recipe
    material: Material
    folder: Path
    records: list


@pytest.fixture(scope="module")
def char_run(tmp_path_factory: pytest.TempPathFactory) -> CharRun:
    """Trained where one of every two stems is used: `the balek is big .`, `the baleks are big .`"""
    folder = tmp_path_factory.mktemp("char")
    rng = np.random.default_rng(0)
    lines = []
    for stem in KNOWN * 8:
        ending, verb = (("", "is"), ("s", "are"))[rng.integers(2)]
        lines.append(f"the {stem}{ending} {verb} {rng.choice(['big', 'old', 'new'])} .")
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    recipe = Recipe(
        name="char",
        description="seconds on one core",
        corpora=(str(folder / "text.txt"),),
        text=TextConfig(),
        model=BiLMConfig(embedding_size=16, hidden_size=24, num_layers=1, dropout=0.1, cutoffs=(16,)),
        training=TrainingConfig(
            num_epochs=20, batch_tokens=150, learning_rate=1e-2, warmup_steps=10, validate_every=40, precision="float32"
        ),
    )
    recipe = with_settings(recipe, ["model.input=char", "model.filters_per_width=16", "model.filter_widths=[1,2,3]"])
    material = prepare(recipe, [open_corpus(folder / "text.txt")], folder / "cache")
    return CharRun(recipe, material, folder, list(run(recipe, material, folder / "run", ALONE)))


def verb_accuracy(model: BiLM, char_run: CharRun, stems: list[str]) -> float:
    """How often `is` is likelier than `are` after a stem, and `are` after the stem with an s."""
    tokenizer = char_run.material.tokenizer
    verbs = [tokenizer.word_id("is"), tokenizer.word_id("are")]
    sentences = [["the", stem + ending, "is"] for stem in stems for ending in ("", "s")]
    batch = make_batch([[tokenizer.word_id(word) for word in words] for words in sentences], sentences)
    with torch.inference_mode():
        chosen = model.predictions(batch)[0, :, 2, verbs].argmax(dim=-1)
    return float((chosen == torch.tensor([0, 1] * len(stems))).float().mean())


def test_training_lowers_the_loss(char_run):
    losses = [record["loss_forward_nats"] for record in curve(char_run.records) if "gradient_norm" in record]
    assert losses[0] == pytest.approx(np.log(len(char_run.material.tokenizer)), rel=0.1)
    assert np.mean(losses[-10:]) < 0.5 * losses[0]


def test_an_ending_says_the_same_of_words_never_seen(char_run):
    trained = load_checkpoint(char_run.folder / "run" / "best").model
    torch.manual_seed(0)
    untrained = BiLM(trained.config).eval()
    spell_vocabulary(untrained, char_run.material.tokenizer)
    assert not any(char_run.material.tokenizer.word_id(stem) > 3 for stem in UNSEEN)
    accuracy = [verb_accuracy(model, char_run, UNSEEN) for model in (untrained, trained)]
    assert accuracy[0] < 0.7
    assert accuracy[1] > 0.95


def test_without_characters_nothing_is_known_of_them(char_run):
    config = char_run.recipe.model.model_copy(update={"input": "word", "vocabulary_size": 60})
    torch.manual_seed(0)
    assert verb_accuracy(BiLM(config).eval(), char_run, UNSEEN[:5]) == 0.5  # all are <unk>


def test_a_stopped_run_is_resumed_with_the_same_curve(char_run):
    settings = ["training.max_steps=12", "training.validate_every=5"]
    recipe = with_settings(char_run.recipe, settings)
    whole = list(run(recipe, char_run.material, char_run.folder / "whole", ALONE))
    stopped = run(recipe, char_run.material, char_run.folder / "stopped", ALONE)
    first = list(itertools.islice(stopped, 7))
    stopped.close()
    rest = list(run(recipe, char_run.material, char_run.folder / "stopped", ALONE))
    assert curve([*first, *rest]) == curve(whole)


def test_only_the_distinct_words_of_a_batch_are_spelled(char_run):
    computed = []
    objective = LanguageModelling(
        char_run.recipe.model.model_copy(update={"vocabulary_size": len(char_run.material.tokenizer)}),
        char_run.recipe.training,
        char_run.material.corpus,
        char_run.material.tokenizer,
        char_run.recipe.text,
    )
    cnn = objective.model.forward_lm.embedding.cnn
    cnn.register_forward_pre_hook(lambda module, inputs: computed.append(len(inputs[0])))
    item = objective.plan(0)[0]
    objective.losses(item, torch.device("cpu"))
    distinct = set(np.concatenate([char_run.material.corpus[int(i)] for i in item]).tolist())
    assert computed == [4 + len(distinct - {3})]  # once for both directions


def test_a_checkpoint_reads_words_of_any_spelling(char_run):
    encoder = Encoder.load(char_run.folder / "run" / "best", device="cpu")
    (encoding,) = encoder.encode([f"The {UNSEEN[0]}s are zyzzyva ."])
    assert not encoding.oov.any()
    assert not np.array_equal(encoding.layers[0, 1], encoding.layers[0, 3])
    weights = dict(encoder.model.named_parameters())
    assert weights["forward_lm.softmax.weight"].shape == (len(encoder.tokenizer), 16)  # its own: nothing to tie


@pytest.mark.parametrize("name", [name for name, recipe in RECIPES.items() if recipe.family == "bilm"])
def test_every_recipe_takes_characters(name):
    recipe = with_settings(RECIPES[name], ["model.input=char"])
    with torch.device("meta"):
        shapes = {name for name, _ in BiLM(recipe.model).named_parameters()}
    assert "forward_lm.embedding.cnn.characters" in shapes
    assert recipe.model.reads_spelling


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"filter_widths": (1, 99)}, "not all from 1 to max_characters, 50"),
        ({"filter_widths": (0,)}, "not all from 1 to max_characters"),
        ({"filter_widths": ()}, "filter_widths"),
        ({"max_characters": 2}, "max_characters"),
        ({"input": "byte"}, "'word' or 'char'"),
    ],
)
def test_impossible_characters_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        BiLMConfig.model_validate({"input": "char", **changes})
