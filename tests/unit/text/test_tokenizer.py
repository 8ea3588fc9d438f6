import json
import random
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models

from ctxemb.text import PAD, SPECIAL_TOKENS, UNK, TextConfig, WordTokenizer

COUNTED = ["b a", "a c", "A b a c", "b"]  # a 4, b 3, c 2


@pytest.fixture(scope="module")
def tokenizer() -> WordTokenizer:
    return WordTokenizer.train(COUNTED, TextConfig())


def test_ids_0_to_3_are_special_and_words_follow_by_frequency(tokenizer):
    assert [tokenizer.word(i) for i in range(len(tokenizer))] == [*SPECIAL_TOKENS, "a", "b"]


@pytest.mark.parametrize(("min_frequency", "kept"), [(1, "abc"), (2, "abc"), (3, "ab"), (4, "a")])
def test_min_frequency_is_the_lowest_count_that_is_kept(min_frequency, kept):
    tokenizer = WordTokenizer.train(COUNTED, TextConfig(min_frequency=min_frequency))
    assert "".join(tokenizer.word(i) for i in range(4, len(tokenizer))) == kept


def test_the_cap_keeps_the_most_frequent_words_and_counts_special_ones():
    tokenizer = WordTokenizer.train(COUNTED, TextConfig(min_frequency=1, max_vocabulary=5))
    assert tokenizer.encode("a b c").ids == [4, UNK, UNK]


def test_without_a_frequent_word_there_is_no_vocabulary():
    with pytest.raises(ValueError, match="no word occurs 5 times; use more text or a lower min_frequency"):
        WordTokenizer.train(COUNTED, TextConfig(min_frequency=5))


def test_words_of_equal_frequency_have_an_order_that_does_not_depend_on_the_text():
    lines = ["delta alpha charlie bravo echo"] * 3
    backwards = [" ".join(reversed(line.split())) for line in lines]
    assert WordTokenizer.train(lines, TextConfig()).to_json() == WordTokenizer.train(backwards, TextConfig()).to_json()


def test_lower_casing_looks_up_in_lower_case_and_keeps_the_word_as_written(tokenizer):
    tokens = tokenizer.encode("A B")
    assert (tokens.words, tokens.ids) == (["A", "B"], [4, 5])


def test_without_lower_casing_case_makes_another_word():
    tokenizer = WordTokenizer.train(["May may May may May may"], TextConfig(lowercase=False))
    may, month = tokenizer.encode("may May").ids
    assert may != month
    assert tokenizer.encode("MAY").ids == [UNK]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("I don't think John's can’t.", "I do n't think John 's ca n’t ."),
        ("They'll say we're WE'RE", "They 'll say we 're WE 'RE"),
        ("a well-known state-of-the-art", "a well - known state - of - the - art"),
        ("pi is 3.14, not 1,000!", "pi is 3.14 , not 1,000 !"),
        ("cafe\u0301 nai\u0308ve", "cafe\u0301 nai\u0308ve"),
        ("I ❤ 🍕🍕", "I ❤ 🍕 🍕"),
        ("שלום, עולם", "שלום , עולם"),
        ("كِتَابٌ ؟", "كِتَابٌ ؟"),
        ("English русский 日本語", "English русский 日本語"),
        ("nul\0byte", "nul byte"),
        ("bell\x07tab\tnew\nzero\u200bwidth", "bell tab new zero width"),
        ("lone \ud83d half \udc00", "lone \ud83d half \udc00"),
        ("İstanbul is İ", "İstanbul is İ"),  # its lower case is longer than itself
        ("", ""),
        (" \t\0 ", ""),
    ],
)
def test_words_are_cut_here_and_spans_point_into_the_raw_text(tokenizer, sentence, words):
    tokens = tokenizer.encode(sentence)
    assert tokens.words == words.split()
    assert [sentence[start:end] for start, end in tokens.spans] == tokens.words
    assert len(tokens.ids) == len(tokens)


@pytest.mark.parametrize("seed", range(5))
def test_spans_of_any_text_rise_and_leave_out_nothing_visible(tokenizer, seed):
    rng = random.Random(seed)
    alphabet = "aZé\u0301 İß'’nt-.<>😀\U0001f1e9\u200dשم日\0\x07\n\u00a0\ud800"
    text = "".join(rng.choices(alphabet, k=300))
    tokens = tokenizer.encode(text)
    edges = [edge for span in tokens.spans for edge in span]
    assert edges == sorted(edges)
    covered = {position for start, end in tokens.spans for position in range(start, end)}
    # a lone surrogate is of category Cs, but something the reader has to see
    visible = {i for i, c in enumerate(text) if not c.isspace() and unicodedata.category(c) not in ("Cc", "Cf")}
    assert covered == visible
    assert min(tokens.ids) >= UNK


