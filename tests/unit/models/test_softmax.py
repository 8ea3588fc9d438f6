import copy
import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ctxemb.models.softmax import AdaptiveSoftmax

N, H, E, V = 40, 7, 5, 30
CUTOFFS = {"full": (), "adaptive": (8, 20), "one word a cluster": (28, 29), "cutoffs beyond V": (10, 30, 99)}


def random_softmax(cutoffs: tuple[int, ...], seed: int = 0) -> AdaptiveSoftmax:
    """Every parameter random, far from the uniform start."""
    torch.manual_seed(seed)
    softmax = AdaptiveSoftmax(H, nn.Parameter(torch.empty(V, E)), cutoffs)
    for parameter in softmax.parameters():
        nn.init.normal_(parameter)
    return softmax


def states_and_targets() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(1)
    return torch.randn(N, H, generator=generator), torch.randint(V, (N,), generator=generator)


def test_full_is_cross_entropy_over_a_plain_linear_layer_and_so_are_its_gradients():
    softmax = random_softmax(())
    states_NH, targets_N = states_and_targets()
    plain = copy.deepcopy(softmax)
    logits_NV = F.linear(plain.projection(states_NH), plain.weight, plain.bias)
    expected_N = F.cross_entropy(logits_NV, targets_N, reduction="none")
    nll_N = softmax(states_NH, targets_N)
    torch.testing.assert_close(nll_N, expected_N)
    nll_N.sum().backward()
    expected_N.sum().backward()
    for name in ("projection.weight", "weight", "bias"):
        torch.testing.assert_close(softmax.get_parameter(name).grad, plain.get_parameter(name).grad)


def torch_adaptive(softmax: AdaptiveSoftmax) -> nn.AdaptiveLogSoftmaxWithLoss:
    """Torch's module with the same weights; it has no tail bias, and its tail projections are made the identity."""
    theirs = nn.AdaptiveLogSoftmaxWithLoss(E, V, [8, 20], div_value=1.0, head_bias=True)
    with torch.no_grad():
        theirs.head.weight.copy_(torch.cat([softmax.weight[:8], softmax.cluster_weight]))
        theirs.head.bias.copy_(torch.cat([softmax.bias[:8], softmax.cluster_bias]))
        for tail, (start, stop) in zip(theirs.tail, softmax.clusters, strict=True):
            tail[0].weight.copy_(torch.eye(E))
            tail[1].weight.copy_(softmax.weight[start:stop])
    return theirs


def test_adaptive_agrees_with_torch_in_loss_and_gradients():
    softmax = random_softmax((8, 20))
    nn.init.zeros_(softmax.bias[8:].data)
    theirs = torch_adaptive(softmax)
    states_NH, targets_N = states_and_targets()
    nll_N = softmax(states_NH, targets_N)
    queries_NE = softmax.projection(states_NH).detach().requires_grad_()
    output_N = theirs(queries_NE, targets_N).output
    torch.testing.assert_close(nll_N, -output_N)
    torch.testing.assert_close(softmax.log_probabilities(states_NH), theirs.log_prob(queries_NE))
    nll_N.sum().backward()
    (-output_N.sum()).backward()
    torch.testing.assert_close(softmax.projection.weight.grad, queries_NE.grad.T @ states_NH)
    torch.testing.assert_close(softmax.weight.grad[:8], theirs.head.weight.grad[:8])
    torch.testing.assert_close(softmax.cluster_weight.grad, theirs.head.weight.grad[8:])
    torch.testing.assert_close(softmax.weight.grad[8:20], theirs.tail[0][1].weight.grad)
    torch.testing.assert_close(softmax.weight.grad[20:], theirs.tail[1][1].weight.grad)


@pytest.mark.parametrize("cutoffs", CUTOFFS.values(), ids=CUTOFFS)
def test_probabilities_sum_to_1_and_agree_with_the_loss(cutoffs):
    softmax = random_softmax(cutoffs)
    states_NH, targets_N = states_and_targets()
    log_p_NV = softmax.log_probabilities(states_NH)
    torch.testing.assert_close(log_p_NV.exp().sum(1), torch.ones(N))
    torch.testing.assert_close(softmax(states_NH, targets_N), -log_p_NV[torch.arange(N), targets_N])


@pytest.mark.parametrize("cutoffs", CUTOFFS.values(), ids=CUTOFFS)
def test_gradients_agree_with_finite_differences(cutoffs):
    softmax = random_softmax(cutoffs).double()
    states_NH, targets_N = states_and_targets()
    states_NH, targets_N = states_NH[:6].double().requires_grad_(), targets_N[:6]

    def nll(states: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.func.functional_call(softmax, {"weight": weight, "bias": bias}, (states, targets_N))

    # the loss is computed in float32 (`.float()`), hence the coarse step
    assert torch.autograd.gradcheck(nll, (states_NH, softmax.weight, softmax.bias), eps=1e-2, atol=1e-2)


def test_a_worked_example_with_one_cluster():
    softmax = AdaptiveSoftmax(1, nn.Parameter(torch.zeros(6, 1)), (2,))  # head: words 0, 1 and a cluster of 4
    with torch.no_grad():
        softmax.bias.copy_(torch.tensor([3.0, 1.0, 1.0, 2.0, 3.0, 4.0]).log())
        softmax.cluster_bias.copy_(torch.tensor([4.0]).log())
    expected = [3 / 8, 1 / 8, 4 / 8 * 0.1, 4 / 8 * 0.2, 4 / 8 * 0.3, 4 / 8 * 0.4]
    torch.testing.assert_close(softmax.log_probabilities(torch.ones(1, 1)).exp(), torch.tensor([expected]))


@pytest.mark.parametrize("cutoffs", CUTOFFS.values(), ids=CUTOFFS)
def test_without_weights_every_word_costs_ln_v(cutoffs):
    softmax = AdaptiveSoftmax(H, nn.Parameter(torch.zeros(V, E)), cutoffs)
    torch.testing.assert_close(softmax(*states_and_targets()), torch.full((N,), math.log(V)))


def test_handing_in_a_weight_ties_it():
    embedding = nn.Embedding(V, E)
    softmax = AdaptiveSoftmax(H, embedding.weight, (8, 20))
    before = softmax.log_probabilities(torch.ones(1, H))
    with torch.no_grad():
        embedding.weight[3] += 1
    assert softmax.weight.data_ptr() == embedding.weight.data_ptr()
    assert not torch.allclose(softmax.log_probabilities(torch.ones(1, H)), before)


@pytest.mark.parametrize("cutoffs", CUTOFFS.values(), ids=CUTOFFS)
def test_no_predictions_cost_nothing(cutoffs):
    nll_N = random_softmax(cutoffs)(torch.empty(0, H), torch.empty(0, dtype=torch.int64))
    assert nll_N.shape == (0,)
    assert nll_N.sum() == 0
