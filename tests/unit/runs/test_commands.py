import json
import sys
from collections.abc import Callable

import pytest

from ctxemb.cli import main
from ctxemb.runs import RunStore


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """`runs("list", "--json")`: exit code, stdout and stderr of `python -m ctxemb runs list --json`."""

    def runs(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["ctxemb", "runs", *arguments])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return int(end.value.code or 0), *capsys.readouterr()

    return runs


def test_from_start_to_delete(runs, store, sleepers, tiny_run, monkeypatch):
    monkeypatch.setattr("ctxemb.runs.store.num_gpus", lambda: 0)
    text = str(tiny_run.parent / "text.txt")
    ids = []
    for name in ("[b]one", "two"):
        code, out, err = runs("start", "quick", "--name", name, "--corpus", text, "--set", "training.seed=3")
        assert (code, err) == (0, "")
        ids.append(out.strip())
    one, two = ids
    rows = json.loads(runs("list", "--json")[1])
    assert [(row["id"], row["name"], row["state"], row["place"]) for row in rows] == [
        (two, "two", "queued", 1),
        (one, "[b]one", "starting", None),
    ]
    assert "[b]one" in runs("list")[1]
    shown = json.loads(runs("show", one, "--json")[1])
    assert shown["request"]["settings"] == ["training.seed=3"]
    assert shown["corpora"][0]["file"] == text
    assert shown["checkpoint"] is None
    assert "--set=training.seed=3" in shown["log"][0]

    assert runs("stop", one) == (0, "", f"{one} is stopped\n")
    assert json.loads(runs("show", two, "--json")[1])["state"] == "starting"
    assert runs("resume", one) == (0, "", f"{one} is queued\n")
    assert runs("delete", one)[0] == 0
    assert [run.id for run in store.list()] == [two]


@pytest.mark.parametrize("command", ["show", "stop", "resume", "delete"])
@pytest.mark.parametrize(("id", "message"), [("../x", "is no id of a run"), ("none", "there is no run none in")])
def test_an_id_that_is_none_is_said(runs, command, id, message):
    code, out, err = runs(command, id)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert message in err


def test_a_run_that_cannot_be_is_said(runs, store):
    code, out, err = runs("start", "quick", "--set", "training.learning_rate=NaN")
    assert (code, out) == (1, "")
    assert err.startswith("error: training.learning_rate: Input should be")
    assert RunStore().list() == []


def test_a_name_that_cannot_be_is_said(runs):
    _, _, err = runs("start", "quick", "--name", "a\0b")
    assert err == "error: name: Value error, a run's name has 1 to 80 characters on one line\n"
