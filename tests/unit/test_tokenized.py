import itertools
from dataclasses import replace

import numpy as np
import pytest

from ctxemb.corpora import CorpusError
from ctxemb.text import UNK, TextConfig, WordTokenizer, split_sentences
from ctxemb.tokenized import TokenizationReport, tokenize, train_tokenizer

TEXT = TextConfig(min_frequency=1, min_sentence_tokens=3, max_sentence_tokens=5)
PASSAGES = [
    "One two three. Four five six seven eight nine.",  # 4 tokens; 7, cut to 5
    "Ten. One two.",  # 2 and 3 tokens, the first is dropped
    "No!",
    "Nine eight seven rare six",
]


@pytest.fixture
def tokenizer() -> WordTokenizer:
    return WordTokenizer.train([p for p in PASSAGES for _ in range(2)][:-1], TextConfig(min_frequency=2))


def test_short_sentences_are_dropped_and_long_ones_cut_and_both_are_counted(write_corpus, tokenizer, tmp_path):
    corpus = tokenize([write_corpus(PASSAGES)], tokenizer, TEXT, tmp_path / "cache")
    assert corpus.report == TokenizationReport(
        num_passages=4,
        num_sentences=4,
        num_tokens=17,
        num_unknown=1,
        num_short_sentences=2,
        num_cut_sentences=1,
        num_cut_tokens=2,
    )
    assert corpus.lengths.tolist() == [4, 5, 3, 5]
    assert corpus.passages.tolist() == [0, 0, 1, 3]
    assert str(corpus.report).endswith("2 short sentences dropped, 1 long ones cut (2 tokens lost)")


def test_the_flat_store_holds_what_naive_lists_hold(write_corpus, tokenizer, tmp_path):
    corpus = tokenize([write_corpus(PASSAGES)], tokenizer, TEXT, tmp_path / "cache")
    naive = [
        (tokenizer.encode(sentence).ids[:5], number)
        for number, passage in enumerate(PASSAGES)
        for sentence in split_sentences(passage)
        if len(tokenizer.encode(sentence)) >= 3
    ]
    stored = [(corpus[s].tolist(), int(corpus.passages[s])) for s in range(len(corpus))]
    assert stored == naive
    assert (corpus.ids.dtype, corpus.report.num_unknown) == (np.int32, int((corpus.ids == UNK).sum()))


def test_several_corpora_count_their_passages_on(write_corpus, tokenizer, tmp_path):
    parts = [write_corpus(PASSAGES[:2], "one.txt"), write_corpus(PASSAGES[2:], "two.txt")]
    whole = tokenize([write_corpus(PASSAGES)], tokenizer, TEXT, tmp_path / "cache")
    joined = tokenize(parts, tokenizer, TEXT, tmp_path / "cache")
    np.testing.assert_array_equal(joined.ids, whole.ids)
    np.testing.assert_array_equal(joined.passages, whole.passages)


def test_the_second_time_files_are_only_opened(write_corpus, tokenizer, tmp_path):
    counts: list[int] = []
    corpora, cache = [write_corpus(PASSAGES)], tmp_path / "cache"
    first = tokenize(corpora, tokenizer, TEXT, cache, counts.append)
    second = tokenize([write_corpus(PASSAGES)], tokenizer, TEXT, cache, counts.append)
    assert counts == [4]
    np.testing.assert_array_equal(first.ids, second.ids)
    assert first.report == second.report


def test_the_vocabulary_is_built_once(write_corpus, tmp_path):
    counts: list[int] = []
    cache = tmp_path / "cache"
    first = train_tokenizer([write_corpus(PASSAGES)], TEXT, cache, counts.append)
    second = train_tokenizer([write_corpus(PASSAGES)], TEXT, cache, counts.append)
    assert counts == [4]
    assert first.to_json() == second.to_json()


def test_changed_content_and_changed_settings_are_tokenised_anew(write_corpus, tokenizer, tmp_path):
    counts: list[int] = []
    cache = tmp_path / "cache"
    tokenize([write_corpus(PASSAGES)], tokenizer, TEXT, cache, counts.append)
    changed = tokenize([write_corpus([*PASSAGES, "six seven eight"])], tokenizer, TEXT, cache, counts.append)
    longer = TEXT.model_copy(update={"max_sentence_tokens": 7})
    uncut = tokenize([write_corpus(PASSAGES)], tokenizer, longer, cache, counts.append)
    other = WordTokenizer.train(PASSAGES, TextConfig(min_frequency=1))
    known = tokenize([write_corpus(PASSAGES)], other, TEXT, cache, counts.append)
    assert counts == [4, 5, 4, 4]
    assert changed.report.num_tokens == 20
    assert uncut.report.num_cut_tokens == 0
    assert known.report.num_unknown == 0


