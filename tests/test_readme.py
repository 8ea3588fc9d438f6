"""What the README says is true today."""

import json
import re
from pathlib import Path

import pytest

from ctxemb.evaluation.readings import from_rows

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHECKPOINT = ROOT / "checkpoints" / "en-bilm"


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


def test_the_table_of_readings_repeats_metrics_json():
    evaluation = json.loads((CHECKPOINT / "metrics.json").read_text())["evaluation"]
    scores = {score.reading: score for score in from_rows(evaluation["readings"])}
    rows = table_rows("readings")
    assert len(rows) >= 5
    for name, auc, gap, recall in rows:
        score = scores[name.replace("*", "").replace("`", "")]
        written = [float(value.replace("*", "")) for value in (auc, gap, recall)]
        expected = [score.example_auc, score.example_gap, score.tests["coarsewsd-20:dev"]]
        assert written == pytest.approx(expected, abs=0.0006)


def test_the_shipped_checkpoint_is_at_most_16_mb():
    assert sum(path.stat().st_size for path in CHECKPOINT.iterdir()) <= 16_000_000
