import itertools

import numpy as np
import pytest

from ctxemb.lexicon import Entry, LexiconError, clean, held_out_groups


def lexicon_of(*groups: str, antonyms: str = ""):
    entries = [Entry("synonym", tuple(words.split()), "s") for words in groups]
    entries += [Entry("antonym", tuple(words.split("/"))) for words in antonyms.split()]
    return clean(entries)[0]


def words(lexicon) -> set[str]:
    return {lexicon.words[i] for i in lexicon.groups.values.tolist()}


def test_webs_of_shared_words_stay_together():
    # a-b-c-d hang together through b and c; the two others stand alone.
    lexicon = lexicon_of("a b", "b c", "c d", "e f", "g h i", antonyms="a/e e/g d/x")
    split = held_out_groups(lexicon, 0.4, seed=0)
    assert split.is_word_disjoint
    assert words(split.held_out) == set("efghi")
    assert words(split.train) == set("abcd")
    assert len(split.train.synonym_keys) == 3
    assert len(split.held_out.synonym_keys) == 1 + 3
    assert (len(split.train.antonym_keys), len(split.held_out.antonym_keys)) == (1, 2)


def test_no_word_and_no_pair_is_in_both_and_none_is_lost():
    rng = np.random.default_rng(0)
    names = [f"w{i}" for i in range(2_000)]
    lexicon = lexicon_of(*(" ".join(rng.choice(names, 3, replace=False)) for _ in range(400)), antonyms="w1/w2 w3/w4")
    parts = [held_out_groups(lexicon, 0.2, seed=seed) for seed in (1, 1, 2)]
    for split in parts:
        train, held_out = split.train, split.held_out
        assert split.is_word_disjoint
        assert not set(train.words) & set(held_out.groups.values.tolist())
        keys = np.concatenate([train.synonym_keys, held_out.synonym_keys])
        assert np.array_equal(np.sort(keys), lexicon.synonym_keys)
        assert len(train.groups) + len(held_out.groups) == len(lexicon.groups)
        assert len(held_out.groups) == pytest.approx(0.2 * len(lexicon.groups), abs=1)
    assert np.array_equal(parts[0].held_out.synonym_keys, parts[1].held_out.synonym_keys)
    assert not np.array_equal(parts[0].held_out.synonym_keys, parts[2].held_out.synonym_keys)


def test_one_web_is_divided_by_its_pairs():
    ring = [f"w{i}" for i in range(20)]
    lexicon = lexicon_of(*(f"{a} {b}" for a, b in itertools.pairwise([*ring, "w0"])))
    split = held_out_groups(lexicon, 0.25, seed=0)
    assert not split.is_word_disjoint
    assert len(split.held_out.synonym_keys) == 5
    assert len(split.train.synonym_keys) == 15
    assert not set(split.train.synonym_keys.tolist()) & set(split.held_out.synonym_keys.tolist())


def test_a_training_group_that_repeats_a_held_out_pair_is_lost():
    lexicon = lexicon_of("a b", "a b")
    split = held_out_groups(lexicon, 0.5, seed=0)
    assert not split.is_word_disjoint
    assert (len(split.train.groups), len(split.held_out.groups), split.num_lost_groups) == (0, 1, 1)


def test_a_contradiction_does_not_come_back():
    lexicon = lexicon_of("a b c", "d e f", antonyms="a/b d/e")
    split = held_out_groups(lexicon, 0.5, seed=0)
    assert len(split.train.synonym_keys) == len(split.held_out.synonym_keys) == 2


def test_bad_input_is_explained():
    lexicon = lexicon_of("a b", "c d")
    for share in (0, 1, 1.5, float("nan")):
        with pytest.raises(LexiconError, match="has to lie between 0 and 1"):
            held_out_groups(lexicon, share, seed=0)
    with pytest.raises(LexiconError, match="has 1 synonym groups; two are needed"):
        held_out_groups(lexicon_of("a b"), 0.5, seed=0)