def test_cutting_agrees_with_a_plain_regular_expression_on_plain_text(tokenizer):
    text = "The boat (a 30-foot sloop) lay at anchor; nobody, it seemed, was on board: 2 cups, 1 plate?"
    assert tokenizer.encode(text).words == re.findall(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]", text)


@pytest.mark.parametrize("special", SPECIAL_TOKENS)
def test_a_special_token_in_the_text_is_an_unknown_word(tokenizer, special):
    sentence = f"a {special} b"
    assert tokenizer.encode(sentence).ids == [4, UNK, 5]
    assert next(tokenizer.encode_ids([sentence])).tolist() == [4, UNK, 5]
    assert tokenizer.encode_words(["a", special, "b"]).ids == [4, UNK, 5]


def test_ids_alone_agree_with_the_full_encoding(tokenizer):
    sentences = ["A c b!", "", "<pad> b \ud800 a", "a\0b"]
    ids = list(tokenizer.encode_ids(sentences))
    assert [array.tolist() for array in ids] == [tokens.ids for tokens in tokenizer.encode_batch(sentences)]
    assert all(array.dtype == np.int32 for array in ids)


def test_ready_tokens_are_looked_up_unsplit():
    tokenizer = WordTokenizer.train(["well known"] * 3, TextConfig())
    tokens = tokenizer.encode_words(["Well", "well-known", "known"])
    assert tokens.words == ["Well", "well-known", "known"]
    assert tokens.ids == [tokenizer.word_id("well"), UNK, tokenizer.word_id("known")]
    assert tokens.spans == [(0, 4), (5, 15), (16, 21)]


def test_a_tokenizer_survives_its_file(tokenizer, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(tokenizer.to_json(), encoding="utf-8")
    assert WordTokenizer.from_file(path, TextConfig()).encode("A b, c") == tokenizer.encode("A b, c")


def test_a_tokenizer_with_other_special_ids_is_refused(tmp_path: Path):
    path = tmp_path / "tokenizer.json"
    Tokenizer(models.WordLevel({"[UNK]": PAD, "a": 1}, unk_token="[UNK]")).save(str(path))
    with pytest.raises(ValueError, match="ids 0-3 of this tokenizer are"):
        WordTokenizer.from_file(path, TextConfig())


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff\xfe", b'{"model":'])
def test_a_file_that_is_no_tokenizer_is_named(tmp_path, content):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"tokenizer\.json is not a readable tokenizer file"):
        WordTokenizer.from_file(path, TextConfig())


SHIPPED = Path(__file__).parents[3] / "checkpoints" / "en-bilm"


def test_the_shipped_checkpoint_cuts_and_numbers_words_as_it_was_trained():
    """Its config.json knows nothing of Chinese."""
    config = TextConfig.model_validate(json.loads((SHIPPED / "config.json").read_text())["text"])
    tokens = WordTokenizer.from_file(SHIPPED / "tokenizer.json", config).encode(
        "The bank didn't pay 1,000 £ at www.x.org"
    )
    assert " ".join(tokens.words) == "The bank did n't pay 1,000 £ at www . x . org"
    vocabulary = json.loads((SHIPPED / "tokenizer.json").read_text())["model"]["vocab"]
    assert tokens.ids == [vocabulary.get(word.lower(), UNK) for word in tokens.words]


# a ready vocabulary


@pytest.mark.parametrize(
    ("language", "sentences"), [("en", [*COUNTED, "don't , 3.14"]), ("zh", ["我在银行", "我在Google上搜苹果"])]
)
@pytest.mark.parametrize("lowercase", [True, False])
def test_a_vocabulary_made_of_ready_words_is_the_one_that_was_learnt(language, sentences, lowercase):
    config = TextConfig(language=language, lowercase=lowercase, min_frequency=1)
    learnt = WordTokenizer.train(sentences, config)
    words = [learnt.word(i) for i in range(4, len(learnt))]
    ready = WordTokenizer.from_words(words, config)
    assert json.loads(ready.to_json()) == json.loads(learnt.to_json())
    assert [tokens.ids for tokens in ready.encode_batch(sentences)] == [
        tokens.ids for tokens in learnt.encode_batch(sentences)
    ]


def test_a_ready_word_may_be_one_that_no_text_is_cut_into():
    tokenizer = WordTokenizer.from_words(["new_york", "new", "Upper"], TextConfig())
    assert tokenizer.encode("New_York Upper").ids == [5, UNK, UNK, UNK]
    assert tokenizer.word_id("New_York") == 4
    assert tokenizer.word(6) == "Upper"  # kept, and never found: it is looked up in lower case


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a", "b", "a"], "the word 'a' is in the list twice"),
        (["a", "<unk>"], "the word '<unk>' is a special token"),
    ],
)
def test_a_list_of_words_that_is_no_vocabulary_is_refused(words, message):
    with pytest.raises(ValueError, match=message):
        WordTokenizer.from_words(words, TextConfig())
