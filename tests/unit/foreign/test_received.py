import json
import pickle
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from ctxemb import Encoder, calibration
from ctxemb.calibration import load_statistics
from ctxemb.checkpoint import save_checkpoint, write_state
from ctxemb.foreign import ReceivedError, receive_checkpoint, received
from ctxemb.foreign.received import STATISTICS
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.text import TextConfig, WordTokenizer

FILES = ("config.json", "metrics.json", "model.safetensors", STATISTICS, "tokenizer.json")
TEXT = TextConfig(min_frequency=1)
ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory) -> Path:
    """A small untrained checkpoint with statistics; tests copy it before they change it."""
    folder = tmp_path_factory.mktemp("received") / "good"
    tokenizer = WordTokenizer.train(["we sat on the bank of the river"], TEXT)
    torch.manual_seed(0)
    model = BiLM(BiLMConfig(vocabulary_size=len(tokenizer), embedding_size=4, hidden_size=6, num_layers=1))
    save_checkpoint(folder, model, tokenizer, TEXT, metrics={"steps": 3})
    shape = (2, 12)
    means = {f"mean.{r}": torch.randn(shape) for r in model.config.readouts}
    word_means = {f"word_mean.{r}": torch.randn(1, *shape) for r in model.config.readouts}
    counts = {"counts": torch.ones(len(tokenizer), dtype=torch.int64), "word_ids": torch.tensor([5])}
    write_state(folder / STATISTICS, counts | means | word_means, {})
    return folder


@pytest.fixture
def copy(checkpoint: Path, tmp_path: Path) -> Path:
    return shutil.copytree(checkpoint, tmp_path / "copy")


@pytest.fixture
def into(tmp_path: Path) -> Path:
    (tmp_path / "private").mkdir()
    return tmp_path / "private"


@pytest.fixture
def refused(into: Path) -> Callable[..., str]:
    """`refused({name: path})`: the one sentence with which files are refused; nothing is left behind."""

    def refused(files: dict[str, Path]) -> str:
        before = sorted(into.parent.rglob("*"))
        with pytest.raises(ReceivedError) as caught:
            receive_checkpoint(files, into)
        assert sorted(into.parent.rglob("*")) == before
        message = str(caught.value)
        assert "\n" not in message
        assert str(into) not in message
        assert not any(str(path) in message for path in files.values())
        return message

    return refused


def zipped(folder: Path, inside: str = "", **more: bytes) -> dict[str, Path]:
    """A zip file as an upload lies about: under a name that says nothing."""
    path = folder.parent / "upload-1"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for member in sorted(folder.iterdir()):
            file.write(member, inside + member.name)
        for name, content in more.items():
            file.writestr(name, content)
    return {"my model.zip": path}


def loose(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in folder.iterdir()}


def check_same(checkpoint: Path, folder: Path) -> None:
    one, other = (Encoder.load(path, device="cpu") for path in (checkpoint, folder))
    sentence = ["We sat on the bank of the river ."]
    assert (one.encode(sentence)[0].layers == other.encode(sentence)[0].layers).all()
    assert one.checkpoint.metrics == other.checkpoint.metrics


# what is a checkpoint becomes one


@pytest.mark.parametrize("inside", ["", "good/", "runs/first/best/"])
def test_a_zip_of_a_folder_is_loadable(checkpoint, copy, into, inside):
    litter = {f"__MACOSX/{inside}._config.json": b"", f"{inside}.DS_Store": b"", f"{inside}README.md": b"#", "._x": b""}
    folder = receive_checkpoint(zipped(copy, inside, **litter), into)
    assert folder.parent == into
    assert sorted(path.name for path in folder.iterdir()) == sorted(FILES)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        path.name: path.read_bytes() for path in checkpoint.iterdir()
    }
    check_same(checkpoint, folder)
    assert load_statistics(Encoder.load(folder, device="cpu")) is not None
    assert folder.stat().st_mode & 0o777 == 0o700


