import itertools

import numpy as np
import pytest

from ctxemb.lexicon import Entry, LexiconError, clean
from ctxemb.lexicon.ids import Csr, components, key_ids, member_pairs, pair_keys

ENTRIES = [
    Entry("synonym", ("car", "auto", "automobile"), "s1"),
    Entry("synonym", ("auto", "vehicle"), "s2"),
    Entry("antonym", ("fast", "slow")),
]
IDS = {"car": 40, "auto": 10, "automobile": 20, "vehicle": 30, "fast": 5, "slow": 70}


@pytest.fixture(scope="module")
def lexicon():
    return clean(ENTRIES, IDS)[0]


def test_a_worked_example(lexicon):
    assert lexicon.synonyms_of(10).tolist() == [20, 30, 40]
    assert lexicon.synonyms_of(40).tolist() == [10, 20]
    assert lexicon.antonyms_of(70).tolist() == [5]
    assert lexicon.antonyms_of(40).tolist() == []
    assert [lexicon.groups[g].tolist() for g in range(2)] == [[40, 10, 20], [10, 30]]
    assert lexicon.word_groups[10].tolist() == [0, 1]
    assert lexicon.word_groups[30].tolist() == [1]
    assert lexicon.word_ids.tolist() == [5, 10, 20, 30, 40, 70]
    assert lexicon.words[20] == "automobile"


def test_a_word_the_lexicon_does_not_know_has_nothing(lexicon):
    for word_id in (0, 3, 11, 71, 10_000_000, -1):
        assert not len(lexicon.synonyms_of(word_id))
        assert not len(lexicon.antonyms_of(word_id))
        assert not len(lexicon.word_groups[word_id])


def test_questions_about_many_pairs_agree_with_the_lists(lexicon):
    ids = np.arange(80)
    are_synonyms = lexicon.are_synonyms(ids[:, None], ids)
    are_antonyms = lexicon.are_antonyms(ids[:, None].astype(np.int32), ids.astype(np.int32))
    for a, b in itertools.product(ids.tolist(), repeat=2):
        assert are_synonyms[a, b] == (b in lexicon.synonyms_of(a))
        assert are_antonyms[a, b] == (b in lexicon.antonyms_of(a))
    assert (are_synonyms == are_synonyms.T).all()
    assert not are_synonyms.diagonal().any()


def test_a_corpus_without_any_word_of_it_is_refused(lexicon):
    assert lexicon.counts_in(np.array([4, 10, 10, 99], np.int32), "text.txt").tolist() == [0, 2, 0, 0, 0, 0]
    with pytest.raises(LexiconError, match=r"None of the 6 words of the lexicon \(fast, auto, automobile .*text.txt"):
        lexicon.counts_in(np.array([4, 11, 99], np.int32), "text.txt")


def test_keys_hold_the_largest_ids_in_any_order():
    a, b = np.array([4, 2**24, 7], np.int32), np.array([2**24, 4, 7], np.int32)
    assert np.array_equal(pair_keys(a, b), pair_keys(b, a))
    assert [ids.tolist() for ids in key_ids(pair_keys(a, b))] == [[4, 4, 7], [2**24, 2**24, 7]]


def test_pairs_of_members_agree_with_combinations():
    sizes = [3, 0, 1, 2, 5, 3]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rows = [range(a, b) for a, b in itertools.pairwise(offsets.tolist())]
    expected = {two for row in rows for two in itertools.combinations(row, 2)}
    first, second = member_pairs(offsets)
    assert len(first) == len(expected)
    assert set(zip(first.tolist(), second.tolist(), strict=True)) == expected
    first, _ = member_pairs(offsets, np.array([False] * 4 + [True] * 2))
    assert len(first) == 10 + 3


def test_rows_keep_the_order_of_their_values():
    csr = Csr.of(np.array([2, 0, 2, 0]), np.array([9, 8, 7, 6]), 4)
    assert [csr[row].tolist() for row in range(5)] == [[8, 6], [], [9, 7], [], []]
    assert csr.sizes.tolist() == [2, 0, 2, 0]


def test_components_are_numbered_as_they_appear_and_cycles_end():
    edges = np.array([[4, 3], [3, 4], [1, 1], [2, 4], [0, 5], [5, 0]])
    assert components(edges, 7).tolist() == [0, 1, 2, 2, 2, 0, 3]
    assert components(np.zeros((0, 2), np.int64), 2).tolist() == [0, 1]
