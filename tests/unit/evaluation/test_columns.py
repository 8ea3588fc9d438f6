import json
import math
from pathlib import Path

import numpy as np
import pytest

from ctxemb.corpora import data_folder
from ctxemb.evaluation.columns import COLUMNS, WordGroups, open_columns
from ctxemb.evaluation.targets import encode_targets

# word, its index, sense: each use of 东西 is like one of the others
ZH_USES = [
    (["我", "买", "东西"], 2, ["thing"]),
    (["他", "买", "东西"], 2, ["thing"]),
    (["东西", "方向"], 0, ["place"]),
]


@pytest.fixture
def zh_data(tmp_path: Path) -> Path:
    """The two Chinese test sets in their authors' formats, with a few lines."""
    lines = []
    for context, position, sense in ZH_USES:
        hidden = [*context[:position], "<target>", *context[position + 1 :]]
        entry = {"context": hidden, "target_position": position, "target_word": context[position], "sense": sense}
        lines.append(repr(entry))
    (tmp_path / "zh-wsd").mkdir()
    (tmp_path / "zh-wsd/dataset.txt").write_text("\n".join(lines), encoding="utf-8")
    pairs = [
        {
            "id": f"d.{i}",
            "sentence1": "我买东西",
            "start1": 2,
            "end1": 4,
            "sentence2": "东西方向",
            "start2": 0,
            "end2": 2,
        }
        for i in range(20)
    ]
    (tmp_path / "mcl-wic").mkdir()
    (tmp_path / "mcl-wic/dev.zh-zh.data").write_text(json.dumps(pairs))
    tags = [{"id": f"d.{i}", "tag": "T" if i < 12 else "F"} for i in range(20)]
    (tmp_path / "mcl-wic/dev.zh-zh.gold").write_text(json.dumps(tags))
    return tmp_path


def test_each_use_is_centred_on_the_counted_and_known_uses_of_its_word():
    groups = WordGroups(np.array(["a", "b", "a", "a", "c"]), np.array([True, True, False, True, False]))
    vectors = np.array([[1.0, 0], [5, 5], [4, 2], [9, 9], [7, 7]])
    known = np.array([True, True, True, False, True])
    before = vectors.copy()
    # a: only the first counts and is known; c: none counts, so it stays
    assert groups.centre(vectors, known).tolist() == [[0, 0], [0, 0], [3, 2], [8, 9], [7, 7]]
    np.testing.assert_array_equal(vectors, before)


def test_chinese_columns_score_as_their_test_sets_say(zh_data):
    (senses, pairs), problems = open_columns("zh", zh_data)
    assert problems == []
    assert [target.word for target in senses.targets] == ["东西"] * 3
    assert senses.floor == pytest.approx(2 / 3)
    near = np.array([[1, 0], [1, 0.1], [0, 1]])
    assert senses.score(near, np.ones(3, bool)) == pytest.approx(2 / 3)  # a sense of one use is never recognised
    assert senses.score(near, np.array([True, False, True])) == 0
    assert pairs.floor == 0.6
    assert pairs.groups is None
    # the cosine of each pair: 1 where the answer is yes, 0 where it is no
    vectors = np.concatenate([[[1.0, 0]] * 20, [[1.0, 0]] * 12, [[0, 1.0]] * 8])
    assert pairs.score(vectors, np.ones(40, bool)) == 1


def test_too_few_known_pairs_have_no_score(zh_data):
    _, pairs = open_columns("zh", zh_data)[0]
    known = np.arange(40) % 20 < 2  # a fold holds two
    assert math.isnan(pairs.score(np.ones((40, 2)), known))
    assert not math.isnan(pairs.score(np.ones((40, 2)), np.arange(40) % 20 < 3))


@pytest.mark.parametrize(("language", "folders"), [("en", ["coarsewsd-20", "wic"]), ("zh", ["zh-wsd", "mcl-wic"])])
def test_what_is_not_here_is_named_with_its_home(tmp_path, language, folders):
    columns, problems = open_columns(language, tmp_path)
    assert columns == []
    for folder, problem in zip(folders, problems, strict=True):
        assert f"in {tmp_path / folder}" in problem
        assert "get it from https://" in problem


@pytest.mark.skipif(not (data_folder() / "wic").is_dir(), reason="the test sets are not in $CTXEMB_DATA")
@pytest.mark.parametrize("language", COLUMNS)
def test_the_published_sets_fit_their_columns(language, encoder):
    columns, problems = open_columns(language)
    assert problems == []
    for column in columns:
        found = encode_targets(encoder, column.targets[:3])
        assert found.vectors_NLD.shape[0] == 3
        vectors = np.random.default_rng(0).normal(size=(len(column.targets), 4))
        score = column.score(vectors, np.ones(len(column.targets), bool))
        assert abs(score - column.floor) < 0.15  # random vectors know nothing
        if column.groups:
            assert len(column.groups.words_N) == len(column.groups.is_counted_N) == len(column.targets)
