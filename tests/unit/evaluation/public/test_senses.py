import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from ctxemb.analysis.similarity import unit_vectors
from ctxemb.corpora import CorpusError
from ctxemb.evaluation.public.catalogue import PUBLIC_TESTS, run_test
from ctxemb.evaluation.public.senses import SenseTask, centroids, most_frequent_sense, recognise
from ctxemb.evaluation.public.subject import Read
from ctxemb.evaluation.readings import CONTROL

SENSES = {"0": "bank_money", "1": "bank_river"}


def write_word(folder: Path, part: str, uses: list[tuple[str, str]], word: str = "bank", end: str = "\n") -> None:
    """Uses as (form of the target, sense): each form is a word of its own, so a static encoder can tell them apart."""
    place = folder / word
    place.mkdir(parents=True, exist_ok=True)
    (place / "classes_map.txt").write_text(json.dumps(SENSES))
    (place / f"{part}.data.txt").write_bytes("".join(f"2\tthe old {form}{end}" for form, _ in uses).encode())
    (place / f"{part}.gold.txt").write_bytes("".join(f"{sense}{end}" for _, sense in uses).encode())


def score(subject, folder, split=None, name="coarsewsd-20"):
    return run_test(PUBLIC_TESTS[name], subject, folder, split)


def values(found) -> dict[str, float]:
    return {row.measure: row.value for row in found.rows if row.reading == found.reading}


# one sense is said with `bank`, the other with `plant`
TRAIN = [("bank", "0"), ("bank", "0"), ("bank", "0"), ("plant", "1")]


def test_the_whole_training_part_answers_the_test_part_beside_it(angled, tmp_path):
    write_word(tmp_path / "coarsewsd-20", "train", TRAIN)
    # banks is near bank, plants near plant; the last one goes astray
    write_word(tmp_path / "coarsewsd-20", "test", [("banks", "0"), ("banks", "0"), ("plants", "1"), ("banks", "1")])
    found = score(angled(), tmp_path)
    assert (found.split, found.reading) == ("test", CONTROL)
    assert "4 sentences of the training part are the index" in found.notes[0]
    assert values(found) == {
        "1-NN, macro recall": pytest.approx((1 + 1 / 2) / 2),
        "1-NN, accuracy": pytest.approx(3 / 4),
        "centroid, macro recall": pytest.approx(3 / 4),
        "centroid, accuracy": pytest.approx(3 / 4),
    }
    first = found.rows[0]
    assert (first.measure, first.num_items, first.num_skipped) == ("1-NN, macro recall", 4, 0)
    assert first.baselines == {"most frequent sense": 0.5}
    assert found.rows[1].baselines == {"most frequent sense": 0.5}
    assert found.details["1-NN, recall of each sense"] == {"bank_money": 1.0, "bank_river": 0.5}
    assert found.details["1-NN, macro recall of each word"] == {"bank": 0.75}
    assert found.details["1-NN, accuracy of each word"] == {"bank": 0.75}


def test_without_a_test_part_one_is_carved_from_the_training_part(angled, tmp_path):
    write_word(tmp_path, "train", [("banks", "0"), *TRAIN, ("plants", "1")])  # lines 0 and 5 are asked about
    found = score(angled(), tmp_path)
    assert found.split == "dev (carved from train)"
    assert (found.rows[0].value, found.rows[0].num_items) == (1.0, 2)
    write_word(tmp_path, "test", [("plants", "0")])
    assert score(angled(), tmp_path).split == "test"
    assert score(angled(), tmp_path, "dev").as_json() == found.as_json()


def test_lines_of_windows_and_packed_files_are_read(angled, tmp_path):
    write_word(tmp_path, "train", TRAIN, end="\r\n")
    write_word(tmp_path, "test", [("banks", "0")], end="\r\n")
    path = tmp_path / "bank" / "test.data.txt"
    path.with_name("test.data.txt.xz").write_bytes(lzma.compress(path.read_bytes()))
    path.unlink()
    found = score(angled(), tmp_path)
    assert (found.split, found.rows[0].value) == ("test", 1.0)


def test_unknown_forms_are_skipped_and_counted(angled, tmp_path):
    write_word(tmp_path, "train", [*TRAIN, ("zyzzyva", "1")])
    write_word(tmp_path, "test", [("banks", "0"), ("zyzzyva", "1")])
    row = score(angled(), tmp_path).rows[0]
    assert (row.value, row.num_items, row.num_skipped) == (1.0, 1, 1)


