from pathlib import Path

import pytest

from ctxemb.corpora import CorpusError, open_corpus
from ctxemb.corpora.corpus import count_words


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_one_line_is_one_passage_stripped_and_never_empty(tmp_path):
    path = write(tmp_path / "a.txt", "  The bank approved the loan.\n\n \t\nWe sat on the bank .\r\nno end of line")
    corpus = open_corpus(path)
    assert list(corpus.passages()) == ["The bank approved the loan.", "We sat on the bank .", "no end of line"]
    assert list(corpus.passages()) == list(corpus.passages())
    assert corpus.name == "a.txt"
    assert str(path) in corpus.description


def test_max_tokens_stops_after_the_passage_that_reaches_it(tmp_path):
    path = write(tmp_path / "a.txt", "one two three\nfour five six\nseven\n")
    assert list(open_corpus(path, max_tokens=1).passages()) == ["one two three"]
    assert list(open_corpus(path, max_tokens=3).passages()) == ["one two three"]
    assert list(open_corpus(path, max_tokens=4).passages()) == ["one two three", "four five six"]
    assert len(list(open_corpus(path, max_tokens=1_000).passages())) == 3


def test_fingerprint_follows_content_and_settings_but_not_the_place(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    first = open_corpus(write(tmp_path / "a.csv", "text,other\nbank,river\n"))
    same = open_corpus(write(tmp_path / "elsewhere" / "b.csv", "text,other\nbank,river\n"))
    assert first.fingerprint == same.fingerprint
    assert len(first.fingerprint) == 64
    different = [
        open_corpus(tmp_path / "a.csv", text_column="other"),
        open_corpus(tmp_path / "a.csv", max_tokens=5),
        open_corpus(tmp_path / "a.csv", encoding="latin-1"),
        open_corpus(write(tmp_path / "c.csv", "text,other\nbank,stream\n")),
        open_corpus(write(tmp_path / "d.txt", "text,other\nbank,river\n")),
    ]
    fingerprints = {corpus.fingerprint for corpus in different} | {first.fingerprint}
    assert len(fingerprints) == len(different) + 1


def test_passages_are_streamed(tmp_path):
    path = write(tmp_path / "a.txt", "first\n" + "\n".join(["more words"] * 200_000) + "\nbad \0 line\n")
    assert next(open_corpus(path).passages()) == "first"


@pytest.mark.parametrize("content", ["", "\n\n   \n", "\ufeff"])
def test_a_corpus_without_text_says_so(tmp_path, content):
    with pytest.raises(CorpusError, match=r"a\.txt holds no text"):
        list(open_corpus(write(tmp_path / "a.txt", content)).passages())


def test_wrong_arguments_get_one_sentence(tmp_path):
    with pytest.raises(
        CorpusError, match=r"no file nowhere\.txt and no corpus of that name; the named ones are wikitext-2"
    ):
        open_corpus("nowhere.txt")
    with pytest.raises(CorpusError, match="is a folder; give one file"):
        open_corpus(tmp_path)
    with pytest.raises(CorpusError, match="max_tokens is 0"):
        open_corpus(write(tmp_path / "a.txt", "words"), max_tokens=0)
    with pytest.raises(CorpusError, match="wiki-sample is a named corpus: it takes no text column"):
        open_corpus("wiki-sample", text_column="text")
    with pytest.raises(CorpusError, match="plain text and has no column 'body'"):
        open_corpus(tmp_path / "a.txt", text_column="body")


def test_words_are_counted_at_white_space_and_chinese_ones_by_their_characters(tmp_path):
    assert count_words("one  two-three\tfour.\n") == 3
    assert count_words("") == count_words(" ") == 0
    assert count_words("苹" * 17) == 10
    assert count_words("苹果" * 17 + " and Apple") == 22
    path = tmp_path / "zh.txt"
    path.write_text("苹果很好吃，我爱吃。\n" * 10, encoding="utf-8")
    # 8 characters are 4 words, the punctuation between them one more
    assert len(list(open_corpus(path, max_tokens=12).passages())) == 3
