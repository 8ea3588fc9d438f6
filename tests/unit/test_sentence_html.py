"""Chips, lists and bars, and what becomes of tags in a user's text."""

import numpy as np

from ctxemb.sentence_html import GROUND, bars_html, contexts_html, tokens_html, uses_html


def test_tokens_are_marked_and_escaped() -> None:
    html = tokens_html(["<b>", "bank", "qzx", "bank"], [False, False, True, False], [1, 3], 3, "#123456")
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    chips = html.split("<span title")[1:]
    assert "background:#123456" in chips[3]
    assert "another occurrence" in chips[1]
    assert "not in the vocabulary" in chips[2]
    assert "background" not in chips[0] + chips[1] + chips[2]


def test_list_of_uses_escapes_labels_and_notes() -> None:
    html = uses_html(["<i>x</i> 1"], [tokens_html(["bank"], [False], [0], 0, "#111")], ["<i>x</i>"], ["<u>short</u>"])
    assert "&lt;i&gt;x&lt;/i&gt; 1" in html
    assert "&lt;u&gt;short" in html
    assert "<i>" not in html
    assert "<u>" not in html


def test_influence_bars_are_in_proportion() -> None:
    html = bars_html(["the", "river", "bank", "<"], np.array([0.1, 0.2, np.nan, 0.0]), 2, "#123456")
    heights = [int(part.split("px")[0]) for part in html.split("height:")[1:]]
    assert heights == [28, 56, 0, 0]
    assert [">.10<" in html, ">.20<" in html, ">.00<" in html] == [True, True, True]
    assert "&lt;" in html
    assert html.count("background:#123456;color:#fff") == 1


def test_influence_without_any_movement_divides_by_nothing() -> None:
    assert "height:0px" in bars_html(["a", "bank"], np.array([0.0, np.nan]), 1, "#123456")


def test_a_language_without_spaces_shows_how_it_was_cut_and_what_was_left_out() -> None:
    html = tokens_html(["苹果", "qzx", "甜"], [False, True, False], [0], 0, "#111", ["", "<", "，", "。"])
    chips = html.split("<span title")[1:]
    assert [GROUND in chip for chip in chips] == [False, False, True]  # target, unknown, other
    assert html.index("甜") < html.index("。")
    assert "&lt;" in html
    assert GROUND not in tokens_html(["bank", "on"], [False, False], [0], 0, "#111")


def test_contexts_stand_one_under_the_other() -> None:
    assert contexts_html(["<b>one</b>", "two"]).count("<div") == 3
