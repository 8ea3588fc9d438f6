import dataclasses
import re

import numpy as np
import pytest

from ctxemb.evaluation import context_average
from ctxemb.evaluation.context_average import context_averages
from ctxemb.models.reading import Reading
from ctxemb.text import NUM_SPECIAL


def loop(encoder, corpus, limit: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The plain way: all sentences, one at a time."""
    num_words = len(encoder.tokenizer)
    taken = {word_id: [] for word_id in range(num_words)}
    for sentence in np.random.default_rng(seed).permutation(len(corpus)):
        ids = corpus[int(sentence)]
        (layers_LTD,) = encoder.layers_of_ids([ids], encoder.reading.readout)
        for position, word_id in enumerate(ids.tolist()):
            if word_id >= NUM_SPECIAL and len(taken[word_id]) < limit:
                taken[word_id].append(encoder.reading.combine(layers_LTD)[position])
    vectors = [np.mean(taken[i], axis=0) if taken[i] else np.zeros(encoder.config.model.width) for i in taken]
    return np.array(vectors), np.array([len(uses) for uses in taken.values()])


@pytest.mark.parametrize("limit", [1, 7, 10_000])
@pytest.mark.parametrize("reading", [Reading(), Reading(readout="context", layer="mean")])
def test_averages_agree_with_a_naive_loop(encoder, tiny_corpus, monkeypatch, limit, reading):
    monkeypatch.setattr(context_average, "SENTENCES_PER_LOOK", 50)
    monkeypatch.setattr(context_average, "SENTENCES_PER_CHUNK", 8)
    reader = encoder.with_reading(reading)
    vectors, counts = context_averages(reader, tiny_corpus, limit, seed=3)
    expected, expected_counts = loop(reader, tiny_corpus, limit, seed=3)
    np.testing.assert_array_equal(counts, expected_counts)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert vectors.dtype == np.float32


def test_without_a_bound_layer_zero_gives_the_embedding_back(encoder, tiny_corpus):
    vectors, counts = context_averages(encoder.with_reading(Reading(layer=0)), tiny_corpus, 5, seed=0)
    table = encoder.model.word_vectors().numpy()
    used = np.flatnonzero(counts)
    np.testing.assert_allclose(vectors[used, : table.shape[1]], table[used], atol=1e-6)
    assert not vectors[:NUM_SPECIAL].any()
    assert not counts[:NUM_SPECIAL].any()


def test_only_sentences_with_a_wanted_use_are_encoded(encoder, tiny_corpus):
    seen: list[int] = []
    vectors, counts = context_averages(encoder, tiny_corpus, 2, seed=0, on_progress=seen.append)
    assert seen[-1] <= counts.sum() < len(tiny_corpus)
    assert counts.max() == 2
    again, _ = context_averages(encoder, tiny_corpus, 2, seed=0)
    np.testing.assert_array_equal(again, vectors)
    other, _ = context_averages(encoder, tiny_corpus, 2, seed=1)
    assert np.abs(other - vectors).max() > 1e-3


def test_impossible_questions_are_refused(encoder, tiny_corpus, slots):
    with pytest.raises(ValueError, match="the limit is 0 uses a word"):
        context_averages(encoder, tiny_corpus, 0, seed=0)
    foreign = dataclasses.replace(slots.corpus, ids=slots.corpus.ids + 1_000)
    with pytest.raises(ValueError, match=re.escape("the encoder only")):
        context_averages(encoder, foreign, 1, seed=0)
