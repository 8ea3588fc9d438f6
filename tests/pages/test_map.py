"""The Map page, driven without a browser: sources, drawings, numbers, a placed sentence, and bad input."""

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.testing.v1 import AppTest

from ctxemb.analysis.projection import ProjectionConfig, project
from ctxemb.background import Worker
from ctxemb.contexts import MAX_CONTEXTS
from ctxemb.examples import load_examples
from ctxemb.store import build_small_store
from ctxemb.ui.jobs import WARM_UPS, Jobs, all_jobs

OpenApp = Callable[..., AppTest]
JOB_SECONDS = 120


@pytest.fixture(autouse=True)
def no_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxemb.ui.jobs.WARM_UPS", dict.fromkeys(WARM_UPS))


@pytest.fixture
def open_map(open_family: OpenApp) -> OpenApp:
    """`open_map(method="PCA")`: the page, once everything in the background is over."""
    return lambda **query: settle(open_family("map", **({"method": "PCA"} | query)))


def settle(app: AppTest) -> AppTest:
    """Run until a run has asked for no job that was not over before it began."""
    while True:
        known = list(all_jobs()._jobs.values())
        for job in known:
            assert job.wait(JOB_SECONDS)
        app.run()
        if {*all_jobs()._jobs.values()} <= {*known}:
            return app


def upload(app: AppTest, name: str, content: bytes) -> AppTest:
    app.segmented_control(key="source").set_value("a file of yours").run()
    return settle(app.file_uploader(key="contexts file").upload(name, content).run())


def spec(app: AppTest) -> dict[str, Any]:
    return json.loads(app.get("plotly_chart")[0].proto.spec)


def rows(app: AppTest) -> list[int]:
    return [row for trace in spec(app)["data"] for (row,) in trace["customdata"]]


def table(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "sentence" in frame.value)


def numbers(app: AppTest) -> pd.DataFrame:
    return next(frame.value for frame in app.dataframe if "silhouette" in frame.value)


def words(app: AppTest) -> str:
    return " ".join(element.value for element in [*app.caption, *app.markdown, *app.info]).replace("\\", "")


def errors(app: AppTest) -> str:
    return " ".join(element.value for element in app.error).replace("\\", "")


def vectors_file(vectors_ND: np.ndarray, tokens: list[str]) -> bytes:
    stream = BytesIO()
    pq.write_table(pa.table({"token": tokens, "vector": vectors_ND.tolist()}), stream)
    return stream.getvalue()


def test_opens_on_five_words_with_map_table_and_numbers(open_map: OpenApp) -> None:
    app = open_map()
    assert not app.exception
    assert not app.error
    assert not app.warning
    examples = load_examples("en")
    first = list(examples.word.unique()[:5])
    expected = examples[examples.word.isin(first)]
    assert app.multiselect(key="words_en").value == first
    assert sorted(table(app).sentence) == sorted(expected.sentence)
    assert sorted(rows(app)) == list(range(len(expected)))
    assert [metric.label for metric in app.metric] == ["Silhouette", "1-NN accuracy"]
    assert all("by chance" in metric.delta for metric in app.metric)
    assert numbers(app).word.tolist() == [*first, "all words"]
    for said in (f"All {len(expected)} contexts", "PCA · cosine · seed 0 · trustworthiness", "scikit-learn"):
        assert said in words(app)


@pytest.mark.parametrize("color", ["word", "sense", "cluster", "position"])
def test_every_colouring_draws_every_use_in_its_place(open_map: OpenApp, color: str) -> None:
    app = open_map(color=color)
    assert not app.exception
    assert sorted(rows(app)) == list(range(len(table(app))))
    groups = {trace["marker"]["color"] for trace in spec(app)["data"]} if color != "position" else set()
    assert len(groups) == {"word": 5, "sense": 12, "position": 0}.get(color, len(groups))


def test_in_chinese_and_in_three_dimensions(open_map: OpenApp) -> None:
    app = open_map(checkpoint="zh-bilm", dimensions="3")
    assert not app.exception
    assert not app.error
    assert {trace["type"] for trace in spec(app)["data"]} == {"scatter3d"}
    assert "苹果" in set(table(app).word)
    assert "z" in table(app)


