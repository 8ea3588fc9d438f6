import numpy as np
import pytest

from ctxemb.analysis.neighbours import three_cos_add
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.comparison import Sentence, find_uses
from ctxemb.store import SelectionConfig, StoreError, VectorStore, index_corpus, index_labelled
from tests.unit.store.conftest import Indexed


def uses_by_hand(indexed: Indexed, words: tuple[str, ...]) -> tuple[list[tuple[str, str, int]], np.ndarray]:
    """(word, sentence, start) and vectors of every use, from plain encoding."""
    rows, vectors = [], []
    for encoding in indexed.encoder.encode(indexed.sentences()):
        for position, token in enumerate(encoding.tokens):
            if token in words:
                rows.append((token, encoding.text, encoding.spans[position][0]))
                vectors.append(encoding.vectors[position])
    return rows, np.stack(vectors)


QUERY = "the old bank of the river was quiet ."


def query_vector(indexed: Indexed) -> np.ndarray:
    (use,), _ = find_uses(indexed.encoder, [Sentence(QUERY)], "bank")
    return use.encoding.vectors[use.position]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, ("bank", "plant", "river")),
        ({"only_word": "Bank"}, ("bank",)),
        ({"not_word": "bank"}, ("plant", "river")),
        ({"sources": ["text.txt"]}, ("bank", "plant", "river")),
    ],
)
def test_nearest_are_those_of_plain_numpy(indexed, store, options, words):
    rows, vectors_ND = uses_by_hand(indexed, words)
    vector_D = query_vector(indexed)
    cosines_N = cosine_matrix(np.vstack([vector_D, vectors_ND]))[0, 1:]
    found = store.nearest(vector_D, 10, **options)
    assert found.is_exact
    assert found.num_searched == len(rows)
    assert [hit.cosine for hit in found.hits] == pytest.approx(np.sort(cosines_N)[::-1][:10].tolist(), abs=1e-5)
    cosine_of = dict(zip(rows, cosines_N, strict=True))
    for hit in found.hits:
        context = hit.context
        assert context.sentence[context.start : context.end] == context.word
        assert context.source == "text.txt"
        assert hit.cosine == pytest.approx(cosine_of[context.word, context.sentence, context.start], abs=1e-5)


def test_one_per_sentence_is_each_sentences_best(indexed, store):
    plain = store.nearest(query_vector(indexed), 1_000)
    best: dict[str, float] = {}
    for hit in plain.hits:
        best.setdefault(hit.context.sentence, hit.cosine)
    found = store.nearest(query_vector(indexed), 30, one_per_sentence=True)
    assert [hit.cosine for hit in found.hits] == pytest.approx(list(best.values())[:30])
    assert len({hit.context.sentence for hit in found.hits}) == 30
    assert len(best) < len(plain.hits)


def test_a_sentence_can_be_left_out_and_no_source_has_nothing(indexed, store):
    first = store.nearest(query_vector(indexed), 2).hits
    without = store.nearest(query_vector(indexed), 1, not_sentence=first[0].context.sentence).hits
    assert without[0].context.sentence != first[0].context.sentence
    assert store.nearest(query_vector(indexed), 5, sources=[]).num_searched == 0


def test_contexts_are_a_seeded_sample_of_all(indexed, store):
    every, _ = uses_by_hand(indexed, ("river",))
    found = store.contexts("River", limit=10_000)
    assert [(c.word, c.sentence, c.start) for c in found] == every
    some, again, other = (store.contexts("river", limit=10, seed=seed) for seed in (0, 0, 1))
    assert some == again != other
    assert len(some) == 10
    assert set(some) <= set(found)
    assert store.contexts("zyzzyva") == []
    assert store.contexts("river", sources=["elsewhere"]) == []


def test_a_quote_in_a_word_or_source_is_no_sql(store):
    attack = "x' or '1' = '1"
    assert store.contexts(attack) == []
    assert store.contexts("river", sources=[attack]) == []
    vector_D = np.ones(store.about.width, np.float32)
    assert store.nearest(vector_D, only_word=attack).hits == []
    assert store.nearest(vector_D, not_word=attack).num_searched == len(store)
    with pytest.raises(StoreError, match="has no context"):
        store.similar_words(attack)


