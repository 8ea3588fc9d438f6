from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.words import (
    SIMILARITY_SETS,
    RatedPairs,
    load_similarity,
    score_similarity,
    synonym_hit_rate,
)

WORDS = ["big", "large", "tree", "plant", "Paris"]
ANGLES = np.radians([0, 10, 100, 130, 5])
VECTORS = np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1)


# synonyms


def test_hits_of_a_worked_example():
    groups = [["big", "large", "huge"], ["tree", "plant"], ["alone"], ["gone", "lost"]]
    near = synonym_hit_rate(VECTORS, WORDS, groups, k=1)
    assert near.hit_rate == 0.5  # tree and plant; Paris lies between big and large
    assert (near.num_words, near.coverage, near.k) == (4, 4 / 7, 1)
    assert synonym_hit_rate(VECTORS, WORDS, groups, k=2).hit_rate == 1


def test_one_of_several_synonyms_is_enough_and_groups_may_overlap():
    groups = [["big", "plant"], ["Big", "PARIS", "big"]]
    score = synonym_hit_rate(VECTORS, WORDS, groups, k=1)
    assert (score.num_words, score.hit_rate) == (3, 1 / 3)  # big finds Paris; Paris is as near to large, a tie: a miss


def test_hits_agree_with_gensim():
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(80)]
    vectors = rng.normal(size=(80, 10)).astype(np.float32)
    groups = [rng.choice(words, size=3, replace=False).tolist() for _ in range(20)]
    keyed = KeyedVectors(10)
    keyed.add_vectors(words, vectors)
    synonyms: dict[str, set[str]] = {}
    for group in groups:
        for a, b in combinations(group, 2):
            synonyms.setdefault(a, set()).add(b)
            synonyms.setdefault(b, set()).add(a)
    hits = [bool(s & {near for near, _ in keyed.most_similar(w, topn=10)}) for w, s in synonyms.items()]
    score = synonym_hit_rate(vectors, words, groups)
    assert (score.num_words, score.hit_rate) == (len(hits), pytest.approx(np.mean(hits)))


def test_synonyms_outside_the_vocabulary_give_no_rate():
    score = synonym_hit_rate(VECTORS, WORDS, [["big", "huge"]])
    assert np.isnan(score.hit_rate)
    assert (score.num_words, score.coverage) == (0, 0)


# rated similarity


@pytest.mark.parametrize(
    ("name", "file", "content"),
    [
        ("simlex999", "simlex999.txt", "# Word 1\tWord 2\tHuman (mean)\nold\tnew\t1.58\n\n"),
        (
            "simlex999",
            "SimLex-999.txt",
            "word1\tword2\tPOS\tSimLex999\tconc(w1)\nold\tnew\tA\t1.58\t2.72\n",
        ),
        ("wordsim353", "combined.csv", "Word 1,Word 2,Human (mean)\r\nold,new,1.58\r\n"),
        ("wordsim353", "combined.tab", "Word 1\tWord 2\tHuman (mean)\nold\tnew\t1.58\n"),
        ("wordsim240", "240.txt", "old\tnew\t1.58\t\r\n"),
        ("cos960", "COS960_all.txt", "old new 1.58 1 2 1 2 \n"),
    ],
)
def test_the_authors_layouts_are_read(tmp_path, name, file, content):
    (tmp_path / file).write_bytes(content.encode())
    rated = load_similarity(name, tmp_path)
    assert (rated.pairs, rated.ratings_P.tolist()) == ([("old", "new")], [1.58])


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match="no similarity set 'simlex'; take one of simlex999, wordsim353"):
        load_similarity("simlex")
    with pytest.raises(CorpusError, match=rf"no 240\.txt in {tmp_path}/zh-word-evals; get it from https://"):
        load_similarity("wordsim240")
    for line in ("old new", "old new old"):
        (tmp_path / "240.txt").write_text(f"a\tb\t1\n{line}\n", encoding="utf-8")
        with pytest.raises(CorpusError, match=r"240\.txt, line 2: not two words and a rating"):
            load_similarity("wordsim240", tmp_path)


@pytest.mark.parametrize(
    ("name", "num_pairs"),
    [("simlex999", 999), ("wordsim353", 353), ("wordsim240", 240), ("wordsim297", 297), ("cos960", 960)],
)
def test_the_published_files_can_be_read(name, num_pairs):
    if not (data_folder() / SIMILARITY_SETS[name].folder).is_dir():
        pytest.skip(f"{name} is not in $CTXEMB_DATA")
    rated = load_similarity(name)
    assert (len(rated.pairs), len(rated.ratings_P)) == (num_pairs, num_pairs)
    assert 0 <= rated.ratings_P.min() < rated.ratings_P.max() <= 10


def test_a_correlation_of_a_worked_example():
    rated = RatedPairs(
        [("big", "large"), ("big", "PARIS"), ("big", "tree"), ("tree", "plant"), ("big", "huge")],
        np.array([9.0, 8.0, 1.0, 2.0, 9.0]),
    )
    score = score_similarity(rated, WORDS, VECTORS)
    # cosines of 10, 5, 100 and 30 degrees: ranks 3 4 1 2 against 4 3 1 2
    assert score.spearman == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert (score.num_pairs, score.coverage) == (4, 0.8)


def test_a_correlation_agrees_with_gensim(tmp_path: Path):
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(30)]
    vectors = rng.normal(size=(30, 5)).astype(np.float32)
    pairs = [(f"w{a}", f"w{b}") for a, b in rng.integers(34, size=(50, 2))]
    ratings = rng.integers(10, size=50).astype(float)
    keyed = KeyedVectors(5)
    keyed.add_vectors(words, vectors)
    lines = [f"{a}\t{b}\t{rating}\n" for (a, b), rating in zip(pairs, ratings, strict=True)]
    (tmp_path / "pairs.tsv").write_text("".join(lines), encoding="utf-8")
    _, (expected, _), oov_percent = keyed.evaluate_word_pairs(str(tmp_path / "pairs.tsv"))
    score = score_similarity(RatedPairs(pairs, ratings), words, vectors)
    assert score.spearman == pytest.approx(expected, abs=1e-6)
    assert score.coverage == pytest.approx(1 - oov_percent / 100)


@pytest.mark.parametrize("pairs", [[], [("big", "tree")], [("big", "huge")], [("big", "tree")] * 3])
def test_a_correlation_that_cannot_be_said_is_nan(pairs):
    score = score_similarity(RatedPairs(pairs, np.arange(float(len(pairs)))), WORDS, VECTORS)
    assert np.isnan(score.spearman)


def test_a_word_without_a_direction_is_no_part_of_it():
    vectors = VECTORS.copy()
    vectors[2] = 0
    rated = RatedPairs([("big", "large"), ("big", "tree"), ("big", "plant")], np.array([3.0, 9.0, 1.0]))
    assert score_similarity(rated, WORDS, vectors).num_pairs == 2
