import math

import pytest
import torch
from pydantic import ValidationError

from ctxemb.batching import make_batch
from ctxemb.checkpoint import load_checkpoint, save_checkpoint
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.text import TextConfig, WordTokenizer

V, E, H, K = 14, 4, 6, 9
TEXT = TextConfig(min_frequency=1)


def bilm(**changes: object) -> BiLM:
    torch.manual_seed(0)
    settings = {"vocabulary_size": V, "embedding_size": E, "hidden_size": H, "cutoffs": (8,), "tied_weights": False}
    return BiLM(BiLMConfig.model_validate(settings | changes))


@pytest.mark.parametrize("softmax", ["full", "adaptive"])
@pytest.mark.parametrize("shared", [True, False])
def test_a_word_has_so_many_numbers_at_the_output_and_survives_a_checkpoint(tmp_path, softmax, shared):
    model = bilm(output_size=K, softmax=softmax, shared_embeddings=shared).eval()
    for lm in (model.forward_lm, model.backward_lm):
        assert lm.softmax.weight.shape == (V, K)
        assert lm.softmax.projection.weight.shape == (K, H)
    tokenizer = WordTokenizer.train(["one two three four five six seven eight nine ten"], TEXT)
    save_checkpoint(tmp_path / "m", model, tokenizer, TEXT)
    batch = make_batch([[5, 9, 12, 4]])
    with torch.inference_mode():
        log_p_2BTV = load_checkpoint(tmp_path / "m").model.predictions(batch)
        assert torch.equal(log_p_2BTV, model.predictions(batch))
    torch.testing.assert_close(log_p_2BTV.exp().sum(-1), torch.ones(2, 1, 4))


def test_with_an_identity_as_projection_the_output_is_a_plain_linear_layer():
    model = bilm(output_size=H, softmax="full").eval()
    softmax, states_NH = model.forward_lm.softmax, torch.randn(7, H)
    with torch.inference_mode():
        torch.nn.init.eye_(softmax.projection.weight)
        expected = torch.nn.functional.linear(states_NH, softmax.weight, softmax.bias).log_softmax(-1)
        torch.testing.assert_close(softmax.log_probabilities(states_NH), expected)


def test_untrained_loss_is_ln_v():
    for nll_N in bilm(output_size=K)(make_batch([[5, 9, 12, 4, 7, 7]] * 20)):
        assert nll_N.mean().item() == pytest.approx(math.log(V), abs=0.1)


def test_without_it_the_output_is_as_wide_as_the_embedding():
    assert bilm().forward_lm.softmax.weight.shape == (V, E)
    assert BiLMConfig.model_validate_json("{}").output_size is None  # configs that were written before it was there


def test_tied_weights_have_no_size_of_their_own():
    with pytest.raises(ValidationError, match="output_size 9 is for an output layer of its own; set tied_weights to"):
        bilm(output_size=K, tied_weights=True)
