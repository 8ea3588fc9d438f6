"""Folders of Hugging Face encoders from outside: what is refused, that nothing is written, and the commands."""

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from ctxemb import Encoder
from ctxemb.calibration import calibrate, load_statistics, measure_read_only, statistics_file
from ctxemb.checkpoint import (
    CheckpointConfig,
    CheckpointError,
    load_checkpoint,
    read_config,
    save_checkpoint,
    update_config,
)
from ctxemb.cli import main
from ctxemb.comparison import Sentence, centring_mean, context_bag, find_uses
from ctxemb.corpora import open_corpus
from ctxemb.evaluation.public.record import record_scores
from ctxemb.examples import example_words
from ctxemb.foreign import ReceivedError, receive_checkpoint
from ctxemb.models.static import Static
from ctxemb.store.about import checkpoint_identity
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import tokenize
from tests.hugging_face import VOCABULARY, write_config, write_encoder, write_words

needs_transformers = pytest.mark.skipif(
    importlib.util.find_spec("transformers") is None,
    reason="transformers is an extra: pip install -r requirements-transformers.txt",
)
TEXTS = ["we sat on the old bank of the river .", "the bank approved a loan for farmers ."]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of these tests reaches the user's own folders."""
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("ctxemb.calibration.SAMPLES", {"en": (), "zh": ()})  # our example sentences are enough
    return tmp_path / "cache"


@pytest.fixture
def described(tmp_path: Path) -> Path:
    """A folder with config and words, and weights that are not looked at."""
    write_words(tmp_path / "encoder")
    write_config(tmp_path / "encoder")
    (tmp_path / "encoder" / "model.safetensors").write_bytes(b"not read")
    return tmp_path / "encoder"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_encoder(tmp_path / "encoder")


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in folder.rglob("*") if path.is_file()}


# without the library


def test_without_the_extra_one_sentence_says_how_to_get_it(described: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(CheckpointError) as found:
        Encoder.load(described)
    message = "reading a Hugging Face encoder needs transformers: pip install -r requirements-transformers.txt"
    assert str(found.value) == message


def test_what_a_folder_is_can_be_seen_without_the_library(described: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "transformers", None)
    config = read_config(described)
    model = config.model
    assert (config.family, config.text.language, config.reading.readout) == ("transformer", "en", "here")
    assert (model.width, model.num_layers, model.reads_spelling, model.readouts) == (8, 2, True, ("here",))
    assert json.loads(config.model_dump_json())["model"]["settings"]["intermediate_size"] == 20


@pytest.mark.parametrize(
    ("model_type", "changes", "message"),
    [
        ("gpt2", {}, "is of model type 'gpt2'; encoders with WordPiece vocabularies are read: bert, distilbert, "),
        ("t5", {"is_encoder_decoder": True}, "is of model type 't5'"),
        ("roberta", {}, "is of model type 'roberta'"),
        ("bert", {"is_decoder": True}, "sets is_decoder; plain encoders are read: bert"),
        ("bert", {"position_embedding_type": "relative_key"}, "sets position_embedding_type"),
        ("bert", {"quantization_config": {"bits": 4}}, "sets quantization_config"),
        ("bert", {"hidden_size": None}, "gives no number for hidden_size"),
        (
            "bert",
            {"vocab_size": 7},
            f"has 7 embeddings for the {len(VOCABULARY)} pieces of the tokenizer, which is another model's",
        ),
        ("bert", {"num_hidden_layers": 10**9}, "num_layers: Input should be less than or equal to 128"),
        ("bert", {"hidden_size": -8}, "width: Input should be greater than or equal to 1"),
        ("bert", {"max_position_embeddings": 2}, "num_positions: Input should be greater than or equal to 8"),
        (["bert"], {}, "is of model type"),
    ],
)
def test_other_encoders_are_refused_in_one_sentence(described: Path, model_type, changes, message):
    settings = json.loads((described / "config.json").read_text()) | changes | {"model_type": model_type}
    (described / "config.json").write_text(json.dumps(settings))
    with pytest.raises(CheckpointError) as found:
        Encoder.load(described)
    assert message in str(found.value)
    assert str(found.value).startswith(str(described / "config.json"))
    assert "\n" not in str(found.value)


def test_weights_that_could_run_code_are_refused(described: Path):
    (described / "model.safetensors").rename(described / "pytorch_model.bin")
    with pytest.raises(
        CheckpointError, match=r"pytorch_model\.bin could run code and is not read: save the model again"
    ):
        Encoder.load(described)
    (described / "pytorch_model.bin").unlink()
    with pytest.raises(CheckpointError, match=r"has no model\.safetensors; save the model again"):
        Encoder.load(described)


def test_words_in_another_form_are_refused(described: Path):
    (described / "vocab.txt").unlink()
    with pytest.raises(CheckpointError, match=r"has no tokenizer\.json and no vocab\.txt"):
        Encoder.load(described)


def test_a_checkpoint_of_ours_cannot_pass_for_one(tmp_path: Path):
    text = TextConfig(min_frequency=1)
    tokenizer = WordTokenizer.from_words(["one", "two"], text)
    save_checkpoint(tmp_path / "m", Static.from_vectors(np.ones((6, 3), np.float32)), tokenizer, text)
    path = tmp_path / "m" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"family": "transformer"}))
    with pytest.raises(CheckpointError, match="a transformer is opened from the folder that transformers'"):
        load_checkpoint(tmp_path / "m")


