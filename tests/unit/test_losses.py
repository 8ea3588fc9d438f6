import math

import numpy as np
import pytest
import torch
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import cosine_similarity
from torch import Tensor
from torch.nn import functional as F

from ctxemb.analysis.isotropy import uniformity
from ctxemb.losses import checked_temperature, cosines, info_nce, uniformity_loss

N, M, D = 5, 7, 4


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def vectors(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


def one_hot(targets: list[int], num_candidates: int) -> Tensor:
    return F.one_hot(torch.tensor(targets), num_candidates).double()


# InfoNCE


def test_info_nce_by_hand():
    anchors_ND = torch.tensor([[2.0, 0.0]])
    candidates_MD = torch.tensor([[1.0, 0.0], [0.0, 5.0], [-3.0, 0.0]])  # cosines 1, 0, -1
    for target, temperature, score in ((0, 1, 1), (1, 1, 0), (0, 0.5, 2)):
        total = math.exp(1 / temperature) + 1 + math.exp(-1 / temperature)
        (loss,) = info_nce(anchors_ND, candidates_MD, one_hot([target], 3).float(), temperature=temperature)
        assert loss.item() == pytest.approx(math.log(total) - score, abs=1e-6)


@pytest.mark.parametrize("temperature", [0.05, 0.1, 1.0])
def test_info_nce_is_cross_entropy_over_cosines(temperature):
    anchors_ND, candidates_MD, targets = vectors(N, D), vectors(M, D), [0, 3, 6, 3, 1]
    scores_NM = torch.from_numpy(cosine_similarity(anchors_ND, candidates_MD)) / temperature
    torch.testing.assert_close(
        info_nce(anchors_ND, candidates_MD, one_hot(targets, M), temperature=temperature),
        F.cross_entropy(scores_NM, torch.tensor(targets), reduction="none"),
    )
    shares_NM = torch.rand(N, M, dtype=torch.float64).softmax(dim=1)
    torch.testing.assert_close(
        info_nce(anchors_ND, candidates_MD, shares_NM, temperature=temperature),
        F.cross_entropy(scores_NM, shares_NM, reduction="none"),
    )


def test_masked_info_nce_is_that_of_the_candidates_that_are_left():
    anchors_ND, candidates_MD = vectors(N, D), vectors(M, D)
    masked_NM = torch.rand(N, M) < 0.4
    masked_NM[:, 2] = False
    targets_NM = torch.rand(N, M, dtype=torch.float64).masked_fill(masked_NM, 0)
    targets_NM /= targets_NM.sum(dim=1, keepdim=True)
    loss_N = info_nce(anchors_ND, candidates_MD, targets_NM, masked_NM)
    for n in range(N):
        kept = ~masked_NM[n]
        expected = info_nce(anchors_ND[n : n + 1], candidates_MD[kept], targets_NM[n : n + 1, kept])
        torch.testing.assert_close(loss_N[n : n + 1], expected)


@pytest.mark.parametrize("temperature", [1e-5, 0.1, 10.0])
def test_masked_candidates_do_not_matter_at_all(temperature):
    anchors_ND, candidates_MD = vectors(N, D), vectors(M, D).abs().requires_grad_()
    anchors_ND[0] = -1  # low scores only
    masked_NM = torch.zeros(N, M, dtype=torch.bool)
    masked_NM[:, 4:] = True
    targets_NM = one_hot([0, 1, 2, 3, 0], M)
    loss_N = info_nce(anchors_ND, candidates_MD, targets_NM, masked_NM, temperature)
    # as near as can be: the anchors themselves
    others_MD = torch.cat([candidates_MD[:4], anchors_ND[:3]])
    assert torch.equal(loss_N, info_nce(anchors_ND, others_MD, targets_NM, masked_NM, temperature))
    without_N = info_nce(anchors_ND, candidates_MD[:4], targets_NM[:, :4], temperature=temperature)
    torch.testing.assert_close(loss_N, without_N)
    (gradient_MD,) = torch.autograd.grad(loss_N.sum(), candidates_MD)
    assert torch.isfinite(gradient_MD).all()
    assert not gradient_MD[4:].any()
    assert loss_N.max() > 0.1


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
def test_a_positive_without_a_rival_costs_nothing_in_any_number_type(dtype):
    targets_NM = one_hot([0, 1, 2, 3, 4], M)
    masked_NM = targets_NM == 0
    loss_N = info_nce(vectors(N, D).to(dtype), vectors(M, D).to(dtype), targets_NM.to(dtype), masked_NM)
    assert loss_N.tolist() == [0] * N


@pytest.mark.parametrize("num_candidates", [1, 2, 65])
def test_candidates_that_are_alike_cost_the_logarithm_of_their_number(num_candidates):
    candidates_MD = vectors(1, D).expand(num_candidates, D)
    for targets_NM in (one_hot([0] * N, num_candidates), torch.full((N, num_candidates), 1 / num_candidates)):
        loss_N = info_nce(vectors(N, D), candidates_MD, targets_NM)
        assert loss_N.tolist() == pytest.approx([math.log(num_candidates)] * N)


def test_candidates_of_each_anchor_are_like_shared_ones_when_they_are_equal():
    anchors_ND, candidates_MD, masked_NM = vectors(N, D), vectors(M, D), torch.rand(N, M) < 0.3
    masked_NM[:, 1] = False
    targets_NM = one_hot([1] * N, M)
    repeated_NMD = candidates_MD.expand(N, M, D)
    torch.testing.assert_close(
        info_nce(anchors_ND, repeated_NMD, targets_NM, masked_NM),
        info_nce(anchors_ND, candidates_MD, targets_NM, masked_NM),
    )


def test_candidates_of_each_anchor_agree_with_a_loop_over_anchors():
    anchors_ND, candidates_NMD, targets_NM = vectors(N, D), vectors(N, M, D), one_hot([1, 0, 6, 2, 2], M)
    together_N = info_nce(anchors_ND, candidates_NMD, targets_NM)
    for n in range(N):
        (alone,) = info_nce(anchors_ND[n : n + 1], candidates_NMD[n], targets_NM[n : n + 1])
        torch.testing.assert_close(together_N[n], alone)


def test_info_nce_does_not_know_lengths_nor_the_order_of_candidates():
    anchors_ND, candidates_MD, targets_NM = vectors(N, D), vectors(M, D), vectors(N, M).softmax(dim=1)
    loss_N = info_nce(anchors_ND, candidates_MD, targets_NM)
    stretched_MD = candidates_MD * torch.rand(M, 1).add(0.1)
    torch.testing.assert_close(info_nce(anchors_ND * 1_000, stretched_MD, targets_NM), loss_N)
    order = torch.randperm(M)
    torch.testing.assert_close(info_nce(anchors_ND, candidates_MD[order], targets_NM[:, order]), loss_N)


def test_soft_targets_cost_at_least_their_entropy_and_so_much_when_they_are_met():
    anchors_ND, candidates_MD = vectors(N, D), vectors(M, D)
    targets_NM = vectors(N, M).softmax(dim=1)
    entropy_N = -(targets_NM * targets_NM.log()).sum(dim=1)
    assert (info_nce(anchors_ND, candidates_MD, targets_NM) > entropy_N).all()
    met_NM = cosines(anchors_ND, candidates_MD).div(0.1).softmax(dim=1)
    entropy_N = -(met_NM * met_NM.log()).sum(dim=1)
    torch.testing.assert_close(info_nce(anchors_ND, candidates_MD, met_NM, temperature=0.1), entropy_N)


def test_a_zero_vector_is_no_nan():
    anchors_ND = torch.zeros(N, D, requires_grad=True)
    loss_N = info_nce(anchors_ND, torch.zeros(M, D), one_hot([0] * N, M).float())
    assert loss_N.tolist() == pytest.approx([math.log(M)] * N)
    (gradient_ND,) = torch.autograd.grad(loss_N.sum(), anchors_ND)
    assert torch.isfinite(gradient_ND).all()


@pytest.mark.parametrize("temperature", [0, -0.1, math.nan])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match=f"the temperature is {temperature}; it has to be above 0"):
        info_nce(vectors(N, D), vectors(M, D), one_hot([0] * N, M), temperature=temperature)
    assert checked_temperature(0.07) == 0.07


