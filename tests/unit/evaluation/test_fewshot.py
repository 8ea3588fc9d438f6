import io
import json
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.preprocessing import normalize

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation import fewshot
from ctxemb.evaluation.fewshot import FEW_SHOT_TASKS, few_shot_f1, load_ag_news, mean_vectors

TREC = {"qc/train.txt": "DESC:manner Why a caf\xe9 ?\nHUM:ind Who ?\n", "qc/test.txt": "NUM:date When ?\n"}
TNEWS = {
    "./tnews/train_few_all.json": json.dumps({"label_desc": "news_car", "sentence": "新车", "keywords": "车"}),
    "./tnews/test_public.json": json.dumps({"label_desc": "news_edu", "sentence": "高考"}) + "\n",
}
THUCNEWS = {"class.txt": "finance\nrealty", "dev.txt": "股市\t0\n房价\t1\n", "test.txt": "楼市\t1\n"}


def write_zip(folder: Path, name: str, members: dict[str, str]) -> Path:
    with zipfile.ZipFile(folder / name, "w") as archive:
        for member, text in members.items():
            archive.writestr(member, text.encode("latin-1"))
    return folder


def write_tar(folder: Path, name: str, members: dict[str, str]) -> Path:
    with tarfile.open(folder / name, "w:xz") as archive:
        for member, text in members.items():
            info = tarfile.TarInfo(member)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return folder


# reading the files


@pytest.mark.parametrize(
    ("name", "write", "file", "members", "pool", "test"),
    [
        ("trec", write_zip, "qc.zip", TREC, [("Why a café ?", "DESC"), ("Who ?", "HUM")], [("When ?", "NUM")]),
        ("tnews", write_tar, "fewclue-tnews-eprstmt.tar.xz", TNEWS, [("新车", "news_car")], [("高考", "news_edu")]),
        (
            "thucnews",
            write_tar,
            "thucnews-dev-test.tar.xz",
            THUCNEWS,
            [("股市", "finance"), ("房价", "realty")],
            [("楼市", "realty")],
        ),
    ],
)
def test_the_authors_layouts_are_read(tmp_path, name, write, file, members, pool, test):
    task = FEW_SHOT_TASKS[name](write(tmp_path, file, members))
    assert list(zip(task.pool.texts, task.pool.labels_N.tolist(), strict=True)) == pool
    assert list(zip(task.test.texts, task.test.labels_N.tolist(), strict=True)) == test


def write_ag_news(folder: Path, *rows: str) -> Path:
    (folder / "ag_news_test.csv").write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return folder


def test_ag_news_is_cut_into_two_parts_and_its_backslashes_are_spaces(tmp_path):
    rows = [f'"{number % 4 + 1}","Title {number}","A ""quoted""\\text, too"' for number in range(10)]
    task = load_ag_news(write_ag_news(tmp_path, *rows))
    assert (len(task.pool.texts), len(task.test.texts)) == (5, 5)
    expected = {f'Title {number} A "quoted" text, too': str(number % 4 + 1) for number in range(10)}
    found = task.pool.texts + task.test.texts
    assert dict(zip(found, [*task.pool.labels_N, *task.test.labels_N], strict=True)) == expected
    assert load_ag_news(tmp_path).test.texts == task.test.texts


def test_more_test_texts_than_needed_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(fewshot, "MAX_TEST_TEXTS", 3)
    members = THUCNEWS | {"test.txt": "".join(f"楼市{number}\t{number % 2}\n" for number in range(10))}
    test = FEW_SHOT_TASKS["thucnews"](write_tar(tmp_path, "thucnews-dev-test.tar.xz", members)).test
    assert len(set(test.texts)) == 3
    assert [int(text[-1]) % 2 == (label == "realty") for text, label in zip(test.texts, test.labels_N, strict=True)]


def test_lines_in_another_format_are_named(tmp_path):
    write_zip(tmp_path, "qc.zip", TREC | {"qc/train.txt": "HUM:ind Who ?\nHow many ?\n"})
    with pytest.raises(CorpusError, match=r"qc\.zip: qc/train\.txt, line 2: not a text with its class"):
        fewshot.load_trec(tmp_path)
    write_tar(tmp_path, "fewclue-tnews-eprstmt.tar.xz", TNEWS | {"./tnews/test_public.json": "[1]\n"})
    with pytest.raises(CorpusError, match=r"tnews/test_public\.json, line 1: not a text"):
        fewshot.load_tnews(tmp_path)
    for line in ("楼市\t2", "楼市", "楼市\tfinance"):
        write_tar(tmp_path, "thucnews-dev-test.tar.xz", THUCNEWS | {"dev.txt": f"股市\t0\n{line}\n"})
        with pytest.raises(CorpusError, match=r"dev\.txt, line 2: not a text"):
            fewshot.load_thucnews(tmp_path)
    with pytest.raises(CorpusError, match=r"ag_news_test\.csv, row 2: not a class, a title and a description"):
        load_ag_news(write_ag_news(tmp_path, '"1","a","b"', '"1","a"'))


