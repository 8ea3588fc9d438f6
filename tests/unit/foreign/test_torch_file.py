import io
import os
import pickle
import struct
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from ctxemb.foreign import torch_file
from ctxemb.foreign.archive import ArchiveError
from ctxemb.foreign.torch_file import TorchFileError, read_state_dict

STATE = {"a.weight": torch.arange(6.0).reshape(2, 3), "a.bias": torch.tensor([1.5, -2])}


class Payload:
    """A pickle of it makes a folder where it is trusted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def saved(content: object, **options: object) -> dict[str, bytes]:
    """The members that torch.save writes."""
    buffer = io.BytesIO()
    torch.save(content, buffer, **options)
    with zipfile.ZipFile(buffer) as file:
        return {name: file.read(name) for name in file.namelist()}


def pack(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def with_pickle(change: Callable[[bytes], bytes], content: object = STATE) -> dict[str, bytes]:
    members = saved(content)
    before = members["archive/data.pkl"]
    members["archive/data.pkl"] = change(before)
    assert members["archive/data.pkl"] != before
    return members


def refused(path: Path, error: type = TorchFileError) -> str:
    with pytest.raises(error) as caught:
        read_state_dict(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    "wrap",
    [
        lambda state: state,
        OrderedDict,
        lambda state: {"state_dict": state, "epoch": 3},
        lambda state: {"model_state_dict": state, "optimizer": {"state": {0: {"step": torch.tensor(3)}}, "lr": 0.1}},
        lambda state: {"model": state},
    ],
)
def test_what_torch_saved_comes_back(tmp_path, wrap):
    torch.save(wrap(STATE), tmp_path / "s.pt")
    found = read_state_dict(tmp_path / "s.pt")
    assert list(found) == list(STATE)
    assert all(torch.equal(found[name], tensor) for name, tensor in STATE.items())


def test_code_in_a_pickle_is_named_and_not_run(tmp_path):
    for number, content in enumerate(({"a": Payload(tmp_path / "ran")}, Payload(tmp_path / "ran"))):
        path = tmp_path / f"{number}.pt"
        torch.save(content, path)
        assert f"asks for '{os.name}.mkdir', which weights do not need and which is not run" in refused(path)
    for protocol in (0, 2, 4):  # other ways to name code
        members = with_pickle(lambda _, protocol=protocol: pickle.dumps(Payload(tmp_path / "ran"), protocol))
        assert "which is not run" in refused(pack(tmp_path / f"protocol{protocol}.pt", members))
    assert not (tmp_path / "ran").exists()
    # the test can fail: the payload does run where pickles are trusted
    torch.load(tmp_path / "0.pt", weights_only=False)
    assert (tmp_path / "ran").exists()


def test_an_array_of_any_size_out_of_twenty_bytes_is_not_made(tmp_path):
    members = with_pickle(lambda _: b"\x80\x02cbuiltins\nbytearray\n\x8a\x06\0\0\0\0\0\x01\x85R.")  # a terabyte
    assert "asks for 'builtins.bytearray'" in refused(pack(tmp_path / "s.pt", members))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (nn.Linear(2, 2), "asks for 'torch.nn.modules.linear.Linear'"),
        ({"a": np.ones(2)}, "which weights do not need"),
        (torch.ones(2), "holds a Tensor, not the named weights"),
        ({}, "holds nothing"),
        ([STATE], "holds a list"),
        ({"a": 3.0}, "'a' is a float, not a tensor"),
        ({3: torch.ones(2)}, "'3' is no name"),
        ({"a": torch.ones(2, dtype=torch.int64)}, "'a' is a tensor of another kind (torch.int64"),
        ({"a": torch.ones(2, 2).to_sparse()}, "which weights do not need"),
        ({"a": torch.ones(2, device="meta")}, "which weights do not need"),
        ({"a": torch.ones(0, 3)}, "'a' is empty, (0, 3)"),
        ({"a": torch.ones(1).expand(10**9, 10**6)}, "'a' declares 1,000,000,000,000,000 numbers"),
        ({"a": torch.tensor([1, float("nan")])}, "'a' holds NaN or infinite numbers"),
        ({"a": torch.tensor([1, float("inf")]), "b": torch.ones(2)}, "'a' holds NaN or infinite numbers"),
    ],
    ids=str,
)
def test_anything_but_dense_finite_weights_is_refused(tmp_path, content, message):
    torch.save(content, tmp_path / "s.pt")
    assert message in refused(tmp_path / "s.pt")


def test_a_storage_that_declares_more_than_it_has_is_refused(tmp_path):
    def grow(content: bytes) -> bytes:
        more = struct.pack("<i", 10**9)
        return content.replace(b"K\x06tq", b"J" + more + b"tq", 1).replace(
            b"K\x02K\x03\x86", b"J" + more + b"K\x01\x86", 1
        )

    assert "cannot be read by torch" in refused(pack(tmp_path / "s.pt", with_pickle(grow)))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-1],
        lambda content: content[:40],
        lambda content: b"",
        lambda content: content.replace(b"\x86", b"\x85"),
        lambda content: content.replace(b"K\x02", b"K\xff"),
        lambda content: b"\x80\x02(" * 1_000 + b".",
        lambda content: b"\x80\x02" + b"]" * 100_000 + b"a" * 99_999 + b".",
    ],
)
def test_a_damaged_pickle_is_one_sentence(tmp_path, change):
    assert "damaged" in (message := refused(pack(tmp_path / "s.pt", with_pickle(change)))) or "torch" in message


def test_files_that_torch_does_not_write_are_refused(tmp_path):
    path = tmp_path / "s.pt"
    torch.save(STATE, path, _use_new_zipfile_serialization=False)
    assert "no file of torch.save as it writes them since version 1.6" in refused(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    assert "no file of torch.save" in refused(path)
    pack(path, {"a/b": b""})
    assert "a zip file, but not one of torch.save" in refused(path)
    pack(path, saved(STATE) | {"archive/code/a.py": b"", "archive/constants.pkl": b""})
    assert "is a program (TorchScript)" in refused(path)
    pack(path, saved(STATE), zipfile.ZIP_DEFLATED)
    assert "is compressed, as torch never does it" in refused(path)
    pack(path, saved(STATE) | {"archive/byteorder": b"big"})
    assert "another byte order" in refused(path)
    pack(path, saved(STATE) | {"archive/data.pkl": b"0" * (2 << 20)})
    assert "data.pkl': has 2,097,152 bytes; at most 1,048,576 are read" in refused(path, ArchiveError)
    assert "there is no file" in refused(tmp_path / "nowhere")


def test_a_flipped_byte_in_a_weight_is_found(tmp_path):
    path = tmp_path / "s.pt"
    torch.save(STATE, path)
    content = bytearray(path.read_bytes())
    content[content.index(STATE["a.weight"].numpy().tobytes()) + 5] ^= 1
    path.write_bytes(content)
    assert "cannot be unpacked (Bad CRC-32" in refused(path, ArchiveError)


def test_sizes_are_limited(tmp_path, monkeypatch):
    path = tmp_path / "s.pt"
    torch.save(STATE, path)
    monkeypatch.setattr(torch_file, "MAX_PARAMETERS", 7)
    assert "holds 8 numbers; the limit is 7" in refused(path)
    with path.open("ab") as file:
        file.truncate(2**34)  # a hole: no space is used
    assert "has 17,179,869,184 bytes; at most 8,589,934,592 are read" in refused(path)
