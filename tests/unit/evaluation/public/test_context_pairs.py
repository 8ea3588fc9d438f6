import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from ctxemb.corpora import CorpusError
from ctxemb.evaluation.public.catalogue import PUBLIC_TESTS, run_test
from ctxemb.evaluation.public.context_pairs import ACCURACY, ALL_PAIRS
from ctxemb.evaluation.public.subject import Subject
from ctxemb.evaluation.readings import BAG, CONTROL
from tests.unit.evaluation.public.conftest import cos


def write_wic(folder: Path, part: str, pairs: list[tuple[str, str, str]], end: str = "\n", pack: bool = False) -> None:
    """Pairs of words with T or F, each word in a sentence of its own."""
    (folder / part).mkdir(parents=True, exist_ok=True)
    lines = [f"bank\tN\t1-2\tthe {first}\tthe old {second}{end}" for first, second, _ in pairs]
    contents = {"data": "".join(lines), "gold": "".join(f"{answer}{end}" for *_, answer in pairs)}
    for kind, content in contents.items():
        path = folder / part / f"{part}.{kind}.txt"
        if pack:
            path.with_name(f"{path.name}.xz").write_bytes(lzma.compress(content.encode()))
        else:
            path.write_bytes(content.encode())


def write_mcl(folder: Path, part: str, pairs: list[tuple[str, str, str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    entries = [
        {
            "id": f"{part}.{i}",
            "sentence1": first,
            "start1": "0",
            "end1": len(first),
            "sentence2": second,
            "start2": 0,
            "end2": str(len(second)),
        }
        for i, (first, second, _) in enumerate(pairs)
    ]
    tags = [{"id": f"{part}.{i}", "tag": answer} for i, (*_, answer) in enumerate(pairs)][::-1]  # joined by id
    (folder / f"{part}.data").write_text(json.dumps(entries), encoding="utf-8")
    (folder / f"{part}.gold").write_text(json.dumps(tags), encoding="utf-8")


# cosines of 10, 40, 90 degrees: a threshold between 40 and 90 is right about all three
TRAIN = [("bank", "banks", "T"), ("plant", "plants", "T"), ("bank", "plant", "F")]


def score(subject: Subject, folder: Path, name: str = "wic", split: str | None = None):
    return run_test(PUBLIC_TESTS[name], subject, folder, split)


# WiC


def test_the_threshold_of_the_training_part_is_used_on_the_test_part_beside_it(angled, tmp_path):
    write_wic(tmp_path / "wic", "train", TRAIN)
    write_wic(tmp_path / "wic", "test", [("bank", "banks", "T"), ("plant", "plants", "F"), ("bank", "old", "F")])
    found = score(angled(), tmp_path)
    assert (found.name, found.split, found.reading) == ("wic", "test", CONTROL)
    (row,) = found.rows
    assert (row.measure, row.value, row.num_items, row.num_skipped) == (ACCURACY, pytest.approx(2 / 3), 3, 0)
    assert row.low <= row.value <= row.high
    assert row.baselines == {"always the same answer": pytest.approx(2 / 3)}
    assert found.details["threshold"][CONTROL] == pytest.approx((cos(40) + cos(90)) / 2, abs=1e-6)
    assert "on the train part (3 pairs)" in found.notes[0]


def test_the_development_part_is_scored_where_there_is_no_test_part(angled, tmp_path):
    write_wic(tmp_path, "train", TRAIN, end="\r\n")
    write_wic(tmp_path, "dev", [("bank", "banks", "T")], pack=True)
    found = score(angled(), tmp_path)  # the set's own folder, lines of Windows, packed
    assert (found.split, found.rows[0].value) == ("dev", 1.0)


def test_the_development_part_gives_the_threshold_where_there_is_no_training_part(angled, tmp_path):
    write_wic(tmp_path, "dev", TRAIN)
    write_wic(tmp_path, "test", [("plant", "plants", "T"), ("bank", "plant", "F")])
    found = score(angled(), tmp_path)
    assert (found.split, found.rows[0].value) == ("test", 1.0)
    assert "on the dev part (3 pairs)" in found.notes[0]


def test_a_part_alone_is_scored_by_cross_validation(angled, tmp_path):
    write_wic(tmp_path, "dev", TRAIN * 10)
    found = score(angled(), tmp_path)
    assert found.rows[0].value == 1.0
    assert "10-fold cross-validation" in found.notes[0]


def test_unknown_words_are_skipped_and_then_answered_no(angled, tmp_path):
    write_wic(tmp_path, "train", TRAIN)
    write_wic(tmp_path, "dev", [("bank", "banks", "T"), ("bank", "zyzzyva", "T"), ("zyzzyva", "bank", "F")])
    covered, everything = score(angled(), tmp_path).rows
    assert (covered.measure, covered.value, covered.num_items, covered.num_skipped) == (ACCURACY, 1.0, 1, 2)
    assert (everything.measure, everything.value) == (ALL_PAIRS, pytest.approx(2 / 3))
    assert (everything.num_items, everything.num_skipped) == (3, 0)


def test_an_encoder_that_knows_no_word_has_no_number(angled, tmp_path):
    write_wic(tmp_path, "train", TRAIN)
    write_wic(tmp_path, "dev", TRAIN)
    covered, everything = score(angled({"tree": 0, "house": 1}), tmp_path).rows
    assert (np.isnan(covered.value), covered.num_items, covered.num_skipped) == (True, 0, 3)
    assert (everything.measure, everything.value) == (ALL_PAIRS, pytest.approx(1 / 3))  # one of three is a no


def test_a_word_with_itself_is_a_tie_and_ties_are_answered_alike(angled, tmp_path):
    same = [("bank", "bank", "T"), ("plant", "plant", "F"), ("bank", "bank", "T"), ("river", "river", "T")]
    write_wic(tmp_path, "train", same)
    write_wic(tmp_path, "dev", same)
    assert score(angled(), tmp_path).rows[0].value == 0.75  # yes to all: the static control cannot tell


@pytest.mark.parametrize(
    ("data", "gold", "message"),
    [
        (None, "T\n", r"wic is not in .*; get it from https://pilehvar"),
        ("bank\tN\t0-0\tbank\tbank\n", None, r"there is no dev\.gold\.txt in .*; get it from https://pilehvar"),
        ("bank\tN\t0-0\tbank\tbank\n", "T\nF\n", r"dev\.gold\.txt: not T or F for each of 1 pairs"),
        ("", "", r"dev\.gold\.txt: not T or F for each of 0 pairs"),
    ],
)
def test_files_that_do_not_fit_are_one_sentence(angled, tmp_path, data, gold, message):
    (tmp_path / "dev").mkdir()
    for kind, content in (("data", data), ("gold", gold)):
        if content is not None:
            (tmp_path / "dev" / f"dev.{kind}.txt").write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        score(angled(), tmp_path)


def test_every_layer_and_the_bag_stand_beside_the_own_reading(calibrated, tmp_path):
    write_wic(tmp_path, "train", [("bank", "bank", "T"), ("plant", "plant", "F")] * 3)
    write_wic(tmp_path, "dev", [("bank", "bank", "T"), ("plant", "plant", "T")])
    found = score(Subject(calibrated), tmp_path)
    names = [row.reading for row in found.rows if row.measure == ACCURACY]
    assert names == ["here, layer 2", "here, layer 1", CONTROL, BAG]
    assert set(found.rows[0].baselines) == {"always the same answer", CONTROL, BAG}
    assert set(found.rows[-1].baselines) == {"always the same answer"}


# MCL-WiC


def test_the_authors_nested_folders_are_read(angled, tmp_path):
    home = tmp_path / "MCL-WiC"
    write_mcl(home / "training" / "multilingual", "training.en-en", TRAIN)
    write_mcl(home / "dev" / "multilingual", "dev.en-en", [("bank", "banks", "F")])
    write_mcl(home / "test" / "multilingual", "test.en-en", [("bank", "banks", "T"), ("bank", "plant", "F")])
    found = score(angled(), tmp_path, "mcl-wic")
    assert (found.split, found.rows[0].value, found.rows[0].num_items) == ("test", 1.0, 2)
    assert "on the training part" in found.notes[0]
    assert score(angled(), tmp_path, "mcl-wic", "dev").rows[0].value == 0


def test_the_checkpoints_language_decides(angled, tmp_path):
    write_mcl(tmp_path / "mcl-wic", "dev.zh-zh", [("打", "打", "T")] * 20)
    found = score(angled({"打": 0, "人": 90}, "zh"), tmp_path, "mcl-wic")
    assert (found.split, found.rows[0].value) == ("dev", 1.0)
    with pytest.raises(CorpusError, match="mcl-wic is not in"):
        score(angled(), tmp_path, "mcl-wic")


# SCWS


def scws_line(first: str, second: str, rating: float) -> str:
    passages = f"the old <b> {first} </b> .\tthe <b> {second} </b> of the river ."
    return f"1\t{first}\tn\t{second}\tn\t{passages}\t{rating}" + "\t1.0" * 10


def test_ratings_are_correlated_as_scipy_does(angled, tmp_path):
    pairs = [("bank", "banks", 9.0), ("bank", "plant", 3.0), ("plant", "plants", 3.0), ("bank", "old", 1.0)]
    lines = [scws_line(*pair) for pair in [*pairs, ("bank", "zyzzyva", 5.0)]]
    (tmp_path / "scws").mkdir()
    (tmp_path / "scws" / "ratings.txt.xz").write_bytes(lzma.compress("\r\n".join(lines).encode()))
    (row,) = score(angled(), tmp_path, "scws").rows
    expected = spearmanr([cos(10), cos(90), cos(40), cos(180)], [9, 3, 3, 1]).statistic
    assert (row.value, row.num_items, row.num_skipped) == (pytest.approx(expected), 4, 1)


def test_the_words_themselves_are_read_beside_a_reading_that_hides_them(calibrated, tmp_path):
    lines = [scws_line(*pair) for pair in [("bank", "plant", 1), ("bank", "bank", 9), ("plant", "water", 4)]]
    (tmp_path / "ratings.txt").write_text("\n".join(lines))
    subject = Subject(calibrated.with_reading(calibrated.reading_for("context", 2)))
    names = [row.reading for row in score(subject, tmp_path, "scws").rows]
    assert names == ["context, layer 2", "context, layer 1", CONTROL, "here, layer 2", "here, layer 1", BAG]
