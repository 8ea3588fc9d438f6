from pathlib import Path

import numpy as np
import pytest

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.targets import Target
from ctxemb.evaluation.zh_wsd import load_zh_wsd, score_senses

ENTRY = {
    "context": ["他", "<target>", "篮球", "。"],
    "part-of-speech": ["r", "v", "n", "w"],
    "target_word": "打",
    "target_position": 1,
    "target_word_pos": "v",
    "sense": {"锻练", "体育"},
}


def write(folder: Path, *lines: object) -> Path:
    (folder / "dataset.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def test_the_authors_layout_is_read(tmp_path):
    phone = ENTRY | {"context": ["<target>", "电话"], "target_position": 0, "sense": {"交流"}}
    uses = load_zh_wsd(write(tmp_path, ENTRY, phone))
    assert uses.targets == [Target("他打篮球。", 1, 2), Target("打电话", 0, 1)]
    assert uses.words_N.tolist() == ["打", "打"]
    assert uses.senses_N.tolist() == ["体育|锻练", "交流"]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        "__import__('os').getcwd()",
        ENTRY | {"target_position": 0},
        ENTRY | {"target_position": 4},
        {key: value for key, value in ENTRY.items() if key != "sense"},
        ENTRY | {"target_word": 3},
    ],
)
def test_a_line_in_another_format_is_named_and_never_run(tmp_path, line):
    with pytest.raises(CorpusError, match=r"dataset\.txt, line 2: not a dict of context, target and sense"):
        load_zh_wsd(write(tmp_path, ENTRY, line))


def test_a_missing_or_empty_file_says_where_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match=rf"no dataset\.txt in {tmp_path}/zh-wsd; get it from https://github"):
        load_zh_wsd()
    with pytest.raises(CorpusError, match=r"dataset\.txt is empty"):
        load_zh_wsd(write(tmp_path))


@pytest.mark.skipif(not (data_folder() / "zh-wsd").is_dir(), reason="zh-wsd is not in $CTXEMB_DATA")
def test_the_published_file_can_be_read():
    uses = load_zh_wsd()
    assert (len(uses.targets), len(set(uses.words_N))) == (1_344, 19)
    assert [target.word for target in uses.targets] == uses.words_N.tolist()
    score = score_senses(np.eye(1_344), uses.words_N, uses.senses_N)
    assert score.most_frequent_micro == pytest.approx(746 / 1_344)


def test_a_worked_example():
    # word x: a a b, the b lies beside the first a; word y: two uses of one sense, far apart
    vectors = np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [1.0, 0.2], [-1.0, 0.0]])
    words, senses = np.array(["x", "x", "y", "x", "y"]), np.array(["b", "a", "c", "a", "c"])
    score = score_senses(vectors, words, senses)
    assert score.words == {"x": 0.0, "y": 1.0}  # both a's are nearest to the b
    assert (score.micro, score.macro) == (2 / 5, 0.5)
    assert (score.most_frequent_micro, score.most_frequent_macro) == (4 / 5, pytest.approx((2 / 3 + 1) / 2))
    assert score.coverage == 1


def test_unknown_uses_are_wrong_and_nobodys_neighbour():
    vectors = np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [1.0, 0.2], [-1.0, 0.0]])
    words, senses = np.array(["x", "x", "y", "x", "y"]), np.array(["b", "a", "c", "a", "c"])
    known = np.array([False, True, False, True, True])
    score = score_senses(vectors, words, senses, known)
    assert score.words == {"x": pytest.approx(2 / 3), "y": 0.0}
    assert score.coverage == pytest.approx(3 / 5)


def test_it_agrees_with_a_loop_over_uses():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(60, 4))
    words, senses = rng.choice(["x", "y", "z"], size=60), rng.choice(["a", "b"], size=60)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    right = []
    for use in range(60):
        others = [other for other in range(60) if other != use and words[other] == words[use]]
        right.append(senses[max(others, key=lambda other: float(unit[use] @ unit[other]))] == senses[use])
    assert score_senses(vectors, words, senses).micro == pytest.approx(np.mean(right))