def test_an_empty_part_is_named(tmp_path):
    write_tar(tmp_path, "thucnews-dev-test.tar.xz", THUCNEWS | {"dev.txt": ""})
    with pytest.raises(CorpusError, match=r"dev\.txt is empty"):
        fewshot.load_thucnews(tmp_path)


@pytest.mark.parametrize("name", FEW_SHOT_TASKS)
def test_a_missing_file_says_where_to_get_it(name, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match=rf"in {tmp_path}/(fewshot-en|zh-fewshot); get it from https://"):
        FEW_SHOT_TASKS[name](None)


@pytest.mark.parametrize(
    ("name", "num_pool", "num_test", "num_classes"),
    [
        ("trec", 5_452, 500, 6),
        ("ag-news", 5_600, 2_000, 4),
        ("tnews", 1_185, 2_000, 15),
        ("thucnews", 10_000, 2_000, 10),
    ],
)
def test_the_published_files_can_be_read(name, num_pool, num_test, num_classes):
    if not (data_folder() / ("fewshot-en" if name in ("trec", "ag-news") else "zh-fewshot")).is_dir():
        pytest.skip(f"{name} is not in $CTXEMB_DATA")
    task = FEW_SHOT_TASKS[name](None)
    assert (len(task.pool.texts), len(task.test.texts)) == (num_pool, num_test)
    assert len(set(task.pool.labels_N)) == len(set(task.test.labels_N)) == num_classes
    assert all(task.pool.texts)


# features and scores


def test_a_text_is_the_mean_of_its_known_words(encoder):
    texts = ["the old bank", "the zyzzyva bank", "zyzzyva", ""]
    means = mean_vectors(encoder, texts)
    first, second = encoder.encode(texts[:2])
    np.testing.assert_allclose(means[0], first.layers.mean(axis=1), atol=1e-6)
    np.testing.assert_allclose(means[1], second.layers[:, [0, 2]].mean(axis=1), atol=1e-6)
    assert not means[2:].any()
    with pytest.raises(ValueError, match="no texts to encode"):
        mean_vectors(encoder, [])


def make_features(seed: int, num_texts: int, distance: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.choice(["a", "b", "c"], size=num_texts, p=[0.6, 0.3, 0.1])
    centres = {label: distance * row for label, row in zip("abc", np.eye(3, 8), strict=True)}
    return np.array([centres[label] for label in labels]) + rng.normal(size=(num_texts, 8)), labels


def test_the_score_agrees_with_scikit_learn_step_by_step():
    (pool, pool_labels), (test, test_labels) = make_features(0, 150, 2), make_features(1, 80, 2)
    expected = []
    for draw in range(3):
        rows = np.random.default_rng([5, draw]).choice(150, size=40, replace=False)
        model = LogisticRegression(max_iter=2_000).fit(normalize(pool[rows]), pool_labels[rows])
        expected.append(f1_score(test_labels, model.predict(normalize(test)), average="macro"))
    score = few_shot_f1(pool, pool_labels, test, test_labels, num_examples=40, num_draws=3, seed=5)
    assert score.f1_of_draws == pytest.approx(expected)
    assert score.mean == pytest.approx(np.mean(expected))
    assert score.standard_deviation == pytest.approx(np.std(expected, ddof=1))
    assert few_shot_f1(pool * 7, pool_labels, test, test_labels, 40, 3, 5).mean == pytest.approx(score.mean)


def test_classes_that_lie_apart_are_learnt_and_noise_is_not():
    apart = few_shot_f1(*make_features(0, 400, 6), *make_features(1, 300, 6))
    noise = few_shot_f1(*make_features(0, 400, 0), *make_features(1, 300, 0))
    assert (len(apart.f1_of_draws), len(noise.f1_of_draws)) == (10, 10)
    assert apart.mean > 0.95
    assert noise.mean < 0.4


def test_a_class_that_no_draw_has_costs_its_share():
    pool, pool_labels = make_features(0, 100, 8)
    test, test_labels = make_features(1, 100, 8)
    kept = pool_labels != "c"
    score = few_shot_f1(pool[kept], pool_labels[kept], test, test_labels, num_examples=50, num_draws=1)
    assert 0.5 < score.mean <= 2 / 3
    assert np.isnan(score.standard_deviation)


@pytest.mark.parametrize(
    ("num_examples", "num_draws", "message"), [(21, 1, "21 examples cannot be drawn from 20"), (5, 0, "0 draws")]
)
def test_draws_that_cannot_be_made(num_examples, num_draws, message):
    features, labels = make_features(0, 20, 1)
    with pytest.raises(ValueError, match=message):
        few_shot_f1(features, labels, features, labels, num_examples, num_draws)
