"""What an enemy may write into the files of a checkpoint folder; `test_checkpoint` has what goes wrong by accident."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from ctxemb import Encoder
from ctxemb.calibration import STATISTICS, load_statistics
from ctxemb.checkpoint import (
    CheckpointError,
    load_checkpoint,
    read_config,
    read_state,
    save_checkpoint,
    write_state,
)
from ctxemb.cli.encoding import info
from ctxemb.models.static import Static
from ctxemb.text import TextConfig, WordTokenizer

TEXT = TextConfig(min_frequency=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tokenizer = WordTokenizer.train(["one two three"], TEXT)
    model = Static.from_vectors(torch.ones(len(tokenizer), 3).numpy())
    save_checkpoint(tmp_path / "m", model, tokenizer, TEXT)
    return tmp_path / "m"


def refused(folder: Path) -> str:
    with pytest.raises(CheckpointError) as caught:
        load_checkpoint(folder)
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [("[" * 100_000, "is not JSON (maximum recursion depth"), ("[]", "is no JSON object"), ("3", "is no JSON object")],
)
def test_metrics_that_are_no_object_are_refused(folder, content, message):
    (folder / "metrics.json").write_text(content)
    assert message in refused(folder)


def test_metrics_of_another_make_are_shown_as_far_as_they_go(folder, capsys):
    (folder / "metrics.json").write_text('{"import": 3, "validation": {"loss": null}}')
    info(folder)
    assert "validation loss" in capsys.readouterr().out


@pytest.mark.parametrize("dtype", [torch.int32, torch.bool, torch.complex64, torch.float8_e5m2])
def test_weights_of_a_type_that_is_no_weight_are_refused(folder, dtype):
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor.to(dtype) for name, tensor in tensors.items()}, folder / "model.safetensors")
    assert "weights are one of F64, F32, F16, BF16" in refused(folder)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_weights_of_another_precision_are_read(folder, dtype):
    tensors = load_file(folder / "model.safetensors")
    save_file({name: tensor.to(dtype) for name, tensor in tensors.items()}, folder / "model.safetensors")
    assert torch.equal(load_checkpoint(folder).model.word_vectors(), torch.ones(7, 3))


def test_many_odd_keys_in_a_config_are_one_short_sentence(folder):
    config = json.loads((folder / "config.json").read_text())
    odd = {"\x1b[31m\n" + "x" * 1_000 + str(number): 1 for number in range(1_000)}
    (folder / "config.json").write_text(json.dumps(config | odd))
    with pytest.raises(CheckpointError) as caught:
        read_config(folder)
    message = str(caught.value)
    assert r"\x1b[31m" in message
    assert message.isprintable()
    assert len(message) < 2_000


def test_the_record_of_a_state_may_not_be_nested_for_ever(tmp_path):
    save_file({"a": torch.ones(1)}, tmp_path / "s.safetensors", {"state": "[" * 100_000})
    with pytest.raises(CheckpointError, match="cannot be read"):
        read_state(tmp_path / "s.safetensors")


@pytest.mark.parametrize("word_id", [7, 10**6, 2**32 - 1, 6])
def test_ids_that_the_model_has_not_are_refused(folder, word_id):
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"]["vocab"]["three"] = word_id
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert "the ids of its 7 words are not 0 to 6, each once" in refused(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"unk_token": "absent"},
        {"type": "WordPiece", "max_input_chars_per_word": 9, "continuing_subword_prefix": "#"},
        {"type": "BPE", "merges": []},
    ],
)
def test_a_tokenizer_that_fails_at_the_first_unknown_word_is_refused(folder, change):
    content = json.loads((folder / "tokenizer.json").read_text())
    content["model"] |= change
    (folder / "tokenizer.json").write_text(json.dumps(content))
    assert "is no list of whole words (WordLevel) with <unk> for unknown ones" in refused(folder)


@pytest.mark.parametrize(
    ("name", "dtype"), [("counts", torch.float32), ("word_ids", torch.bool), ("mean.here", torch.complex64)]
)
def test_statistics_of_another_type_are_refused(folder, name, dtype):
    encoder = Encoder.load(folder, device="cpu")
    tensors = {
        "counts": torch.ones(7, dtype=torch.int64),
        "word_ids": torch.tensor([4]),
        "mean.here": torch.ones(1, 3),
        "word_mean.here": torch.ones(1, 1, 3),
    }
    write_state(folder / STATISTICS, tensors, {})
    assert load_statistics(encoder) is not None
    write_state(folder / STATISTICS, tensors | {name: tensors[name].to(dtype)}, {})
    with pytest.raises(CheckpointError, match="does not fit this checkpoint"):
        load_statistics(encoder)
