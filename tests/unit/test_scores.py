"""Recorded numbers as tables: order, floors, older files, damaged files."""

import json
from pathlib import Path

import pytest

from ctxemb.checkpoint import CheckpointConfig
from ctxemb.evaluation.public.score import PublicScore, ScoreRow
from ctxemb.evaluation.published import PUBLISHED
from ctxemb.evaluation.table import Aim, ArticleTable, Row
from ctxemb.models.static import StaticConfig
from ctxemb.scores import (
    ScoresError,
    article_table,
    find_table,
    public_rows,
    public_scores,
    published_table,
    read_scores,
    read_table,
    readings_table,
)
from ctxemb.text import TextConfig


def reading(name: str, auc: float, recall: float | None) -> dict:
    return {
        "reading": name,
        "example_auc": auc,
        "example_gap": 0.1,
        "example_same": 0.5,
        "example_cross": 0.4,
        "tests": {"wsd": recall, "wic": 0.5},
    }


ROWS = [
    reading("static control (layer 0)", 0.5, 0.4),
    reading("here, layer 1", 0.6, 0.5),
    reading("context, layer 1", 0.5, 0.7),
    reading("context, layer 2", 0.5, 0.6),
    reading("bag of context", 0.9, 0.9),
]


def record(folder: Path, metrics: object) -> Path:
    folder.mkdir(exist_ok=True)
    config = CheckpointConfig(family="static", model=StaticConfig(), text=TextConfig())
    (folder / "config.json").write_text(config.model_dump_json())
    (folder / "metrics.json").write_text(metrics if isinstance(metrics, str) else json.dumps(metrics))
    return folder


def test_the_best_reading_comes_first_and_the_baselines_beside_it(tmp_path: Path) -> None:
    perplexity = {"perplexity_forward": 90.0, "perplexity_backward": 80.0}
    floors = {"wsd": 0.4, "wic": 0.5}
    scores = read_scores(
        record(tmp_path / "a", {"evaluation": {"readings": ROWS, "floors": floors, "wikitext-2:valid": perplexity}})
    )
    table = readings_table(scores)
    assert table.reading.tolist() == [
        "context, layer 1",
        "static control (layer 0)",
        "bag of context",
        "context, layer 2",
        "here, layer 1",
        "no vector",
    ]
    assert scores.best == "context, layer 1"
    assert table.wsd.tolist() == [0.7, 0.4, 0.9, 0.6, 0.5, 0.4]
    assert scores.perplexity == (90, 80)


def test_files_of_the_time_of_one_test_set_are_read(tmp_path: Path) -> None:
    rows = [
        {name: value for name, value in row.items() if name != "tests"} | {"dev_recall": row["tests"]["wsd"]}
        for row in ROWS
    ]
    scores = read_scores(record(tmp_path / "a", {"evaluation": {"readings": rows, "most_frequent_sense_recall": 0.41}}))
    table = readings_table(scores)
    assert table["coarsewsd-20:dev"].iloc[[0, -1]].tolist() == [0.7, 0.41]


def public(value: float, split: str = "dev") -> dict:
    rows = [
        ScoreRow("context, layer 2", "accuracy", value, 0.5, 0.7, 90, 10, {"always the same answer": 0.5}),
        ScoreRow("context, layer 1", "accuracy", 0.55, 0.5, 0.6, 90, 10),
        ScoreRow("static control (layer 0)", "accuracy", 0.5, 0.4, 0.6, 90, 10),
        ScoreRow("bag of context", "accuracy", 0.6, 0.5, 0.7, 100),
    ]
    return PublicScore("wic", split, "context, layer 2", rows).as_json()


