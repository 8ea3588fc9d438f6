"""The terms of the contrastive objective: each holds a batch's vectors against each other and says what is masked.

R pairs, W words of the batch, M random words, N anchors that have a positive, D numbers per vector.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from ctxemb.losses import cosines, info_nce, info_nce_of_cosines
from ctxemb.models.contrastive import Contrastive
from ctxemb.training.words import NONE, WordChoice, WordSampler


@dataclass(frozen=True)
class PairTerm:
    """What one sense per passage says of a batch, a number for each of R pairs.

    Attributes:
        loss_R: InfoNCE, the mean of both ways, in nats.
        positive_R: cosine with the partner.
        negative_R: mean cosine with what repels.
        is_first_R: whether the partner is the nearest.
        masked_RR: what neither attracted nor repelled.
    """

    loss_R: Tensor
    positive_R: Tensor
    negative_R: Tensor
    is_first_R: Tensor
    masked_RR: Tensor


def pair_term(
    vectors_RPD: Tensor,
    masked_RR: np.ndarray,
    temperature: float,
    spread_RR: np.ndarray | None = None,
    spread_share: float = 0.0,
) -> PairTerm:
    """The two vectors of a pair attract, all others repel.

    Args:
        vectors_RPD: (R, 2, D).
        masked_RR: pairs that are no negatives of each other; the diagonal does not matter.
        temperature: divides the cosines.
        spread_RR: rows that sum to 1, a teacher's targets.
        spread_share: how much of the target is the teacher's.
    """
    device = vectors_RPD.device
    first_RD, second_RD = vectors_RPD.unbind(1)
    own_RR = torch.eye(len(first_RD), dtype=torch.bool, device=device)
    hidden_RR = torch.from_numpy(masked_RR).to(device) & ~own_RR
    targets_RR = own_RR.float()
    if spread_RR is not None:
        targets_RR = torch.lerp(targets_RR, torch.from_numpy(spread_RR).to(device), spread_share)
        targets_RR = targets_RR.masked_fill(hidden_RR, 0)
        targets_RR = targets_RR / targets_RR.sum(dim=1, keepdim=True)
    there_R, back_R = (
        info_nce(anchors_RD, others_RD, targets_RR, hidden_RR, temperature)
        for anchors_RD, others_RD in ((first_RD, second_RD), (second_RD, first_RD))
    )
    cosines_RR = cosines(first_RD, second_RD).detach()
    others_RR = ~(own_RR | hidden_RR)
    nearest_R = cosines_RR.masked_fill(hidden_RR, -2).argmax(1)
    return PairTerm(
        loss_R=(there_R + back_R) / 2,
        positive_R=cosines_RR.diagonal(),
        negative_R=(cosines_RR * others_RR).sum(1) / others_RR.sum(1).clamp(min=1),
        is_first_R=(nearest_R == torch.arange(len(nearest_R), device=device)).float(),
        masked_RR=hidden_RR,
    )


def word_term(
    model: Contrastive,
    anchors_RD: Tensor,
    contexts_RD: Tensor,
    drawn: tuple[Tensor, Tensor, Tensor],
    words_R: np.ndarray,
    choice: WordChoice,
    source_R: np.ndarray,
    sampler: WordSampler,
    temperature: float,
) -> tuple[Tensor, int]:
    """A use attracts another word, or the same one elsewhere, in a context of that; other words there repel.

    Args:
        anchors_RD: uses with their word.
        contexts_RD: the other context of each pair, to be joined with the candidates.
        drawn: (R, D) partners, (R, D) antonyms and (M, D) negatives, the words of `choice`.
        words_R: word of each anchor.
        choice: what was drawn.
        source_R: the pair whose context the candidates stand in; -1 for an anchor without a positive.
        sampler: says which words are alike.
        temperature: divides the cosines.

    Returns:
        The mean in nats (0 without anchors), and how many candidates were masked because they are alike.
    """
    chosen_N = np.flatnonzero(source_R != NONE)
    if len(chosen_N) == 0:
        return anchors_RD.sum() * 0, 0
    partners_RD, antonyms_RD, negatives_MD = drawn
    device = anchors_RD.device
    rows_N, sources_N = (torch.from_numpy(i).to(device) for i in (chosen_N, source_R[chosen_N]))
    alike_NM = sampler.are_alike(words_R[chosen_N][:, None], choice.negatives_M[None])
    no_antonym_N1 = (choice.antonyms_R[chosen_N] == NONE)[:, None]
    masked_NM = np.concatenate([np.zeros_like(no_antonym_N1), no_antonym_N1, alike_NM], axis=1)
    targets_NM = F.one_hot(torch.zeros(len(chosen_N), dtype=torch.int64, device=device), masked_NM.shape[1]).float()
    contexts_ND, own_ND = contexts_RD[sources_N], anchors_RD[rows_N]
    pair_NPD = model.join(contexts_ND[:, None], torch.stack([partners_RD[rows_N], antonyms_RD[rows_N]], dim=1))
    cosines_NM = torch.cat([cosines(own_ND, pair_NPD), model.joined_cosines(own_ND, contexts_ND, negatives_MD)], dim=1)
    loss_N = info_nce_of_cosines(cosines_NM, targets_NM, torch.from_numpy(masked_NM).to(device), temperature)
    return loss_N.mean(), int(alike_NM.sum())


def cloze_term(
    model: Contrastive,
    vectors_RPD: Tensor,
    targets_RD: Tensor,
    words_R: np.ndarray,
    sampler: WordSampler,
    temperature: float,
) -> Tensor:
    """A context attracts its own word among the words of the batch, the mean in nats; synonyms are masked."""
    device = vectors_RPD.device
    words_W, first_W = np.unique(words_R, return_index=True)
    which_R = np.searchsorted(words_W, words_R)
    own_RW = which_R[:, None] == np.arange(len(words_W))
    masked_RW = sampler.are_alike(words_R[:, None], words_W[None]) & ~own_RW
    candidates_WD = model.join(targets_RD[torch.from_numpy(first_W).to(device)])
    own, masked = torch.from_numpy(own_RW).float().to(device), torch.from_numpy(masked_RW).to(device)
    first_RD, second_RD = vectors_RPD.unbind(1)
    losses = [info_nce(side_RD, candidates_WD, own, masked, temperature).mean() for side_RD in (first_RD, second_RD)]
    return (losses[0] + losses[1]) / 2
