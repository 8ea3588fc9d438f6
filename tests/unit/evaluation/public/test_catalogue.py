from pathlib import Path

import pytest

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.public.catalogue import PUBLIC_TESTS, PublicTestError, choose_tests, names_for, run_test
from ctxemb.text import Language

LANGUAGES: tuple[Language, ...] = ("en", "zh")


def test_names_are_found_in_any_case_and_each_once():
    assert [test.name for test in choose_tests(["cos960", "COS960", "ZH-WSD"], "zh")] == ["COS960", "zh-wsd"]
    assert [test.name for test in choose_tests(["all", "mcl-wic"], "zh")] == names_for("zh")
    assert set(names_for("en")) | set(names_for("zh")) == set(PUBLIC_TESTS)
    assert set(names_for("en")) & set(names_for("zh")) == {"mcl-wic"}


def test_a_wrong_name_lists_the_right_ones():
    with pytest.raises(PublicTestError, match=r"no test 'simlex'; choose all, wic, mcl-wic, coarsewsd-20, scws"):
        choose_tests(["simlex"], "en")
    with pytest.raises(PublicTestError, match=r"zh-wsd is not for English, .*; choose all, wic, .*, wikitext-2$"):
        choose_tests(["wic", "zh-wsd"], "en")


@pytest.mark.parametrize("name", PUBLIC_TESTS)
def test_a_set_that_is_not_here_says_where_it_comes_from_and_where_it_goes(angled, tmp_path, name):
    test = PUBLIC_TESTS[name]
    subject = angled(language=test.languages[0])
    with pytest.raises(CorpusError) as error:
        run_test(test, subject, tmp_path)
    assert str(error.value).startswith(f"{name} is not in {tmp_path}; get it from {test.home} and put ")
    assert str(error.value).endswith(f" into {tmp_path / test.folders[0]}")


def test_a_part_that_is_not_there_lists_those_that_are(angled, tmp_path):
    (tmp_path / "wic" / "dev").mkdir(parents=True)
    (tmp_path / "wic" / "dev" / "dev.data.txt").write_text("")
    with pytest.raises(CorpusError, match=r"wic has no test part in .*/wic, only dev; get it from https://"):
        run_test(PUBLIC_TESTS["wic"], angled(), tmp_path, "test")
    (tmp_path / "simlex999.txt").write_text("bank\tplant\t1\n")
    found = run_test(PUBLIC_TESTS["simlex-999"], angled(), tmp_path, "test")
    assert (found.split, found.rows[0].num_items) == ("all", 1)  # it is not divided


@pytest.mark.skipif(not (data_folder() / "wic").is_dir(), reason="the test sets are not in $CTXEMB_DATA")
@pytest.mark.parametrize("name", PUBLIC_TESTS)
def test_the_published_sets_are_found_in_the_data_folder_and_in_their_own(name):
    test = PUBLIC_TESTS[name]
    for language in test.languages:
        own = data_folder() / test.folders[0]
        assert test.splits(own, language), name
        assert not test.splits(data_folder(), language)
        assert not test.splits(Path("/"), language)
