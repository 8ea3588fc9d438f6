import json
import math

import pytest

from ctxemb.evaluation.public.score import PublicScore, ScoreRow, with_baselines

ROWS = [
    ScoreRow("context, layer 2", "accuracy", 0.61234567, 0.5, 0.7, 90, 10),
    ScoreRow("static", "accuracy", 0.5, 0.4, 0.6, 80, 20),
    ScoreRow("static", "other", math.nan, math.nan, math.nan, 0, 100),
]


def test_each_row_stands_beside_the_baselines_of_its_measure():
    first, static, other = with_baselines(ROWS, ["static"], {"accuracy": {"always yes": 0.5}})
    assert first.baselines == {"always yes": 0.5, "static": 0.5}
    assert static.baselines == {"always yes": 0.5}  # a baseline is none of its own
    assert other.baselines == {}
    score = PublicScore("wic", "dev", "context, layer 2", [first, static, other])
    assert score.floors == [("always yes", "accuracy", 0.5)]  # the static one has a row


def test_coverage_is_the_share_of_items_that_the_number_is_of():
    assert [row.coverage for row in ROWS] == [0.9, 0.8, 0.0]


def test_a_score_comes_back_from_strict_json_with_four_digits():
    details = {"threshold": {"static": math.inf, "context": 0.123456}}
    score = PublicScore("wic", "dev", "context, layer 2", ROWS, ("a note",), details)
    text = json.dumps(score.as_json(), allow_nan=False)
    back = PublicScore.from_json(json.loads(text))
    assert (back.name, back.split, back.reading, list(back.notes)) == ("wic", "dev", "context, layer 2", ["a note"])
    assert back.rows[0] == ScoreRow("context, layer 2", "accuracy", 0.6123, 0.5, 0.7, 90, 10)
    assert math.isnan(back.rows[2].value)
    assert back.details["threshold"]["context"] == 0.1235
    assert math.isnan(back.details["threshold"]["static"])
    assert back.as_json() == score.as_json()


@pytest.mark.parametrize("record", [{}, {"rows": [{}], "details": {}}, {"rows": [], "details": {}, "color": 1}])
def test_what_is_no_record_is_refused(record):
    with pytest.raises((KeyError, TypeError)):
        PublicScore.from_json(record)
