import json
import shutil
from dataclasses import replace

import pytest

from ctxemb.checkpoint import CheckpointError
from ctxemb.evaluation.public.record import record_scores
from ctxemb.evaluation.public.score import PublicScore, ScoreRow

SCORE = PublicScore("wic", "dev", "here, layer 2", [ScoreRow("here, layer 2", "accuracy", 0.5, 0.4, 0.6, 100)])


def test_a_new_score_replaces_that_of_its_name_and_split_and_leaves_the_rest(tiny_checkpoint, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(tiny_checkpoint, folder)
    before = (folder / "metrics.json").read_text()
    record_scores(folder, [SCORE, replace(SCORE, split="test"), replace(SCORE, name="scws")])
    better = replace(SCORE, rows=[replace(SCORE.rows[0], value=0.55)])
    record_scores(folder, [better])
    text = (folder / "metrics.json").read_text()
    tests = json.loads(text)["tests"]
    assert [(record["name"], record["split"]) for record in tests] == [("wic", "dev"), ("wic", "test"), ("scws", "dev")]
    assert [record["rows"][0]["value"] for record in tests] == [0.55, 0.5, 0.5]
    assert text.startswith(before.removesuffix("\n}"))  # byte for byte


def test_a_folder_without_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(CheckpointError, match="there is no checkpoint folder"):
        record_scores(tmp_path / "nothing", [SCORE])