# cosines


def test_cosines_agree_with_sklearn():
    anchors_ND, candidates_MD, candidates_NMD = vectors(N, D), vectors(M, D), vectors(N, M, D)
    np.testing.assert_allclose(cosines(anchors_ND, candidates_MD), cosine_similarity(anchors_ND, candidates_MD))
    for n, row_M in enumerate(cosines(anchors_ND, candidates_NMD)):
        np.testing.assert_allclose(row_M, cosine_similarity(anchors_ND[n : n + 1], candidates_NMD[n])[0])


# uniformity


def test_uniformity_by_hand():
    # squared distances on the circle: 2, 2, 4
    vectors_ND = torch.tensor([[1.0, 0.0], [0.0, 3.0], [0.0, -2.0]])
    for t in (2.0, 0.5):
        expected = math.log((2 * math.exp(-2 * t) + math.exp(-4 * t)) / 3)
        assert uniformity_loss(vectors_ND, t).item() == pytest.approx(expected, abs=1e-6)


def test_uniformity_agrees_with_scipy_and_the_analysis():
    vectors_ND = vectors(30, D)
    distances = pdist(vectors_ND / vectors_ND.norm(dim=1, keepdim=True))
    assert uniformity_loss(vectors_ND).item() == pytest.approx(math.log(np.exp(-2 * distances**2).mean()))
    assert uniformity_loss(vectors_ND).item() == pytest.approx(uniformity(vectors_ND.numpy()))


def test_uniformity_does_not_know_turns_and_lengths_and_is_zero_in_one_point():
    vectors_ND = vectors(30, D)
    turn_DD, _ = torch.linalg.qr(vectors(D, D))
    torch.testing.assert_close(uniformity_loss(7 * vectors_ND @ turn_DD), uniformity_loss(vectors_ND))
    together_ND = vectors(1, D).repeat(9, 1).requires_grad_()
    loss = uniformity_loss(together_ND)
    assert loss.item() == pytest.approx(0)
    (gradient_ND,) = torch.autograd.grad(loss, together_ND)
    assert torch.isfinite(gradient_ND).all()


def test_following_the_uniformity_loss_spreads_vectors():
    vectors_ND = (vectors(20, D) * 0.1 + 1).requires_grad_()
    before = uniformity_loss(vectors_ND)
    for _ in range(50):
        (gradient_ND,) = torch.autograd.grad(uniformity_loss(vectors_ND), vectors_ND)
        vectors_ND = (vectors_ND - gradient_ND).detach().requires_grad_()
    assert before.item() > -0.3
    assert uniformity_loss(vectors_ND).item() < -1.5
