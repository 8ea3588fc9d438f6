"""Two readers of one sentence: what the forward and the backward direction read, and in which order.

Forward reads `<bos> w1 .. wn`, backward `<eos> wn .. w1`, each from left to right over its own right-padded input,
so that a state never depends on padding. (Flipping a padded batch would put the padding first.)

B sentences, T tokens, H units per direction.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor

from ctxemb.batching import Batch
from ctxemb.models.reading import Readout
from ctxemb.text import BOS, EOS

Direction = Literal["forward", "backward"]
DIRECTIONS: tuple[Direction, Direction] = ("forward", "backward")


def reverse(values_BTx: Tensor, lengths_B: Tensor) -> Tensor:
    """Reverse each sentence within its own length; padding stays on the right (its content is undefined)."""
    positions_T = torch.arange(values_BTx.shape[1], device=values_BTx.device)
    index_BT = (lengths_B[:, None] - 1 - positions_T).clamp(min=0)
    rows_B1 = torch.arange(len(values_BTx), device=values_BTx.device)[:, None]
    return values_BTx[rows_B1, index_BT]  # copies whole rows, which `gather` does number by number


def inputs_and_targets(batch: Batch, direction: Direction) -> tuple[Tensor, Tensor]:
    """What a direction reads and what it has to predict, both (B, T + 1): `first w1 .. wn`, `w1 .. wn last`."""
    first, last = (BOS, EOS) if direction == "forward" else (EOS, BOS)
    ids_BT = batch.ids_BT if direction == "forward" else reverse(batch.ids_BT, batch.lengths_B)
    edge_B1 = ids_BT.new_full((len(ids_BT), 1), first)
    targets_BT = torch.cat([ids_BT, edge_B1], dim=1).scatter(1, batch.lengths_B[:, None], last)
    return torch.cat([edge_B1, ids_BT], dim=1), targets_BT


def read_states(states: Mapping[Direction, Sequence[Tensor]], batch: Batch, readout: Readout) -> list[Tensor]:
    """Join both directions' states in the order of the words, one (B, T, 2H) a layer.

    Args:
        states: per direction and layer (B, T + 1, H) in its own reading order; state t has read t words.
        batch: the sentences that were read.
        readout: `context` leaves the word itself out; otherwise its own state, which has just read it.
    """
    # state 0 has read nothing, and the last state of a whole sentence has read all of it
    window = slice(0, -1) if readout == "context" else slice(1, None)
    layers = []
    for forward_BTH, backward_BTH in zip(states["forward"], states["backward"], strict=True):
        layers.append(torch.cat([forward_BTH[:, window], reverse(backward_BTH[:, window], batch.lengths_B)], dim=-1))
    return layers