def test_macro_recall_is_the_mean_over_words_and_hidden_rare_senses_show(angled, tmp_path):
    write_word(tmp_path, "train", TRAIN)
    write_word(tmp_path, "test", [("banks", "0")] * 8 + [("banks", "1")] * 2)  # the rare sense is always missed
    write_word(tmp_path, "train", TRAIN, word="plant")
    write_word(tmp_path, "test", [("plants", "1")] * 2, word="plant")
    found = values(score(angled(), tmp_path))
    assert found["1-NN, macro recall"] == pytest.approx((0.5 + 1) / 2)
    assert found["1-NN, accuracy"] == pytest.approx(10 / 12)


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("test.gold.txt", None, r"there is no test\.gold\.txt in .*/bank; get it from https://github"),
        ("test.gold.txt", "0\n", r"bank: 2 sentences but 1 senses in test\.gold\.txt"),
        ("test.gold.txt", "0\n9\n", r"classes_map\.txt does not name the senses of test\.gold\.txt"),
        ("test.data.txt", "", r"test\.data\.txt, line 1: not a token index, a tab and tokens"),
    ],
)
def test_a_test_part_that_does_not_fit_is_one_sentence(angled, tmp_path, file, content, message):
    write_word(tmp_path, "train", TRAIN)
    write_word(tmp_path, "test", [("banks", "0"), ("plants", "1")])
    if content is None:
        (tmp_path / "bank" / file).unlink()
    else:
        (tmp_path / "bank" / file).write_text(content)
    with pytest.raises(CorpusError, match=message):
        score(angled(), tmp_path)


# parity


@pytest.fixture
def random_task() -> tuple[SenseTask, Read]:
    rng = np.random.default_rng(0)
    words = np.array(["bank", "plant"])[rng.integers(2, size=300)]
    senses = np.array([f"{word}_{sense}" for word, sense in zip(words, rng.integers(3, size=300), strict=True)])
    task = SenseTask([], words, senses, rng.random(300) < 0.3)
    return task, Read("here", rng.normal(size=(300, 6)).astype(np.float32), np.ones(300, dtype=bool))


def test_the_nearest_neighbour_is_sklearns(random_task):
    task, read = random_task
    predicted, answered = recognise(task, read, "1-NN")
    assert answered.all()
    for word in ("bank", "plant"):
        index, asked = ((task.words_N == word) & part for part in (~task.is_asked_N, task.is_asked_N))
        neighbours = KNeighborsClassifier(n_neighbors=1, metric="cosine", algorithm="brute")
        neighbours.fit(read.vectors_ND[index], task.senses_N[index])
        expected = neighbours.predict(read.vectors_ND[asked])
        assert predicted[task.words_N[task.is_asked_N] == word].tolist() == expected.tolist()


def test_the_centroids_are_sklearns(random_task):
    task, read = random_task
    index = ~task.is_asked_N
    unit = unit_vectors(read.vectors_ND[index])
    found, names = centroids(read.vectors_ND[index], task.senses_N[index])
    expected = NearestCentroid().fit(unit, task.senses_N[index])
    assert names.tolist() == expected.classes_.tolist()
    np.testing.assert_allclose(found, expected.centroids_, atol=1e-6)


def test_equally_near_neighbours_give_the_first(random_task):
    """As at layer 0, where all uses of a form are one vector."""
    task, read = random_task
    rng = np.random.default_rng(1)
    same = Read("static", np.tile(rng.normal(size=(1, 37)), (300, 1)).astype(np.float32), read.known_N)
    predicted, _ = recognise(task, same, "1-NN")
    for word in ("bank", "plant"):
        (first, *_) = task.senses_N[(task.words_N == word) & ~task.is_asked_N]
        assert set(predicted[task.words_N[task.is_asked_N] == word]) == {first}


def test_the_most_frequent_sense_is_counted_in_the_index():
    senses = np.array(["a", "a", "b", "b", "b", "a"])
    task = SenseTask([], np.array(["w"] * 6), senses, np.array([False, False, False, True, True, True]))
    assert most_frequent_sense(task) == (0.5, pytest.approx(1 / 3))  # always a: b, b, a


# zh-wsd


def write_zh(folder: Path, uses: list[tuple[str, str]]) -> None:
    entries = [
        {"context": ["他", "<target>"], "target_position": 1, "target_word": word, "sense": {sense}}
        for word, sense in uses
    ]
    (folder / "dataset.txt").write_bytes("\r\n".join(map(repr, entries)).encode())


def test_each_chinese_use_is_recognised_by_another(angled, tmp_path):
    write_zh(tmp_path, [("打", "a"), ("打", "a"), ("打", "b"), ("人", "c"), ("人", "c"), ("山", "d"), ("山", "d")])
    found = score(angled({"打": 0, "人": 90, "他": 45}, "zh"), tmp_path, name="zh-wsd")
    # the first of equals: 打 finds a, the first one finds the second; 山 is unknown
    assert values(found) == {
        "1-NN, accuracy": pytest.approx(4 / 5),
        "1-NN, mean accuracy of the words": pytest.approx((2 / 3 + 1) / 2),
    }
    assert (found.rows[0].num_items, found.rows[0].num_skipped, found.split) == (5, 2, "all")
    assert found.rows[0].baselines == {"most frequent sense": pytest.approx(6 / 7)}
    assert found.details["1-NN, accuracy of each word"] == {"人": 1.0, "打": pytest.approx(2 / 3)}
