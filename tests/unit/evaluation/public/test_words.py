import io
import tarfile

import numpy as np
import pytest
from scipy.stats import spearmanr

from ctxemb.corpora import CorpusError
from ctxemb.evaluation.public.catalogue import PUBLIC_TESTS, run_test
from ctxemb.evaluation.public.subject import USES_PER_WORD, Subject
from ctxemb.evaluation.public.words import SAME_WORDS
from ctxemb.evaluation.readings import CONTROL
from ctxemb.examples import load_examples
from tests.unit.evaluation.public.conftest import cos


def score(subject, folder, name):
    return run_test(PUBLIC_TESTS[name], subject, folder)


@pytest.mark.parametrize(
    ("name", "file", "head", "end"),
    [
        ("simlex-999", "simlex999.txt", "# Word 1\tWord 2\tHuman (mean)\n", "\n"),
        ("wordsim-353", "wordsim353.tsv", "# The set\n", "\r\n"),
    ],
)
def test_rated_pairs_are_correlated_with_the_angles(angled, tmp_path, name, file, head, end):
    rated = [("bank", "banks", 9.0), ("Bank", "plant", 3.5), ("plant", "plants", 3.5), ("bank", "old", 1.0)]
    lines = [f"{a}\t{b}\t{rating}{end}" for a, b, rating in [*rated, ("bank", "zyzzyva", 5.0)]]
    (tmp_path / file).write_bytes((head + "".join(lines)).encode())
    found = score(angled(), tmp_path, name)
    (row,) = found.rows
    expected = spearmanr([cos(10), cos(90), cos(40), cos(180)], [9, 3.5, 3.5, 1]).statistic
    assert (row.reading, row.value) == (CONTROL, pytest.approx(expected))
    assert (row.num_items, row.num_skipped, found.split) == (4, 1, "all")


def test_chinese_pairs_have_names_of_their_own(angled, tmp_path):
    (tmp_path / "zh-word-evals").mkdir()
    (tmp_path / "zh-word-evals" / "COS960_all.txt").write_text("打 人 3.5 4 3\n人 山 1 1 1\n打 山 2 2 2\n")
    subject = angled({"打": 0, "人": 20, "山": 90}, "zh")
    assert score(subject, tmp_path, "COS960").rows[0].value == pytest.approx(0.5)  # cosines 3 2 1, ratings 3 1 2


def test_a_contextual_encoder_has_the_mean_of_uses_beside_layer_zero(calibrated, tmp_path):
    lines = ["bank\tplant\t1\n", "bank\triver\t5\n", "plant\triver\t2\n", "bank\tfarmer\t3\n"]
    (tmp_path / "simlex999.txt").write_text("".join(lines))
    found = score(Subject(calibrated), tmp_path, "simlex-999")
    assert [row.reading for row in found.rows] == ["mean of uses (here, layer 2)", SAME_WORDS, CONTROL]
    means, same, everything = found.rows
    assert means.baselines == {SAME_WORDS: same.value, CONTROL: everything.value}
    assert means.num_items == same.num_items == 3 < everything.num_items == 4  # our sentences have no farmer
    assert "polysemy_en" in found.notes[-1]


def test_the_mean_of_uses_is_the_mean_of_the_words_vectors_in_the_text(calibrated):
    _, means = Subject(calibrated).word_tables([])
    encodings = calibrated.encode(load_examples("en").sentence.tolist())
    uses = [encoding.vectors[i] for encoding in encodings for i in encoding.positions("bank")]
    assert 1 < len(uses) <= USES_PER_WORD
    np.testing.assert_allclose(means.vectors_VD[means.words.index("bank")], np.mean(uses, axis=0), atol=1e-5)


# analogies


GOOGLE = ": family\nbank banks plant plants\n: other\nbank plant zyzzyva old\nbank banks plant river\n"


def test_analogies_of_a_worked_example(angled, tmp_path):
    (tmp_path / "questions-words.txt").write_text(GOOGLE)
    # banks - bank + plant stands at about 95 degrees; of the other words plants (100) is next
    found = score(
        angled({"bank": 0, "banks": 10, "plant": 90, "plants": 100, "river": 60, "old": 180}), tmp_path, "google"
    )
    rows = {row.measure: row for row in found.rows}
    accuracy = rows["accuracy (3CosAdd)"]
    assert (accuracy.value, accuracy.num_items, accuracy.num_skipped) == (0.5, 2, 1)
    assert rows["mean accuracy of the sections (3CosAdd)"].value == 0.5
    assert found.details[f"accuracy of each section, {CONTROL}"] == {"family": 1.0, "other": 0.0}


def test_bats_is_read_from_its_archive(angled, tmp_path):
    with tarfile.open(tmp_path / "BATS_3.0.tar.xz", "w:xz") as archive:
        content = b"bank\tbanks\nplant\tplants/zyzzyva\n"
        info = tarfile.TarInfo("BATS_3.0/1_Inflectional/I01 [plurals].txt")
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    found = score(angled({"bank": 0, "banks": 10, "plant": 90, "plants": 100}), tmp_path, "bats")
    assert (found.rows[0].value, found.rows[0].num_items) == (1.0, 2)


def test_an_encoder_that_knows_no_question_has_no_number(angled, tmp_path):
    (tmp_path / "questions-words.txt").write_text(GOOGLE)
    row = score(angled({"tree": 0, "house": 1, "lake": 2, "hill": 3}), tmp_path, "google").rows[0]
    assert (np.isnan(row.value), row.num_items, row.num_skipped) == (True, 0, 3)


@pytest.mark.parametrize(("name", "file"), [("simlex-999", "simlex999.txt"), ("google", "questions-words.txt")])
def test_an_empty_file_is_named(angled, tmp_path, name, file):
    (tmp_path / file).write_text("\n")
    with pytest.raises(CorpusError, match=rf"{file} holds no (pairs|questions); get it from https://"):
        score(angled(), tmp_path, name)
