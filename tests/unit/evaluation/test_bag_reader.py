import numpy as np

from ctxemb.calibration import load_statistics
from ctxemb.comparison import context_bag
from ctxemb.evaluation.bag_reader import BagReader


def test_every_word_gets_the_bag_of_the_others(calibrated):
    bag = context_bag(calibrated, load_statistics(calibrated))
    sentences = ["the old bank approved the loan .", "zyzzyva bank", "", "we sat on the bank ."]
    tokens = calibrated.tokenizer.encode_batch(sentences)
    found = list(BagReader(calibrated.tokenizer, bag).encode_tokens(sentences, tokens))
    for encoding, expected in zip(found, calibrated.encode(sentences), strict=True):
        assert (encoding.text, encoding.tokens, encoding.spans) == (expected.text, expected.tokens, expected.spans)
        np.testing.assert_array_equal(encoding.ids, expected.ids)
        assert encoding.layers.shape == (1, len(expected.tokens), bag.vectors_VE.shape[1])
        for position, vector in enumerate(encoding.vectors):
            np.testing.assert_allclose(vector, bag.vector(expected.ids, position), rtol=1e-4, atol=1e-6)
    assert not found[1].vectors[1].any()  # exactly zero: "bank" has no known company