def test_loose_files_are_loadable_under_the_names_that_browsers_give(checkpoint, copy, into):
    files = loose(copy)
    assert sorted(path.name for path in receive_checkpoint(files, into).iterdir()) == sorted(FILES)
    renamed = {
        "config (1).json": files["config.json"],
        "tokenizer.json": files["tokenizer.json"],
        "some/folder/epoch 9.SAFETENSORS": files["model.safetensors"],
        "training-log.jsonl": files["metrics.json"],
    }
    folder = receive_checkpoint(renamed, into)
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "model.safetensors", "tokenizer.json"]
    assert len(list(into.iterdir())) == 2
    assert all(path.exists() for path in renamed.values())


def test_a_state_dict_with_its_words_is_loadable(tmp_path, into):
    lstms = {name: nn.LSTM(5, 7) for name in ("fwd_lstm", "bwd_lstm")}
    student = nn.ModuleDict({"embed": nn.Embedding(3, 5), "out": nn.Linear(7, 3), **lstms})
    torch.save(student.state_dict(), tmp_path / "upload-1")
    (tmp_path / "upload-2").write_text("the\nbank\n<unk>\n")
    folder = receive_checkpoint({"m.pt": tmp_path / "upload-1", "words.txt": tmp_path / "upload-2"}, into)
    encoder = Encoder.load(folder, device="cpu")
    assert encoder.encode(["The bank"])[0].layers.shape == (2, 2, 14)
    assert encoder.checkpoint.metrics["import"]["special"]["<unk>"] == "<unk>"


def test_the_name_of_the_statistics_is_that_of_calibration():
    assert STATISTICS == calibration.STATISTICS


# what is none is refused


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "nothing makes no checkpoint; give a .zip"),
        (["model.bin"], "'model.bin' makes no checkpoint"),
        (["a.zip", "b.zip"], "a zip file has to hold the whole checkpoint; give it alone"),
        (["a.zip", "config.json"], "give it alone"),
        (["a.pt"], "a .pt file needs the words of its embedding beside it"),
        (["a.pt", "b.pth", "w.txt"], "give these two files"),
        (["a.pt", "w.txt", "config.json"], "give these two files"),
        (["config.json", "tokenizer.json"], "make no checkpoint"),
        (["model.safetensors", "config.json"], "there is no tokenizer.json; give all of"),
        (["model.safetensors", "tokenizer.json"], "there is no config.json; give all of"),
        (["model.safetensors", "other.safetensors"], "would be model.safetensors a second time"),
        (["model.safetensors", "config.json", "config (2).json"], "would be config.json a second time"),
        (["model.safetensors", "config.json", "tokenizer.json", "a.pkl"], "'a.pkl' is no file of a checkpoint"),
        (["a\x1b[31m.exe"], r"'a\x1b[31m.exe' makes no checkpoint"),
    ],
)
def test_files_that_make_no_checkpoint_are_refused(copy, refused, names, message):
    files = loose(copy)
    assert message in refused({name: files.get(name, files["config.json"]) for name in names})


@pytest.mark.parametrize("name", ["model.pt", "x.pkl", "inner.zip", "inner.tar.gz", "run.py", "lib.so", "x", "x.json"])
def test_other_files_in_a_zip_are_refused(copy, refused, name):
    message = refused(zipped(copy, **{name: pickle.dumps([1])}))
    assert f"'{name}' is no file of a checkpoint; give config.json, tokenizer.json, model.safetensors" in message


def test_several_folders_in_a_zip_are_refused(copy, refused):
    assert "'my model.zip' holds files in several folders" in refused(zipped(copy, "a/", **{"b/config.json": b"{}"}))


@pytest.mark.parametrize("name", ["../../outside.json", "/tmp/config.json", "..\\config.json", "c:config.json"])
def test_a_zip_that_leads_outside_writes_nothing(copy, refused, name):
    assert "'my model.zip', " in (message := refused(zipped(copy, **{name: b"{}"})))
    assert "leads out of the folder" in message


def test_a_file_that_is_no_zip_is_refused(copy, refused):
    assert "'my.zip' cannot be read as a zip file" in refused({"my.zip": copy / "config.json"})


