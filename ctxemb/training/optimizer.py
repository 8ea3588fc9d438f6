"""Adam or AdamW over an objective's groups of weights, each at its own multiple of the scheduled rate."""

from collections.abc import Iterable, Sequence

import torch
from torch import nn
from torch.optim import Adam, AdamW

from ctxemb.training.objective import ParameterGroup
from ctxemb.training.schedule import ScheduleConfig


def build_optimizer(config: ScheduleConfig, groups: Iterable[ParameterGroup]) -> torch.optim.Optimizer:
    """The optimiser; weights of one dimension (biases, gains) do not decay.

    Source: Loshchilov and Hutter 2019, arXiv:1711.05101, for AdamW.
    """
    if config.optimizer == "adam":
        return Adam(
            [_group(config, parameters, rate_share) for parameters, rate_share in groups],
            lr=config.learning_rate,
            fused=True,
        )
    decayed = []
    for parameters, rate_share in groups:
        for decay, is_decayed in ((config.weight_decay, True), (0.0, False)):
            if chosen := [parameter for parameter in parameters if (parameter.dim() > 1) == is_decayed]:
                decayed.append(_group(config, chosen, rate_share) | {"weight_decay": decay})
    return AdamW(decayed, lr=config.learning_rate, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Give every group its multiple of the rate."""
    for group in optimizer.param_groups:
        group["lr"] = rate * group["rate_share"]


def _group(config: ScheduleConfig, parameters: Sequence[nn.Parameter], rate_share: float) -> dict:
    return {"params": list(parameters), "lr": config.learning_rate * rate_share, "rate_share": rate_share}
