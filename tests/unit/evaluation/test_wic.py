import json
import lzma
from pathlib import Path

import numpy as np
import pytest

from ctxemb.analysis.thresholds import best_threshold
from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.targets import Target, encode_targets
from ctxemb.evaluation.wic import (
    load_mcl_wic,
    load_wic,
    pair_cosines,
    score_by_cross_validation,
    score_with_training,
)

DATA = "bank\tN\t1-4\tthe bank approved the loan\twe sat on the banks\nplant\tN\t0-2\tplant a tree\tin the plant\xa0\n"
ENTRY = {
    "id": "dev.zh-zh.0",
    "lemma": "打",
    "pos": "VERB",
    "sentence1": "他打篮球。",
    "sentence2": "打电话",
    "start1": "1",
    "end1": "2",
    "start2": "0",
    "end2": "1",
}


def write_wic(folder: Path, data: str = DATA, gold: str = "F\nT\n") -> Path:
    (folder / "dev").mkdir()
    (folder / "dev" / "dev.data.txt").write_text(data, encoding="utf-8")
    (folder / "dev" / "dev.gold.txt").write_text(gold, encoding="utf-8")
    return folder


def write_mcl(folder: Path, data: list, gold: list) -> Path:
    (folder / "dev.zh-zh.data.xz").write_bytes(lzma.compress(json.dumps(data).encode()))
    (folder / "dev.zh-zh.gold").write_text(json.dumps(gold), encoding="utf-8")
    return folder


# reading the files


def test_wic_is_read_in_the_authors_layout(tmp_path):
    pairs = load_wic("dev", write_wic(tmp_path))
    assert [target.word for target in pairs.targets] == ["bank", "plant", "banks", "plant"]
    assert pairs.firsts[0] == Target("the bank approved the loan", 4, 8)
    assert pairs.is_same_N.tolist() == [False, True]


@pytest.mark.parametrize(
    ("data", "gold", "message"),
    [
        (DATA + "bank\tN\t1-9\ta bank\ta bank\n", "F\nT\nT\n", r"dev\.data\.txt, line 3: not a word, its POS"),
        (DATA + "bank\tN\t1\ta bank\ta bank\n", "F\nT\nT\n", r"dev\.data\.txt, line 3"),
        (DATA + "bank\tN\n", "F\nT\nT\n", r"dev\.data\.txt, line 3"),
        (DATA, "F\n", r"dev\.gold\.txt: not T or F for each of 2 pairs, but 1 answers"),
        (DATA, "F\nX\n", r"dev\.gold\.txt: not T or F"),
        ("", "", r"dev\.gold\.txt: not T or F for each of 0 pairs"),
    ],
)
def test_wic_in_another_format_is_named(tmp_path, data, gold, message):
    with pytest.raises(CorpusError, match=message):
        load_wic("dev", write_wic(tmp_path, data, gold))


def test_mcl_wic_is_read_in_the_authors_layout_and_joined_by_id(tmp_path):
    entries = [ENTRY, ENTRY | {"id": "b", "start1": "2", "end1": "4"}]
    pairs = load_mcl_wic("dev.zh-zh", write_mcl(tmp_path, entries, [{"id": "b", "tag": "T"}, _gold("F")]))
    assert [target.word for target in pairs.targets] == ["打", "篮球", "打", "打"]
    assert pairs.is_same_N.tolist() == [False, True]


def _gold(tag: str) -> dict[str, str]:
    return {"id": ENTRY["id"], "tag": tag}


@pytest.mark.parametrize(
    ("data", "gold"),
    [
        ([ENTRY], []),
        ([ENTRY], [_gold("X")]),
        ([ENTRY | {"end1": "9"}], [_gold("T")]),
        ([ENTRY | {"start1": "one"}], [_gold("T")]),
        ([{"id": ENTRY["id"]}], [_gold("T")]),
        (["text"], [_gold("T")]),
    ],
)
def test_mcl_wic_in_another_format_is_named(tmp_path, data, gold):
    with pytest.raises(CorpusError, match=r"dev\.zh-zh\.gold"):
        load_mcl_wic("dev.zh-zh", write_mcl(tmp_path, data, gold))


def test_missing_files_say_where_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match=rf"no dev\.data\.txt in {tmp_path}/wic/dev; get it from https://pilehvar"):
        load_wic("dev")
    with pytest.raises(CorpusError, match=rf"no dev\.zh-zh\.data in {tmp_path}/mcl-wic; get it from https://github"):
        load_mcl_wic("dev.zh-zh")


