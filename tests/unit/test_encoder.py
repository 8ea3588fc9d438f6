import dataclasses

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.batching import make_batch
from ctxemb.models.bilm import BiLM
from ctxemb.models.reading import Reading

MONEY = "the old bank approved the loan for the farmer ."
RIVER = "we sat on the green bank of the river with the doctor ."
MIXED = [RIVER, "bank", MONEY * 3, "the bank", "", MONEY, "the singer saw the plant beside the road ."]


def vectors_of(encoder: Encoder, sentence: str) -> np.ndarray:
    """(L + 1, T, D), straight from the module."""
    with torch.inference_mode():
        return encoder.model.layers(make_batch([encoder.tokenizer.encode(sentence).ids]))[:, 0].numpy()


@pytest.mark.parametrize("batch_tokens", [1, 30, 4_096])
def test_order_is_kept_and_the_budget_never_changes_the_result(encoder, batch_tokens):
    for sentence, encoding in zip(MIXED, encoder.encode(MIXED, batch_tokens), strict=True):
        assert encoding.text == sentence
        if sentence:
            np.testing.assert_allclose(encoding.layers, vectors_of(encoder, sentence), atol=1e-5)


def test_shapes_and_types(encoder):
    (encoding,) = encoder.encode([MONEY])
    assert encoding.tokens == MONEY.split()
    assert encoding.layers.shape == (encoder.num_layers + 1, 10, encoder.config.model.width)
    assert encoding.layers.dtype == encoding.vectors.dtype == np.float32
    assert encoding.vectors.shape == encoding.layers.shape[1:]


def test_a_string_and_its_ready_tokens_are_the_same(encoder):
    strings, lists = encoder.encode([MONEY, RIVER]), encoder.encode([MONEY.split(), RIVER.split()])
    for string, ready in zip(strings, lists, strict=True):
        assert (string.text, string.tokens, string.spans) == (ready.text, ready.tokens, ready.spans)
        np.testing.assert_array_equal(string.layers, ready.layers)


def test_strings_and_ready_tokens_may_be_mixed(encoder):
    mixed = encoder.encode([RIVER, MONEY.split(), "the bank"])
    assert [encoding.text for encoding in mixed] == [RIVER, MONEY, "the bank"]


@pytest.mark.parametrize("nothing", ["", " \t", "\0\x07", []])
def test_a_sentence_without_a_word_has_no_vectors(encoder, nothing):
    before, empty, after = encoder.encode([MONEY, nothing, RIVER])
    assert (empty.tokens, empty.spans, empty.oov.shape) == ([], [], (0,))
    assert empty.layers.shape == (encoder.num_layers + 1, 0, encoder.config.model.width)
    assert empty.vectors.shape == (0, encoder.config.model.width)
    assert (len(before.tokens), len(after.tokens)) == (10, 13)


def test_no_sentences_have_no_encodings(encoder):
    assert encoder.encode([]) == []


def test_spans_point_into_the_sentence_as_it_was_typed(encoder):
    sentence = "  The  BANK\u00a0didn't\0 approve\nИван's 🍕."
    (encoding,) = encoder.encode([sentence])
    assert [sentence[start:end] for start, end in encoding.spans] == encoding.tokens
    assert encoding.tokens == ["The", "BANK", "did", "n't", "approve", "Иван", "'s", "🍕", "."]


def test_words_outside_the_vocabulary_are_marked_and_read_as_unknown(encoder):
    (encoding,) = encoder.encode(["the zyzzyva Bank <pad> 日本 ."])
    assert encoding.oov.tolist() == [False, True, False, True, True, False]
    assert encoding.oov.dtype == bool
    np.testing.assert_array_equal(encoding.layers[0, 1], encoding.layers[0, 3])


def test_positions_of_a_word_disregard_case(encoder):
    (encoding,) = encoder.encode(["Bank after bank , BANK ."])
    assert encoding.positions("bank") == encoding.positions("BANK") == [0, 2, 4]
    assert encoding.positions("river") == []


def test_the_same_sentence_always_has_the_same_vectors_though_the_model_was_trained_with_dropout(encoder):
    assert encoder.config.model.dropout > 0
    first, again = encoder.encode([MONEY])[0], encoder.encode([MONEY])[0]
    np.testing.assert_array_equal(first.layers, again.layers)


