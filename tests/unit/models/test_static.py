import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.batching import make_batch
from ctxemb.calibration import calibrate, load_statistics
from ctxemb.checkpoint import load_checkpoint, save_checkpoint
from ctxemb.comparison import Sentence, TargetError, centring_mean, compare, find_uses
from ctxemb.evaluation.perplexity import PerplexityError, corpus_perplexity
from ctxemb.models.reading import Reading
from ctxemb.models.static import Static
from ctxemb.text import NUM_SPECIAL, UNK

MONEY = "the old bank approved the loan for the farmer ."
RIVER = "we sat on the green bank of the river with the doctor ."


@pytest.fixture
def static(encoder, tmp_path) -> Encoder:
    """A table of random vectors for the words of the tiny checkpoint."""
    tokenizer, text = encoder.tokenizer, encoder.config.text
    table = np.random.default_rng(0).normal(size=(len(tokenizer), 10)).astype(np.float32)
    table[:NUM_SPECIAL] = 0
    save_checkpoint(tmp_path / "static", Static.from_vectors(table), tokenizer, text)
    return Encoder.load(tmp_path / "static", device="cpu")


def test_the_table_is_the_model():
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    model = Static.from_vectors(table)
    assert not model.training
    with torch.inference_mode():
        layers = model.layers(make_batch([[5, 4], [4]]), "here")
    np.testing.assert_array_equal(layers[0, 0], table[[5, 4]])
    np.testing.assert_array_equal(layers[0, 1, 0], table[4])
    np.testing.assert_array_equal(model.word_vectors(), table)


def test_the_caller_may_go_on_with_its_own_table():
    table = np.ones((6, 2), np.float32)
    model = Static.from_vectors(table)
    table[:] = 7
    assert model.word_vectors().max() == 1


def test_a_sentence_is_its_rows_of_the_table(static):
    (encoding,) = static.encode([f"{MONEY} zyzzyva"])
    np.testing.assert_array_equal(encoding.vectors, static.model.word_vectors()[encoding.ids])
    assert encoding.layers.shape == (1, 11, 10)
    assert encoding.ids[-1] == UNK
    assert not encoding.vectors[-1].any()


def test_two_uses_are_the_same_vector_and_read_out_again_after_a_save(static, tmp_path):
    uses, _ = find_uses(static, [Sentence(MONEY), Sentence(RIVER)], "bank")
    np.testing.assert_allclose(compare(static, uses, "bank", None, None).cosines_NN, 1, atol=1e-6)
    loaded = load_checkpoint(static.checkpoint.path)
    assert torch.equal(loaded.model.word_vectors(), static.model.word_vectors())


def test_calibration_keeps_counts_and_means_and_learns_no_layer_weights(static, tiny_corpus):
    calibrate(static, tiny_corpus, ["bank"])
    again = Encoder.load(static.checkpoint.path, device="cpu")
    statistics = load_statistics(again)
    np.testing.assert_array_equal(statistics.counts_V, np.bincount(tiny_corpus.ids, minlength=len(static.tokenizer)))
    assert set(statistics.means) == {"here"}
    assert statistics.means["here"].shape == (1, 10)
    assert again.config.layer_weights == {}
    bank = static.tokenizer.word_id("bank")
    kept = statistics.word_mean("here", bank)
    np.testing.assert_allclose(kept[0], static.model.word_vectors()[bank], atol=2e-3)  # float16
    mean_LD = centring_mean("all words", again, statistics, "bank")
    np.testing.assert_array_equal(mean_LD, statistics.means["here"])
    with pytest.raises(TargetError, match="static encoder gives “bank” the same vector in every sentence"):
        centring_mean("per word", again, statistics, "bank")


def test_it_predicts_no_words(static):
    with pytest.raises(PerplexityError, match="a static encoder predicts no words"):
        corpus_perplexity(static)


@pytest.mark.parametrize("readout", ["context", "sentence"])
def test_other_read_outs_are_refused(static, readout):
    message = rf"static is a static encoder, which has no read-out '{readout}'; choose here"
    with pytest.raises(ValueError, match=message):
        static.reading_for(readout, "last")
    with pytest.raises(ValueError, match=message):
        static.with_reading(Reading(readout=readout))
    assert static.reading_for("here", "mean") == Reading(layer="mean")


def test_a_default_read_out_that_the_family_does_not_have_is_refused(static):
    path = static.checkpoint.path / "config.json"
    path.write_text(path.read_text().replace('"readout": "here"', '"readout": "context"'))
    with pytest.raises(ValueError, match="has no read-out 'context'; choose here"):
        Encoder.load(static.checkpoint.path, device="cpu")
