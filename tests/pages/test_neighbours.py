"""The Neighbours page, driven without a browser."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from ctxemb import Encoder
from ctxemb.corpora import open_corpus
from ctxemb.examples import example_words, load_examples
from ctxemb.store import ASKED, SelectionConfig, build_small_store, index_corpus, small_store_folder
from ctxemb.store.tables import open_table
from ctxemb.text import UNK

OpenApp = Callable[..., AppTest]
RIVER = "the boat drifted to the bank where the water was quiet ."


@pytest.fixture
def open_neighbours(
    open_app: OpenApp, checkpoints: Path, families: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AppTest]:
    """`open_neighbours(word="plant")`: the page, with a small store of examples only, ready beforehand."""
    monkeypatch.setattr("ctxemb.store.small.TEXTS", {"en": (), "zh": ()})

    def open_one(checkpoint: Path = checkpoints / "tiny", **query: str) -> AppTest:
        monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(checkpoint.parent))
        build_small_store(str(checkpoint))
        return open_app("neighbours", checkpoint=checkpoint.name, **query)

    return open_one


@pytest.fixture(scope="session")
def stores(checkpoints: Path, tiny_run: Path, families: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two stores: `text` of the tiny checkpoint, and `foreign` of another."""
    folder = tmp_path_factory.mktemp("stores")
    text, words = open_corpus(tiny_run.parent / "text.txt"), SelectionConfig(words=("bank", "plant", "river", "city"))
    for name, checkpoint in (("text", checkpoints / "tiny"), ("foreign", families / "en-bilm")):
        encoder = Encoder.load(checkpoint, device="cpu")
        index_corpus(encoder, text, folder / name, tmp_path_factory.mktemp("cache"), words)
    return folder


def numbers(app: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in app.metric}


def lists(app: AppTest) -> list[str]:
    return [element.proto.body for element in app.get("html")]


def errors(app: AppTest) -> str:
    return " ".join(element.value for element in app.error).replace("\\", "")


def captions(app: AppTest) -> str:
    return " ".join(element.value for element in app.caption).replace("\\", "")


def test_opens_on_two_banks_with_their_neighbours_and_how_they_were_found(
    open_neighbours: OpenApp, encoder: Encoder
) -> None:
    app = open_neighbours(among="any word")
    assert not app.exception
    assert not app.error
    assert list(numbers(app)) == ["Cosine of the two", "Shared", "Searched", "Answer"]
    assert numbers(app)["Answer"] == "exact"
    known = [word for word in example_words() if encoder.tokenizer.word_id(word) != UNK]
    assert known
    assert int(numbers(app)["Searched"]) == load_examples().word.isin(known).sum()
    first, second = lists(app)[:2]
    assert first.count("font-variant-numeric") == second.count("font-variant-numeric") == 10
    assert "money" in first
    assert "Reading: here, layer last, no centring; the checkpoint's own." in captions(app)


def test_only_the_same_word_or_only_others(open_neighbours: OpenApp) -> None:
    app = open_neighbours(among="any word")
    searched = {"any word": int(numbers(app)["Searched"])}
    for among in ("same word", "other words"):
        app.segmented_control(key="among").set_value(among).run()
        searched[among] = int(numbers(app)["Searched"])
        assert (">bank</span>" in "".join(lists(app)[:2])) == (among == "same word")
    assert searched["same word"] + searched["other words"] == searched["any word"] > searched["same word"] > 0


def test_equal_sentences_share_every_neighbour_and_different_ones_do_not(open_neighbours: OpenApp) -> None:
    app = open_neighbours(first=RIVER, second=RIVER)
    assert numbers(app)["Shared"] == "10 of 10"
    assert numbers(app)["Cosine of the two"] == "1.00"
    assert lists(app)[0].count("in both") == 10
    app.text_input(key="second").set_value("the old bank approved the loan for the farmer .").run()
    assert numbers(app)["Shared"] != "10 of 10"