@pytest.mark.skipif(not (data_folder() / "wic").is_dir(), reason="WiC is not in $CTXEMB_DATA")
def test_the_published_wic_can_be_read():
    train, dev = load_wic("train"), load_wic("dev")
    assert (len(train.firsts), len(dev.firsts)) == (5_428, 638)
    assert (train.is_same_N.mean(), dev.is_same_N.mean()) == (0.5, 0.5)
    assert (dev.firsts[0].word, dev.seconds[0].word) == ("board", "boards")


@pytest.mark.skipif(not (data_folder() / "mcl-wic").is_dir(), reason="MCL-WiC is not in $CTXEMB_DATA")
def test_the_published_mcl_wic_can_be_read():
    pairs = {part: load_mcl_wic(part) for part in ("training.en-en", "dev.en-en", "dev.zh-zh")}
    assert [len(part.firsts) for part in pairs.values()] == [8_000, 1_000, 1_000]
    assert all(part.is_same_N.mean() == 0.5 for part in pairs.values())
    chinese = pairs["dev.zh-zh"]
    assert all(a.word == b.word for a, b in zip(chinese.firsts, chinese.seconds, strict=True))


# scores


def test_cosines_are_those_of_pairs_and_unknown_where_a_target_is():
    vectors = np.array([[1.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 0.0], [3.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 0.0]])
    known = np.array([True] * 6 + [False, True])
    np.testing.assert_allclose(pair_cosines(vectors, known), [1, np.sqrt(0.5), np.nan, np.nan], atol=1e-6)


def test_a_static_word_is_exactly_itself():
    rng = np.random.default_rng(0)
    firsts = rng.normal(size=(50, 32)).astype(np.float32)
    seconds = firsts * rng.uniform(0.5, 2, size=(50, 1)).astype(np.float32)
    assert set(pair_cosines(np.concatenate([firsts, seconds]), np.ones(100, dtype=bool))) == {1.0}


def test_a_threshold_of_the_training_part_is_used_and_unknown_pairs_are_answered_no():
    train, train_gold = np.array([0.9, 0.7, 0.3, np.nan]), np.array([True, True, False, True])
    cosines, gold = np.array([0.6, 0.4, np.nan, np.nan]), np.array([True, True, True, False])
    score = score_with_training(train, train_gold, cosines, gold)
    assert score.thresholds == (0.5,)
    assert (score.accuracy_percent, score.coverage, score.num_pairs) == (50, 0.5, 4)
    assert (score.low_percent, score.high_percent) == (0, 100)


def test_cross_validation_agrees_with_a_loop_that_never_looks_at_the_fold():
    rng = np.random.default_rng(0)
    gold = rng.random(60) < 0.5
    cosines = rng.normal(size=60) + gold
    score = score_by_cross_validation(cosines, gold, num_folds=5, seed=3)
    order, num_right = np.random.default_rng(3).permutation(60), 0
    for fold in range(5):
        inside = order[12 * fold : 12 * fold + 12]
        outside = np.array([pair for pair in range(60) if pair not in inside])
        threshold = best_threshold(cosines[outside], gold[outside])
        assert score.thresholds[fold] == threshold
        num_right += ((cosines[inside] >= threshold) == gold[inside]).sum()
    assert score.accuracy_percent == pytest.approx(100 * num_right / 60)
    assert score.low_percent < score.accuracy_percent < score.high_percent
    assert score_by_cross_validation(cosines, gold, num_folds=5, seed=3) == score


def test_noise_stays_at_chance_though_a_threshold_is_chosen():
    rng = np.random.default_rng(0)
    gold = np.arange(2_000) % 2 == 0
    assert score_by_cross_validation(rng.normal(size=2_000), gold).accuracy_percent == pytest.approx(50, abs=3)
    assert score_by_cross_validation(rng.normal(size=2_000) + 6 * gold, gold).accuracy_percent > 99


@pytest.mark.parametrize("num_folds", [1, 5])
def test_folds_that_cannot_be_made(num_folds):
    with pytest.raises(ValueError, match=f"{num_folds} folds of 4 pairs"):
        score_by_cross_validation(np.zeros(4), np.zeros(4, dtype=bool), num_folds)


def test_from_sentences_to_a_score(encoder, tmp_path):
    pairs = load_wic("dev", write_wic(tmp_path))
    found = encode_targets(encoder, pairs.targets)
    cosines = pair_cosines(found.vectors_NLD[:, -1], found.known_N)
    assert np.isnan(cosines).tolist() == [True, False]  # the tiny vocabulary has no "banks"
    assert score_with_training(cosines, pairs.is_same_N, cosines, pairs.is_same_N).accuracy_percent == 100
