"""Who am I among the processes that `torchrun` started: rank, world size, device, and sums over all of them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class World:
    """This process among its peers; a single process is a world of one."""

    rank: int
    size: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """Whether this process writes files and draws progress."""
        return self.rank == 0

    def sum(self, values: list[float]) -> list[float]:
        """Element-wise sum over all processes."""
        if self.size == 1:
            return values
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return total.tolist()

    def any(self, flag: bool) -> bool:
        """Whether the flag is set in any process."""
        return self.sum([float(flag)])[0] > 0

    def barrier(self) -> None:
        """Wait until every process is here."""
        self.sum([0.0])


def choose_device(device: str = "auto") -> torch.device:
    """`auto`: a CUDA GPU if there is one, else the CPU. Anything else is torch's own device string.

    Raises:
        ValueError: if there is no such device here.
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError as error:
        raise ValueError(f"there is no device {device!r}; use auto, cpu or cuda") from error
    if chosen.type not in ("cpu", "cuda") or (chosen.type == "cuda" and not torch.cuda.is_available()):
        raise ValueError(f"device {device!r} is not available here; use auto or cpu")
    return chosen


@contextmanager
def world(device: str = "auto") -> Iterator[World]:
    """Join the processes that `torchrun` started (gloo on CPU, nccl on GPU), or stand alone without it."""
    if "RANK" not in os.environ or "WORLD_SIZE" not in os.environ:
        yield World(0, 1, choose_device(device))
        return
    chosen = choose_device(device)
    if chosen.type == "cuda":
        chosen = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
        torch.cuda.set_device(chosen)
    dist.init_process_group("nccl" if chosen.type == "cuda" else "gloo")
    try:
        yield World(dist.get_rank(), dist.get_world_size(), chosen)
    finally:
        dist.destroy_process_group()
