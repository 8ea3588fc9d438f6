import json
from typing import get_args

import numpy as np
import pytest
import torch
from pydantic import ValidationError

from ctxemb import Encoder
from ctxemb.batching import make_batch
from ctxemb.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.models.elmo import ELMo, ELMoConfig
from ctxemb.models.families import CONFIGS, Family, Model, ModelConfig, build_model, spell_vocabulary
from ctxemb.models.reading import Reading, Readout
from ctxemb.models.static import Static, StaticConfig
from ctxemb.text import TextConfig, WordTokenizer

TEXT = TextConfig(min_frequency=1)
FAMILIES = tuple(family for family in get_args(Family) if family != "transformer")  # whose folders are only read
TWENTY = WordTokenizer.from_words([chr(ord("a") + i) * 3 for i in range(16)], TEXT)


@pytest.fixture(scope="module")
def tokenizer() -> WordTokenizer:
    return WordTokenizer.train(["one two three four five six seven eight nine ten"], TEXT)


def small(family: str, num_words: int) -> ModelConfig:
    tiny = {"filters": ((1, 3), (2, 5)), "units": 6, "projection_size": 4, "highway_layers": 1}
    return {
        "elmo": ELMoConfig(vocabulary_size=num_words, character_size=3, max_characters=9, **tiny),
        "contrastive": ContrastiveConfig(vocabulary_size=num_words, embedding_size=4, hidden_size=4),
        "static": StaticConfig(vocabulary_size=num_words, vector_size=4),
        "bilm": BiLMConfig(vocabulary_size=num_words, embedding_size=4, hidden_size=4, cutoffs=(8,)),
    }[family]


def random_model(family: str, num_words: int) -> Model:
    torch.manual_seed(0)
    model = build_model(small(family, num_words)).eval()
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.7)
    spell_vocabulary(model, TWENTY)
    return model


def test_a_config_builds_the_module_of_its_family():
    assert set(CONFIGS) == set(FAMILIES)
    for family, kind in (("bilm", BiLM), ("contrastive", Contrastive), ("elmo", ELMo), ("static", Static)):
        config = small(family, 20)
        model = build_model(config)
        assert (type(model), model.config, config.family, CONFIGS[family]) == (kind, config, family, type(config))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_keeps_what_its_config_says(family):
    model, config = random_model(family, 20), small(family, 20)
    batch = make_batch([[5, 6, 7], [19]])
    for readout in config.readouts:
        layers_LBTD = model.layers(batch, readout)
        assert layers_LBTD.shape == (config.num_layers + 1, 2, 3, config.width)
        # the static table is what layer 0 begins with
        table_VE = model.word_vectors()
        torch.testing.assert_close(layers_LBTD[0, 0, 1, : table_VE.shape[1]], table_VE[6])
        assert (len(table_VE), table_VE.requires_grad) == (20, False)


@pytest.mark.parametrize("family", FAMILIES)
def test_building_on_the_meta_device_allocates_nothing_and_has_the_same_shapes(family):
    config = small(family, 20)
    with torch.device("meta"):
        empty = build_model(config)
    assert all(parameter.is_meta for parameter in empty.parameters())
    shapes, expected = ({n: p.shape for n, p in m.named_parameters()} for m in (empty, build_model(config)))
    assert shapes == expected


@pytest.mark.parametrize("changes", [{"vector_size": 0}, {"vocabulary_size": 4}, {"hidden_size": 8}])
def test_impossible_sizes_of_a_table_are_refused(changes):
    with pytest.raises(ValidationError, match=next(iter(changes))):
        StaticConfig.model_validate(changes)


# checkpoints


@pytest.mark.parametrize("weight_type", ["float32", "float16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_saved_encoder_reads_sentences_as_before(tokenizer, tmp_path, family, weight_type):
    model = random_model(family, len(tokenizer))
    save_checkpoint(tmp_path / "m", model, tokenizer, TEXT, weight_type=weight_type)
    loaded = load_checkpoint(tmp_path / "m")
    assert (loaded.config.family, loaded.config.model, loaded.model.training) == (family, model.config, False)
    weights = dict(model.named_parameters())
    for name, value in loaded.model.named_parameters():
        expected = weights[name] if weight_type == "float32" else weights[name].half().float()
        assert torch.equal(value, expected), name
    encoder = Encoder.load(tmp_path / "m", device="cpu")
    tolerance = 1e-5 if weight_type == "float32" else 0.02
    for readout in model.config.readouts:
        encoding, _ = encoder.with_reading(encoder.reading_for(readout, "last")).encode(["two never four ten", "one"])
        batch = make_batch([encoding.ids], [encoding.tokens])
        expected_LTD = model.layers(batch, readout)[:, 0].detach().numpy()
        np.testing.assert_allclose(encoding.layers, expected_LTD, atol=tolerance)
        assert np.array_equal(encoding.vectors, encoding.layers[-1])
        assert encoding.oov.tolist() == [False, family != "elmo", False, False]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_read_out_of_another_family_is_refused(tokenizer, tmp_path, family):
    model = random_model(family, len(tokenizer))
    foreign = set(get_args(Readout)) - set(model.config.readouts)
    assert foreign or family == "bilm"
    for readout in foreign:
        save_checkpoint(tmp_path / readout, model, tokenizer, TEXT, Reading(readout=readout))
        with pytest.raises(ValueError, match=f"no read-out '{readout}'; choose"):
            Encoder.load(tmp_path / readout, device="cpu")


@pytest.mark.parametrize("family", FAMILIES)
def test_weights_that_are_no_numbers_are_not_written(tokenizer, tmp_path, family):
    model = random_model(family, len(tokenizer))
    name, parameter = next(iter(model.named_parameters()))
    parameter.data.view(-1)[5] = torch.nan
    with pytest.raises(ValueError, match=f"weights {name} are not finite"):
        save_checkpoint(tmp_path / "m", model, tokenizer, TEXT)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("family", "other", "setting"),
    [
        ("contrastive", "static", "lstm_layers"),
        ("contrastive", "bilm", "lstm_layers"),
        ("static", "contrastive", "vector_size"),
        ("static", "bilm", "vector_size"),
        ("bilm", "contrastive", "num_layers"),
        ("bilm", "static", "embedding_size"),
        ("elmo", "bilm", "units"),
        ("bilm", "elmo", "embedding_size"),
    ],
)
def test_a_config_of_another_family_is_refused(tokenizer, tmp_path, family, other, setting):
    save_checkpoint(tmp_path / "m", random_model(family, len(tokenizer)), tokenizer, TEXT)
    path = tmp_path / "m" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"family": other}))
    message = rf"config\.json is not a config this version can read: .*model\.{setting}: Extra inputs"
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(tmp_path / "m")


@pytest.mark.parametrize(
    ("family", "other"),
    [("contrastive", "static"), ("static", "bilm"), ("bilm", "contrastive"), ("bilm", "elmo"), ("elmo", "static")],
)
def test_weights_of_another_family_are_refused(tokenizer, tmp_path, family, other):
    for name in (family, other):
        save_checkpoint(tmp_path / name, random_model(name, len(tokenizer)), tokenizer, TEXT)
    foreign = (tmp_path / other / "model.safetensors").read_bytes()
    (tmp_path / family / "model.safetensors").write_bytes(foreign)
    with pytest.raises(CheckpointError, match=r"model\.safetensors: tensor \S+ is .*, but config\.json asks for"):
        load_checkpoint(tmp_path / family)
