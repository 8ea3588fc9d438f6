"""The Compare page on every family of encoders, in both languages."""

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

OpenApp = Callable[..., AppTest]
NAMES = [f"{language}-{family}" for language in ("en", "zh") for family in ("bilm", "contrastive", "elmo", "static")]
FIRST = {"en": "bank", "zh": "苹果"}


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def text(app: AppTest) -> str:
    elements = [*app.markdown, *app.info, *app.caption]
    return " ".join(element.value for element in elements).replace("\\", "")


def html(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html")]


@pytest.mark.parametrize("name", NAMES)
def test_every_checkpoint_opens_on_a_word_of_its_language(open_family: OpenApp, name: str) -> None:
    app = open_family(checkpoint=name)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert app.text_input(key="word").value == FIRST[name[:2]]
    assert app.pills(key="example").value == FIRST[name[:2]]
    assert list(numbers(app)) == ["Same sense", "Cross sense", "Gap", "AUC"]
    assert f"of “{FIRST[name[:2]]}”" in text(app)


def test_the_contrastive_english_checkpoint_is_the_first(open_family: OpenApp) -> None:
    app = open_family()
    options = app.selectbox(key="checkpoint").options
    assert (app.selectbox(key="checkpoint").value, options[0]) == ("en-contrastive", "en-contrastive")
    assert sorted(options) == sorted(NAMES)


def test_a_checkpoint_of_the_other_language_brings_a_word_of_it(open_family: OpenApp) -> None:
    app = open_family(own="the bank approved the loan")
    app.pills(key="example").set_value("spring").run()
    app.selectbox(key="checkpoint").set_value("zh-bilm").run()
    assert app.text_input(key="word").value == "苹果"
    assert app.text_input(key="own").value == ""
    assert set(app.data_editor[0].value.sense) == {"水果", "公司"}
    assert len(app.metric) == 4
    app.pills(key="example").set_value("杜鹃").run()
    app.selectbox(key="checkpoint").set_value("zh-static").run()
    assert app.text_input(key="word").value == "杜鹃"
    app.selectbox(key="checkpoint").set_value("en-static").run()
    assert app.text_input(key="word").value == "bank"
    assert not app.exception
    assert not app.error


def test_a_link_names_checkpoint_and_word(open_family: OpenApp) -> None:
    app = open_family(checkpoint="zh-contrastive", word="杜鹃", readout="here", layer="1")
    assert app.text_input(key="word").value == "杜鹃"
    assert set(app.data_editor[0].value.sense) == {"花", "鸟"}
    assert (app.segmented_control(key="readout").value, app.pills(key="layer").value) == ("here", "1")
    strange = open_family(checkpoint="zh-contrastive", word="bank", readout="sentence", layer="7")
    assert not strange.exception
    assert "Nothing to compare yet" in text(strange)


@pytest.mark.parametrize(
    ("name", "readouts", "layers", "said"),
    [
        ("en-bilm", ["here", "context", "sentence"], ["0", "1", "2", "mean"], "0: embedding, 1: LSTM 1, 2: LSTM 2"),
        ("zh-contrastive", ["context", "here"], ["0", "1", "2", "mean"], "0: embedding, 1: LSTM, 2: projection"),
        ("en-elmo", ["here", "context"], ["0", "1", "2", "mean"], "0: characters, 1: LSTM 1, 2: LSTM 2"),
    ],
)
def test_controls_offer_what_a_family_has(
    open_family: OpenApp, name: str, readouts: list[str], layers: list[str], said: str
) -> None:
    app = open_family(checkpoint=name)
    control = app.segmented_control(key="readout")
    assert control.options == readouts
    assert all(f"**{readout}**" in control.proto.help for readout in readouts)
    assert control.proto.help.count("**") == 2 * len(readouts)
    assert app.pills(key="layer").options[: len(layers)] == layers
    assert said in text(app)


def test_a_word_that_no_list_has_is_compared_where_words_are_read_by_their_spelling(open_family: OpenApp) -> None:
    sentences = "the zyzzyva sat on the river\nwe fed a zyzzyva at the bank"
    for name, is_known in (("en-elmo", True), ("en-bilm", False)):
        app = open_family(checkpoint=name)
        app.pills(key="example").set_value("your own").run()
        app.text_input(key="word").set_value("zyzzyva").run()
        app.text_area(key="pasted").set_value(sentences).run()
        app.button(key="add pasted").click().run()
        assert not app.exception
        said = " ".join(warning.value for warning in app.warning)
        assert ("not in this checkpoint" in said) != is_known
        assert ("All pairs" in numbers(app)) == is_known


def test_a_static_checkpoint_has_no_reading_and_says_so(open_family: OpenApp) -> None:
    app = open_family(checkpoint="zh-static")
    assert [control.key for control in app.segmented_control] == ["centring"]
    assert app.segmented_control(key="centring").options == ["off", "all words"]
    assert [pills.key for pills in app.pills] == ["example"]
    assert numbers(app)["Gap"] == "+0.00"
    assert "Every use of “苹果” has the same vector here" in text(app)
    assert "No word around it moves a static vector" in text(app)
    assert "static vector" not in app.table[0].value.index
    assert len(app.get("plotly_chart")) == 1
    app.segmented_control(key="centring").set_value("all words").run()
    assert not app.exception
    assert not app.error


def test_centring_per_word_does_not_follow_to_a_static_checkpoint(open_family: OpenApp) -> None:
    app = open_family()
    app.segmented_control(key="centring").set_value("per word").run()
    app.selectbox(key="checkpoint").set_value("en-static").run()
    assert app.segmented_control(key="centring").value == "off"
    assert not app.error
    assert len(app.metric) == 4


@pytest.mark.parametrize(("name", "num_answers"), [("en-bilm", 1), ("en-contrastive", 2), ("zh-contrastive", 2)])
def test_why_has_a_second_answer_where_there_is_attention(open_family: OpenApp, name: str, num_answers: int) -> None:
    app = open_family(checkpoint=name)
    assert sum("border-radius:0 0 4px 4px" in body for body in html(app)) == num_answers
    assert ("**Attention.**" in text(app)) == (num_answers == 2)


def test_chinese_is_shown_in_the_words_it_was_cut_into(open_family: OpenApp) -> None:
    chips = next(body for body in html(open_family(checkpoint="zh-bilm")) if "水果 1" in body)
    assert ">奶奶</span>" in chips
    assert ">，</span>" in chips
    assert "the words into which rjieba cuts" in text(open_family(checkpoint="zh-bilm"))
    assert "rjieba" not in text(open_family(checkpoint="en-bilm"))


def test_traditional_characters_are_said_so(open_family: OpenApp) -> None:
    app = open_family(checkpoint="zh-contrastive", own="我昨天買了一個蘋果手機，很貴。")
    said = " ".join(warning.value for warning in app.warning).replace("\\", "")
    assert "“我昨天買了一個蘋果手機，很貴。” is in traditional characters" in said
    assert len(app.metric) == 4
    app.text_input(key="own").set_value("我昨天买了一个苹果，很甜。").run()
    assert not app.warning
    assert "Your sentence" in text(app)
    app.text_input(key="word").set_value("蘋果").run()
    assert "“蘋果” is in traditional characters" in app.warning[0].value.replace("\\", "")
    assert not app.exception


def test_a_short_chinese_sentence_is_a_thin_context(open_family: OpenApp) -> None:
    app = open_family(checkpoint="zh-bilm", own="我今天吃了苹果。")
    assert any("thin context: under 8 words" in body for body in html(app))
    assert not any("thin context" in body for body in html(open_family(checkpoint="zh-bilm")))


def test_own_words_of_each_language_have_a_table_of_their_own(open_family: OpenApp) -> None:
    app = open_family(checkpoint="zh-contrastive")
    app.pills(key="example").set_value("your own (Chinese)").run()
    app.text_input(key="word").set_value("银行").run()
    app.text_area(key="pasted").set_value("他 去 银行 存钱 。\n银行 今天 不 开门 。").run()
    app.button(key="add pasted").click().run()
    assert not app.exception
    assert app.data_editor[0].value.sentence.tolist() == ["他 去 银行 存钱 。", "银行 今天 不 开门 。"]
    app.selectbox(key="checkpoint").set_value("en-contrastive").run()
    app.pills(key="example").set_value("your own").run()
    assert set(app.data_editor[0].value.sentence) == {""}