def test_a_typed_sentence_is_kept_and_found_only_when_asked_for(
    open_neighbours: OpenApp, checkpoints: Path, tmp_path: Path
) -> None:
    app = open_neighbours(first=RIVER)
    table = open_table(str(small_store_folder(Encoder.load(checkpoints / "tiny", device="cpu"))), ASKED)
    assert table is not None
    assert [row["sentence"] for row in table.to_arrow().to_pylist()] == [RIVER]  # not the one that was offered
    app.text_input(key="second").set_value(RIVER.replace("quiet", "old")).run()
    assert RIVER not in lists(app)[1]
    app.toggle(key="asked").set_value(True).run()
    assert "asked before" in lists(app)[1]


def test_what_cannot_be_looked_up_is_said_and_the_other_side_stays(open_neighbours: OpenApp) -> None:
    app = open_neighbours(first="there is nothing here .")
    assert "“bank” does not occur in" in errors(app)
    assert "in both" not in "".join(lists(app))
    assert lists(app)[0].count("font-variant-numeric") == 10
    app = open_neighbours(word="zyzzyva", first="a zyzzyva sat here .")
    assert "not in this checkpoint's vocabulary" in errors(app)
    assert not app.exception
    assert app.info[0].value.startswith("Type a sentence with “zyzzyva”")


def test_tags_are_shown_and_not_run(open_neighbours: OpenApp) -> None:
    tag = "<img src=x onerror=alert(1)> the bank of the river ."
    open_neighbours(first=tag)
    app = open_neighbours(first=tag.replace("river", "water"))
    app.toggle(key="asked").set_value(True).run()
    assert "<img" not in "".join(lists(app))
    assert "&lt;img src=x" in lists(app)[0]


def test_another_word_brings_sentences_of_its_own(open_neighbours: OpenApp) -> None:
    app = open_neighbours()
    app.pills(key="example word en").set_value("plant").run()
    assert app.text_input(key="word").value == "plant"
    assert all("plant" in app.text_input(key=side).value for side in ("first", "second"))
    assert not app.error


def test_a_store_that_the_server_lists_can_be_chosen_and_no_other(
    open_neighbours: OpenApp, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXEMB_STORES", f"{stores}, {stores / 'nothing'}")
    app = open_neighbours()
    assert "names" in app.warning[0].value
    assert "holds no store" in app.warning[0].value
    box = next(box for box in app.selectbox if box.label == "Store")
    assert list(box.options) == ["small", "text"]  # the other is another checkpoint's
    box.set_value("text").run()
    assert not app.exception
    assert "of text.txt" in captions(app)
    similar = lists(app)[2]
    assert "plant" in similar
    assert " contexts</small>" in similar


def test_analogies_and_words_without_contexts(
    open_neighbours: OpenApp, stores: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXEMB_STORES", str(stores))
    app = open_neighbours()
    assert "“man” has no context in this store" in app.info[-1].value.replace("\\", "")
    next(box for box in app.selectbox if box.label == "Store").set_value("text").run()
    for field, word in zip([t for t in app.text_input if t.key.startswith("analogy")], ("bank", "river", "plant")):  # noqa: B905
        field.set_value(word)
    app.run()
    assert not app.error
    assert "<b>city</b>" in lists(app)[3]
    assert "<b>river</b>" not in lists(app)[3]


def test_chinese(open_neighbours: OpenApp, families: Path) -> None:
    app = open_neighbours(families / "zh-contrastive")
    assert not app.exception
    assert app.text_input(key="word").value == "苹果"
    assert not app.error
    assert lists(app)[0].count(">苹果</span>") == 10
    app.text_input(key="first").set_value("蘋果公司發佈了新的電腦。").run()
    assert "traditional characters" in errors(app)


def test_a_damaged_store_is_a_sentence(open_neighbours: OpenApp, checkpoints: Path) -> None:
    app = open_neighbours()
    folder = small_store_folder(Encoder.load(checkpoints / "tiny", device="cpu"))
    shutil.rmtree(folder / "contexts.lance")
    app.run()
    assert not app.exception
    assert "is no store" in errors(app)
