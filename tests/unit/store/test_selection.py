from collections import Counter

import numpy as np
import pytest

from ctxemb.store import SelectionConfig, StoreError
from ctxemb.store.selection import Selection, content_ids
from ctxemb.text import TextConfig, WordTokenizer


def kept_places(selection: Selection, ids_N: np.ndarray, cuts: list[int]) -> list[int]:
    parts = [selection.keep(part) for part in np.split(ids_N, cuts)]
    return np.flatnonzero(np.concatenate(parts)).tolist()


def test_all_occurrences_of_listed_words_without_a_limit(encoder, tiny_corpus):
    config = SelectionConfig(words=("Bank", "plant", "zyzzyva"), max_per_word=None)
    selection = Selection(config, encoder.tokenizer, tiny_corpus, "en")
    wanted = [encoder.tokenizer.word_id(word) for word in ("bank", "plant")]
    expected = np.flatnonzero(np.isin(tiny_corpus.ids, wanted)).tolist()
    assert kept_places(selection, np.asarray(tiny_corpus.ids), [100]) == expected
    assert selection.num_kept == len(expected)


def test_a_limit_keeps_exactly_so_many_of_each_word_however_the_text_is_cut(encoder, tiny_corpus):
    ids_N = np.asarray(tiny_corpus.ids)

    def kept(seed: int, cuts: list[int]) -> list[int]:
        config = SelectionConfig(words=("bank", "plant", "river"), max_per_word=7, seed=seed)
        return kept_places(Selection(config, encoder.tokenizer, tiny_corpus, "en"), ids_N, cuts)

    whole = kept(0, [])
    assert Counter(ids_N[whole].tolist()) == {encoder.tokenizer.word_id(w): 7 for w in ("bank", "plant", "river")}
    assert kept(0, [1, 50, 51, 1_000]) == whole
    assert kept(1, []) != whole
    # a sample of the whole text, not its beginning
    assert max(whole) > len(ids_N) * 0.7


def test_a_word_below_its_limit_is_kept_whole(encoder, tiny_corpus):
    count = int((np.asarray(tiny_corpus.ids) == encoder.tokenizer.word_id("river")).sum())
    for limit, expected in ((count - 1, count - 1), (count, count), (count + 1, count)):
        config = SelectionConfig(words=("river",), max_per_word=limit)
        selection = Selection(config, encoder.tokenizer, tiny_corpus, "en")
        assert len(kept_places(selection, np.asarray(tiny_corpus.ids), [])) == expected == selection.num_kept


def test_content_words_are_known_words_of_letters_without_function_words():
    english = WordTokenizer.from_words(
        ["the", "Bank", "of", "42", ".", "river", "x", "n't"], TextConfig(lowercase=False)
    )
    assert [english.word(i) for i in content_ids(english, "en")] == ["Bank", "river"]
    chinese = WordTokenizer.from_words(["的", "苹果", "因为", "我们", "3", "河边"], TextConfig(language="zh"))
    assert [chinese.word(i) for i in content_ids(chinese, "zh")] == ["苹果", "河边"]


@pytest.mark.parametrize("words", [("zyzzyva", "qwertz"), ()])
def test_a_list_without_a_known_word_is_refused(encoder, tiny_corpus, words):
    with pytest.raises(StoreError, match=f"none of the {len(words)} words .* is in the checkpoint's vocabulary"):
        Selection(SelectionConfig(words=words), encoder.tokenizer, tiny_corpus, "en")