def test_two_loads_of_a_checkpoint_agree(encoder, tiny_checkpoint):
    other = Encoder.load(str(tiny_checkpoint), device="cpu")
    np.testing.assert_array_equal(encoder.encode([RIVER])[0].layers, other.encode([RIVER])[0].layers)


def test_a_stream_is_encoded_as_a_list_is(encoder, monkeypatch):
    monkeypatch.setattr("ctxemb.encoder.SENTENCES_PER_CHUNK", 3)
    listed = encoder.encode(MIXED)
    for streamed, expected in zip(encoder.encode_stream(iter(MIXED)), listed, strict=True):
        assert streamed.text == expected.text
        np.testing.assert_allclose(streamed.layers, expected.layers, atol=1e-5)


def test_a_stream_is_read_only_as_far_as_it_is_used(encoder, monkeypatch):
    monkeypatch.setattr("ctxemb.encoder.SENTENCES_PER_CHUNK", 3)
    sentences = iter(MIXED)
    next(encoder.encode_stream(sentences))
    assert next(sentences) == MIXED[3]


def test_a_kept_sentence_does_not_keep_its_whole_batch_alive(encoder):
    kept = encoder.encode(MIXED)[1].layers
    assert kept.base is None
    assert kept.flags.owndata


def test_ids_are_encoded_as_sentences_are(encoder):
    ids = [np.array(encoder.tokenizer.encode(sentence).ids) for sentence in MIXED]
    for layers, encoding in zip(encoder.layers_of_ids(ids, "here"), encoder.encode(MIXED), strict=True):
        np.testing.assert_array_equal(layers, encoding.layers)


def test_a_single_string_is_refused(encoder):
    with pytest.raises(TypeError, match=r'encode takes a list of sentences: encode\(\["\.\.\."\]\)'):
        encoder.encode(MONEY)


def test_a_line_of_10_000_characters_is_one_long_sentence(encoder):
    line = (MONEY + " ") * 208
    long, short = encoder.encode([line, MONEY])
    assert len(line) > 9_900
    assert len(long.tokens) == 208 * 10
    assert np.isfinite(long.layers).all()
    np.testing.assert_allclose(short.layers, vectors_of(encoder, MONEY), atol=1e-5)
    (word,) = encoder.encode(["x" * 10_000])
    assert word.oov.tolist() == [True]


@pytest.mark.parametrize("layer", [0, 1, "last", "mean"])
def test_vectors_are_the_reading_of_the_layers(encoder, layer):
    reading = Reading(readout="context", layer=layer)
    (encoding,) = encoder.with_reading(reading).encode([RIVER])
    np.testing.assert_array_equal(encoding.vectors, reading.combine(encoding.layers))
    (here,) = encoder.encode([RIVER])
    np.testing.assert_array_equal(encoding.layers[0], here.layers[0])
    assert np.abs(encoding.layers[1:] - here.layers[1:]).max() > 1e-3


def test_weighted_needs_weights_that_were_learnt(encoder):
    with pytest.raises(ValueError, match="has not learnt"):
        encoder.reading_for("here", "weighted")
    assert encoder.reading_for("context", 1) == Reading(readout="context", layer=1)


def test_training_moves_uses_of_a_word_apart_by_their_contexts(encoder):
    sentences = [
        "the new bank approved the loan for the teacher .",
        "the large bank approved the loan for the singer .",
        "we sat on the quiet bank of the river with the student .",
        "we sat on the small bank of the river with the farmer .",
    ]

    def gap(encoder: Encoder) -> float:
        """Lowest cosine of two uses in one sense - highest across senses."""
        uses = np.stack([e.vectors[e.positions("bank")[0]] for e in encoder.encode(sentences)])
        uses /= np.linalg.norm(uses, axis=1, keepdims=True)
        cosines = uses @ uses.T
        return min(cosines[0, 1], cosines[2, 3]) - cosines[:2, 2:].max()

    torch.manual_seed(0)
    untrained = dataclasses.replace(encoder.checkpoint, model=BiLM(encoder.config.model).eval())
    reading = Reading(readout="context", layer="last")
    gaps = [gap(Encoder(c, reading, encoder.device)) for c in (untrained, encoder.checkpoint)]
    assert gaps[0] < 0.02 < 0.04 < gaps[1]


def test_an_unavailable_device_is_refused(tiny_checkpoint):
    with pytest.raises(ValueError, match="use auto"):
        Encoder.load(tiny_checkpoint, device="abacus")
