import itertools
import time
from collections import Counter

import numpy as np
import pytest

from ctxemb.lexicon import Entry, Lexicon, LexiconConfig, LexiconError, clean, read_pairs
from ctxemb.lexicon.ids import key_ids
from ctxemb.text import NUM_SPECIAL, TextConfig, WordTokenizer


def group(*words: str, sense: str = "s") -> Entry:
    return Entry("synonym", words, sense)


def pair(kind, a: str, b: str) -> Entry:
    return Entry(kind, (a, b))


def pairs_in_words(lexicon, keys) -> set[frozenset[str]]:
    return {
        frozenset((lexicon.words[a], lexicon.words[b]))
        for a, b in zip(*map(np.ndarray.tolist, key_ids(keys)), strict=True)
    }


def dropped(reasons) -> dict[str, int]:
    return {reason.reason: reason.count for reason in reasons}


def adds_up(report) -> bool:
    return (
        report.num_groups + sum(d.count for d in report.dropped_groups) == report.num_groups_listed
        and report.num_synonyms + sum(d.count for d in report.dropped_synonyms) == report.num_synonyms_listed
        and report.num_antonyms + sum(d.count for d in report.dropped_antonyms) == report.num_antonyms_listed
    )


def test_a_worked_example_with_every_reason():
    entries = [
        group("car", "auto", "automobile"),
        group("auto", "zyzzyva"),
        group("lead", "tin"),
        group("lead", "guide"),
        group("lead", "clue"),
        group("hot", "cold"),
        group("big", "big", "large"),
        group("alone"),
        group(),
        group("car", "auto", sense=""),
        group("a", "b", "c", "d", "e"),
        pair("antonym", "hot", "cold"),
        pair("antonym", "big", "small"),
        pair("antonym", "small", "big"),
        pair("antonym", "big", "zyzzyva"),
        pair("antonym", "big", "big"),
        pair("alias", "tv", "telly"),
    ]
    known = {word for entry in entries for word in entry.words} - {"zyzzyva"}
    lexicon, report = clean(Lexicon.of("mine", entries), known, LexiconConfig(max_group_words=4))
    assert pairs_in_words(lexicon, lexicon.synonym_keys) == {
        frozenset(words.split()) for words in ("car auto", "car automobile", "auto automobile", "big large", "tv telly")
    }
    assert pairs_in_words(lexicon, lexicon.antonym_keys) == {frozenset(["big", "small"])}
    assert dropped(report.dropped_groups) == {"without a word": 1, "of one word": 1, "without a pair left": 6}
    assert dropped(report.dropped_synonyms) == {
        "with a word outside the vocabulary": 1,
        "with a word repeated in its group": 2,  # big / big, and big / large again
        "in groups of more than 4 words": 10,
        "both synonyms and antonyms": 1,
        "with a word of more than 2 senses": 3,
        "listed more than once": 1,
    }
    assert dropped(report.dropped_antonyms) == {
        "with a word outside the vocabulary": 1,
        "of a word with itself": 1,
        "listed more than once": 1,
        "both synonyms and antonyms": 1,
    }
    assert adds_up(report)
    assert (report.num_words, report.num_groups, report.num_alias_groups) == (8, 4, 1)
    text = str(report)
    assert text.startswith("mine: 8 words in 4 groups, 1 of them aliases\n")
    assert "  synonym pairs: 5 of 23 kept\n" in text
    assert "dropped: 1 both synonyms and antonyms (cold / hot)" in text
    assert "dropped: 1 with a word outside the vocabulary (zyzzyva)" in text
    assert "dropped: 10 in groups of more than 4 words (a, b and 3 more)" in text


def test_it_agrees_with_naive_loops():
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in range(60)]
    entries = [group(*rng.choice(words, rng.integers(2, 6))) for _ in range(60)]
    entries += [pair("antonym", *rng.choice(words, 2)) for _ in range(300)]
    known = set(words[:50])
    lexicon, report = clean(entries, known, LexiconConfig(max_senses=4))

    senses = Counter(word for entry in entries if entry.kind == "synonym" for word in set(entry.words))
    raw = {kind: set() for kind in ("synonym", "antonym")}
    for kind, listed, *_ in entries:
        raw[kind] |= {
            frozenset(two) for two in itertools.combinations(listed, 2) if set(two) <= known and two[0] != two[1]
        }
    synonyms = {two for two in raw["synonym"] - raw["antonym"] if all(senses[word] <= 4 for word in two)}
    assert pairs_in_words(lexicon, lexicon.synonym_keys) == synonyms
    assert pairs_in_words(lexicon, lexicon.antonym_keys) == raw["antonym"] - raw["synonym"]
    assert raw["synonym"] & raw["antonym"]
    assert adds_up(report)


def test_a_contradiction_takes_out_the_pair_and_leaves_the_group():
    lexicon, _ = clean([group("a", "b", "c"), pair("antonym", "b", "a"), pair("antonym", "a", "x")])
    assert pairs_in_words(lexicon, lexicon.synonym_keys) == {frozenset("ac"), frozenset("bc")}
    assert pairs_in_words(lexicon, lexicon.antonym_keys) == {frozenset("ax")}
    assert [len(lexicon.groups[g]) for g in range(len(lexicon.groups))] == [3]


def test_senses_count_groups_that_lose_their_other_words_but_no_listed_pairs():
    entries = [group("bank", "shore"), group("bank"), group("bank", "unknown"), group("safe", "sure", sense="")]
    assert clean(entries, {"bank", "shore", "safe", "sure"}, LexiconConfig(max_senses=3))[1].num_synonyms == 2
    assert clean(entries, {"bank", "shore", "safe", "sure"}, LexiconConfig(max_senses=2))[1].num_synonyms == 1


