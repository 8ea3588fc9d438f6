import json
import resource
import shutil
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from ctxemb.checkpoint import (
    CheckpointConfig,
    CheckpointError,
    load_checkpoint,
    read_config,
    read_state,
    save_checkpoint,
    update_config,
    write_state,
)
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.text import TextConfig, WordTokenizer

TEXT = TextConfig(min_frequency=1)


@pytest.fixture(scope="module")
def tokenizer() -> WordTokenizer:
    return WordTokenizer.train(["one two three four five six seven eight nine ten"], TEXT)


def bilm(tokenizer: WordTokenizer, seed: int = 0, **changes: object) -> BiLM:
    torch.manual_seed(seed)
    settings = {"vocabulary_size": len(tokenizer), "embedding_size": 4, "hidden_size": 6, "cutoffs": (8,)}
    return BiLM(BiLMConfig.model_validate(settings | changes))


@pytest.fixture
def folder(tokenizer: WordTokenizer, tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "good", bilm(tokenizer), tokenizer, TEXT)
    return tmp_path / "good"


def weights(model: BiLM) -> dict[str, torch.Tensor]:
    return {name: p.detach().clone() for name, p in model.named_parameters()}


def change_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["model"] |= changes
    (folder / "config.json").write_text(json.dumps(config))


# what is saved comes back


@pytest.mark.parametrize("softmax", ["full", "adaptive"])
@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_float32_comes_back_exactly(tokenizer, tmp_path, softmax, tied, shared):
    model = bilm(tokenizer, softmax=softmax, tied_weights=tied, shared_embeddings=shared)
    reading = Reading(readout="context", layer="weighted", layer_weights=(0.5, 0.25, 0.25))
    save_checkpoint(tmp_path / "m", model, tokenizer, TEXT, reading, metrics={"perplexity": 12.5})
    loaded = load_checkpoint(tmp_path / "m")
    assert loaded.config == CheckpointConfig(model=model.config, text=TEXT, reading=reading)
    assert loaded.metrics == {"perplexity": 12.5}
    assert loaded.tokenizer.to_json() == tokenizer.to_json()
    assert weights(loaded.model).keys() == weights(model).keys()
    assert all(torch.equal(value, weights(model)[name]) for name, value in weights(loaded.model).items())
    assert not loaded.model.training


def test_float16_comes_back_closely_in_half_the_space(tokenizer, tmp_path, folder):
    model = bilm(tokenizer)
    save_checkpoint(tmp_path / "half", model, tokenizer, TEXT, weight_type="float16")
    for name, value in weights(load_checkpoint(tmp_path / "half").model).items():
        assert value.dtype == torch.float32
        torch.testing.assert_close(value, weights(model)[name], atol=1e-6, rtol=2**-11)
    half, full = (load_file(path / "model.safetensors") for path in (tmp_path / "half", folder))
    assert sum(t.nbytes for t in half.values()) * 2 == sum(t.nbytes for t in full.values())


def test_a_tied_weight_is_stored_once_and_stays_tied(folder):
    assert "forward_lm.softmax.weight" not in load_file(folder / "model.safetensors")
    model = load_checkpoint(folder).model
    assert model.forward_lm.softmax.weight is model.forward_lm.embedding.weight


def test_the_folder_holds_four_files_others_may_read(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.json",
        "metrics.json",
        "model.safetensors",
        "tokenizer.json",
    ]
    assert folder.stat().st_mode & 0o777 == 0o755
    assert {path.stat().st_mode & 0o044 for path in folder.iterdir()} == {0o044}


def test_a_changed_config_keeps_everything_else(folder):
    reading = Reading(readout="context", layer="mean")
    before = load_checkpoint(folder)
    update_config(folder, reading=reading.model_dump(), layer_weights={"here": (0.5, 0.25, 0.25)})
    after = load_checkpoint(folder)
    changes = {"reading": reading, "layer_weights": {"here": (0.5, 0.25, 0.25)}}
    assert after.config == before.config.model_copy(update=changes)
    with pytest.raises(ValueError, match="colour"):
        update_config(folder, colour="red")
    assert read_config(folder) == after.config


