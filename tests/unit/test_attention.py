"""The second answer to *Why?*: attention, in the family that has it."""

from pathlib import Path

import numpy as np
import pytest

from ctxemb import Encoder
from ctxemb.comparison import Sentence, attention, find_uses
from tests.untrained import write_checkpoints


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("families")
    write_checkpoints(folder, tmp_path_factory.mktemp("cache"))
    return folder


def test_attention_is_the_mean_of_the_heads_softmax_over_the_other_words(folder: Path) -> None:
    encoder = Encoder.load(folder / "en-contrastive", device="cpu")
    [use], _ = find_uses(encoder, [Sentence("the bank approved the loan for the school")], "bank")
    shares_T = attention(encoder, use)
    assert shares_T is not None
    weights = {name: parameter.detach().numpy() for name, parameter in encoder.model.named_parameters()}
    span = weights["distance"].shape[1] // 2
    expected = np.zeros(len(use.encoding.ids))
    for head, distances in enumerate(weights["distance"]):
        scores = [
            weights["importance.weight"][i, head] + distances[t - 1 + span] for t, i in enumerate(use.encoding.ids)
        ]
        scores[1] = -np.inf
        expected += np.exp(scores) / np.exp(scores).sum() / len(weights["distance"])
    assert np.isnan(shares_T[1])
    np.testing.assert_allclose(np.nan_to_num(shares_T), expected, atol=1e-6)
    assert np.nansum(shares_T) == pytest.approx(1)


@pytest.mark.parametrize("name", ["en-bilm", "zh-static"])
def test_other_families_have_no_attention(folder: Path, name: str) -> None:
    encoder = Encoder.load(folder / name, device="cpu")
    word, text = ("bank", "the bank is here") if name.startswith("en") else ("苹果", "我吃苹果")
    [use], _ = find_uses(encoder, [Sentence(text)], word)
    assert attention(encoder, use) is None
