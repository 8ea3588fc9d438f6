import itertools
import math

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from ctxemb.batching import Batch, make_batch
from ctxemb.models.bilm import BiLM, BiLMConfig, DirectionalLM, prediction_mask
from ctxemb.text import BOS, EOS

V, E, H = 40, 6, 8
SENTENCES = [[7, 20, 35, 9, 7], [12], [30, 31, 5, 8, 39, 4, 17, 22, 10], [6, 6]]
VARIANTS = [
    {"softmax": softmax, "shared_embeddings": shared, "tied_weights": tied}
    for softmax, shared, tied in itertools.product(["full", "adaptive"], [True, False], [True, False])
]


def sizes(**changes: object) -> BiLMConfig:
    settings = {"vocabulary_size": V, "embedding_size": E, "hidden_size": H, "cutoffs": (10, 25)}
    return BiLMConfig.model_validate(settings | changes)


def random_bilm(seed: int = 0, **changes: object) -> BiLM:
    """A module in evaluation mode whose weights are large enough for every input to matter."""
    torch.manual_seed(seed)
    model = BiLM(sizes(**changes)).eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model


@pytest.fixture(scope="module", params=VARIANTS, ids=lambda variant: "-".join(map(str, variant.values())))
def model(request) -> BiLM:
    return random_bilm(**request.param)


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.inference_mode():
        yield


def naive_states(lm: DirectionalLM, words: list[int]) -> list[list[Tensor]]:
    """States after each word, layer by layer: one sentence, one cell, one step at a time."""
    inputs = [lm.embedding.weight[word] for word in words]
    layers = []
    for lstm in lm.layers:
        cell = nn.LSTMCell(lstm.input_size, lstm.hidden_size)
        cell.load_state_dict({name.removesuffix("_l0"): value for name, value in lstm.state_dict().items()})
        state = (torch.zeros(H), torch.zeros(H))
        outputs = []
        for value in inputs:
            state = cell(value, state)
            outputs.append(state[0])
        layers.append(outputs)
        inputs = outputs
    return layers


def naive_log_p(lm: DirectionalLM, state: Tensor) -> list[float]:
    """Log-probability of every word after a state, one word at a time."""
    softmax = lm.softmax
    query = softmax.projection.weight @ state
    scores = (softmax.weight @ query + softmax.bias).tolist()
    clusters = (softmax.cluster_weight @ query + softmax.cluster_bias).tolist()
    head = scores[: softmax.head_size] + clusters
    log_p = [score - math.log(sum(map(math.exp, head))) for score in head]
    words = log_p[: softmax.head_size]
    for log_p_cluster, (start, stop) in zip(log_p[softmax.head_size :], softmax.clusters, strict=True):
        total = math.log(sum(map(math.exp, scores[start:stop])))
        words += [log_p_cluster + score - total for score in scores[start:stop]]
    return words


def replaced(sentence: list[int], position: int) -> list[int]:
    return [*sentence[:position], 38 if sentence[position] != 38 else 11, *sentence[position + 1 :]]


# parity with a naive loop