# what cannot be used is refused


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(CheckpointError, match=f"good has no {name}; copy the whole folder again"):
        load_checkpoint(folder)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(CheckpointError, match=r"there is no checkpoint folder .*nowhere"):
        load_checkpoint(tmp_path / "nowhere")


def test_a_run_folder_points_to_its_best_checkpoint(tiny_run):
    with pytest.raises(CheckpointError, match=r"this is a training run, its checkpoint is .*best"):
        load_checkpoint(tiny_run)


def test_metrics_may_be_missing(folder):
    (folder / "metrics.json").unlink()
    assert load_checkpoint(folder).metrics == {}


def test_wrong_shapes_name_the_tensor_and_both_shapes(folder):
    change_config(folder, hidden_size=7)
    with pytest.raises(CheckpointError, match=r"tensor forward_lm\.\S+ is \(.*\), but config\.json asks for \(.*7"):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"softmax.bias": None}, r"tensor forward_lm\.softmax\.bias is missing, but config\.json asks for \(14,\)"),
        ({"more": torch.zeros(2)}, r"tensor more is \(2,\), but config\.json asks for no such tensor"),
    ],
)
def test_missing_and_unexpected_tensors_are_named(folder, changes, message):
    tensors = load_file(folder / "model.safetensors")
    for name, value in changes.items():
        if value is None:
            tensors.pop(f"forward_lm.{name}")
        else:
            tensors[name] = value
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"colour": "red"}, r"config a this version can read|colour: Extra inputs are not permitted"),
        ({"family": "oracle"}, "family: Input should be 'bilm'"),
        ({"format_version": 2}, "format_version: Input should be 1"),
        ({"model": {"hidden_size": 10**9}}, r"model\.hidden_size: .*less than or equal to 4096"),
    ],
)
def test_an_unknown_config_is_refused_by_the_name_of_its_key(folder, config, message):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | config))
    with pytest.raises(CheckpointError, match=message):
        load_checkpoint(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff\xfe\0", b"null"])
def test_a_config_that_is_no_json_object_is_refused(folder, content):
    (folder / "config.json").write_bytes(content)
    with pytest.raises(CheckpointError, match="is not a config this version can read"):
        read_config(folder)


def test_absurd_sizes_are_refused_before_anything_is_allocated(folder):
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    change_config(folder, vocabulary_size=2_000_000, embedding_size=4_096, hidden_size=4_096, num_layers=8)
    with pytest.raises(CheckpointError, match=r"declares 1\d,\d{3},\d{3},\d{3} parameters; the limit is 2,000,000,000"):
        load_checkpoint(folder)
    # within the limit, but 1.6 GB larger than the weights beside it
    change_config(folder, vocabulary_size=14, embedding_size=4, hidden_size=4_096, num_layers=2)
    with pytest.raises(CheckpointError, match=r"but config\.json asks for \(.*4096"):
        load_checkpoint(folder)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < 1.3 * peak_before


@pytest.mark.parametrize("kept_share", [0, 0.001, 0.3, 0.99])
def test_truncated_weights_are_refused(folder, kept_share):
    path = folder / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept_share)])
    with pytest.raises(CheckpointError, match=r"model\.safetensors cannot be read .* cut short: copy it again"):
        load_checkpoint(folder)


