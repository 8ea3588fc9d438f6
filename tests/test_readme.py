"""What the README says is true today."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.report import load_rows, markdown_table
from ctxemb.evaluation.public.score import WHOLE, PublicScore, ScoreRow
from ctxemb.evaluation.public.words import SAME_WORDS
from ctxemb.evaluation.readings import BAG, CONTROL, from_rows
from ctxemb.evaluation.table import ArticleTable
from ctxemb.models.directions import DIRECTIONS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARTICLE_TABLES = re.findall(r"<!-- table:(\w+):start -->", README)
CHECKPOINTS = sorted(path.parent for path in (ROOT / "checkpoints").glob("*/config.json"))
TABLES = re.findall(r"<!-- readings:(\S+):start -->", README)


def test_the_python_example_runs_and_gives_the_shapes_it_promises(monkeypatch):
    monkeypatch.chdir(ROOT)
    names: dict = {}
    exec(re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1), names)
    first = names["out"][0]
    assert first.tokens == ["The", "bank", "approved", "the", "loan", "."]
    assert first.spans[1] == (4, 8)
    num_layers, num_tokens, width = first.layers.shape
    assert (num_layers, num_tokens) == (names["enc"].num_layers + 1, 6)
    assert first.vectors.shape == (6, width)


def test_the_map_names_every_file_of_the_package_and_no_other():
    text = README.split("## Map of the files")[1].split("```")[1]
    named = {line.split()[0] for line in text.splitlines() if re.match(r"  \w[\w/]*(\.py|/)", line)}
    found = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / "ctxemb").iterdir()
        if not path.name.startswith("__")
    }
    assert named == found


def test_every_picture_and_local_link_exists():
    targets = re.findall(r"\]\(((?!http)[^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def table_rows(marker: str) -> list[list[str]]:
    body = README.split(f"<!-- {marker}:start -->")[1].split(f"<!-- {marker}:end -->")[0]
    lines = [line for line in body.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("name", TABLES)
def test_the_table_of_readings_repeats_metrics_json(name):
    evaluation = json.loads((ROOT / "checkpoints" / name / "metrics.json").read_text())["evaluation"]
    scores = {score.reading: score for score in from_rows(evaluation["readings"])}
    rows = table_rows(f"readings:{name}")
    assert len(rows) >= 4
    for reading, *values in rows:
        score = scores[reading.replace("*", "")]
        written = [float(value.replace("*", "")) if value else None for value in values]
        expected = [score.example_auc, score.example_gap, *score.tests.values()]
        for one, other in zip(written, expected, strict=True):
            assert one == (None if other is None else pytest.approx(other, abs=0.0006))


def public_scores(name: str) -> dict[str, PublicScore]:
    records = json.loads((ROOT / "checkpoints" / name / "metrics.json").read_text())["tests"]
    return {
        f"{r['name']}, {r['split']}" if r["split"] != WHOLE else r["name"]: PublicScore.from_json(r) for r in records
    }


def public_cell(rows: list[ScoreRow]) -> str:
    """Values of the rows, with the interval and coverage of the first."""
    if not rows:
        return ""
    if len(rows) > 1:
        return " / ".join(f"{row.value:.1f}" for row in rows)
    (row,) = rows
    known = "" if row.num_skipped == 0 else f", {row.coverage:.0%} known"
    return f"{row.value:.3f} ({row.low:.3f}-{row.high:.3f}{known})"


def public_table(checkpoints: list[str]) -> list[list[str]]:
    """What README's table of the public test sets has to say: a row for each set and its main measures."""
    scores = {name: public_scores(name) for name in checkpoints}
    first = scores[checkpoints[0]]
    table = []
    for test in dict.fromkeys(test for found in scores.values() for test in found):
        (some, *_) = [found[test] for found in scores.values() if test in found]
        is_perplexity = some.rows[0].measure.startswith("perplexity")
        measures = dict.fromkeys(
            row.measure
            for row in some.rows
            if is_perplexity or (row.reading == some.reading and not row.measure.startswith(("mean", "accuracy, unk")))
        )
        for measure in [m for m in measures if not m.endswith(", accuracy") or test.startswith("zh-wsd")]:
            cells = []
            for found in scores.values():
                rows = found[test].rows if test in found else []
                cells.append(
                    public_cell(
                        [r for r in rows if r.measure == measure and r.reading in (found[test].reading, *DIRECTIONS)]
                    )
                )
            (base, *_) = [row.baselines for row in (first.get(test) or some).rows if row.measure == measure]
            bag, blind = base.get(BAG), next((v for k, v in base.items() if k not in (BAG, CONTROL, SAME_WORDS)), None)
            cells += ["" if value is None else f"{value:.3f}" for value in (bag, None if is_perplexity else blind)]
            table.append([test, measure, *cells])
    return table


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_tables_of_public_test_sets_repeat_metrics_json(language):
    head = README.split(f"<!-- tests:{language}:start -->")[1].splitlines()[1]
    checkpoints = [cell.strip() for cell in head.strip("|").split("|")][2:-2]
    assert table_rows(f"tests:{language}") == public_table(checkpoints)


def test_every_contextual_checkpoint_has_its_table():
    contextual = {
        path.name for path in CHECKPOINTS if json.loads((path / "config.json").read_text())["family"] != "static"
    }
    assert set(TABLES) == contextual


@pytest.mark.parametrize("language", ARTICLE_TABLES)
def test_the_articles_table_repeats_its_json(language):
    rows = ArticleTable.load(ROOT / "checkpoints" / f"table-{language}.json").rows
    assert [written[1:] for written in table_rows(f"table:{language}")] == [
        [*row.cells()[1:5], "**missed**" if row.is_met is False else row.cells()[5]] for row in rows
    ]


def test_the_table_of_speeds_repeats_the_saved_results():
    table = README.split("<!-- bench:start -->")[1].split("<!-- bench:end -->")[0].strip()
    assert table == markdown_table(load_rows(ROOT / "benchmarks" / "results.json"))


@pytest.mark.parametrize("checkpoint", CHECKPOINTS, ids=lambda path: path.name)
def test_a_shipped_checkpoint_is_at_most_16_mb_and_has_a_card(checkpoint):
    assert sum(path.stat().st_size for path in checkpoint.iterdir()) <= 16_000_000
    assert (checkpoint / "README.md").read_text(encoding="utf-8").startswith(f"# {checkpoint.name}\n")