def test_two_processes_may_build_the_same_cache(write_corpus, tokenizer, tmp_path):
    corpora, cache = [write_corpus(PASSAGES)], tmp_path / "cache"
    # the other process finishes while this one is at work
    late = tokenize(corpora, tokenizer, TEXT, cache, lambda _: tokenize(corpora, tokenizer, TEXT, cache))
    assert late.report.num_tokens == 17
    assert len(list(cache.iterdir())) == 1


def test_nothing_is_left_behind_by_a_failure(write_corpus, tokenizer, tmp_path):
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tokenize([write_corpus(PASSAGES)], tokenizer, TEXT, tmp_path / "cache", stop)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_corpus_in_which_nothing_survives_says_why(write_corpus, tokenizer, tmp_path):
    with pytest.raises(CorpusError, match=r"nothing of text\.txt is left: 2 sentences, none with at least 3 tokens"):
        tokenize([write_corpus(["No!", "One."])], tokenizer, TEXT, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_corpus_without_text_says_so(write_corpus, tmp_path):
    with pytest.raises(CorpusError, match=r"text\.txt holds no text"):
        train_tokenizer([write_corpus(["", "  "])], TEXT, tmp_path / "cache")


def test_the_split_holds_out_whole_passages_within_the_budget(write_corpus, tokenizer, tmp_path):
    passages = ["One two three four. Five six seven."] * 30 + ["Eight nine one two."] * 30
    corpus = tokenize([write_corpus(passages)], tokenizer, TEXT, tmp_path / "cache")
    for seed, share in itertools.product(range(5), [0.1, 0.3, 0.7]):
        training_S, validation_S = corpus.split(share, 10_000, seed)
        assert sorted([*training_S, *validation_S]) == list(range(len(corpus)))
        assert not set(corpus.passages[training_S]) & set(corpus.passages[validation_S])
        budget, longest_passage = share * corpus.report.num_tokens, 9
        assert budget - longest_passage < corpus.lengths[validation_S].sum() <= budget


def test_the_split_obeys_its_cap_its_seed_and_keeps_a_passage_on_each_side(write_corpus, tokenizer, tmp_path):
    corpus = tokenize([write_corpus(["One two three four."] * 40)], tokenizer, TEXT, tmp_path / "cache")
    assert len(corpus.split(0.5, 25, seed=0)[1]) == 5
    assert [len(part) for part in corpus.split(1e-6, 1, seed=0)] == [39, 1]
    assert [len(part) for part in corpus.split(0.9999, 10**9, seed=0)] == [1, 39]
    np.testing.assert_array_equal(corpus.split(0.5, 1000, seed=1)[1], corpus.split(0.5, 1000, seed=1)[1])
    assert corpus.split(0.5, 1000, seed=1)[1].tolist() != corpus.split(0.5, 1000, seed=2)[1].tolist()


def test_a_single_passage_cannot_be_split(write_corpus, tokenizer, tmp_path):
    corpus = tokenize([write_corpus(PASSAGES[:1])], tokenizer, TEXT, tmp_path / "cache")
    with pytest.raises(CorpusError, match="single passage"):
        corpus.split(0.5, 1000, seed=0)


def test_chinese_text_becomes_ids_and_traditional_passages_are_counted(write_corpus, tmp_path):
    text = TextConfig(language="zh", min_frequency=1, min_sentence_tokens=3)
    corpora = [write_corpus(["我吃苹果。你呢？他也吃２０个苹果；", "我們在銀行門口等了兩個鐘頭。"])]
    tokenizer = train_tokenizer(corpora, text, tmp_path / "cache")
    again = train_tokenizer(corpora, text, tmp_path / "cache")
    corpus = tokenize(corpora, again, text, tmp_path / "cache")
    assert [tokenizer.word(i) for i in corpus[0]] == ["我", "吃", "苹果"]
    assert [tokenizer.word(i) for i in corpus[1]] == ["他", "也", "吃", "个", "苹果"]
    assert (corpus.report.num_passages, corpus.report.num_short_sentences) == (2, 1)
    assert corpus.report.num_traditional_passages == 1
    assert "passages in traditional characters: 1; " in str(corpus.report)
    assert "traditional" not in str(replace(corpus.report, num_passages=100))
    assert corpus.report == tokenize(corpora, again, text, tmp_path / "cache").report