# weights


@needs_transformers
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("encoder.layer.1.output.dense.weight"), "has no tensor encoder.layer.1.output.dense.weight"),
        (
            lambda t: t.update({"embeddings.word_embeddings.weight": torch.zeros(9, 8)}),
            rf"embeddings.word_embeddings.weight is \(9, 8\) of F32, but config.json asks for \({len(VOCABULARY)}, 8\)",
        ),
        (
            lambda t: t.update({"encoder.layer.0.output.dense.bias": torch.zeros(8, dtype=torch.int64)}),
            r"encoder.layer.0.output.dense.bias is \(8,\) of I64",
        ),
        (
            lambda t: t.update({"encoder.layer.2.output.dense.bias": torch.zeros(8)}),
            "has the tensor encoder.layer.2.output.dense.bias, for which config.json has no place",
        ),
    ],
)
def test_weights_that_are_not_the_configs_are_refused(folder: Path, change, message):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")
    with pytest.raises(CheckpointError, match=message):
        Encoder.load(folder)


@needs_transformers
def test_weights_that_are_cut_short_are_refused(folder: Path):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match="it may be cut short: copy it again"):
        Encoder.load(folder)


@needs_transformers
def test_sizes_are_counted_before_anything_is_allocated(described: Path):
    write_config(described, hidden_size=16_384, intermediate_size=60_000, num_hidden_layers=2)
    with pytest.raises(
        CheckpointError, match=r"config\.json declares 6,\d{3},\d{3},\d{3} parameters; the limit is 2,000"
    ):
        Encoder.load(described)


@needs_transformers
@pytest.mark.parametrize("changes", [{"num_attention_heads": 3}, {"hidden_act": "no such"}, {"layer_norm_eps": "x"}])
def test_settings_that_the_library_cannot_build_are_refused(folder: Path, changes: dict):
    write_config(folder, **changes)
    with pytest.raises(CheckpointError, match=r"transformers cannot build the bert of config\.json \(\w+: .+\)$"):
        Encoder.load(folder)


@needs_transformers
def test_no_code_of_a_folder_is_run(folder: Path):
    (folder / "modeling.py").write_text("raise SystemExit('the folder ran code')")
    classes = {"AutoConfig": "modeling.C", "AutoModel": "modeling.M", "AutoTokenizer": "modeling.T"}
    write_config(folder, auto_map=classes)
    (found,) = Encoder.load(folder, device="cpu").encode(TEXTS[:1])
    assert found.layers.shape == (3, 10, 8)


# nothing is written


@needs_transformers
def test_nothing_is_ever_written_into_the_folder(folder: Path, cache: Path):
    before = state(folder)
    encoder = Encoder.load(folder, device="cpu")
    assert encoder.is_read_only
    config = encoder.config
    with pytest.raises(CheckpointError, match="is a Hugging Face encoder and is opened read-only"):
        update_config(folder, reading=config.reading)
    with pytest.raises(CheckpointError, match="opened read-only"):
        record_scores(folder, [])
    text = TextConfig(min_frequency=1)
    with pytest.raises(CheckpointError, match="opened read-only"):
        save_checkpoint(
            folder, Static.from_vectors(np.ones((5, 2), np.float32)), WordTokenizer.from_words(["a"], text), text
        )
    with pytest.raises(ValueError, match="a transformer is opened read-only; keep the folder"):
        save_checkpoint(folder.parent / "copy", encoder.model, encoder.tokenizer, config.text)
    assert not (folder.parent / "copy").exists()
    with pytest.raises(ValueError, match="opened from the folder"):
        CheckpointConfig.model_validate(config.model_dump())
    measure_read_only(encoder, ["bank"])
    assert statistics_file(encoder).is_relative_to(cache)
    assert state(folder) == before


