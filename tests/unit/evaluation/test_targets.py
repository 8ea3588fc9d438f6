import numpy as np
import pytest

from ctxemb.evaluation.targets import Target, encode_targets, known_share, target_at_token

SENTENCE = "the bank approved the zyzzyva loan"


def test_a_token_becomes_characters():
    target = target_at_token(["we", "sat", "on", "banks"], 3)
    assert (target.text, target.start, target.end, target.word) == ("we sat on banks", 10, 15, "banks")
    assert target_at_token(["打", "篮球", "。"], 1, separator="") == Target("打篮球。", 1, 3)
    for index in (-1, 2, 3):
        with pytest.raises(IndexError, match=f"there is no token {index} in 3 tokens"):
            target_at_token(["a", "b", ""], index)


def test_vectors_are_those_of_the_token(encoder):
    bank, unknown, part = Target(SENTENCE, 4, 8), Target(SENTENCE, 22, 29), Target(SENTENCE, 9, 12)
    found = encode_targets(encoder, [bank, unknown, part])
    (encoding,) = encoder.encode([SENTENCE])
    assert found.vectors_NLD.shape == (3, encoder.num_layers + 1, encoder.config.model.width)
    for row, position in enumerate([1, 4]):
        np.testing.assert_allclose(found.vectors_NLD[row], encoding.layers[:, position], atol=1e-6)
    (cut,) = encoder.encode([["the", "bank", "app", "roved", "the", "zyzzyva", "loan"]])
    np.testing.assert_allclose(found.vectors_NLD[2], cut.layers[:, 2], atol=1e-6)
    assert found.known_N.tolist() == [True, False, False]
    assert found.num_unknown == 2
    own = encoder.reading.combine(found.vectors_NLD.swapaxes(0, 1))
    np.testing.assert_allclose(own[0], encoding.vectors[1], atol=1e-6)


def test_the_known_share_needs_no_vectors(encoder):
    targets = [Target(SENTENCE, 4, 8), Target(SENTENCE, 22, 29), Target(SENTENCE, 9, 12), Target(SENTENCE, 0, 3)]
    assert known_share(encoder, targets) == encode_targets(encoder, targets).known_N.mean() == 0.5


def test_no_target_is_refused(encoder):
    with pytest.raises(ValueError, match="there are no targets to encode"):
        encode_targets(encoder, [])
    with pytest.raises(ValueError, match="a target in “the bank approved the zyzzyva loan” has no character"):
        encode_targets(encoder, [Target(SENTENCE, 3, 4)])
