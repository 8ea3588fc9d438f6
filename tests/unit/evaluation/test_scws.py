import pytest

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.scws import load_scws
from ctxemb.evaluation.targets import Target

LINE = "1\tnut\tn\tbank\tn\tthe <b> nut </b> ( 1 )\t<b>bank</b> of it\t1.1\t0.0\t3.0\n"


def test_the_marks_become_targets(tmp_path):
    (tmp_path / "ratings.txt").write_text(LINE)
    found = load_scws(tmp_path)
    assert found.targets == [Target("the  nut  ( 1 )", 5, 8), Target("bank of it", 0, 4)]
    assert [target.word for target in found.targets] == ["nut", "bank"]
    assert found.ratings_N.tolist() == [1.1]


@pytest.mark.parametrize(
    "line",
    [
        LINE.replace("<b> nut </b>", "nut"),
        LINE.replace("<b> nut </b>", "<b> nut </b> <b> nut </b>"),
        LINE.replace("<b> nut </b>", "<b>  </b>"),
        LINE.replace("1.1", "much"),
        "1\tnut\tn\n",
    ],
)
def test_a_line_in_another_format_is_named(tmp_path, line):
    (tmp_path / "ratings.txt").write_text(LINE + line)
    with pytest.raises(CorpusError, match=r"ratings\.txt, line 2: not two words, their passages"):
        load_scws(tmp_path)


def test_an_empty_file_says_where_to_get_it(tmp_path):
    (tmp_path / "ratings.txt").write_text("\n")
    with pytest.raises(CorpusError, match=r"ratings\.txt is empty; get it from https://"):
        load_scws(tmp_path)


@pytest.mark.skipif(not (data_folder() / "scws").is_dir(), reason="SCWS is not in $CTXEMB_DATA")
def test_the_published_file_can_be_read():
    found = load_scws()
    assert (len(found.targets), len(found.ratings_N)) == (4006, 2003)
    assert not any("<b>" in target.text for target in found.targets)
    assert 0 <= found.ratings_N.min() < found.ratings_N.max() <= 10
