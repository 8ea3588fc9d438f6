import re
from collections.abc import Iterable, Iterator

import pytest

from ctxemb.corpora import open_corpus
from ctxemb.corpora.named import NAMED
from ctxemb.examples import example_words, load_examples
from ctxemb.recipes import RECIPES
from ctxemb.text import TextConfig, WordTokenizer, is_traditional, split_sentences

EXAMPLES = load_examples("en")
CHINESE = load_examples("zh")
RECIPE_CORPORA = sorted({name for recipe in RECIPES.values() for name in recipe.corpora} | {"wiki-sample"})
CHINESE_CORPORA = ("zhwiki", "people-daily-1998", "tatoeba-zh")
WORD = re.compile(r"[^\W_]+")
# three words after something that may stand before a sentence
BEGINNING = re.compile(r"(?:^|[.!?;:\"“”()])[\W_]*(?=([^\W_]+)[\W_]+([^\W_]+)[\W_]+([^\W_]+))")


@pytest.fixture(scope="module")
def tokens() -> dict[str, list[str]]:
    """The words of each example, as the project splits them."""
    sentences = EXAMPLES.sentence.tolist()
    tokenizer = WordTokenizer.train(sentences, TextConfig(min_frequency=1))
    return {text: found.words for text, found in zip(sentences, tokenizer.encode_batch(sentences), strict=True)}


def normalized(text: str) -> str:
    """Letters and numbers alone, lower-cased: quotation marks, dashes and spacing make no difference."""
    return " ".join(WORD.findall(text.lower()))


def sentences_within(passages: Iterable[str], sentences: list[str]) -> Iterator[str]:
    """Which sentences stand in the passages, disregarding case and punctuation.

    One pass: only what begins with the same three words is compared in full.
    """
    by_beginning: dict[tuple[str, ...], list[str]] = {}
    for sentence in sentences:
        by_beginning.setdefault(tuple(normalized(sentence).split()[:3]), []).append(sentence)
    for passage in passages:
        for beginning in by_beginning.keys() & set(BEGINNING.findall(passage.lower())):
            for sentence in by_beginning[beginning]:
                if f" {normalized(sentence)} " in f" {normalized(passage)} ":
                    yield sentence


def test_there_are_enough_words_senses_and_sentences():
    assert EXAMPLES.columns.tolist() == ["word", "sense", "sentence"]
    assert EXAMPLES.word.nunique() >= 24
    assert set(EXAMPLES.groupby("word").sense.nunique()) == {2, 3}
    assert EXAMPLES.groupby(["word", "sense"]).size().min() >= 8
    assert not EXAMPLES.isna().any(axis=None)
    assert {"money", "river"} <= set(EXAMPLES[EXAMPLES.word == "bank"].sense)


def test_cells_are_tidy():
    for row in EXAMPLES.itertuples():
        assert [row.word, row.sense, row.sentence] == [cell.strip() for cell in (row.word, row.sense, row.sentence)]
        assert row.word == row.word.lower()
        assert row.sentence[0].isupper() or row.sentence[0] in "\"'“‘"
        assert row.sentence[-1] in ".?!\"'”’"
        assert row.sentence.isprintable()


def test_the_word_stands_in_its_sentence_exactly_once(tokens):
    for row in EXAMPLES.itertuples():
        found = [token for token in tokens[row.sentence] if token.casefold() == row.word]
        assert len(found) == 1, row.sentence


def test_sentences_have_10_to_25_tokens(tokens):
    lengths = {sentence: len(words) for sentence, words in tokens.items()}
    assert {sentence: length for sentence, length in lengths.items() if not 10 <= length <= 25} == {}


def test_no_sentence_stands_there_twice():
    assert EXAMPLES.sentence.map(normalized).duplicated().sum() == 0


def test_the_frame_is_read_once():
    assert load_examples("en") is EXAMPLES


def test_words_come_once_in_the_order_of_the_file():
    words = example_words()
    assert words[0] == "bank"
    assert len(words) == len(set(words))
    assert set(words) == set(EXAMPLES.word)


# a test of the test below: it does find them, however they are set


@pytest.mark.parametrize(
    "passage",
    [
        "{}",
        "Something else. {} And more.",
        "a gloss; “{}”",
        "He said: '{}'",
        "   –  {}",
        "SAID ONCE ({}) AND NEVER AGAIN",
    ],
)
def test_a_sentence_in_a_passage_is_found(passage):
    sentences = EXAMPLES.sentence.tolist()
    for sentence in sentences[::25]:
        for text in (sentence, sentence.upper(), sentence.replace(",", " , ").replace(" ", "  ")):
            assert sentence in set(sentences_within(["nothing", passage.format(text)], sentences))
        shortened = sentence.replace(sentence.split()[-1], "")
        assert list(sentences_within([passage.format(shortened)], sentences)) == []


@pytest.mark.parametrize("name", RECIPE_CORPORA)
def test_no_example_is_in_a_training_text(name):
    if NAMED[name].found is None:
        pytest.skip(f"{name} is not on this machine: set CTXEMB_DATA, or `python -m ctxemb data get {name}`")
    assert list(sentences_within(open_corpus(name).passages(), EXAMPLES.sentence.tolist())) == []


# the Chinese sentences


def test_every_chinese_sense_has_eight_sentences():
    assert CHINESE.columns.tolist() == ["word", "sense", "sentence"]
    assert not CHINESE.isna().any(axis=None)
    assert CHINESE.word.nunique() >= 16
    assert set(CHINESE.groupby("word").sense.nunique()) == {2, 3}
    assert set(CHINESE.groupby(["word", "sense"]).size()) == {8}
    assert CHINESE.sentence.map(normalized).duplicated().sum() == 0
    assert example_words("zh") == list(dict.fromkeys(CHINESE.word))


def test_chinese_cells_are_tidy():
    for row in CHINESE.itertuples():
        assert len(row.sense) <= 4
        assert row.sentence[-1] in "。？！"
        assert split_sentences(row.sentence, "zh") == [row.sentence]
        assert row.sentence.isprintable()
        assert not is_traditional(row.sentence)
        assert " " not in row.word + row.sense + row.sentence


def test_the_chinese_word_is_one_token_of_a_sentence_of_10_to_25():
    tokenizer = WordTokenizer.train(CHINESE.sentence, TextConfig(language="zh", min_frequency=1))
    for row, tokens in zip(CHINESE.itertuples(), tokenizer.encode_batch(CHINESE.sentence.tolist()), strict=True):
        assert tokens.words.count(row.word) == row.sentence.count(row.word) == 1, row.sentence
        assert 10 <= len(tokens) <= 25, row.sentence


@pytest.mark.parametrize("name", CHINESE_CORPORA)
def test_no_chinese_example_is_in_a_training_text(name):
    if NAMED[name].found is None:
        pytest.skip(f"{name} is not on this machine: set CTXEMB_DATA, or `python -m ctxemb data get {name}`")
    examples = set(CHINESE.sentence.map(normalized))
    passages = open_corpus(name).passages()
    assert examples.isdisjoint(normalized(text) for passage in passages for text in split_sentences(passage, "zh"))
