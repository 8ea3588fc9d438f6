"""A checkup in a sentence, as JSON and as Markdown; made up by hand."""

import json

import numpy as np
import pytest

from ctxemb.checkup import CheckResult, Checkup, Finding, LayerCosines, as_json, as_markdown, choose_reference, summary
from ctxemb.checkup.battery import CHECKS, refused
from tests.unit.checkup.conftest import NAMES, SHIPPED

PASS = Finding("pass", "All is well.", 1.0, "1.0", "at least 0.5", picture=LayerCosines(["a"], [1.0]))
WARN = Finding("warn", "It is <b>odd</b> | so.", 0.4, "0.4", "at least 0.5", "Look at it.")
FAIL = Finding("fail", "It is wrong.", float("nan"), "–", "at least 0.5", "Mend it.")
LEFT = Finding("not applicable", "Nothing to ask.")


def checkup(*findings: Finding, group: str = "space", name: str = "mine") -> Checkup:
    results = [CheckResult(f"check {i}", "Is it?", group, finding) for i, finding in enumerate(findings)]  # type: ignore[arg-type]
    return Checkup(name, "bilm", "en", tuple(results), 1.26)


@pytest.mark.parametrize(
    ("findings", "group", "verdict", "sentence"),
    [
        ([PASS, PASS, LEFT], "space", "sound", "Sound: 2 checks passed, 1 did not apply."),
        ([PASS, WARN], "space", "sound", "Sound, with 1 warning (check 1): 1 check passed."),
        ([FAIL, PASS], "space", "unsound", "Unsound: 1 check failed (check 0)."),
        (
            [FAIL, FAIL, WARN],
            "space",
            "unsound",
            "Unsound: 2 checks failed (check 0, check 1), and 1 warning (check 2).",
        ),
        ([FAIL, PASS], "files", "unreadable", "Unreadable: it is wrong."),
    ],
)
def test_the_verdict_in_a_sentence(findings, group, verdict, sentence) -> None:
    made = checkup(*findings, group=group)
    assert made.verdict == verdict
    assert summary(made) == sentence


def test_a_refusal_names_its_reason_and_runs_nothing() -> None:
    made = refused("bad.zip", "bad.zip holds a pickle; give a .zip of the folder")
    assert made.verdict == "unreadable"
    assert summary(made) == "Unreadable: bad.zip holds a pickle; give a .zip of the folder."
    assert [result.verdict for result in made.results] == ["fail", *["not run"] * (len(CHECKS) - 1)]


def test_json_has_every_number_and_the_reference_beside_it() -> None:
    content = as_json(checkup(PASS, FAIL), checkup(WARN, LEFT, name="other"))
    assert (content["verdict"], content["reference"], content["seconds"]) == ("unsound", "other", 1.26)
    first, second = content["checks"]
    assert {first[key] for key in ("name", "verdict", "shown", "limit")} == {"check 0", "pass", "1.0", "at least 0.5"}
    assert first["reference"] == {"verdict": "warn", "number": 0.4, "shown": "0.4"}
    assert np.isnan(second["number"])
    assert second["advice"] == "Mend it."
    assert "reference" not in as_json(checkup(PASS))["checks"][0]
    json.dumps(as_json(checkup(PASS, WARN)), allow_nan=False)


def test_markdown_says_first_what_to_do_and_escapes_what_is_not_ours() -> None:
    text = as_markdown(checkup(PASS, WARN, FAIL, name="<script>|"), checkup(PASS, PASS, PASS, name="other"))
    assert text.startswith("# Checkup of &lt;script&gt;\\|\n")
    assert text.index("## Failed: check 2") < text.index("## Warning: check 1") < text.index("## All checks")
    assert "**What to do:** Mend it." in text
    assert "<b>" not in text
    rows = [line for line in text.splitlines() if line.startswith("| check")]
    assert rows[0] == "| check | verdict | number | limit | other | found |"
    assert rows[2] == "| check 1 | warn | 0.4 | at least 0.5 | 1.0 | It is &lt;b&gt;odd&lt;/b&gt; \\| so. |"


def test_the_reference_is_of_the_same_language_and_family_where_there_is_one(tmp_path) -> None:
    (tmp_path / "config.json").write_text("{")
    shipped = {"broken": tmp_path} | {name: SHIPPED / name for name in NAMES}
    assert choose_reference("bilm", "en", shipped) == "en-bilm"
    assert choose_reference("static", "zh", shipped) == "zh-static"
    assert choose_reference("bilm", "zh", shipped) == "zh-contrastive"
    assert choose_reference("bilm", "zh", {"en-bilm": SHIPPED / "en-bilm"}) is None
