import sys
import types

import pytest

from ctxemb.text import is_traditional, script, script_problem, to_simplified, traditional_share

PAIRS = [
    ("我們在銀行門口等了兩個鐘頭。", "我们在银行门口等了两个钟头。"),
    ("這個蘋果又大又紅，孩子們都愛吃。", "这个苹果又大又红，孩子们都爱吃。"),
    ("聽說這裡的風景很好。", "听说这里的风景很好。"),
]


@pytest.mark.parametrize(("traditional", "simplified"), PAIRS)
def test_the_script_of_a_sentence_is_recognised(traditional, simplified):
    assert is_traditional(traditional)
    assert not is_traditional(simplified)
    assert traditional_share(simplified) == 0


def test_the_share_is_that_of_characters_only_traditional_script_has():
    assert traditional_share("銀行的利率") == pytest.approx(1 / 5)
    assert traditional_share("銀銀，abc！行的") == pytest.approx(2 / 4)


@pytest.mark.parametrize("text", ["", "abc 123", "，。", "人口", "杜鹃花", "一九九八年十二月", "著名的乾隆皇帝"])
def test_what_reads_the_same_in_both_scripts_is_not_traditional(text):
    assert not is_traditional(text)


def test_a_rare_name_in_a_long_text_does_not_make_it_traditional():
    assert not is_traditional("王堃和刘濬昨天一起去了北京，他们在那里的大学里见到了许多老朋友，谈了很久的话。")


def test_a_person_is_told_what_to_do():
    assert script_problem(PAIRS[0][1]) is None
    message = script_problem(PAIRS[0][0])
    assert message is not None
    assert message.startswith("“我們在銀行門口等了兩個鐘頭。” is in traditional characters; the checkpoint knows")
    assert len(script_problem(PAIRS[0][0] * 100) or "") < 200


def test_conversion_without_opencc_says_what_to_install(monkeypatch):
    script._converter.cache_clear()
    monkeypatch.setitem(sys.modules, "opencc", None)
    with pytest.raises(ValueError, match="needs opencc: pip install opencc"):
        to_simplified("銀行")


def test_conversion_is_left_to_opencc(monkeypatch):
    class OpenCC:
        def __init__(self, direction: str) -> None:
            assert direction == "t2s"

        def convert(self, text: str) -> str:
            return text.replace("銀", "银")

    script._converter.cache_clear()
    monkeypatch.setitem(sys.modules, "opencc", types.SimpleNamespace(OpenCC=OpenCC))
    assert to_simplified("銀行") == "银行"
    script._converter.cache_clear()


def test_the_real_opencc_converts_what_we_recognise():
    pytest.importorskip("opencc")
    script._converter.cache_clear()
    for traditional, simplified in PAIRS:
        assert to_simplified(traditional) == simplified
