"""The Geometry page on every family and in both languages: numbers, curves, corrections, bad input."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

OpenApp = Callable[..., AppTest]
NAMES = [f"{language}-{family}" for language in ("en", "zh") for family in ("bilm", "contrastive", "static")]


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def words(app: AppTest) -> str:
    elements = [*app.markdown, *app.info, *app.caption, *app.error]
    return " ".join(element.value for element in elements).replace("\\", "")


def legends(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html")]


def table(app: AppTest) -> dict[str, list[float]]:
    return {name: row.tolist() for name, row in app.table[0].value.iterrows()}


def beside(app: AppTest, *names: str) -> AppTest:
    return app.multiselect[0].set_value(list(names)).run()


def test_numbers_curves_and_corrections(open_app: OpenApp) -> None:
    app = open_app("geometry")
    assert not app.exception
    assert not app.error
    assert list(numbers(app)) == ["Top-10 energy", "Random words", "IsoScore", "Uniformity"]
    assert "Random words have a mean cosine of" in words(app)
    assert "Roundest is the space" in words(app)
    assert list(table(app)) == ["as read", "centred", "without the top 1", "whitened"]
    assert len(app.get("plotly_chart")) == 9
    spaces, corrected = legends(app)
    assert "tiny, here, layer 2" in spaces
    assert "tiny, layer 0" in spaces
    assert "our example sentences, none more than 6 times" in spaces
    assert "whitened" in corrected


@pytest.mark.parametrize("name", NAMES)
def test_every_checkpoint(open_family: OpenApp, name: str) -> None:
    app = open_family("geometry", checkpoint=name)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert all(value != "–" for value in numbers(app).values())
    rows = table(app)
    if name.endswith("static"):
        assert "one vector each" in legends(app)[0]
        assert "Every use of a word has the same vector here, so they are all alike" in words(app)
        assert "no correction tells equal vectors apart" in words(app)
        assert {row[4] for row in rows.values()} == {0.5}
        assert len(app.get("plotly_chart")) == 8
    else:
        assert "uses of" in legends(app)[0]
        assert rows["as read"][4] != 0.5
    # a mean that is fitted on other words is nearly that of the words that are measured
    assert abs(rows["centred"][1]) < 0.1


def test_the_reading_decides_what_is_measured(open_family: OpenApp) -> None:
    app = open_family("geometry", checkpoint="en-bilm")
    last = numbers(app)
    app.pills(key="layer").set_value("1").run()
    assert not app.exception
    first = numbers(app)
    assert first != last
    assert numbers(open_family("geometry", checkpoint="en-bilm", layer="1")) == first
    zero = open_family("geometry", checkpoint="en-bilm", layer="0")
    assert "same vector here, and no correction tells" in words(zero)
    assert legends(zero)[0].count("■") == 1  # its static vectors are what is shown already
    mixed = open_family("geometry", checkpoint="en-bilm", layer="mean")
    assert "en-bilm, here, layer mean" in legends(mixed)[0]


def test_other_checkpoints_of_any_language_are_drawn_beside_it(open_family: OpenApp) -> None:
    app = open_family("geometry", checkpoint="en-contrastive")
    before = numbers(app)
    beside(app, "zh-contrastive", "en-static")
    assert not app.exception
    spaces = legends(app)[0]
    assert all(name in spaces for name in ("en-contrastive, context", "zh-contrastive, context", "en-static"))
    assert "layer 0" not in spaces
    assert numbers(app) == before
    assert spaces.count("■") == 3
    linked = open_family("geometry", checkpoint="en-contrastive", beside=["zh-contrastive", "en-static"])
    assert legends(linked)[0] == spaces
    app.selectbox[0].set_value("en-static").run()
    assert not app.exception
    assert legends(app)[0].count("■") == 2  # not twice


def test_the_number_of_main_directions_and_of_those_removed(open_family: OpenApp) -> None:
    app = open_family("geometry", checkpoint="en-contrastive")
    whole = numbers(app)
    assert "Top-10 energy" in whole
    app.number_input[0].set_value(2).run()
    fewer = numbers(app)
    assert float(fewer.pop("Top-2 energy").rstrip("%")) < float(whole.pop("Top-10 energy").rstrip("%"))
    assert fewer == whole
    before = table(app)
    app.slider[0].set_value(3).run()
    after = table(app)
    assert "without the top 3" in after
    assert after["as read"] == before["as read"]
    assert after["without the top 3"] != before["without the top 1"]
    linked = open_family("geometry", checkpoint="en-contrastive", top="2", removed="3")
    assert table(linked) == after
    assert "Top-2 energy" in numbers(linked)


@pytest.mark.parametrize("query", [{"top": "0"}, {"top": "x"}, {"removed": "99"}, {"beside": "../x"}, {"layer": "99"}])
def test_a_link_that_makes_no_sense_shows_the_page_all_the_same(open_family: OpenApp, query: dict[str, str]) -> None:
    app = open_family("geometry", checkpoint="en-contrastive", **query)
    assert not app.exception
    assert list(numbers(app)) == ["Top-10 energy", "Random words", "IsoScore", "Uniformity"]
    assert len(table(app)) == 4


def test_centring_is_no_choice_here_but_a_correction(open_family: OpenApp) -> None:
    app = open_family("geometry", checkpoint="en-contrastive", centring="all words")
    assert not app.exception
    assert "Centring" not in [group.label for group in app.get("button_group")]


def write_collapsed(folder: Path, families: Path) -> None:
    """`en-static` twice: all vectors equal, and none of them a number."""
    for name, vector in (("equal", 1.0), ("broken", np.nan)):
        shutil.copytree(families / "en-static", folder / name)
        path = folder / name / "model.safetensors"
        save_file({key: torch.full_like(tensor, vector) for key, tensor in load_file(path).items()}, path)


def test_a_collapsed_space_is_one_sentence(
    open_app: OpenApp, families: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_collapsed(tmp_path / "collapsed", families)
    shutil.copytree(families / "en-bilm", tmp_path / "collapsed" / "fine")
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path / "collapsed"))
    app = open_app("geometry", checkpoint="equal")
    assert not app.exception
    assert [error.value.replace("\\", "") for error in app.error] == [
        "All vectors are equal, so they have no shape: give some that differ"
    ]
    assert not app.metric
    fine = beside(open_app("geometry", checkpoint="fine"), "equal", "broken")
    assert "equal cannot be drawn: all vectors are equal" in words(fine).lower()
    assert "broken cannot be drawn: " in words(fine).lower()
    assert "vectors hold NaN or infinity" in words(fine)
    assert len(fine.metric) == 4


def test_without_a_checkpoint_it_is_said_so(open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path))
    app = open_app("geometry")
    assert "There is no checkpoint in" in words(app)
    assert not app.exception
