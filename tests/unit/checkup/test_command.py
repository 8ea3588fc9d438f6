"""`ctxemb check`: exit codes for pipelines, words for people, JSON for programs; folders, runs and archives."""

import json
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from ctxemb.checkup import check_received
from ctxemb.cli import main
from ctxemb.cli.terminal import screen
from tests.unit.checkup.conftest import SHIPPED, change_weights


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """`check(path, "--json")`: what `python -m ctxemb check path --json` prints, and its exit code."""

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["ctxemb", "check", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "160")
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return Result(int(end.value.code or 0), *capsys.readouterr())

    return run


def pack(folder: Path, archive: Path) -> Path:
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.iterdir():
            file.write(path, f"{folder.name}/{path.name}")
    return archive


def test_a_sound_checkpoint_ends_with_0_and_a_table(check, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(screen, "width", 200)
    result = check(SHIPPED / "en-static", "--threads", "1")
    assert result.code == 0
    assert "Sound: 14 checks passed, 4 did not apply." in result.out
    assert "One vector a word: nothing here has learnt to read a context." in result.out
    assert result.out.count(" pass ") == 14


def test_an_unsound_one_ends_with_1_and_what_to_do(check, copy) -> None:
    folder = copy("en-static")
    change_weights(folder, lambda tensors: tensors["embedding.weight"][10].fill_(float("nan")))
    result = check(folder)
    assert result.code == 1
    assert "fail: values. 100 numbers are NaN or infinite, in embedding.weight." in result.out
    assert "take an earlier checkpoint" in result.out
    assert "not run: rows, same twice" in result.out
    assert "Unsound: 1 check failed (values); 13 could not be run." in result.out


@pytest.mark.parametrize("what", ["nothing", "a text file", "a folder of other things"])
def test_what_is_no_checkpoint_ends_with_2_and_one_sentence(check, tmp_path: Path, what: str) -> None:
    path = tmp_path / "given"
    if what == "a text file":
        path = path.with_suffix(".txt")
        path.write_text("the bank\n")
    elif what == "a folder of other things":
        path.mkdir()
        (path / "notes.md").write_text("# Notes\n")
    result = check(path)
    assert result.code == 2
    (line,) = (line for line in result.out.splitlines() if line.startswith("Unreadable: "))
    assert "give" in line or "copy" in line
    assert "Traceback" not in result.out + result.err


def test_json_holds_the_verdict_and_numbers_beside_a_reference(check) -> None:
    result = check(SHIPPED / "en-static", "--json", "--against", SHIPPED / "zh-static")
    assert result.code == 0
    content = json.loads(result.out, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))
    assert (content["checkpoint"], content["verdict"], content["reference"]) == ("en-static", "sound", "zh-static")
    tokenizer = next(row for row in content["checks"] if row["name"] == "tokenizer")
    assert (tokenizer["number"], tokenizer["reference"]["number"]) == (25_000, 64_000)


def test_a_reference_that_cannot_be_read_is_wrong_usage(check, tmp_path: Path) -> None:
    result = check(SHIPPED / "en-static", "--against", tmp_path / "nowhere")
    assert result.code == 2
    assert "--against" in result.err
    assert "nowhere" in result.err


def test_of_a_run_its_best_is_checked_and_an_archive_is_unpacked(check, tmp_path: Path) -> None:
    shutil.copytree(SHIPPED / "en-static", tmp_path / "run" / "best")
    archive = pack(SHIPPED / "en-static", tmp_path / "static.zip")
    before = sorted(tmp_path.rglob("*"))
    contents = [json.loads(check(path, "--json").out) for path in (tmp_path / "run", archive)]
    assert [content["verdict"] for content in contents] == ["sound", "sound"]
    assert [content["checkpoint"] for content in contents] == ["run", "static.zip"]
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_that_is_none_is_refused(check, tmp_path: Path) -> None:
    path = tmp_path / "bad.zip"
    path.write_bytes(b"PK\x03\x04 no more")
    result = check(path)
    assert result.code == 2
    assert "Unreadable: " in result.out


def test_an_upload_is_checked_in_its_own_folder_and_leaves_nothing(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    archive = pack(SHIPPED / "en-static", private / "0.zip")
    checkup = check_received({"mine.zip": archive}, private, "mine.zip")
    assert (checkup.name, checkup.verdict) == ("mine.zip", "sound")
    refused = check_received({"mine.txt": archive}, private, "mine.txt")
    assert refused.verdict == "unreadable"
    assert str(private) not in refused.results[0].finding.found
    assert list(private.iterdir()) == [archive]
