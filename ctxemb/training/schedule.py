"""How long, how fast and how exactly to train: the settings that every family shares, and the rate of each step."""

import math
from typing import Literal, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ctxemb.checkpoint import WeightType


class ScheduleConfig(BaseModel):
    """Optimiser, schedule, validation and saving; families add their own settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_epochs: int = Field(default=1, ge=1, le=10_000, description="Passes over the training sentences")
    max_tokens: int | None = Field(default=None, ge=1, description="Stop after about this many training tokens")
    max_steps: int | None = Field(default=None, ge=1, description="Stop after this many optimiser steps")
    accumulate: int = Field(default=1, ge=1, le=1_024, description="Batches per optimiser step and process")
    optimizer: Literal["adam", "adamw"] = Field(default="adam", description="adamw: Adam with weight_decay")
    learning_rate: float = Field(default=1e-3, gt=0, le=10, description="Adam's step size, at its highest")
    weight_decay: float = Field(
        default=0.0, ge=0, le=10, description="adamw: share of a weight, times the rate, that a step takes off it"
    )
    schedule: Literal["constant", "cosine", "plateau"] = Field(default="cosine", description="How the rate changes")
    warmup_steps: int = Field(default=200, ge=0, description="Steps of linear rise from 0 to the rate")
    final_rate_share: float = Field(
        default=0.02, ge=0, le=1, description="Where the cosine ends, as a share of the rate"
    )
    plateau_patience: int = Field(
        default=2, ge=1, description="Validations without gain before `plateau` halves the rate"
    )
    clip_norm: float = Field(default=5.0, gt=0, description="Gradients longer than this are shortened to it")
    validation_share: float = Field(default=0.01, gt=0, lt=1, description="Share of tokens held out for validation")
    max_validation_tokens: int = Field(default=100_000, ge=1, description="Upper bound on held-out tokens")
    validate_every: int = Field(default=1_000, ge=1, description="Steps between validations")
    early_stop_patience: int | None = Field(
        default=None, ge=1, description="Stop after so many validations without gain"
    )
    save_every: int = Field(default=200, ge=1, description="Steps between saved states (lost at most after a kill)")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="auto: bfloat16 where the processor computes in it, else float32"
    )
    weight_type: WeightType = Field(default="float16", description="Number type of saved weights")
    seed: int = Field(default=0, ge=0, lt=2**31, description="Decides initial weights, order and dropout")

    @model_validator(mode="after")
    def _decay_has_its_optimizer(self) -> Self:
        if self.weight_decay and self.optimizer != "adamw":
            raise ValueError(f"weight_decay {self.weight_decay} needs optimizer adamw, not {self.optimizer}")
        return self


def scheduled_rate(config: ScheduleConfig, step: int, total_steps: int) -> float:
    """The learning rate of a step (the first is 1), before any rescue or plateau has halved it."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.schedule != "cosine":
        return config.learning_rate
    done = (step - config.warmup_steps) / max(total_steps - config.warmup_steps, 1)
    share = config.final_rate_share + (1 - config.final_rate_share) * 0.5 * (1 + math.cos(math.pi * min(done, 1)))
    return config.learning_rate * share


def compute_type(precision: Literal["auto", "float32", "bfloat16"], device: torch.device) -> torch.dtype:
    """The number type of matrix products; weights and sums stay float32."""
    if precision != "auto":
        return torch.float32 if precision == "float32" else torch.bfloat16
    has_bfloat16 = torch.cuda.is_bf16_supported() if device.type == "cuda" else _cpu_has_bfloat16()
    return torch.bfloat16 if has_bfloat16 else torch.float32


def _cpu_has_bfloat16() -> bool:
    # without the instructions oneDNN emulates bfloat16, several times slower than float32
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
