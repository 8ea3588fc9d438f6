"""The Train page, driven without a browser, on runs whose processes have ended or never began."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxemb.runs import Run, RunRequest, RunStore
from ctxemb.runs.report import Report, write_report

OpenApp = Callable[..., AppTest]
SMALL = ("model.embedding_size=16", "training.warmup_steps=7")


@pytest.fixture(autouse=True)
def no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are queued and stay so; a small sample is enough for an estimate."""
    monkeypatch.setenv("CTXEMB_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(RunStore, "advance", lambda self: None)
    monkeypatch.setattr("ctxemb.plan.sample.SAMPLE_WORDS", 4_000)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return RunStore(tmp_path / "runs")


@pytest.fixture
def add_run(store: RunStore, tiny_run: Path) -> Callable[..., Run]:
    """`add_run("a name", "failed", "why")`: a run that has ended so, with the curves of `tiny_run`."""

    def add(name: str, stage: str = "finished", detail: str = "", has_files: bool = True) -> Run:
        text = str(tiny_run.parent / "text.txt")
        run = store.start(RunRequest(name=name, recipe="quick", corpora=(text,), settings=SMALL))
        run.stop()
        write_report(run.folder, Report(9, stage, detail))  # type: ignore[arg-type]
        if has_files:
            shutil.copytree(tiny_run, run.trained)
        return run

    return add


def button(app: AppTest, label: str):
    return next(button for button in app.button if button.label == label)


def written(app: AppTest) -> str:
    return " ".join(str(element.value) for kind in (app.markdown, app.info, app.subheader) for element in kind)


def errors(app: AppTest) -> str:
    return " ".join(element.value for element in app.error).replace("\\", "")


def test_a_first_visit_offers_a_run_with_its_cost(open_app: OpenApp) -> None:
    app = open_app("train")
    assert not app.exception
    assert not app.error
    assert app.selectbox(key="recipe").value == "lab-contrast"
    assert app.multiselect(key="text of lab-contrast").value == ["lab"]
    assert [metric.label for metric in app.metric] == ["Text", "Vocabulary", "Parameters", "Time", "Memory"]
    assert all(metric.value not in ("", "–") for metric in app.metric)
    help_text = app.number_input(key="lab-contrast.training.learning_rate").proto.help
    assert help_text == "Adam's step size, at its highest"
    assert {button.label for button in app.button} == {"New run", "Start"}


def test_changed_settings_are_what_is_started(open_app: OpenApp, store: RunStore) -> None:
    app = open_app("train")
    app.number_input(key="lab-contrast.training.learning_rate").set_value(0.0005)
    app.number_input(key="lab-contrast.training.max_steps").set_value(7)
    app.selectbox(key="lab-contrast.training.schedule").set_value("constant")
    app.text_input(key="name of lab-contrast").set_value("seven steps")
    button(app, "Start").click().run()
    assert not app.exception
    (run,) = store.list()
    assert run.request.name == "seven steps"
    assert run.request.recipe == "lab-contrast"
    assert set(run.request.settings) == {
        "training.learning_rate=0.0005",
        "training.max_steps=7",
        'training.schedule="constant"',
    }
    assert app.query_params["run"] in (run.id, [run.id])
    assert "place 1 in the queue" in written(app)
    button(app, "Leave the queue").click().run()
    assert run.state == "stopped"


def test_every_recipe_has_its_controls(open_app: OpenApp) -> None:
    app = open_app("train")
    for name in ("lab-quick", "en-static", "zh-contrastive"):
        app.selectbox(key="recipe").set_value(name).run()
        assert not app.exception
        keys = {control.key for control in app.number_input}
        assert any(key and key.startswith(f"{name}.") for key in keys)
        assert not any(key and key.endswith("vocabulary_size") for key in keys)


def test_a_bilm_may_read_characters(open_app: OpenApp, store: RunStore) -> None:
    app = open_app("train")
    app.selectbox(key="recipe").set_value("lab-quick").run()
    before = {metric.label: metric.value for metric in app.metric}
    app.selectbox(key="lab-quick.model.input").set_value("char")
    app.text_input(key="lab-quick.model.filter_widths").set_value("1, 3").run()
    assert not app.exception
    assert not app.error
    assert {metric.label: metric.value for metric in app.metric}["Parameters"] != before["Parameters"]
    button(app, "Start").click().run()
    (run,) = store.list()
    assert set(run.request.settings) == {'model.input="char"', "model.filter_widths=[1, 3]"}
    app = open_app("train")
    app.selectbox(key="recipe").set_value("lab-quick").run()
    app.selectbox(key="lab-quick.model.input").set_value("char")
    app.text_input(key="lab-quick.model.filter_widths").set_value("1, 99").run()
    assert "not all from 1 to max_characters, 50" in errors(app)


def test_what_cannot_work_is_refused_before_it_starts(open_app: OpenApp, store: RunStore) -> None:
    app = open_app("train")
    app.number_input(key="lab-contrast.text.max_vocabulary").set_value(6).run()
    assert "would hold 2 words besides 4 special entries" in errors(app)
    button(app, "Start").click().run()
    assert "would hold 2 words besides 4 special entries" in errors(app)
    assert store.list() == []
    app.multiselect(key="text of lab-contrast").set_value([]).run()
    assert not app.exception


def test_settings_that_contradict_each_other_are_a_sentence(open_app: OpenApp) -> None:
    app = open_app("train")
    app.number_input(key="lab-contrast.training.weight_decay").set_value(0.1).run()
    assert not app.exception
    assert "needs optimizer adamw" in errors(app)


def test_a_finished_run_with_its_curves(open_app: OpenApp, add_run: Callable[..., Run]) -> None:
    run = add_run("my *first* run")
    app = open_app("train", run=run.id)
    assert not app.exception
    assert not app.error
    assert [metric.label for metric in app.metric] == ["Perplexity"]
    assert len(app.get("plotly_chart")) == 5  # loss, and four small ones
    (link,) = app.get("page_link")
    assert "my *first* run" in link.proto.query_string.replace("+", " ").replace("%2A", "*")
    assert "Stop training" not in [button.label for button in app.button]
    assert "Resume" not in [button.label for button in app.button]


def test_a_run_is_renamed_and_deleted(open_app: OpenApp, add_run: Callable[..., Run], store: RunStore) -> None:
    run = add_run("before")
    app = open_app("train", run=run.id)
    app.text_input(key=f"new name {run.id}").set_value("after").run()
    app.button(key=f"do rename {run.id}").click().run()
    assert store.get(run.id).name == "after"
    assert "after" in written(app)
    app.button(key=f"do delete {run.id}").click().run()
    assert not app.exception
    assert store.list() == []
    assert not run.folder.exists()
    assert "run" not in app.query_params
    assert app.selectbox(key="recipe").value == "lab-contrast"


def test_a_stopped_run_goes_on(open_app: OpenApp, add_run: Callable[..., Run]) -> None:
    run = add_run("halfway", "stopped")
    app = open_app("train", run=run.id)
    app.button(key=f"resume {run.id}").click().run()
    assert run.state == "queued"
    assert "place 1 in the queue" in written(app)


def test_a_failed_run_says_why_and_shows_its_log(open_app: OpenApp, add_run: Callable[..., Run]) -> None:
    run = add_run("full", "failed", "there is no space left on the disk", has_files=False)
    (run.folder / "log.txt").write_text("$ python -m ctxemb train\nerror: no <b>space</b>\n")
    app = open_app("train", run=run.id)
    assert "There is no space left on the disk" in errors(app)
    assert "error: no <b>space</b>" in app.code[0].value
    assert not app.get("plotly_chart")


@pytest.mark.parametrize("id", ["../../etc", "20990101-000000-quick", "a/b"])
def test_a_link_to_no_run_is_a_sentence(open_app: OpenApp, id: str) -> None:
    app = open_app("train", run=id)
    assert not app.exception
    assert "run" in errors(app)
    assert app.selectbox(key="recipe").value == "lab-contrast"


def test_runs_side_by_side(open_app: OpenApp, add_run: Callable[..., Run]) -> None:
    add_run("one")
    other = add_run("two")
    path = other.trained / "run.json"
    settings = json.loads(path.read_text())
    settings["training"]["learning_rate"] = 0.5
    path.write_text(json.dumps(settings))
    app = open_app("train", run="compare")
    assert not app.exception
    came_of, differing = (frame.value for frame in app.dataframe)
    assert set(came_of.index) == {"one", "two"}
    assert came_of.perplexity.nunique() == 1
    assert list(differing.index) == ["training.learning_rate"]
    assert set(differing.loc["training.learning_rate"]) == {"0.01", "0.5"}
    app.multiselect(key="compared runs").set_value([other.id]).run()
    assert "Choose two runs or more" in written(app)


def test_the_checkpoint_of_a_run_is_chosen_on_compare(open_app: OpenApp, add_run: Callable[..., Run]) -> None:
    add_run("of mine")
    app = open_app("", checkpoint="run: of mine")
    assert not app.exception
    assert app.selectbox(key="checkpoint").value == "run: of mine"
    assert "of “bank”" in written(app)
