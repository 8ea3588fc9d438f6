import json
import math

import numpy as np
import pytest

from ctxemb.analysis.senses import SensePairs
from ctxemb.probe import ALL_WORDS, ProbedUse, ProbePoint
from ctxemb.probe.folder import ProbeFolder
from ctxemb.progress import (
    ContrastiveValidationRecord,
    EndRecord,
    StepRecord,
    ValidationRecord,
    progress_line,
)
from ctxemb.run_comparison import curve, curves_table, differing_settings, open_runs, outcomes, shared_measures

TOTAL = 10


def word_step(number: int, seconds_per_step: float) -> StepRecord:
    left = seconds_per_step * (TOTAL - number)
    return StepRecord(number, TOTAL, 0, 50 * number, 1.0, 1e-3, 99.0, left, 0.0, 9.0 - number / 2, 9.0, 100.0 - number)


def look(number: int, forward: float, is_best: bool) -> ValidationRecord:
    return ValidationRecord(number, 0, 50 * number, is_best, forward, 5.0, math.exp(forward), math.exp(5.0))


@pytest.fixture
def folders(tmp_path):
    """A finished run at 2 s a step, and one at 3 s a step that is still going."""
    settings = {"model": {"hidden_size": 16, "cutoffs": [10, 20]}, "training": {"learning_rate": 0.001, "seed": 0}}
    other = {"model": {"hidden_size": 32, "cutoffs": [10, 20]}, "training": {"learning_rate": 0.001}}
    steps = [word_step(n, 2.0) for n in range(1, TOTAL + 1)]
    runs = {
        "small": (settings, [*steps, look(5, 4.0, True), look(10, 4.5, False), EndRecord(10, "finished", 20.0)]),
        "large": (other, [word_step(n, 3.0) for n in range(1, 5)]),
    }
    for name, (config, records) in runs.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text(json.dumps(config))
        (tmp_path / name / "progress.jsonl").write_text("".join(progress_line(r) + "\n" for r in records))
    return {name: tmp_path / name for name in runs}


def test_a_curve_over_each_axis(folders):
    small, large = open_runs(folders)
    assert curve(small, "perplexity", "training")[0].tolist() == list(range(1, 11))
    assert curve(small, "perplexity", "training", "tokens")[0].tolist() == [50 * n for n in range(1, 11)]
    assert curve(small, "perplexity", "training", "seconds")[0] == pytest.approx(np.arange(2, 21, 2))
    assert curve(large, "perplexity", "training", "seconds")[0] == pytest.approx([3, 6, 9, 12])
    x, y = curve(small, "loss_forward_nats", "validation", "seconds")
    assert (x.tolist(), y.tolist()) == (pytest.approx([10, 20]), [4.0, 4.5])
    with pytest.raises(ValueError, match="large reports no accuracy of its training; choose another measure"):
        curve(large, "accuracy", "training")


def test_only_settings_that_differ_are_listed(folders):
    table = differing_settings(open_runs(folders))
    assert table.to_dict("index") == {
        "model.hidden_size": {"small": "16", "large": "32"},
        "training.seed": {"small": "0", "large": "–"},
    }
    assert differing_settings(open_runs({"a": folders["small"], "b": folders["small"]})).empty


def test_outcomes(folders):
    pairs = SensePairs(0.75, 0.5, 0.875, 4, 4)
    uses = [ProbedUse("bank", "money", "the bank"), ProbedUse("bank", "river", "a bank")]
    ProbeFolder(folders["large"]).add(ProbePoint(4, {"off": {ALL_WORDS: pairs}}), np.eye(2), uses)
    table = outcomes(open_runs(folders)).to_dict("index")
    small, large = table["small"], table["large"]
    assert (small["ended"], small["best_step"], small["steps"], small["tokens"]) == ("finished", 5, 10, 500)
    assert (small["best_loss_nats"], small["seconds"]) == (4.5, 20.0)
    assert small["perplexity"] == pytest.approx(math.exp(4.5))
    assert math.isnan(small["gap"])
    assert (large["ended"], large["gap"], large["auc"], large["steps"]) == ("", 0.25, 0.875, 4)
    assert large["seconds"] == pytest.approx(12)
    assert math.isnan(large["best_loss_nats"])


def test_the_table_for_a_csv_file_has_a_row_a_point(folders):
    table = curves_table(open_runs(folders), "perplexity", "training")
    assert list(table.columns) == ["run", "step", "tokens", "seconds", "perplexity"]
    assert table.run.tolist() == ["small"] * 10 + ["large"] * 4
    assert table.iloc[-1].tolist() == ["large", 4, 200, pytest.approx(12), 96]


def test_runs_of_two_families_share_what_both_report(folders, tmp_path):
    pairs = {"loss_nats": 2.0, "chance_nats": 4.0, "accuracy": 0.5, "positive_cosine": 0.5, "negative_cosine": 0.1}
    space = {"random_cosine": 0.1, "alignment": 0.5, "uniformity": -2.0, "top10_energy": 0.4}
    folder = tmp_path / "pairs"
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps({"training": {"temperature": 0.1}}))
    record = ContrastiveValidationRecord(4, 0, 20, True, **pairs, **space)
    (folder / "progress.jsonl").write_text(progress_line(record) + "\n")
    runs = open_runs({"small": folders["small"], "pairs": folder})
    assert "loss_nats" not in shared_measures(runs, "validation")
    assert shared_measures(runs[1:], "validation")[:2] == ["epoch", "num_tokens"]
    assert "loss_forward_nats" in shared_measures(runs[:1], "validation")
    assert outcomes(runs).loc["pairs", "best_loss_nats"] == 2.0
    assert outcomes(runs).loc["pairs", "accuracy"] == 0.5


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"holds no training run \(run.json is missing\)"):
        open_runs({"mine": tmp_path})