@pytest.mark.parametrize("missing", ["config.json", "tokenizer.json", "model.safetensors"])
def test_a_zip_without_a_file_is_refused(copy, refused, missing):
    (copy / missing).unlink()
    assert f"there is no {missing}; give all of" in refused(zipped(copy))


@pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "metrics.json"])
@pytest.mark.parametrize("pack", [zipped, loose])
def test_json_bombs_are_refused(copy, refused, name, pack):
    for content in ("[" * 100_000, '{"a":' * 100_000, "", "[]", "\ud800".encode("utf-8", "surrogatepass")):
        (copy / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert name in refused(pack(copy))
    with (copy / name).open("r+b") as file:
        file.truncate(17 << 20)
    assert "17,825,792 bytes; at most 16,777,216 are read" in refused(pack(copy))


HEADERS = {
    "huge shape": b'{"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,4]}}',
    "other length": b'{"a":{"dtype":"F32","shape":[1000000,1000000],"data_offsets":[0,4]}}',
    "offsets beyond the file": b'{"a":{"dtype":"F32","shape":[1000],"data_offsets":[0,4000]}}',
    "offsets backwards": b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}',
    "unknown type": b'{"a":{"dtype":"PICKLE","shape":[1],"data_offsets":[0,4]}}',
    "negative": b'{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}',
    "deep": b'{"a":' + b"[" * 100_000,
    "no object": b"[1, 2]",
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
@pytest.mark.parametrize("name", ["model.safetensors", STATISTICS])
def test_absurd_headers_of_weights_are_refused(copy, refused, header, name):
    (copy / name).write_bytes(struct.pack("<Q", len(header)) + header + bytes(4))
    assert f"{name} cannot be read" in refused(loose(copy))


@pytest.mark.parametrize(
    ("length", "message"),
    [(2**40, "declares a header of 1,099,511,627,776 bytes"), (2**64 - 1, "declares"), (500_000, "cannot be read")],
)
def test_absurd_lengths_of_a_header_are_refused(copy, refused, length, message):
    (copy / "model.safetensors").write_bytes(struct.pack("<Q", length) + b"{}")
    assert message in refused(loose(copy))


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("pre_tokenizer", {"type": "Whitespace"}),
        ("pre_tokenizer", {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Removed", "invert": True}),
        ("normalizer", {"type": "Replace", "pattern": {"String": "a"}, "content": "a" * 1_000}),
        ("truncation", {"max_length": 1, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}),
        ("post_processor", {"type": "BertProcessing", "sep": ["<eos>", 2], "cls": ["<bos>", 1]}),
        ("model", {"type": "BPE", "vocab": {}, "merges": []}),
        ("added_tokens", []),
        ("surprise", 1),
    ],
)
def test_a_tokenizer_with_other_steps_is_refused(copy, refused, part, value):
    content = json.loads((copy / "tokenizer.json").read_text())
    (copy / "tokenizer.json").write_text(json.dumps(content | {part: value}))
    assert f"tokenizer.json: its '{part}' is not the one that this version writes" in refused(loose(copy))


def test_the_shipped_checkpoints_pass(into):
    shipped = [path for path in (ROOT / "checkpoints").iterdir() if path.is_dir()]
    assert len(shipped) >= 3
    for path in shipped:
        receive_checkpoint(loose(path), into)


def test_sizes_are_limited(copy, refused, monkeypatch):
    monkeypatch.setattr(received, "MAX_TOTAL_BYTES", 3_000)
    assert "at most 3,000 are read" in refused(loose(copy))
    assert "at most 3,000 are unpacked" in refused(zipped(copy))


def test_a_list_of_words_beyond_measure_is_not_read(copy, refused):
    with (copy / "config.json").open("r+b") as file:
        file.truncate(17 << 20)
    files = {"model.pt": copy / "model.safetensors", "my words.txt": copy / "config.json"}
    assert refused(files) == "'my words.txt' has 17,825,792 bytes; at most 16,777,216 are read"


def test_a_full_disk_leaves_nothing(copy, into, full_disk):
    files = zipped(copy)
    with full_disk(500), pytest.raises(OSError, match="File too large"):
        receive_checkpoint(files, into)
    assert list(into.iterdir()) == []
