import pytest

from ctxemb.comparison import Sentence, TargetError
from ctxemb.store import ASKED, StoreError, VectorStore, ask, asking
from ctxemb.store.tables import open_table

RIVER = Sentence("the boat drifted to the bank where the water was quiet and old .")
MONEY = Sentence("the old bank approved the loan for a farmer in the city .")


def num_asked(store: VectorStore) -> int:
    table = open_table(store.uri, ASKED)
    return table.count_rows() if table is not None else 0


@pytest.fixture
def own(indexed, tmp_path) -> VectorStore:
    return VectorStore.open(indexed.copy(tmp_path / "store"))


def test_a_new_sentence_is_answered_kept_and_found_by_the_next(encoder, own):
    first = ask(own, encoder, RIVER, "bank", 5)
    assert not first.is_known
    assert first.problem is None
    assert len(first.neighbours.hits) == 5
    assert num_asked(own) == 1
    assert ask(own, encoder, RIVER, "bank", 5).is_known
    assert num_asked(own) == 1
    near = Sentence(RIVER.text.replace("quiet", "green"))
    found = ask(own, encoder, near, "bank", 1, asked=True, keep=False).neighbours
    assert found.hits[0].context.source == ASKED
    assert found.hits[0].context.sentence == RIVER.text
    without = ask(own, encoder, near, "bank", 1, keep=False).neighbours
    assert without.hits[0].context.source == "text.txt"
    assert found.num_searched == without.num_searched + 1
    assert num_asked(own) == 1
    assert len(own) == without.num_searched  # the corpora stay as they were


def test_a_sentence_of_the_corpus_is_known_and_not_its_own_neighbour(encoder, own):
    context = own.contexts("bank", limit=1)[0]
    answer = ask(own, encoder, Sentence(context.sentence), "bank", 50)
    assert answer.is_known
    assert num_asked(own) == 0
    sentences = [hit.context.sentence for hit in answer.neighbours.hits]
    assert context.sentence not in sentences
    assert len(set(sentences)) == 50


def test_among_the_same_word_any_word_or_others(encoder, own):
    for among, words in (("same word", {"bank"}), ("other words", {"plant", "river"})):
        found = ask(own, encoder, MONEY, "Bank", 200, among=among, keep=False).neighbours
        assert {hit.context.word for hit in found.hits} == words


def test_the_oldest_are_dropped(encoder, own, monkeypatch):
    monkeypatch.setattr(asking, "MAX_ASKED", 3)
    monkeypatch.setattr(asking, "SPARE", 1)
    for number in range(5):
        ask(own, encoder, Sentence(f"the boat drifted to the bank where the water was {number} ."), "bank")
    table = open_table(own.uri, ASKED)
    assert table is not None
    kept = sorted(row["sentence"][-3] for row in table.to_arrow().to_pylist())
    assert kept == ["2", "3", "4"]


def test_a_word_that_only_people_used_has_their_mean(encoder, own):
    with pytest.raises(StoreError, match="“loan” has no context in this store"):
        own.similar_words("loan")
    ask(own, encoder, MONEY, "loan")
    vector_D, num_contexts = own.word_vector("loan")
    assert num_contexts == 1
    assert vector_D.shape == (own.about.width,)
    assert own.similar_words("loan", 2).hits


def test_what_cannot_be_asked_is_said(encoder, own, other_encoder):
    with pytest.raises(TargetError, match="does not occur"):
        ask(own, encoder, RIVER, "plant")
    with pytest.raises(TargetError, match="not in this checkpoint's vocabulary"):
        ask(own, encoder, Sentence("a zyzzyva sat on the bank ."), "zyzzyva")
    with pytest.raises(StoreError, match="not of other"):
        ask(own, other_encoder, RIVER, "bank")
    assert num_asked(own) == 0


def test_a_store_that_cannot_be_written_to_still_answers(encoder, own, full_disk):
    with full_disk(100):
        answer = ask(own, encoder, RIVER, "bank", 3)
    assert len(answer.neighbours.hits) == 3
    assert answer.problem is not None
    assert "cannot keep it" in answer.problem
