"""The Compare page, driven without a browser: what is shown for good input and for bad."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxemb.checkpoint import update_config
from ctxemb.comparison import Sentence
from ctxemb.models.reading import Reading
from ctxemb.sentence_list import to_link

TABLE = "table of {}, version {}"
OpenApp = Callable[..., AppTest]


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def text(app: AppTest) -> str:
    """All running text, without the signs that protect it from Markdown."""
    return " ".join(element.value for element in app.markdown).replace("\\", "")


def warnings(app: AppTest) -> str:
    return " ".join(element.value for element in app.warning).replace("\\", "")


def errors(app: AppTest) -> str:
    return " ".join(element.value for element in app.error).replace("\\", "")


def edit(app: AppTest, home: str, version: int, row: int, **cells: object) -> AppTest:
    key = TABLE.format(home, version)
    app.session_state[key] = {"edited_rows": {row: cells}, "added_rows": [], "deleted_rows": []}
    return app.run()


def link(*sentences: Sentence) -> str:
    found = to_link(sentences)
    assert found
    return found


def test_opens_on_bank_with_numbers_baselines_and_charts(open_app: OpenApp) -> None:
    app = open_app()
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert list(numbers(app)) == ["Same sense", "Cross sense", "Gap", "AUC"]
    assert all(value != "–" for value in numbers(app).values())
    assert list(app.table[0].value.index) == ["**this encoder**", "bag of context", "static vector", "random words"]
    assert app.table[0].value.loc["static vector", "same"] == pytest.approx(1)
    assert app.table[0].value.loc["static vector", "AUC"] == pytest.approx(0.5)
    assert "of “bank”" in text(app)
    assert len(app.get("plotly_chart")) == 2
    assert "rows" not in app.query_params


def test_an_example_word_brings_its_sentences(open_app: OpenApp) -> None:
    app = open_app()
    app.pills(key="example").set_value("plant").run()
    assert app.text_input(key="word").value == "plant"
    assert "of “plant”" in text(app)
    assert "“bank”" not in text(app)
    assert set(app.data_editor[0].value.sense) == {"factory", "botany"}


def test_typing_an_example_word_is_choosing_it(open_app: OpenApp) -> None:
    app = open_app()
    app.text_input(key="word").set_value(" Plant").run()
    assert app.pills(key="example").value == "plant"
    assert "of “Plant”" in text(app)


def test_an_edited_sentence_changes_the_numbers(open_app: OpenApp) -> None:
    app = open_app()
    before = numbers(app)
    edit(app, "bank", 1, 0, sentence="we sat on the old bank of the river with the farmer .")
    assert numbers(app) != before
    next(button for button in app.button if button.label == "Start again").click().run()
    assert numbers(app) == before


def test_edits_survive_a_look_at_another_word(open_app: OpenApp) -> None:
    app = open_app()
    before = numbers(app)
    edited = numbers(edit(app, "bank", 1, 0, sentence="we sat on the old bank of the river with the farmer ."))
    app.pills(key="example").set_value("plant").run()
    app.pills(key="example").set_value("bank").run()
    assert numbers(app) == edited != before


def test_use_all_takes_every_example(open_app: OpenApp) -> None:
    app = open_app()
    assert not app.data_editor[0].value.use.all()
    next(button for button in app.button if button.label == "Use all").click().run()
    assert app.data_editor[0].value.use.all()


def test_an_own_sentence_is_placed_and_leaves_the_labelled_numbers_alone(open_app: OpenApp) -> None:
    app = open_app()
    before = numbers(app)
    assert "Your sentence" not in text(app)
    app.text_input(key="own").set_value("the boat drifted to the bank where the water was quiet .").run()
    first = text(app)
    assert "Your sentence" in first
    app.text_input(key="own").set_value("the old bank approved the loan for the farmer .").run()
    assert text(app) != first
    assert numbers(app) == before
    assert app.selectbox(key="why_own").value == "yours"


def test_an_own_sentence_can_be_kept(open_app: OpenApp) -> None:
    app = open_app(own="the old bank approved the loan for the farmer .")
    next(button for button in app.button if button.label == "Keep").click().run()
    assert app.data_editor[0].value.sentence.iloc[-1] == "the old bank approved the loan for the farmer ."
    assert app.text_input(key="own").value == ""
    assert "rows" in app.query_params


def test_a_word_that_occurs_twice_is_chosen(open_app: OpenApp) -> None:
    own = "we sat on the bank of the river and the old bank approved the loan ."
    app = open_app(own=own)
    assert app.segmented_control(key="which").value == 1
    first = text(app)
    app.segmented_control(key="which").set_value(2).run()
    assert text(app) != first
    app.text_input(key="own").set_value("we sat on the bank of the river .").run()
    assert "which" not in [control.key for control in app.segmented_control]


def test_the_table_says_which_occurrence(open_app: OpenApp) -> None:
    twice = "we sat on the bank of the river and the old bank approved the loan ."
    rest = [
        Sentence("the old bank approved the loan .", "money"),
        Sentence("the new bank approved the loan .", "money"),
    ]
    first = open_app(readout="context", rows=link(Sentence(twice, "river", 1), *rest))
    second = open_app(readout="context", rows=link(Sentence(twice, "river", 2), *rest))
    assert numbers(first) != numbers(second)
    third = open_app(rows=link(Sentence(twice, "river", 3), *rest))
    assert "occurs 2 times" in warnings(third)


def test_a_sentence_without_the_word_is_said_so_and_the_others_go_on(open_app: OpenApp) -> None:
    app = edit(open_app(), "bank", 1, 1, sentence="nothing of the kind is in here .")
    assert "“bank” does not occur in “nothing of the kind is in here .”" in warnings(app)
    assert all(value != "–" for value in numbers(app).values())
    assert len(app.warning) == 1


def test_an_unknown_word_is_said_so_and_gets_no_number(open_app: OpenApp) -> None:
    app = open_app(word="qzxv", rows=link(Sentence("a qzxv is here ."), Sentence("no qzxv is there .")))
    assert "not in this checkpoint's vocabulary" in warnings(app)
    assert not app.metric
    assert not app.exception


def test_own_words_start_with_an_empty_table(open_app: OpenApp) -> None:
    app = open_app()
    app.pills(key="example").set_value("your own").run()
    assert not app.metric
    assert not app.error
    assert app.info
    app.text_area(key="pasted").set_value("the old river runs\nthe green river is large\nthe river .").run()
    app.text_input(key="word").set_value("river").run()
    app.button(key="add pasted").click().run()
    assert list(numbers(app)) == ["All pairs", "Closest pair", "Farthest pair", "Random words"]
    assert "Give at least three sentences a sense" in text(app)


def test_files_are_read_or_refused_with_a_reason(open_app: OpenApp) -> None:
    app = open_app()
    app.file_uploader(key="file").upload("my.csv", b"word,text\nbank,A bank .\n").run()
    assert "my.csv has no column “sentence”; its columns are “word”, “text”" in errors(app)
    assert len(app.metric) == 4
    app = open_app()
    good = b"sense,sentence\nmoney,the old bank approved the loan .\nriver,we sat on the bank of the river .\n"
    app.file_uploader(key="file").upload("my.csv", good).run()
    app.button(key="replace uploaded").click().run()
    assert app.data_editor[0].value.sense.tolist() == ["money", "river"]
    assert not app.error


def test_a_reading_changes_the_numbers(open_app: OpenApp) -> None:
    app = open_app()
    here = numbers(app)
    app.segmented_control(key="readout").set_value("context").run()
    context = numbers(app)
    app.segmented_control(key="centring").set_value("all words").run()
    centred = numbers(app)
    assert here != context != centred
    app.pills(key="layer").set_value("0").run()
    assert "has the same vector" in text(app)
    app.segmented_control(key="centring").set_value("per word").run()
    assert not app.exception


def test_a_link_opens_the_same_view(open_app: OpenApp) -> None:
    app = open_app()
    app.pills(key="example").set_value("plant").run()
    app.segmented_control(key="readout").set_value("context").run()
    app.segmented_control(key="centring").set_value("all words").run()
    app.text_input(key="own").set_value("the old plant beside the road .").run()
    edit(app, "plant", 1, 0, sentence="the farmer saw the green plant beside the road .", sense="botany")
    # bound widgets write their part of the address in the browser, so it is spelled out here
    bound = {"word": "plant", "readout": "context", "centring": "all words", "own": "the old plant beside the road ."}
    again = open_app(**bound, rows=app.query_params["rows"])
    assert numbers(again) == numbers(app)
    assert text(again) == text(app)
    assert numbers(open_app(**bound)) != numbers(app)


@pytest.mark.parametrize("query", [{"rows": "%%%"}, {"rows": "A" * 9_000}])
def test_a_broken_link_is_said_so_and_the_examples_are_shown(open_app: OpenApp, query: dict[str, str]) -> None:
    app = open_app(**query)
    assert "cannot be read" in errors(app)
    assert len(app.metric) == 4
    assert not app.exception


@pytest.mark.parametrize(
    "query", [{"layer": "99"}, {"readout": "x"}, {"checkpoint": "../x"}, {"centring": ""}, {"word": "b" * 900}]
)
def test_nonsense_in_the_address_breaks_nothing(open_app: OpenApp, query: dict[str, str]) -> None:
    assert not open_app(**query).exception


@pytest.mark.parametrize(
    "own", ["bank", "\u202ebank \u0007 😀 بنك bank", "<script>alert(1)</script> bank", "銀行", "$x$ *bank* :red[bank]"]
)
def test_strange_sentences_break_nothing(open_app: OpenApp, own: str) -> None:
    app = open_app()
    app.text_input(key="own").set_value(own).run()
    assert not app.exception
    assert len(app.metric) == 4


def test_a_missing_checkpoint_is_one_clear_sentence(
    open_app: OpenApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path))
    app = open_app()
    assert "There is no checkpoint in" in errors(app)
    assert len(app.error) == 1
    assert not app.exception
    assert not app.metric


def test_a_damaged_checkpoint_is_one_clear_sentence(
    open_app: OpenApp, checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(checkpoints / "tiny", tmp_path / "broken")
    (tmp_path / "broken" / "model.safetensors").write_bytes(b"cut")
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path))
    app = open_app()
    assert "model.safetensors cannot be read" in errors(app)
    assert not app.exception


def test_a_checkpoint_without_statistics_still_compares(
    open_app: OpenApp, tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(tiny_checkpoint, tmp_path / "plain")
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path))
    app = open_app()
    assert len(app.metric) == 4
    assert "bag of context" not in app.table[0].value.index
    app.segmented_control(key="centring").set_value("all words").run()
    assert "never calibrated" in errors(app)
    assert not app.exception


def test_a_layer_that_a_read_out_has_not_gives_way(
    open_app: OpenApp, checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(checkpoints / "tiny", tmp_path / "half")
    weights = {"here": (0.2, 0.3, 0.5)}
    update_config(tmp_path / "half", layer_weights=weights)
    reading = Reading(readout="here", layer="weighted", layer_weights=weights["here"])
    update_config(tmp_path / "half", reading=reading)
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path))
    app = open_app()
    assert app.pills(key="layer").value == "weighted"
    app.segmented_control(key="readout").set_value("context").run()
    assert not app.exception
    assert app.pills(key="layer").value == "2"
    assert len(app.metric) == 4


def test_a_newly_chosen_checkpoint_is_read_its_own_way(
    open_app: OpenApp, checkpoints: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("first", "second"):
        shutil.copytree(checkpoints / "tiny", tmp_path / name)
    update_config(tmp_path / "second", reading=Reading(readout="context", layer="mean"))
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path))
    app = open_app()
    assert (app.segmented_control(key="readout").value, app.pills(key="layer").value) == ("here", "2")
    app.selectbox(key="checkpoint").set_value("second").run()
    assert (app.segmented_control(key="readout").value, app.pills(key="layer").value) == ("context", "mean")
    assert not app.exception
