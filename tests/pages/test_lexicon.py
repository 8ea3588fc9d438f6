"""The Lexicon page: a file of pairs on every family and in both languages, ticks, candidates, bad files."""

from collections.abc import Callable

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

OpenApp = Callable[..., AppTest]
ENGLISH = b"kind,a,b\nsynonym,river,water\nantonym,old,new\nsynonym,river,zyzzyva\nalias,bank,house\n"
CHINESE = "kind,a,b\nsynonym,苹果,水果\nantonym,大,小\nsynonym,苹果,蘋果\n".encode()


def with_file(app: AppTest, content: bytes = ENGLISH, name: str = "my.csv") -> AppTest:
    return app.file_uploader(key="lexicon file").upload(name, content).run()


def words(app: AppTest) -> str:
    elements = [*app.markdown, *app.info, *app.caption]
    return " ".join(element.value for element in elements).replace("\\", "")


def errors(app: AppTest) -> str:
    return " ".join(element.value for element in app.error).replace("\\", "")


def pairs(app: AppTest) -> pd.DataFrame:
    return app.data_editor[0].value


def tick(app: AppTest, name: str, row: int, **cells: object) -> AppTest:
    _, version, _ = app.session_state["views"][name]
    app.session_state[f"{name} {version}"] = {"edited_rows": {row: cells}, "added_rows": [], "deleted_rows": []}
    return app.run()


def label(app: AppTest) -> str:
    return app.get("download_button")[0].proto.label


def test_without_a_lexicon_there_are_candidates_all_the_same(open_family: OpenApp) -> None:
    app = open_family("lexicon")
    assert not app.exception
    assert not app.error
    assert not app.metric
    assert "WordNet is not on this machine" in words(app)
    assert "No lexicon is chosen" in words(app)
    assert label(app) == "0 kept pairs as CSV"
    app.number_input(key="CandidateConfig.min_cosine").set_value(0.3).run()
    app.button(key="propose").click().run()
    assert not app.exception
    assert not app.error
    assert len(app.data_editor[0].value) > 0


@pytest.mark.parametrize(
    ("name", "content", "first"),
    [
        ("en-contrastive", ENGLISH, "river"),
        ("en-bilm", ENGLISH, "river"),
        ("en-static", ENGLISH, "river"),
        ("zh-contrastive", CHINESE, "苹果"),
        ("zh-static", CHINESE, "苹果"),
    ],
)
def test_pairs_of_a_file_with_counts_and_contexts(open_family: OpenApp, name: str, content: bytes, first: str) -> None:
    app = with_file(open_family("lexicon", checkpoint=name), content)
    assert not app.exception
    assert not app.error
    table = pairs(app)
    assert table.keep.all()
    assert first in set(table.a) | set(table.b)
    assert (table[["count_a", "count_b"]].min(axis=1).diff().dropna() <= 0).all()
    assert "our example sentences" in words(app)
    for word in (table.a[0], table.b[0]):
        assert f"**{word}**: " in words(app)
    bodies = [element.proto.body for element in app.get("html")]
    assert sum("font-weight:600" in body for body in bodies) == 2
    dropped = app.dataframe[-1].value.set_index("what").number
    assert dropped["dropped: with a word outside the vocabulary"] == 1


def test_search_and_ticks_decide_what_is_kept(open_family: OpenApp) -> None:
    app = with_file(open_family("lexicon"))
    assert label(app) == "3 kept pairs as CSV"
    app.text_input(key="search").set_value("WATER").run()
    assert pairs(app)[["a", "b"]].to_numpy().tolist() == [["water", "river"]]
    tick(app, "pairs", 0, keep=False)
    assert label(app) == "2 kept pairs as CSV"
    app.text_input(key="search").set_value("").run()
    table = pairs(app)
    assert table.set_index("a").keep.to_dict() == {"old": True, "water": False, "bank": True}
    app.text_input(key="search").set_value("water").run()
    tick(app, "pairs", 0, keep=True)
    assert label(app) == "3 kept pairs as CSV"


def test_a_candidate_is_added_to_the_kept_pairs(open_family: OpenApp) -> None:
    app = with_file(open_family("lexicon"))
    app.number_input(key="CandidateConfig.min_cosine").set_value(0.3).run()
    app.button(key="propose").click().run()
    assert len(app.data_editor) == 2
    tick(app, "candidates", 0, add=True, kind="antonym")
    assert label(app) == "4 kept pairs as CSV"
    tick(app, "candidates", 0, add=False)
    assert label(app) == "3 kept pairs as CSV"


def test_thresholds_change_what_is_kept(open_family: OpenApp) -> None:
    app = with_file(open_family("lexicon"), b"bank house river\nbank water road\nbank river\n", "groups.txt")
    before = label(app)
    app.number_input(key="LexiconConfig.max_senses").set_value(1).run()
    assert not app.exception
    assert label(app) != before
    assert app.number_input(key="LexiconConfig.max_sense_number").value is None
    assert "at most this many groups" in app.number_input(key="LexiconConfig.max_senses").proto.help


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("my.csv", b"word,other\n", "my.csv has no column 'kind'"),
        ("my.csv", b"", "my.csv is empty"),
        ("my.csv", b"kind,a,b\nsynonym,cell\n", "my.csv, line 2: has 2 cells"),
        ("my.csv", b"kind,a,b\nsynonym,qzx,zyzzyva\n", "my.csv has no pair that can be used"),
        ("my.txt", b"\xff\xfe\x00", "my.txt"),
        ("my.csv", b"kind,a,b\nsynonym,<b>x</b>,*y*\n", "has no pair that can be used"),
    ],
)
def test_a_bad_file_is_one_sentence(open_family: OpenApp, name: str, content: bytes, said: str) -> None:
    app = with_file(open_family("lexicon"), content, name)
    assert said in errors(app)
    assert len(app.error) == 1
    assert not app.exception
    assert not app.data_editor


def test_without_a_checkpoint_it_is_said_so(
    open_app: OpenApp, tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(tmp_path))
    app = open_app("lexicon")
    assert "There is no checkpoint in" in errors(app)
    assert not app.exception
