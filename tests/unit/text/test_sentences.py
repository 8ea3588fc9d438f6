import pytest

from ctxemb.text import split_sentences


def test_sentences_are_split_at_their_ends_and_not_at_abbreviations():
    text = "  Dr. Smith sat on the bank. It was cold!  Was it?\n"
    assert split_sentences(text) == ["Dr. Smith sat on the bank.", "It was cold!", "Was it?"]
    assert split_sentences(" \n ") == []


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("我吃苹果。你呢？真好！", ["我吃苹果。", "你呢？", "真好！"]),
        ("他来了；她走了\n天黑了", ["他来了；", "她走了", "天黑了"]),
        ("干杯! 真的?", ["干杯!", "真的?"]),
        ("不会吧？！！真的……是你", ["不会吧？！！", "真的……是你"]),
        ("他说：“你好。”然后走了。", ["他说：“你好。”", "然后走了。"]),
        ("「你好。」（完。）好。", ["「你好。」", "（完。）好。"]),
        ("《你好！李焕英》很好看。", ["《你好！李焕英》很好看。"]),
        ("苹果（英：apple；法：pomme）好吃。", ["苹果（英：apple；法：pomme）好吃。"]),
        ("（没有写完。后来呢", ["（没有写完。", "后来呢"]),
        ("圆周率是3.14，网址是a.com。", ["圆周率是3.14，网址是a.com。"]),
        ("。！\n ", []),
        ("", []),
    ],
)
def test_chinese_sentences_end_at_their_marks_and_at_the_end_of_a_line(text, sentences):
    assert split_sentences(text, "zh") == sentences


def test_every_chinese_word_is_in_one_sentence():
    text = "（《「" * 500 + "苹果；（香蕉。" * 500
    pieces = split_sentences(text, "zh")
    assert "".join(pieces).count("苹果") == 500
    assert "".join(pieces) == text