@needs_transformers
def test_its_statistics_are_kept_in_the_cache_and_belong_to_its_weights(folder: Path, tmp_path: Path):
    encoder = Encoder.load(folder, device="cpu")
    assert load_statistics(encoder) is None
    (tmp_path / "text.txt").write_text("\n".join(TEXTS * 3))
    corpus = tokenize([open_corpus(tmp_path / "text.txt")], encoder.tokenizer, encoder.config.text, tmp_path / "cache")
    calibrate(encoder, corpus, ["bank"])
    statistics = load_statistics(Encoder.load(folder, device="cpu"))
    assert statistics is not None
    bank = encoder.tokenizer.word_id("bank")
    assert statistics.counts_V[bank] == 6
    uses, _ = find_uses(encoder, [Sentence(text) for text in TEXTS], "bank")
    # a corpus is ids: “farmers”, of several pieces, is an unknown word there, and none in our sentences
    known, _ = find_uses(encoder, [Sentence(TEXTS[0])], "bank")
    mean_LD = centring_mean("per word", encoder, statistics, "bank")
    ids = [use.encoding.ids for use in uses]
    positions = [use.position for use in uses]
    by_id = [layers[:, at] for layers, at in zip(encoder.layers_of_ids(ids, "here"), positions, strict=True)]
    np.testing.assert_allclose(mean_LD, np.mean(by_id, axis=0), atol=5e-3)
    np.testing.assert_allclose(by_id[0], known[0].encoding.layers[:, known[0].position], atol=1e-5)
    bag = context_bag(encoder, statistics)
    assert bag is not None
    assert np.isfinite(bag.vector(uses[0].encoding.ids, uses[0].position)).all()
    write_encoder(folder, hidden_dropout_prob=0.2)  # written anew: what was measured is not of these weights
    assert load_statistics(Encoder.load(folder, device="cpu")) is None


@needs_transformers
def test_a_store_knows_its_weights_and_its_words(folder: Path, tmp_path: Path):
    first = checkpoint_identity(Encoder.load(folder, device="cpu"))
    assert first == checkpoint_identity(Encoder.load(folder, device="cpu"))
    write_words(folder, [*VOCABULARY[:-1], "zebra"])
    assert checkpoint_identity(Encoder.load(folder, device="cpu")) != first


def test_an_uploaded_one_is_refused_before_its_tokenizer_is_run(described: Path, tmp_path: Path):
    (described / "tokenizer.json").write_text("{}")
    files = {name: described / name for name in ("config.json", "tokenizer.json", "model.safetensors")}
    (tmp_path / "into").mkdir()
    with pytest.raises(ReceivedError, match=r"config\.json is that of a Hugging Face encoder; copy its folder"):
        receive_checkpoint(files, tmp_path / "into")
    assert list((tmp_path / "into").iterdir()) == []


# commands


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`run("info", path)`: exit code, output and errors of `python -m ctxemb info path`."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ctxemb", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return run


@needs_transformers
def test_commands_read_it_and_leave_it_alone(folder: Path, run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "no data"))
    before = state(folder)
    code, out, err = run("compare", folder, "--word", "bank", *TEXTS, "--json")
    assert code == 0, err
    encodings = Encoder.load(folder, device="cpu").encode(TEXTS)
    one, other = (e.vectors[e.positions("bank")[0]] for e in encodings)
    expected = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert json.loads(out)["cosines"][0][1] == pytest.approx(expected, abs=1e-3)
    described = json.loads(run("info", folder, "--json")[1])
    assert (described["family"], described["model"]["model_type"]) == ("transformer", "bert")
    (tmp_path / "text.txt").write_text("\n".join(TEXTS))
    code, _, err = run("encode", folder, "--input", tmp_path / "text.txt", "--output", tmp_path / "out.npz")
    assert code == 0, err
    code, out, err = run("evaluate", folder, "--json")
    assert code == 0, err
    rows = {row["reading"]: row for row in json.loads(out)["readings"]}
    assert rows["static control (layer 0)"]["example_auc"] == 0.5
    assert {"here, layer 1, centred off", "here, layer 2, centred per word", "bag of context"} <= set(rows)
    code, out, _ = run("check", folder, "--json")
    checks = {check["name"]: check for check in json.loads(out)["checks"]}
    assert code in (0, 1)  # a random model has learnt nothing
    for name in ("files", "tokenizer", "weights", "same twice", "batches", "boundaries", "layer 0"):
        assert checks[name]["verdict"] == "pass", checks[name]
    assert "broke on this checkpoint" not in out
    assert state(folder) == before


@needs_transformers
@pytest.mark.parametrize("test", [[], ["--test", "wic"]])
def test_saving_is_refused_before_anything_is_computed(folder: Path, run, test: list[str]):
    code, out, err = run("evaluate", folder, "--save", *test)
    assert (code, out) == (1, "")
    assert "opened read-only; nothing is saved in it" in " ".join(err.split())


@needs_transformers
def test_every_example_word_gets_a_mean_though_the_sample_has_it_not(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "sample.txt").write_text("\n".join(TEXTS))
    sample = open_corpus(tmp_path / "sample.txt")
    monkeypatch.setattr("ctxemb.calibration.sample_corpus", lambda language: sample)
    monkeypatch.setattr("ctxemb.calibration.NAMED", {sample.name: None})
    encoder = Encoder.load(folder, device="cpu")
    measure_read_only(encoder, example_words("en"))
    statistics = load_statistics(encoder)
    assert statistics is not None
    for word in example_words("en"):
        mean_LD = statistics.word_mean("here", encoder.tokenizer.word_id(word))
        assert mean_LD is not None, word
        assert np.isfinite(mean_LD).all()
    assert statistics.counts_V[encoder.tokenizer.word_id("approved")] >= 1  # the sample counts too