def test_a_word_without_examples_is_said_so(open_map: OpenApp) -> None:
    app = open_map()
    app.multiselect(key="words_en").set_value(["bank", "zebra"]).run()
    settle(app)
    assert "“zebra” has no example sentences" in words(app)
    assert set(table(app).word) == {"bank"}
    app.multiselect(key="words_en").set_value(["zebra"]).run()
    (error,) = app.error
    assert "“zebra” has no example sentences" in error.value
    app.multiselect(key="words_en").set_value([]).run()
    assert "Nothing to draw yet" in words(app)
    assert not app.exception


def test_a_placed_sentence_is_one_more_marker_and_moves_nothing(open_map: OpenApp) -> None:
    app = open_map()
    before = spec(app)["data"]
    app.text_input(key="place").set_value("We sat on the bank of the river .").run()
    settle(app)
    assert not app.exception
    after = spec(app)["data"]
    assert after[:-1] == before
    assert after[-1]["customdata"] == [[-1]]
    assert after[-1]["hovertext"] == ["<b>your sentence</b><br>We sat on the <b>bank</b> of the river ."]
    assert -1 not in table(app).index


def test_t_sne_draws_itself_again_with_the_sentence_and_says_so(open_map: OpenApp) -> None:
    app = open_map(method="t-SNE", place="We sat on the bank of the river .")
    assert not app.exception
    assert rows(app).count(-1) == 1
    assert len(rows(app)) == len(table(app)) + 1
    assert "the other points have moved" in words(app)


def test_of_two_words_in_a_sentence_one_is_chosen(open_map: OpenApp) -> None:
    text = "The bank faces the other bank ."
    app = open_map(place=text)
    first = spec(app)["data"][-1]["hovertext"]
    app.segmented_control(key=f"target {text}").set_value("2: bank").run()
    settle(app)
    assert first == ["<b>your sentence</b><br>The <b>bank</b> faces the other bank ."]
    assert spec(app)["data"][-1]["hovertext"] == ["<b>your sentence</b><br>The bank faces the other <b>bank</b> ."]


def test_a_sentence_without_a_word_of_the_map_leaves_the_map_as_it_is(open_map: OpenApp) -> None:
    app = open_map(place="Nothing of <b>it</b> .")
    assert "No word of this map stands in “Nothing of <b>it</b> .”" in errors(app)
    assert -1 not in rows(app)


def test_two_readings_side_by_side(open_map: OpenApp) -> None:
    app = open_map(beside="true")
    assert not app.exception
    assert not app.error
    assert not app.get("plotly_chart")
    assert len(app.get("vega_lite_chart")) == 1
    assert app.selectbox(key="second_en").value == "en-bilm"
    chart = json.loads(app.get("vega_lite_chart")[0].proto.spec)
    assert [view["title"]["text"].split(":")[0] for view in chart["hconcat"]] == ["en-contrastive", "en-bilm"]
    assert len(table(app)) == 98


def test_how_stable_a_map_is(open_map: OpenApp) -> None:
    app = open_map()
    next(button for button in app.button if button.label == "How stable is this map?").click().run()
    settle(app)
    assert "two pictures have **100%** in common" in words(app)
    assert "PCA leaves nothing to chance" in words(app)
    shown = next(frame.value for frame in app.dataframe if "trustworthiness" in frame.value)
    assert shown.seed.tolist() == ["0", "1", "2", "3", "4"]


def test_sentences_of_a_file_with_tags_and_one_sense(open_map: OpenApp) -> None:
    found = load_examples("en").query("word == 'bank' and sense == 'river'").sentence[:6]
    lines = [f'"<b>{number}</b> {text}",bank,river' for number, text in enumerate(found)]
    app = upload(open_map(), "my.csv", "\n".join(["sentence,word,sense", *lines]).encode())
    assert not app.exception
    assert len(table(app)) == 6
    hover = spec(app)["data"][0]["hovertext"][0]
    assert hover.startswith("<b>bank</b> · river<br>&lt;b&gt;0&lt;/b&gt; ")
    assert hover.count("<b>bank</b>") == 2
    assert "all uses have one sense" in numbers(app).note[0]
    assert not app.metric


