import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from ctxemb import Encoder
from ctxemb.cli import main


@pytest.fixture
def state(tmp_path: Path) -> Path:
    lstms = {name: nn.LSTM(5, 7) for name in ("fwd_lstm", "bwd_lstm")}
    student = nn.ModuleDict({"embed": nn.Embedding(4, 5), "out": nn.Linear(7, 4), **lstms})
    torch.save(student.state_dict(), tmp_path / "student.pt")
    (tmp_path / "words.txt").write_text("<unk>\nThe\nbank\nriver\n")
    return tmp_path / "student.pt"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["ctxemb", *map(str, arguments)])
    with pytest.raises(SystemExit) as end:
        main()
    return int(end.value.code or 0)


def test_a_state_dict_becomes_a_checkpoint_that_says_what_was_made_up(state, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    assert run(monkeypatch, "import", "torch", state, "--vocab", tmp_path / "words.txt", "--out", out) == 0
    said = capsys.readouterr().err
    assert "3 words of 5 numbers, LSTMs of 1 x 7 units from student.pt" in said
    assert "read as en, capitals kept; made up, because the words have none: <pad>, <bos>, <eos>" in said
    assert f"checkpoint: {out}" in said
    assert Encoder.load(out, device="cpu").encode(["The bank"])[0].oov.tolist() == [False, False]


def test_what_cannot_be_imported_is_one_sentence(state, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    assert run(monkeypatch, "import", "torch", state, "--vocab", state, "--out", out) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert "is not UTF-8" in said
    assert not out.exists()