def test_word_vectors_are_means_and_analogies_those_of_three_cos_add(encoder, indexed, tmp_path):
    words = ("bank", "plant", "river", "loan", "road", "city", "farmer", "teacher")
    config = SelectionConfig(words=words, max_per_word=None)
    index_corpus(encoder, indexed.corpus, tmp_path / "store", indexed.cache, config)
    store = VectorStore.open(tmp_path / "store")
    rows, vectors_ND = uses_by_hand(indexed, words)
    names = np.array([word for word, _, _ in rows])
    means_VD = np.stack([vectors_ND[names == word].mean(axis=0) for word in words])
    for word, mean_D in zip(words, means_VD, strict=True):
        vector_D, num_contexts = store.word_vector(word.upper())
        np.testing.assert_allclose(vector_D, mean_D, atol=1e-5)
        assert num_contexts == (names == word).sum()
    cosines_V = cosine_matrix(means_VD)[0]
    similar = store.similar_words("bank", k=3)
    assert similar.num_searched == len(words) - 1
    assert [hit.cosine for hit in similar.hits] == pytest.approx(np.sort(cosines_V[1:])[::-1][:3].tolist(), abs=1e-5)
    for question in ((0, 1, 2), (3, 4, 5), (6, 7, 0)):
        expected = words[three_cos_add(means_VD, np.array([question]))[0]]
        assert store.analogy(*(words[i] for i in question), k=1).hits[0].word == expected
    assert store.similar_words("bank", min_contexts=10_000).hits == []


def test_labelled_uses_keep_their_senses_and_leave_others_alone(encoder, indexed, tmp_path):
    folder = indexed.copy(tmp_path / "store")
    uses = [
        ("bank", Sentence("the bank approved the old loan .", "money")),
        ("bank", Sentence("we sat on the bank of the river .", "river")),
        ("zyzzyva", Sentence("a zyzzyva sat on the bank .", "beetle")),
    ]
    report = index_labelled(encoder, uses, "mine", folder)
    assert report.num_added == report.num_contexts == 2
    assert index_labelled(encoder, uses, "mine", folder).num_added == 0
    store = VectorStore.open(folder)
    assert {c.sense for c in store.contexts("bank", sources=["mine"])} == {"money", "river"}
    assert {c.sense for c in store.contexts("bank", sources=["text.txt"])} == {None}
    assert [(s.name, s.is_complete, s.num_contexts) for s in store.sources()][1] == ("mine", True, 2)


def test_a_vector_without_direction_or_of_another_width_is_refused(store):
    with pytest.raises(StoreError, match="no direction"):
        store.nearest(np.zeros(store.about.width, np.float32))
    with pytest.raises(StoreError, match="no direction"):
        store.nearest(np.full(store.about.width, np.nan, np.float32))
    with pytest.raises(StoreError, match="one of 3 does not fit"):
        store.nearest(np.ones(3, np.float32))


def test_what_is_no_store_is_said(tmp_path):
    with pytest.raises(StoreError, match=r"there is no store .*python -m ctxemb index"):
        VectorStore.open(tmp_path / "none")
    assert not (tmp_path / "none").exists()
    with pytest.raises(StoreError, match="is no store: it has no contexts"):
        VectorStore.open(tmp_path)


def test_a_damaged_store_is_refused_in_a_sentence(indexed, tmp_path):
    folder = indexed.copy(tmp_path / "store")
    for manifest in (folder / "contexts.lance" / "_versions").iterdir():
        manifest.write_bytes(manifest.read_bytes()[:40])
    with pytest.raises(StoreError, match="cannot be read"):
        VectorStore.open(folder)


def test_another_checkpoint_or_reading_is_refused(encoder, indexed, store, other_encoder):
    store.check_fits(encoder)
    with pytest.raises(StoreError, match="read as here, layer last, not as context, layer last"):
        store.check_fits(encoder.with_reading(encoder.reading_for("context", "last")))
    with pytest.raises(StoreError, match=r"holds vectors of the checkpoint best .*, not of other"):
        store.check_fits(other_encoder)