def test_contexts_of_a_corpus(open_map: OpenApp, families: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxemb.store.small.TEXTS", {"en": (), "zh": ()})
    build_small_store(str(families / "en-contrastive"))
    app = open_map(source="a corpus", per_word="4")
    assert not app.exception
    assert not app.error
    assert table(app).word.value_counts().to_dict() == dict.fromkeys(load_examples("en").word.unique()[:5], 4)
    app.multiselect(key="words_en").set_value(["bank", "zebra"]).run()
    settle(app)
    assert "The corpus has no use of “zebra”" in words(app)
    assert set(table(app).word) == {"bank"}


def test_a_text_is_looked_through_for_the_words(open_map: OpenApp) -> None:
    sentences = load_examples("en").sentence
    app = upload(open_map(), "my.txt", "\n".join(sentences).encode())
    assert set(table(app).word) == {"bank", "bat", "spring", "cell", "bass"}
    assert f"{len(sentences)} sentences of my.txt were looked through" in words(app)


def test_of_very_many_vectors_a_random_sample_is_shown_and_said_so(open_map: OpenApp) -> None:
    number = MAX_CONTEXTS + 100
    vectors_ND = np.random.default_rng(0).normal(size=(number, 3))
    app = upload(open_map(), "v.parquet", vectors_file(vectors_ND, [f"w{i % 40}" for i in range(number)]))
    assert not app.exception
    assert len(table(app)) == len(rows(app)) == MAX_CONTEXTS
    assert f"A random sample of {MAX_CONTEXTS:,} of {number:,} contexts is shown" in words(app)
    assert "To place a sentence of your own" in words(app)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("v.parquet", vectors_file(np.array([[1.0], [np.nan], [2.0]]), ["a", "b", "c"]), "row 2 (“b”)"),
        ("v.parquet", vectors_file(np.ones((5, 3)), ["a"] * 5), "All 5 vectors point the same way"),
        ("v.parquet", vectors_file(np.eye(2), ["a"] * 2), "A map needs at least 3 vectors, and there are 2"),
        ("my.csv", b"", "my.csv is empty"),
        ("my.csv", b"word,other\nbank,x\n", "my.csv has no column “sentence”"),
        ("my.txt", b"\n", "my.txt holds no sentence"),
    ],
)
def test_a_bad_file_is_one_sentence(open_map: OpenApp, name: str, content: bytes, said: str) -> None:
    app = upload(open_map(), name, content)
    assert not app.exception
    assert said in errors(app)
    assert len(app.error) == 1


def test_an_unknown_word_is_said_once_for_all_its_sentences(open_map: OpenApp) -> None:
    lines = [f"The zyzzyva {number} .,zyzzyva" for number in range(5)] + ["The bank of the river .,bank"] * 3
    app = upload(open_map(color="position"), "my.csv", "\n".join(["sentence,word", *lines]).encode())
    (warning,) = app.warning
    assert warning.value.count("zyzzyva") == 1
    assert len(app.error) == 1  # three times the same sentence make no map
    assert "point the same way" in errors(app)


def test_a_cancelled_drawing_can_be_started_again(open_family: OpenApp) -> None:
    app = open_family("map", method="t-SNE", max_iter="5000", perplexity="7")
    app.button(key="cancel Drawing the map").click().run()
    settle(app)
    assert not app.exception
    assert "Drawing the map: cancelled." in words(app)
    assert not app.get("plotly_chart")
    app.button(key="again Drawing the map").click().run()
    settle(app)
    assert len(app.get("plotly_chart")) == 1


@pytest.fixture
def worker() -> Iterator[Worker]:
    with Worker("test") as started:
        yield started


def test_equal_keys_share_a_job_and_the_longest_unasked_is_forgotten(worker: Worker) -> None:
    jobs, config = Jobs(max_results=2), ProjectionConfig(method="pca")

    def ask(key: str) -> Any:
        job = jobs.find_or_submit(key, lambda: worker.submit(project, np.eye(5), config))
        assert job.wait(JOB_SECONDS)
        return job

    first, second = ask("first"), ask("second")
    assert ask("first") is first
    ask("third")
    assert len(jobs) == 2
    assert ask("first") is first
    assert ask("second") is not second
    jobs.forget("first")
    assert ask("first") is not first
