"""A run's folder: `run.json` (its settings), `progress.jsonl`, `state.safetensors`, and the checkpoints beside them.

`state.safetensors` is everything that a resumed run needs, in one file that is replaced in one move.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ctxemb.atomic import replace_file
from ctxemb.checkpoint import read_state, write_state
from ctxemb.distributed import World
from ctxemb.training.objective import Objective

STATE, RUN, PROGRESS = "state.safetensors", "run.json", "progress.jsonl"
ADAM_STATE = ("step", "exp_avg", "exp_avg_sq")

Settings = Mapping[str, Mapping[str, Any]]  # part -> name -> value


class TrainingError(ValueError):
    """A run that cannot start or go on; the text says why and what to do."""


@dataclass
class RunState:
    """Everything besides tensors that a resumed run needs."""

    step: int = 0
    epoch: int = 0
    position: int = 0  # batches of this epoch that are done
    num_tokens: int = 0
    seconds: float = 0.0
    rate_factor: float = 1.0
    clip_norm: float = math.inf
    best_loss_nats: float = math.inf
    num_validations_without_gain: int = 0
    num_failures: int = 0
    num_restores: int = 0


def claim_folder(out: Path, objective: Objective[Any], world: World) -> bool:
    """Make `out` this run's folder, or find the same run in it; True if there is a state to resume.

    Raises:
        TrainingError: if `out` holds another run, or something else.
    """
    configs = {"model": objective.model.config, "training": objective.config}
    settings = {part: config.model_dump(mode="json") for part, config in configs.items()}
    settings |= {part: dict(report) for part, report in objective.data_reports.items()}
    # all ranks look before the first one writes
    has_run, has_state = (world.any((out / name).exists()) for name in (RUN, STATE))
    if has_run:
        earlier = json.loads((out / RUN).read_text(encoding="utf-8"))
        # a run of an earlier version had the defaults of the settings that it did not know yet
        defaults = {part: type(config).model_construct().model_dump(mode="json") for part, config in configs.items()}
        if changed := sorted(_differences(earlier, settings, defaults)):
            raise TrainingError(
                f"{out} holds a run with other settings ({', '.join(changed)}); "
                "use the same settings to resume it, or another --out"
            )
    elif world.is_first:
        if out.exists() and any(out.iterdir()):
            raise TrainingError(f"{out} is not empty and holds no training run; choose another --out")
        out.mkdir(parents=True, exist_ok=True)
        replace_file(out / RUN, json.dumps(settings, indent=2).encode())
    return has_state


def save_state(out: Path, model: nn.Module, optimizer: torch.optim.Optimizer, state: RunState) -> None:
    """Write weights, optimiser and counters, in one move.

    Raises:
        TrainingError: if a weight is not finite; nothing is written then.
    """
    tensors = {f"model.{name}": p.detach() for name, p in model.named_parameters()}
    if not all(torch.isfinite(tensor).all() for tensor in tensors.values()):
        raise TrainingError(f"weights are not finite at step {state.step}; the last good state is kept")
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"adam.{key}.{name}"] = value
    write_state(out / STATE, tensors, asdict(state))


def restore_state(out: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> RunState:
    """Put the saved weights and optimiser in place; the saved counters are returned."""
    tensors, counters = read_state(out / STATE)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[f"model.{name}"])
            optimizer.state[parameter] = {
                key: tensors[f"adam.{key}.{name}"].to(parameter.device)
                for key in ADAM_STATE
                if f"adam.{key}.{name}" in tensors
            }
    return RunState(**counters)


def _differences(earlier: Settings, now: Settings, defaults: Settings) -> set[str]:
    earlier = {part: {**defaults.get(part, {}), **earlier.get(part, {})} for part in earlier.keys() | now.keys()}
    return {
        f"{part}.{key}"
        for part in earlier
        for key in earlier[part].keys() | now.get(part, {}).keys()
        if earlier[part].get(key) != now.get(part, {}).get(key)
    }
