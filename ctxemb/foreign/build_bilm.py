"""Two sorted stacks of weights -> a `BiLM` that computes the same.

An LSTM narrower than its embedding gets silent units, which are always zero: layer 0 has to fit into the width of the
other layers. Where the vocabulary has no word for a special id, a row is made up: an average word at the input, and at
the output one that is never predicted, so that the probabilities of all other words stay what they were.

V vocabulary, E embedding size, H units per direction.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from pydantic import ValidationError
from torch import Tensor, nn
from torch.nn import functional as F

from ctxemb.foreign.bilm_state import BiLMStateError, DirectionState
from ctxemb.models.bilm import BiLM, BiLMConfig, DirectionalLM
from ctxemb.models.directions import DIRECTIONS, Direction
from ctxemb.text import NUM_SPECIAL, PAD

NEVER_LOGIT = -100.0
MAX_WIDENING = 3  # a few silent units are harmless, but LSTMs grow with their square


def build_bilm(states: Mapping[Direction, DirectionState], rows: Sequence[int | None]) -> BiLM:
    """The module whose id `i` has the weights of row `rows[i]`; None: of no row, so that they are made up.

    Raises:
        BiLMStateError: if the sizes are none that a BiLM has here.
    """
    tables = {direction: _tables(states[direction], rows) for direction in DIRECTIONS}
    forward, backward = tables.values()
    is_tied = all(torch.equal(embedding_VE, output_VH) for embedding_VE, output_VH, _ in (forward, backward))
    config = _config(
        states["forward"].sizes,
        vocabulary_size=len(rows),
        shared_embeddings=all(map(torch.equal, forward, backward)),
        tied_weights=is_tied,
        output_size=None if is_tied else states["forward"].sizes["hidden_size"],
    )
    model = BiLM(config).eval()
    with torch.no_grad():
        for direction in DIRECTIONS:
            lm = model.forward_lm if direction == "forward" else model.backward_lm
            _fill(lm, states[direction], *tables[direction])
    return model


def _config(sizes: Mapping[str, int], **settings: Any) -> BiLMConfig:
    E, H = sizes["embedding_size"], sizes["hidden_size"]
    if E > MAX_WIDENING * H:
        raise BiLMStateError(
            f"it has {E:,} numbers a word, more than {MAX_WIDENING} times its {H:,} LSTM units; layer 0 has to fit "
            "into the width of the other layers"
        )
    try:
        return BiLMConfig.model_validate(
            {**sizes, "hidden_size": max(E, H), "dropout": 0.0, "softmax": "full", **settings}
        )
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise BiLMStateError(f"no BiLM here has its sizes ({problems})") from error


def _tables(state: DirectionState, rows: Sequence[int | None]) -> tuple[Tensor, Tensor, Tensor]:
    """Embedding, output layer and its bias, by our ids."""
    embedding_VE = _rearranged(state.embedding_VE, rows, 0.0)
    # padding is never read
    made_up = [word_id for word_id, row in enumerate(rows) if row is None and word_id != PAD]
    embedding_VE[made_up] = embedding_VE[NUM_SPECIAL:].mean(dim=0)
    return embedding_VE, _rearranged(state.output_VH, rows, 0.0), _rearranged(state.bias_V, rows, NEVER_LOGIT)


def _rearranged(table: Tensor, rows: Sequence[int | None], absent: float) -> Tensor:
    """Rows in the order of our ids; those that the table lacks are `absent`."""
    result = torch.full((len(rows), *table.shape[1:]), absent)
    result[[word_id for word_id, row in enumerate(rows) if row is not None]] = table[
        [row for row in rows if row is not None]
    ].float()
    return result


def _fill(lm: DirectionalLM, state: DirectionState, embedding_VE: Tensor, output_VH: Tensor, bias_V: Tensor) -> None:
    cast(nn.Embedding, lm.embedding).weight.copy_(embedding_VE)
    for lstm, layer in zip(lm.layers, state.layers, strict=True):
        for name, weight in vars(layer).items():
            parameter = getattr(lstm, f"{name}_l0")
            parameter.copy_(_widened(weight, parameter))
    lm.softmax.weight.copy_(output_VH)
    lm.softmax.bias.copy_(bias_V)
    nn.init.eye_(lm.softmax.projection.weight)


def _widened(weight: Tensor, like: Tensor) -> Tensor:
    """Zeros for units that are not there: such a unit of an LSTM stays at zero for ever."""
    gates = weight.float().unflatten(0, (4, -1))
    wanted = like.unflatten(0, (4, -1)).shape
    padding = [
        extra for size, want in zip(reversed(gates.shape), reversed(wanted), strict=True) for extra in (0, want - size)
    ]
    return F.pad(gates, padding).flatten(0, 1)
