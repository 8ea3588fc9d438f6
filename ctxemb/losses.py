"""The losses of the contrastive family: pure functions, tensors in, numbers in nats out.

N anchors, M candidates, D numbers per vector. Vectors are scaled to length 1 here, so scores are cosines.
"""

import torch
from torch import Tensor
from torch.nn import functional as F


def info_nce(
    anchors_ND: Tensor,
    candidates_MD: Tensor,
    targets_NM: Tensor,
    masked_NM: Tensor | None = None,
    temperature: float = 0.1,
) -> Tensor:
    """InfoNCE of each anchor, (N,) in nats: how surprising its positives are among the candidates.

    Args:
        anchors_ND: one vector an anchor.
        candidates_MD: positives and negatives, shared by all anchors; or (N, M, D), each anchor's own.
        targets_NM: the share of each candidate among an anchor's positives; rows sum to 1. With a single positive it
            is one-hot and this is the usual InfoNCE; soft rows (a teacher's) spread it over several.
        masked_NM: True where a candidate is neither (a false negative, a duplicate): it leaves the softmax.
        temperature: divides the cosines, > 0.

    Raises:
        ValueError: if the temperature is not positive.

    Source: van den Oord et al. 2018, arXiv:1807.03748.
    """
    return info_nce_of_cosines(cosines(anchors_ND, candidates_MD), targets_NM, masked_NM, temperature)


def info_nce_of_cosines(
    cosines_NM: Tensor, targets_NM: Tensor, masked_NM: Tensor | None = None, temperature: float = 0.1
) -> Tensor:
    """`info_nce` where the cosines of anchors and candidates are there already.

    Raises:
        ValueError: if the temperature is not positive.
    """
    scores_NM = cosines_NM / checked_temperature(temperature)
    if masked_NM is not None:
        # no share of the softmax at any temperature; minus infinity would give 0 * inf = NaN below
        scores_NM = scores_NM.masked_fill(masked_NM, torch.finfo(scores_NM.dtype).min / 2)
    return -(targets_NM * scores_NM.log_softmax(dim=-1)).sum(dim=-1)


def cosines(anchors_ND: Tensor, candidates_MD: Tensor) -> Tensor:
    """(N, M) cosines; candidates are shared, (M, D), or each anchor's own, (N, M, D)."""
    anchors_ND, candidates_MD = F.normalize(anchors_ND, dim=-1), F.normalize(candidates_MD, dim=-1)
    if candidates_MD.ndim == 2:
        return anchors_ND @ candidates_MD.T
    return torch.einsum("nd,nmd->nm", anchors_ND, candidates_MD)


def uniformity_loss(vectors_ND: Tensor, t: float = 2.0) -> Tensor:
    """Log of the mean Gaussian potential of all pairs: lower is more evenly spread over the sphere.

    Source: Wang & Isola 2020, arXiv:2005.10242, equation 2.
    """
    unit_ND = F.normalize(vectors_ND, dim=-1)
    return torch.pdist(unit_ND).square().mul(-t).exp().mean().log()


def checked_temperature(temperature: float) -> float:
    """The temperature.

    Raises:
        ValueError: if it is not positive; a zero or negative one has no meaning in a softmax.
    """
    if not temperature > 0:
        raise ValueError(f"the temperature is {temperature}; it has to be above 0 (0.05 to 0.1 is usual)")
    return temperature
