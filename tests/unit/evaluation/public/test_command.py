"""`python -m ctxemb evaluate CHECKPOINT --test NAME`."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from ctxemb.cli import main
from ctxemb.evaluation.readings import CONTROL
from tests.unit.evaluation.public.test_context_pairs import TRAIN, write_wic


@pytest.fixture
def run(monkeypatch, capsys):
    """`run("--test", "wic")`: exit code, stdout and stderr."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ctxemb", "evaluate", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return (int(end.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def checkpoint(angled) -> Path:
    return angled().encoder.checkpoint.path


@pytest.fixture
def data(tmp_path) -> Path:
    write_wic(tmp_path / "data" / "wic", "train", TRAIN)
    write_wic(tmp_path / "data" / "wic", "dev", TRAIN)
    (tmp_path / "data" / "word-evals-en").mkdir()
    (tmp_path / "data" / "word-evals-en" / "simlex999.txt").write_text("bank\tbanks\t9\nbank\tplant\t1\nbank\told\t0\n")
    return tmp_path / "data"


def test_one_test_is_printed_with_its_interval_and_its_floor(run, checkpoint, data):
    code, out, err = run(checkpoint, "--test", "wic", "--data", data)
    assert (code, err) == (0, "")
    assert "wic, dev" in out
    assert "1.000–1.000" in out
    assert "always the same answer" in out
    assert "The threshold is chosen on the train part (3 pairs)." in out


def test_all_gives_what_is_here_and_says_what_is_not(run, checkpoint, data):
    code, out, err = run(checkpoint, "--test", "all", "--data", data, "--json", "--save")
    assert code == 0
    found = json.loads(out)
    assert [score["name"] for score in found["tests"]] == ["wic", "simlex-999"]
    assert found["tests"][0]["rows"][0]["reading"] == CONTROL
    assert found["tests"][0]["rows"][0]["value"] == 1.0
    assert "no score: scws is not in" in err
    assert len(found["problems"]) == len(err.strip().splitlines())
    assert json.loads((checkpoint / "metrics.json").read_text())["tests"] == found["tests"]


def test_nothing_is_recorded_unasked_and_a_set_of_ones_own_folder_is_enough(run, checkpoint, data):
    before = (checkpoint / "metrics.json").read_bytes()
    code, out, _ = run(checkpoint, "--test", "wic", "--data", data / "wic", "--split", "dev", "--json")
    assert (code, len(json.loads(out)["tests"])) == (0, 1)
    assert (checkpoint / "metrics.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--test", "moon"], 1, "error: there is no test 'moon'; choose all, wic"),
        (["--test", "scws"], 1, "error: scws is not in"),
        (["--test", "scws", "--test", "bats"], 1, "error: none of scws, bats could be scored"),
        (["--test", "wic", "--split", "test"], 1, "error: wic has no test part"),
        (["--test", "wic", "--layer", "7"], 1, "error: there is no layer 7"),
        (["--split", "dev"], 2, "--split: only with --test"),
    ],
)
def test_what_is_asked_wrongly_is_one_sentence(run, checkpoint, data, arguments, code, message):
    found, out, err = run(checkpoint, *arguments, "--data", data)
    assert (found, out) == (code, "")
    assert message in " ".join(err.split())


def test_the_reading_can_be_chosen(run, calibrated, tmp_path, data):
    folder = tmp_path / "copy"
    shutil.copytree(calibrated.checkpoint.path, folder)
    options = ("--readout", "context", "--layer", "1", "--json")
    _, out, _ = run(folder, "--test", "wic", "--data", data, *options)
    assert json.loads(out)["tests"][0]["reading"] == "context, layer 1"
