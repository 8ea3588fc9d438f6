"""What a family has to say so that a `Run` can train it: its batches, its losses, its records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
from torch import Tensor, nn

from ctxemb.distributed import World
from ctxemb.models.families import Model
from ctxemb.models.reading import Reading
from ctxemb.progress import AnyStep, AnyValidation, Step, Validation
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.training.schedule import ScheduleConfig

Item = TypeVar("Item")


@dataclass(frozen=True)
class Losses:
    """What one batch gives.

    Attributes:
        loss: scalar to be minimised, summed over what `Objective.weight` counts.
        sums: scalars to be reported, in the same order for every batch. They are added up over the batches and
            processes of a step. A step is skipped if one whose name starts with `loss` is not finite.
        num_tokens: words read.
        num_cells: words and padding.
    """

    loss: Tensor
    sums: Mapping[str, Tensor]
    num_tokens: int
    num_cells: int


class ParameterGroup(NamedTuple):
    """Weights that learn at the same rate, as a multiple of the scheduled one."""

    parameters: Sequence[nn.Parameter]
    rate_share: float = 1.0


class Objective(Protocol[Item]):
    """One family's way of learning from one corpus.

    An `Item` names a batch; it is cheap, and the batch is made of it in `losses`. All processes hold the same
    objective, and of each step's items every process takes its own.
    """

    @property
    def config(self) -> ScheduleConfig:
        """How to train."""
        ...

    @property
    def model(self) -> Model:
        """The module, untrained, its weights drawn with `config.seed`. The run moves it to its device."""
        ...

    @property
    def tokenizer(self) -> WordTokenizer:
        """Saved with every checkpoint, as are `text` and `reading`."""
        ...

    @property
    def text(self) -> TextConfig:
        """How text becomes tokens."""
        ...

    @property
    def reading(self) -> Reading | None:
        """What the checkpoints give as a word's default vector."""
        ...

    @property
    def data_reports(self) -> Mapping[str, Mapping[str, Any]]:
        """What is learnt from, as JSON: kept in run.json, and a run is resumed only with the same."""
        ...

    @property
    def tokens_per_epoch(self) -> int:
        """Words that all items of a plan hold together."""
        ...

    def plan(self, epoch: int) -> Sequence[Item]:
        """The items of an epoch, as many in each; they follow from `config.seed` and the epoch alone."""
        ...

    def weight(self, item: Item) -> int:
        """How many terms the item's loss will sum, at least 1, known before it is computed.

        The gradient of a step is that of the mean over the terms of all its items, however they are shared out.
        """
        ...

    def losses(self, item: Item, device: torch.device) -> Losses:
        """Run the model on one item; every trainable weight takes part.

        It is called under autocast, in training mode, and may call the model as it likes, several times too. What
        it draws comes from torch's own generator, which is seeded anew from the seed, the step and the process.
        """
        ...

    def parameter_groups(self) -> Sequence[ParameterGroup]:
        """All trainable weights, each once."""
        ...

    def step_record(self, step: Step, sums: Mapping[str, float], weight: int) -> AnyStep:
        """A step's record, from what every family reports and the step's sums and weight."""
        ...

    def validate(self, at: Validation, world: World) -> AnyValidation:
        """Look at the held-out passages, sharing the work and returning the same in all processes, in float32."""
        ...


class Differentiated(nn.Module):
    """An objective's `losses` as the forward pass of a module, which is what DistributedDataParallel wraps."""

    def __init__(self, objective: Objective[Any], device: torch.device, dtype: torch.dtype) -> None:
        super().__init__()
        self.model, self.objective, self.device, self.dtype = objective.model, objective, device, dtype

    def forward(self, item: Any) -> Losses:
        """The losses of one item; matrix products are computed in the given number type."""
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.dtype is torch.bfloat16):
            return self.objective.losses(item, self.device)