def test_loss_agrees_with_a_naive_loop(model):
    forward, backward = [], []
    for words in SENTENCES:
        for lm, read, predict, total in (
            (model.forward_lm, [BOS, *words], [*words, EOS], forward),
            (model.backward_lm, [EOS, *reversed(words)], [*reversed(words), BOS], backward),
        ):
            states = naive_states(lm, read)[-1]
            total += [-naive_log_p(lm, state)[word] for state, word in zip(states, predict, strict=True)]
    forward_N, backward_N = model(make_batch(SENTENCES))
    torch.testing.assert_close(forward_N, torch.tensor(forward), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(backward_N, torch.tensor(backward), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("readout", ["here", "context"])
def test_layers_agree_with_a_naive_loop(model, readout):
    layers_LBTD = model.layers(make_batch(SENTENCES), readout)
    skip = 1 if readout == "here" else 0  # words each direction has read, besides those before
    for b, words in enumerate(SENTENCES):
        forward = naive_states(model.forward_lm, [BOS, *words])
        backward = naive_states(model.backward_lm, [EOS, *reversed(words)])
        for t, layer in itertools.product(range(len(words)), range(2)):
            expected = torch.cat([forward[layer][t + skip], backward[layer][len(words) - 1 - t + skip]])
            torch.testing.assert_close(layers_LBTD[layer + 1, b, t], expected, atol=1e-5, rtol=1e-5)


def test_sentence_adds_the_mean_of_the_other_words_at_equal_length(model):
    here, sentence = (model.layers(make_batch(SENTENCES), readout) for readout in ("here", "sentence"))
    for b, words in enumerate(SENTENCES):
        for t, layer in itertools.product(range(len(words)), (1, 2)):
            state = here[layer, b, t]
            others = [here[layer, b, other] for other in range(len(words)) if other != t]
            expected = state / state.norm()
            if others:  # a sentence of one word has no rest
                mean = torch.stack(others).mean(dim=0)
                expected = expected + mean / mean.norm()
            torch.testing.assert_close(sentence[layer, b, t], expected, atol=1e-5, rtol=1e-5)


def test_layer_0_is_the_embedding_of_each_direction_padded_with_zeros(model):
    layer_0 = model.layers(make_batch(SENTENCES))[0]
    word = SENTENCES[2][3]
    zeros = torch.zeros(H - E)
    halves = [model.forward_lm.embedding.weight[word], zeros, model.backward_lm.embedding.weight[word], zeros]
    assert torch.equal(layer_0[2, 3], torch.cat(halves))


def test_predictions_agree_with_a_naive_loop(model):
    log_p_2BTV = model.predictions(make_batch(SENTENCES))
    for b, words in enumerate(SENTENCES):
        forward = naive_states(model.forward_lm, [BOS, *words])[-1]
        backward = naive_states(model.backward_lm, [EOS, *reversed(words)])[-1]
        for t in range(len(words)):
            expected = [naive_log_p(model.forward_lm, forward[t]), naive_log_p(model.backward_lm, backward[-2 - t])]
            torch.testing.assert_close(log_p_2BTV[:, b, t], torch.tensor(expected), atol=1e-5, rtol=1e-5)


def test_predictions_are_what_the_loss_is_made_of():
    model, words = random_bilm(), SENTENCES[2]
    batch = make_batch([words])
    log_p_2TV = model.predictions(batch)[:, 0]
    forward_N, backward_N = model(batch)
    each = torch.arange(len(words))
    torch.testing.assert_close(log_p_2TV[0, each, words], -forward_N[:-1])
    torch.testing.assert_close(log_p_2TV[1, each, words], -backward_N[:-1].flip(0))


# a sentence depends on itself alone


@pytest.mark.parametrize("readout", BiLMConfig.readouts)
def test_a_batch_of_one_equals_a_batch_of_many_in_any_order(model, readout):
    together = model.layers(make_batch(SENTENCES), readout)
    shuffled = model.layers(make_batch(SENTENCES[::-1]), readout)
    for b, words in enumerate(SENTENCES):
        alone = model.layers(make_batch([words]), readout)[:, 0]
        torch.testing.assert_close(together[:, b, : len(words)], alone, atol=1e-5, rtol=0)
        torch.testing.assert_close(shuffled[:, -1 - b, : len(words)], alone, atol=1e-5, rtol=0)


def test_the_loss_of_a_batch_is_the_losses_of_its_sentences(model):
    together = torch.stack(model(make_batch(SENTENCES)))
    alone = torch.cat([torch.stack(model(make_batch([words]))) for words in SENTENCES], dim=1)
    assert together.shape == (2, sum(map(len, SENTENCES)) + len(SENTENCES))
    torch.testing.assert_close(together, alone, atol=1e-5, rtol=0)


def test_what_stands_in_padding_cells_changes_nothing(model):
    batch = make_batch(SENTENCES)
    filled = Batch(torch.where(batch.ids_BT == 0, 33, batch.ids_BT), batch.lengths_B)
    for clean, dirty in zip(model(batch), model(filled), strict=True):
        assert torch.equal(clean, dirty)
    inside = prediction_mask(batch)[:, 1:]
    assert torch.equal(model.layers(batch)[:, inside], model.layers(filled)[:, inside])


def test_an_empty_batch_costs_nothing_and_is_no_nan():
    forward_N, backward_N = random_bilm()(make_batch([]))
    assert (len(forward_N), forward_N.sum().item(), backward_N.sum().item()) == (0, 0, 0)


# no leak


def test_a_word_never_reaches_its_own_prediction(model):
    words = SENTENCES[2]
    before = model.predictions(make_batch([words]))[:, 0]
    for t in range(len(words)):
        after = model.predictions(make_batch([replaced(words, t)]))[:, 0]
        assert torch.equal(after[:, t], before[:, t])
        # the test can fail: what each direction has read does change its predictions
        assert torch.equal(after[0, :t], before[0, :t])
        assert torch.equal(after[1, t:], before[1, t:])
        if t + 1 < len(words):
            assert (after[0, t + 1] - before[0, t + 1]).abs().max() > 1e-3
        if t > 0:
            assert (after[1, t - 1] - before[1, t - 1]).abs().max() > 1e-3


def test_the_context_of_a_word_does_not_know_it_and_its_own_state_does(model):
    words, t = SENTENCES[2], 4
    for readout, is_same in (("context", True), ("here", False)):
        before, after = (model.layers(make_batch([w]), readout)[1:, 0, t] for w in (words, replaced(words, t)))
        assert torch.equal(before[:, :H], after[:, :H]) is is_same
        assert torch.equal(before[:, H:], after[:, H:]) is is_same


# two uses of a word


@pytest.mark.parametrize("readout", BiLMConfig.readouts)
def test_two_uses_are_one_vector_at_layer_0_and_two_above(model, readout):
    layers_LBTD = model.layers(make_batch([[7, 20, 35, 9], [12, 31, 7, 4]]), readout)
    first, second = layers_LBTD[:, 0, 0], layers_LBTD[:, 1, 2]
    assert torch.equal(first[0], second[0])
    cosines = torch.cosine_similarity(first, second, dim=-1).tolist()
    assert cosines[0] == pytest.approx(1, abs=1e-6)
    assert max(cosines[1:]) < 0.99


# an untrained module


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: "-".join(map(str, variant.values())))
def test_untrained_loss_is_ln_v_in_both_directions(variant):
    torch.manual_seed(0)
    num_words = 2_000
    config = BiLMConfig(vocabulary_size=num_words, embedding_size=64, hidden_size=96, cutoffs=(100, 700), **variant)
    model = BiLM(config)
    words = torch.randint(4, num_words, (20, 15)).tolist()
    for nll_N in model(make_batch(words)):
        assert nll_N.mean().item() == pytest.approx(math.log(num_words), abs=0.05)


def test_dropout_acts_in_training_only():
    model = random_bilm(dropout=0.5)
    batch = make_batch(SENTENCES)
    assert torch.equal(model(batch)[0], model(batch)[0])
    model.train()
    assert not torch.equal(model(batch)[0], model(batch)[0])


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_sharing_and_tying_save_parameters(shared, tied):
    model = BiLM(sizes(shared_embeddings=shared, tied_weights=tied))
    tables = {p.data_ptr() for name, p in model.named_parameters() if p.shape == (V, E)}
    assert len(tables) == (1 if shared else 2) * (1 if tied else 2)
    assert (model.forward_lm.softmax is model.backward_lm.softmax) is shared


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"embedding_size": 9}, "embedding_size 9 is larger than hidden_size 8"),
        ({"cutoffs": (20, 10)}, "not positive and ascending"),
        ({"cutoffs": (0, 10)}, "not positive and ascending"),
        ({"dropout": 1.0}, "dropout"),
        ({"vocabulary_size": 4}, "vocabulary_size"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_impossible_sizes_are_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        sizes(**changes)
