"""The Scores page: numbers out of files, and what it says where there are none."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxemb.evaluation.public.score import PublicScore, ScoreRow
from ctxemb.evaluation.published import PUBLISHED
from ctxemb.evaluation.table import Aim, ArticleTable, Row, Trial

OpenApp = Callable[..., AppTest]


def words(app: AppTest) -> str:
    elements = [*app.markdown, *app.info, *app.caption, *app.error]
    return " ".join(element.value for element in elements).replace("\\", "")


@pytest.fixture
def folder(families: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two checkpoints of our own to write metrics into."""
    for name in ("en-bilm", "zh-contrastive"):
        shutil.copytree(families / name, tmp_path / "own" / name)
    return tmp_path / "own"


@pytest.fixture
def open_scores(open_app: OpenApp, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], AppTest]:
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(folder))
    return lambda: open_app("scores")


def record(folder: Path, readings: list[tuple[str, float]]) -> None:
    rows = [
        {"reading": name, "example_auc": score, "example_gap": 0.1, "example_same": 0.5, "example_cross": 0.4}
        | {"tests": {"wsd": score}}
        for name, score in readings
    ]
    (folder / "metrics.json").write_text(json.dumps({"evaluation": {"readings": rows, "floors": {"wsd": 0.25}}}))


def test_what_was_not_recorded_is_said_with_the_command_that_does(open_scores: Callable[[], AppTest]) -> None:
    app = open_scores()
    assert not app.exception
    assert not app.error
    assert words(app).count("Nothing is recorded of it") == 2
    assert "zh-contrastive --save" in words(app)
    assert "python -m ctxemb table --language zh --save" in words(app)
    assert [len(frame.value) for frame in app.dataframe] == [len(PUBLISHED)]


def test_readings_in_order_with_their_command(open_scores: Callable[[], AppTest], folder: Path) -> None:
    record(folder / "en-bilm", [("static control (layer 0)", 0.4), ("here, layer 1", 0.6), ("bag of context", 0.5)])
    app = open_scores()
    table = app.dataframe[0].value
    assert table.reading.tolist() == ["★ here, layer 1", "static control (layer 0)", "bag of context", "no vector"]
    assert table.wsd.tolist() == [0.6, 0.4, 0.5, 0.25]
    assert "English, bilm. " in words(app)


def test_damaged_files_leave_the_rest_standing(open_scores: Callable[[], AppTest], folder: Path) -> None:
    (folder / "en-bilm" / "metrics.json").write_text("{")
    (folder / "table-zh.json").write_text("[]")
    record(folder / "zh-contrastive", [("context, layer 1", 0.6)])
    app = open_scores()
    assert not app.exception
    assert [error.value.count("cannot be read") for error in app.error] == [1, 1]
    assert app.dataframe[0].value.reading[0] == "★ context, layer 1"


def test_the_articles_table_is_shown_with_its_verdicts(open_scores: Callable[[], AppTest], folder: Path) -> None:
    rows = (
        Row("a", "synonyms", control=(0.4, 0.5), contrastive=(0.6, 0.7), aim=Aim(min_gain=0.1)),
        Row("b", "analogies", problem="there is no file"),
    )
    table = ArticleTable("zh", "zh-static", "zh-contrastive", ("zhwiki",), (0, 1), 2, 1_000, 10, ("*a* note",), rows)
    table.save(folder / "table-zh.json")
    app = open_scores()
    shown = app.dataframe[0].value
    assert shown.verdict.tolist() == ["met", ""]
    assert shown["missing data"].tolist() == ["", "there is no file"]
    assert "Mean over 2 seeds" in words(app)
    assert "*a* note" in words(app)


def test_quality_against_time_can_be_looked_at_row_by_row(open_scores: Callable[[], AppTest], folder: Path) -> None:
    rows = tuple(Row(name, f"title {name}", control=(0.4,), contrastive=(0.6,)) for name in ("a", "b"))
    trials = tuple(
        Trial(f"zh-{kind}", share, 9.0, {"a": 0.3}) for kind in ("static", "contrastive") for share in (0.5, 1)
    )
    table = ArticleTable("zh", "zh-static", "zh-contrastive", ("zhwiki",), (0,), 2, 1_000, 10, (), rows, trials)
    table.save(folder / "table-zh.json")
    app = open_scores()
    assert app.selectbox(key="trade_off_zh").options == ["title a", "title b"]
    app.selectbox(key="trade_off_zh").select("b").run()
    assert not app.exception


def record_public(folder: Path, name: str, value: float, own: str = "here, layer 2") -> None:
    rows = [
        ScoreRow(own, "accuracy", value, value - 0.1, value + 0.1, 90, 10, {"always the same answer": 0.5}),
        ScoreRow("here, layer 1", "accuracy", 0.52, 0.5, 0.6, 90, 10),
        ScoreRow(own, "accuracy, unknown words answered no", 0.58, 0.5, 0.6, 100),
    ]
    score = PublicScore(name, "dev", own, rows, ("a *note*",))
    (folder / "metrics.json").write_text(json.dumps({"tests": [score.as_json()]}))


def test_public_tests_are_compared_with_intervals_and_commands(
    open_scores: Callable[[], AppTest], folder: Path
) -> None:
    shutil.copytree(folder / "en-bilm", folder / "en-other")
    record_public(folder / "en-bilm", "wic", 0.6)
    record_public(folder / "en-other", "wic", 0.7, "context, layer 1")
    record_public(folder / "zh-contrastive", "mcl-wic", 0.55)
    app = open_scores()
    assert not app.exception
    assert app.selectbox(key="test").options == ["wic, dev (en)", "mcl-wic, dev (zh)"]
    shown = app.dataframe[0].value
    assert shown.checkpoint.tolist() == ["en-bilm", "en-other", ""]
    assert shown.value.tolist() == [0.6, 0.7, 0.5]
    assert shown["95 % interval"].tolist()[:2] == ["0.500 – 0.700", "0.600 – 0.800"]
    assert shown["of"].tolist()[:2] == [90, 90]
    assert shown.skipped.tolist()[:2] == [10, 10]
    (commands,) = (code.value for code in app.code)
    assert "en-bilm --test wic --split dev --save" in commands
    assert "en-other --test wic --split dev --readout context --layer 1 --save" in commands
    assert "zh-contrastive" not in commands
    assert "a *note*" in words(app)
    app.toggle(key="every_layer").set_value(True).run()
    assert len(app.dataframe[0].value) == 5
    app.selectbox(key="measure").select("accuracy, unknown words answered no").run()
    assert not app.exception
    assert app.dataframe[0].value.value.tolist() == [0.58, 0.58]


def test_published_numbers_stand_apart_with_their_set_up(open_scores: Callable[[], AppTest], folder: Path) -> None:
    record(folder / "en-bilm", [("here, layer 1", 0.6)])
    app = open_scores()
    ours, published = (frame.value for frame in app.dataframe)
    assert (published["set-up"].str.len() > 0).all()
    assert (published["source"].str.len() > 0).all()
    assert not set(ours.reading) & set(published.system)
