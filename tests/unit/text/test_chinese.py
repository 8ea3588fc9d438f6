import json
import random

import numpy as np
import pytest
import rjieba
from pydantic import ValidationError

from ctxemb.text import SPECIAL_TOKENS, UNK, TextConfig, WordTokenizer, cutting_rule
from ctxemb.text.chinese import segment

ZH = TextConfig(language="zh", min_frequency=1)
SENTENCES = ["我吃苹果Apple", "我吃ＡＰＰＬＥ", "我喝水"]  # 我 3; 吃, apple 2; 苹果, 喝, 水 1


@pytest.fixture(scope="module")
def tokenizer() -> WordTokenizer:
    return WordTokenizer.train(SENTENCES, ZH)


def words(text: str, words_only: bool = True) -> list[str]:
    return [text[start:end] for start, end in segment(text, words_only)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("苹果很好吃。", "苹果 很 好吃"),
        ("我在Google上搜iPhone13", "我 在 Google 上 搜 iPhone13"),
        ("看https://a.com/x?y=1的苹果，www.b.cn！", "看 的 苹果"),
        ("他２０岁，涨了3.5%，二〇〇八年", "他 岁 涨 了 二 八年"),
        ("我😀👨‍👩‍👧买了①个", "我 买 了 个"),
        ("𠮷野家开门了", "𠮷 野家 开门 了"),
        ("nǐ hǎo，nǐhǎo，café", "nǐ hǎo nǐhǎo café"),
        ("cafe\u0301很好", "cafe\u0301 很 好"),
        ("ＡＢＣ公司的Ｔ恤", "ＡＢＣ 公司 的 Ｔ恤"),
        ("卡拉OK和AA制和C++", "卡拉 OK 和 AA制 和 C++"),
        ("русский です", "русский です"),
        ("苹\u3000果 \t\n\u200b", "苹 果"),
        ("", ""),
        ("。，！ 123", ""),
    ],
)
def test_words_are_cut_here_and_spans_point_into_the_raw_text(text, expected):
    assert words(text) == expected.split()


def test_with_symbols_only_white_space_and_control_characters_are_left_out():
    text = "看 a.com/ab，２０%😀\u200b\n"
    assert words(text, words_only=False) == ["看", "a.com", "/", "ab", "，", "２０%", "😀"]


def test_cutting_agrees_with_rjieba_where_there_is_nothing_but_chinese_words():
    text = "上海的苹果公司昨天在会议上宣布了新的产品计划"
    assert words(text) == rjieba.cut(text)


@pytest.mark.parametrize("words_only", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_spans_of_any_text_rise_and_leave_out_no_letter(seed, words_only):
    rng = random.Random(seed)
    text = "".join(rng.choices("打东西苹果ＡａZé\u0301ǎのß1２①.。，<>/😀\U00020bb7\u200d \u3000\0\x07\n", k=400))
    spans = segment(text, words_only)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(start < end for start, end in spans)
    covered = {position for start, end in spans for position in range(start, end)}
    assert covered >= {i for i, character in enumerate(text) if character.isalpha()}
    assert not covered & {i for i, character in enumerate(text) if character.isspace() or character in "\0\x07"}


def test_ids_follow_frequency_and_full_width_letters_are_the_same_word(tokenizer):
    assert [tokenizer.word(i) for i in range(4)] == list(SPECIAL_TOKENS)
    assert tokenizer.word(4) == "我"
    assert {tokenizer.word(5), tokenizer.word(6)} == {"吃", "apple"}
    apple = tokenizer.word_id("apple")
    assert [tokenizer.word_id(word) for word in ("APPLE", "ａｐｐｌｅ", "梨")] == [apple, apple, UNK]


def test_without_lower_casing_case_makes_another_word_and_width_does_not():
    tokenizer = WordTokenizer.train(SENTENCES, ZH.model_copy(update={"lowercase": False}))
    assert tokenizer.word_id("Apple") == tokenizer.word_id("Ａpple") != tokenizer.word_id("APPLE")


def test_min_frequency_is_the_lowest_count_that_is_kept():
    tokenizer = WordTokenizer.train(SENTENCES, ZH.model_copy(update={"min_frequency": 2}))
    assert {tokenizer.word(i) for i in range(4, len(tokenizer))} == {"我", "吃", "apple"}
    with pytest.raises(ValueError, match="no word occurs 4 times"):
        WordTokenizer.train(SENTENCES, ZH.model_copy(update={"min_frequency": 4}))


def test_words_stand_as_they_were_written(tokenizer):
    sentence = "😀我吃\ud83dａｐｐｌｅ，<pad> 9！"
    tokens = tokenizer.encode(sentence)
    assert tokens.words == ["我", "吃", "ａｐｐｌｅ", "pad"]
    assert [sentence[start:end] for start, end in tokens.spans] == tokens.words
    assert tokens.ids == [tokenizer.word_id(word) for word in ("我", "吃", "apple", "pad")]
    assert tokens.ids[-1] == UNK


def test_ready_words_are_looked_up_unsplit(tokenizer):
    tokens = tokenizer.encode_words(["我", "吃苹果", "。", "苹果", "<pad>"])
    assert tokens.ids == [tokenizer.word_id("我"), UNK, UNK, tokenizer.word_id("苹果"), UNK]
    assert tokens.spans == [(0, 1), (2, 5), (6, 7), (8, 10), (11, 16)]


def test_ids_alone_agree_with_the_full_encoding(tokenizer):
    sentences = ["我吃苹果，梨！", "", "。", "\ud800我"]
    ids = list(tokenizer.encode_ids(sentences))
    assert [array.tolist() for array in ids] == [tokens.ids for tokens in tokenizer.encode_batch(sentences)]
    assert all(array.dtype == np.int32 for array in ids)


def test_the_file_is_standard_and_is_read_with_its_settings(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(tokenizer.to_json(), encoding="utf-8")
    assert json.loads(path.read_text(encoding="utf-8"))["model"]["type"] == "WordLevel"
    assert WordTokenizer.from_file(path, ZH).encode("我吃Ａpple") == tokenizer.encode("我吃Ａpple")
    with pytest.raises(ValueError, match="takes ready words, so it is not one for language 'en'"):
        WordTokenizer.from_file(path, TextConfig())
    path.write_text(WordTokenizer.train(["a b"], TextConfig(min_frequency=1)).to_json(), encoding="utf-8")
    with pytest.raises(ValueError, match="takes whole sentences, so it is not one for language 'zh'"):
        WordTokenizer.from_file(path, ZH)


def test_symbols_are_words_if_asked_for():
    tokenizer = WordTokenizer.train(["我，你，他"], ZH.model_copy(update={"words_only": False}))
    assert tokenizer.word(4) == ","
    assert tokenizer.encode("我，").ids == [tokenizer.word_id("我"), 4]


def test_english_keeps_its_symbols():
    with pytest.raises(ValidationError, match="words_only is for Chinese text"):
        TextConfig(words_only=True)


def test_the_cutting_rule_tells_the_languages_apart():
    assert cutting_rule("en") != cutting_rule("zh")
    assert cutting_rule("zh") == cutting_rule("zh")