def test_rare_senses_of_a_word_can_be_left_out():
    entries = [Entry("synonym", ("a", "b"), "s1", (1, 1)), Entry("synonym", ("a", "c"), "s2", (2, 1))]
    assert clean(entries)[1].num_synonyms == 2
    lexicon, report = clean(entries, config=LexiconConfig(max_sense_number=1))
    assert pairs_in_words(lexicon, lexicon.synonym_keys) == {frozenset("ab")}
    assert "1 with a word of more than 2 senses, or past sense 1 (a / c)" in str(report)


def test_antonyms_of_many_senses_stay_unless_asked_otherwise():
    entries = [group("hot", "warm"), group("hot", "spicy"), group("hot", "stolen"), pair("antonym", "hot", "cold")]
    entries += [pair("antonym", "up", "down")]
    assert clean(entries)[1].num_antonyms == 2
    report = clean(entries, config=LexiconConfig(max_antonym_senses=2))[1]
    assert report.num_antonyms == 1
    assert adds_up(report)


def test_chains_and_cycles_of_aliases_become_one_group_even_through_unknown_words():
    chain = [("a", "b"), ("b", "UNKNOWN"), ("UNKNOWN", "d"), ("d", "a"), ("x", "y"), ("x", "x")]
    lexicon, report = clean([pair("alias", *two) for two in chain], {"a", "b", "d", "x", "y"})
    groups = [{lexicon.words[i] for i in lexicon.groups[g].tolist()} for g in range(len(lexicon.groups))]
    assert groups == [{"a", "b", "d"}, {"x", "y"}]
    assert lexicon.is_alias_G.all()
    assert report.num_alias_entries == 6
    assert adds_up(report)


def test_an_alias_chain_as_long_as_the_file_is_dropped_as_a_group():
    chain = [pair("alias", f"w{i}", f"w{i + 1}") for i in range(20_000)]
    lexicon, report = clean([*chain, pair("alias", "tv", "telly")])
    assert pairs_in_words(lexicon, lexicon.synonym_keys) == {frozenset(["tv", "telly"])}
    assert dropped(report.dropped_synonyms) == {"in groups of more than 100 words": 20_001 * 20_000 // 2}


def test_a_vocabulary_is_a_function_a_mapping_a_set_or_nothing():
    entries = [group("Bank", "shore", "bank"), group("ice cream", "gelato")]
    tokenizer = WordTokenizer.train(["the bank the shore gelato"], TextConfig(min_frequency=1))
    lexicon, report = clean(entries, tokenizer.word_id)
    ids = [tokenizer.word_id(word) for word in ("bank", "shore")]
    assert lexicon.groups.values.tolist() == ids
    assert lexicon.are_synonyms(np.array(ids[0]), np.array(ids[1]))
    assert dropped(report.dropped_synonyms) == {
        "with a word outside the vocabulary": 1,
        "with a word repeated in its group": 2,
    }
    assert clean(entries, {"Bank": 7, "shore": 9})[0].groups.values.tolist() == [7, 9]
    assert clean(entries, {"shore", "Bank"})[0].groups.values.tolist() == [NUM_SPECIAL, NUM_SPECIAL + 1]
    assert clean(entries)[0].groups.values.tolist() == [4, 5, 6, 7, 8]
    with pytest.raises(LexiconError, match="the id 99999999 of 'Bank' is too large"):
        clean(entries, {"Bank": 99_999_999})


def test_a_lexicon_of_which_nothing_is_left_is_refused_with_the_reasons():
    with pytest.raises(
        LexiconError, match=r"(?s)mine has no pair .* 1 with a word outside the vocabulary \(car, auto\)"
    ):
        clean([group("car", "auto")], {"bank"}, name="mine")
    with pytest.raises(LexiconError, match="the lexicon has no pair that can be used"):
        clean([])
    with pytest.raises(LexiconError, match="antonyms come in pairs"):
        clean([Entry("antonym", ("a", "b", "c"))])


def test_too_many_pairs_are_refused():
    endless = (group(f"a{i}", f"b{i}") for i in itertools.count())
    with pytest.raises(LexiconError, match="lists more than 1,000 pairs; raise max_pairs"):
        clean(endless, config=LexiconConfig(max_pairs=1_000))
    large = [group(*(f"w{i}" for i in range(90)))]
    with pytest.raises(LexiconError, match="groups hold 4,005 pairs, more than 1,000"):
        clean(large, config=LexiconConfig(max_pairs=1_000))


def test_a_large_file_is_streamed_into_arrays(tmp_path):
    rng = np.random.default_rng(0)
    num_pairs = 1_000_000
    numbers = rng.integers(240_000, size=(num_pairs, 2)).tolist()
    kinds = ["synonym", "synonym", "antonym", "alias"]
    path = tmp_path / "large.csv"
    with path.open("w", encoding="utf-8") as stream:
        stream.write("kind,a,b\n")
        stream.writelines(f"{kinds[i % 4]},w{a},w{b}\n" for i, (a, b) in enumerate(numbers))
    start = time.perf_counter()
    vocabulary = {f"w{i}": i + 4 for i in range(200_000)}
    lexicon, report = clean(read_pairs(path), vocabulary, name="large")
    assert time.perf_counter() - start < 60
    assert adds_up(report)
    assert report.num_synonyms_listed > num_pairs // 2
    assert 0.9 < report.num_antonyms / (num_pairs / 4 * (200 / 240) ** 2) < 1.1
    a, b = numbers[0]
    expected = max(a, b) < 200_000 and a != b
    assert bool(lexicon.are_synonyms(np.array(a + 4), np.array(b + 4))) == expected
