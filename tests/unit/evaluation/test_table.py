import dataclasses
import json
import math

import pytest

from ctxemb.evaluation.table import Aim, ArticleTable, Row, Trial


def table(*rows: Row) -> ArticleTable:
    return ArticleTable(
        language="en",
        control="en-static",
        contrastive="en-contrastive",
        corpora=("enwiki", "wordnet-examples"),
        seeds=(0, 1),
        threads=2,
        num_tokens=1_000,
        num_words=50,
        notes=("a note",),
        rows=rows,
    )


ROWS = (
    Row("one", "a share", control=(0.2, 0.4), contrastive=(0.5, 0.7), aim=Aim(min_gain=0.19), coverage=0.9),
    Row("two", "a time", unit="seconds", control=(80.0, 82.0), contrastive=(90.0, math.nan), aim=Aim(max_ratio=1)),
    Row("three", "absent", aim=Aim(max_value=0.43), problem="there is no file"),
    Row("four", "to be compared", control=(1 / 3, 1.0), contrastive=(0.1, 0.2)),
)


@pytest.mark.parametrize(
    ("aim", "control", "contrastive", "is_met"),
    [
        (Aim(min_gain=0.19), 0.42, 0.62, True),
        (Aim(min_gain=0.19), 0.42, 0.60, False),
        (Aim(min_gain=0), 0.42, 0.43, True),
        (Aim(min_gain=0), 0.42, 0.42, False),
        (Aim(max_ratio=0.55, max_value=0.43), 0.78, 0.42, True),
        (Aim(max_ratio=0.55, max_value=0.43), 0.90, 0.44, False),  # the ratio alone is not enough
        (Aim(max_ratio=0.55, max_value=0.43), 0.50, 0.40, False),  # nor is the value
        (Aim(max_ratio=1.0), 45, 45, True),
        (Aim(max_ratio=1.0), 0, 45, False),
        (Aim(min_gain=0), math.nan, 0.5, False),
        (Aim(max_value=0.43), 0.5, math.nan, False),
    ],
)
def test_an_aim_needs_all_of_its_conditions(aim, control, contrastive, is_met):
    assert aim.is_met(control, contrastive) is is_met


def test_aims_are_said_in_short():
    assert [str(aim) for aim in (Aim(min_gain=0.19), Aim(min_gain=0), Aim(max_ratio=0.55, max_value=0.43))] == [
        "+19 points",
        "above the control",
        "<= 0.55x and <= 43%",
    ]


def test_the_means_over_seeds_are_held_to_the_aim():
    one, two, three, four = ROWS
    assert (one.control_mean, one.contrastive_mean) == pytest.approx((0.3, 0.6))
    assert [row.is_met for row in (one, two, three, four)] == [True, False, None, None]
    assert dataclasses.replace(one, contrastive=(0.1, 0.7)).is_met is False  # the better seed does not decide
    assert math.isnan(three.control_mean)


def test_cells_are_percent_with_their_range_over_seeds():
    one, two, three, four = (row.cells() for row in ROWS)
    assert one == ("a share", "30.0 (20.0-40.0)", "60.0 (50.0-70.0)", "+30.0, 2.00x", "+19 points", "met", "90%")
    assert dataclasses.replace(ROWS[1], contrastive=(90.0, 72.0)).cells() == (
        *("a time", "81.0 s (80.0-82.0)", "81.0 s (72.0-90.0)", "1.00x", "<= 1.00x", "met", ""),
    )
    assert two[5] == "missed"
    assert three == ("absent", "", "", "", "<= 43%", "", "")
    assert four[4:] == ("", "", "")


def test_a_table_comes_back_from_its_file(tmp_path):
    path = tmp_path / "checkpoints" / "table-en.json"
    table(*ROWS).save(path)
    values = json.loads(path.read_text(), parse_constant=pytest.fail)  # NaN is no JSON
    assert values["rows"][0]["contrastive_mean"] == 0.6
    assert [row["is_met"] for row in values["rows"]] == [True, False, None, None]
    back = ArticleTable.load(path)
    assert back.as_json() == table(*ROWS).as_json()
    assert (back.rows[0], back.rows[2]) == (ROWS[0], ROWS[2])
    assert back.rows[3].control == pytest.approx(ROWS[3].control, abs=1e-6)
    assert math.isnan(back.rows[1].contrastive[1])
    assert dataclasses.replace(back, rows=()) == table()


def test_trials_come_back_too_with_what_could_not_be_measured(tmp_path):
    path = tmp_path / "table-en.json"
    trial = Trial("en-static", 0.5, 61.23456, {"a": 0.25, "b": math.nan})
    dataclasses.replace(table(*ROWS), trade_off=(trial,)).save(path)
    (back,) = ArticleTable.load(path).trade_off
    assert (back.recipe, back.share, back.seconds, back.values["a"]) == ("en-static", 0.5, 61.2346, 0.25)
    assert math.isnan(back.values["b"])
    assert str(back) == "en-static, 50%: 61 s"


@pytest.mark.parametrize("content", ["{", "{}", "[]", '{"rows": [{}]}', '{"rows": [], "surprise": 1}'])
def test_a_file_that_is_no_table_is_named(tmp_path, content):
    path = tmp_path / "table-en.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"table-en\.json cannot be read"):
        ArticleTable.load(path)