def test_public_scores_are_grouped_by_what_may_be_compared(tmp_path: Path) -> None:
    scores = {
        "a": read_scores(record(tmp_path / "a", {"tests": [public(0.6), public(0.7, "test")]})),
        "b": read_scores(record(tmp_path / "b", {"tests": [public(0.8)]})),
    }
    found = public_scores(scores)
    assert {title: list(of) for title, of in found.items()} == {"wic, dev (en)": ["a", "b"], "wic, test (en)": ["a"]}
    rows = public_rows(found["wic, dev (en)"])
    assert [row.kind for row in rows] == ["own", "layer", "baseline", "baseline"] * 2 + ["floor"]
    assert [row.row.value for row in rows if row.kind == "own"] == [0.6, 0.8]
    assert (rows[-1].checkpoint, rows[-1].row.reading, rows[-1].row.value) == ("", "always the same answer", 0.5)


def test_a_test_without_a_row_of_its_own_reading_has_only_own_rows(tmp_path: Path) -> None:
    score = PublicScore("wikitext-2", "valid", "language model", [ScoreRow("forward", "perplexity", 90, 80, 99, 9)])
    (row,) = public_rows({"a": score})
    assert row.kind == "own"


def test_a_checkpoint_that_was_not_evaluated_has_no_readings(tmp_path: Path) -> None:
    scores = read_scores(record(tmp_path / "a", {}))
    assert (scores.readings, scores.best, scores.perplexity) == ([], "", None)


@pytest.mark.parametrize(
    "metrics",
    [
        "{",
        "[]",
        '{"evaluation": {"readings": [{"x": 1}]}}',
        '{"evaluation": {"readings": 3}}',
        '{"tests": [{}]}',
        '{"tests": 1}',
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, metrics: str) -> None:
    with pytest.raises(ScoresError, match=r"metrics.json cannot be read .* ctxemb evaluate --save"):
        read_scores(record(tmp_path / "a", metrics))


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("score", "rows", []),
        ("score", "name", 5),
        ("score", "split", None),
        ("score", "notes", [1]),
        ("row", "value", "0.6"),
        ("row", "high", [0.7]),
        ("row", "num_items", "many"),
        ("row", "baselines", {"chance": "half"}),
    ],
)
def test_a_public_score_of_wrong_values_is_named(tmp_path: Path, part: str, name: str, value: object) -> None:
    score = PublicScore("wic", "dev", "here", [ScoreRow("here", "accuracy", 0.6, 0.5, 0.7, 10)]).as_json()
    assert read_scores(record(tmp_path / "a", {"tests": [score]})).public
    (score if part == "score" else score["rows"][0])[name] = value
    with pytest.raises(ScoresError, match=r"metrics.json cannot be read .* ctxemb evaluate --save"):
        read_scores(record(tmp_path / "a", {"tests": [score]}))


def test_the_articles_table_says_what_is_met_and_what_is_missing(tmp_path: Path) -> None:
    rows = (
        Row("a", "synonyms", control=(0.4, 0.5), contrastive=(0.6, 0.7), aim=Aim(min_gain=0.1), coverage=0.9),
        Row("b", "time", unit="seconds", control=(100.0,), contrastive=(200.0,), aim=Aim(max_ratio=1.8)),
        Row("c", "analogies", problem="there is no file"),
    )
    table = ArticleTable("en", "en-static", "en-contrastive", ("enwiki",), (0, 1), 2, 1_000, 10, ("note",), rows)
    table.save(tmp_path / "table-en.json")
    assert find_table("zh", [tmp_path]) is None
    path = find_table("en", [tmp_path / "none", tmp_path])
    assert path
    shown = article_table(read_table(path))
    assert shown.verdict.tolist() == ["met", "missed", ""]
    assert shown["missing data"].tolist() == ["", "", "there is no file"]
    assert "60.0-70.0" in shown.contrastive[0]
    path.write_text("{}")
    with pytest.raises(ScoresError, match=r"table-en.json cannot be read"):
        read_table(path)


def test_published_numbers_all_have_set_up_and_source() -> None:
    table = published_table()
    assert len(table) == len(PUBLISHED)
    assert (table[["benchmark", "system", "value", "set-up", "source"]].map(len) > 0).all(axis=None)