def test_a_pickle_in_place_of_the_weights_is_not_opened(folder):
    torch.save({"weight": torch.zeros(1)}, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_checkpoint(folder)


def test_the_tokenizer_of_another_checkpoint_is_refused(folder):
    other = WordTokenizer.train(["one two three"], TEXT)
    (folder / "tokenizer.json").write_text(other.to_json())
    with pytest.raises(CheckpointError, match=r"has 7 words, but config\.json says 14"):
        load_checkpoint(folder)


@pytest.mark.parametrize("content", ["{}", "not json"])
def test_a_foreign_tokenizer_file_is_refused(folder, content):
    (folder / "tokenizer.json").write_text(content)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json is not a readable tokenizer file"):
        load_checkpoint(folder)


def test_damaged_metrics_are_named(folder):
    (folder / "metrics.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"metrics\.json is not JSON"):
        load_checkpoint(folder)


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "metrics.json"])
def test_a_text_file_of_absurd_size_is_not_read(folder, name):
    with (folder / name).open("ab") as file:
        file.truncate(2**30)  # a hole: no space is used
    with pytest.raises(CheckpointError, match=f"{name} has 1,073,741,824 bytes; at most 67,108,864 are read"):
        load_checkpoint(folder)


# nothing broken is written


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_never_written(tokenizer, folder, tmp_path, value):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    model = bilm(tokenizer, seed=1)
    with torch.no_grad():
        model.forward_lm.layers[0].bias_hh_l0[3] = value
    for target in (folder, tmp_path / "new"):
        with pytest.raises(ValueError, match=r"forward_lm\.layers\.0\.bias_hh_l0 are not finite as float32"):
            save_checkpoint(target, model, tokenizer, TEXT)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not (tmp_path / "new").exists()


def test_weights_beyond_float16_are_not_written_as_float16(tokenizer, tmp_path):
    model = bilm(tokenizer)
    with torch.no_grad():
        model.forward_lm.embedding.weight[5, 0] = 1e5
    with pytest.raises(ValueError, match="not finite as float16"):
        save_checkpoint(tmp_path / "m", model, tokenizer, TEXT, weight_type="float16")
    save_checkpoint(tmp_path / "m", model, tokenizer, TEXT, weight_type="float32")


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a matter of Unix")
@pytest.mark.parametrize("hidden_size", [6, 60])
def test_a_full_disk_leaves_the_previous_checkpoint_and_no_rubbish(tokenizer, folder, hidden_size, full_disk):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    config_size = len(before["config.json"])
    largest = max(map(len, before.values()))
    for num_bytes in (0, config_size // 2, config_size + 50, largest - 1):
        with full_disk(num_bytes), pytest.raises(OSError, match="File too large"):
            save_checkpoint(folder, bilm(tokenizer, 1, hidden_size=hidden_size), tokenizer, TEXT)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["good"]


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are a matter of Unix")
def test_a_full_disk_leaves_no_half_of_a_new_checkpoint(tokenizer, tmp_path, full_disk):
    with full_disk(500), pytest.raises(OSError, match="File too large"):
        save_checkpoint(tmp_path / "new", bilm(tokenizer), tokenizer, TEXT)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_checkpoint_is_replaced(tokenizer, folder):
    model = bilm(tokenizer, seed=1, hidden_size=9)
    save_checkpoint(folder, model, tokenizer, TEXT)
    assert torch.equal(
        load_checkpoint(folder).model.forward_lm.layers[1].weight_hh_l0, model.forward_lm.layers[1].weight_hh_l0
    )


# the state of a run


def test_state_comes_back(tmp_path):
    tensors = {"a": torch.randn(3, 2).T, "step": torch.tensor(3.0)}
    write_state(tmp_path / "state", tensors, {"step": 7, "best": float("inf")})
    found, meta = read_state(tmp_path / "state")
    assert all(torch.equal(found[name], tensor) for name, tensor in tensors.items())
    assert meta == {"step": 7, "best": float("inf")}


def test_a_damaged_state_is_named(tmp_path):
    path = tmp_path / "state.safetensors"
    write_state(path, {"a": torch.zeros(9)}, {})
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CheckpointError, match=r"state\.safetensors cannot be read"):
        read_state(path)
    shutil.copyfile(shutil.which("true") or __file__, path)
    with pytest.raises(CheckpointError, match=r"state\.safetensors cannot be read"):
        read_state(path)
