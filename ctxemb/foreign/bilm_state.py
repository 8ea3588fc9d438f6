"""The weights of a plain BiLM, sorted: which of them is the embedding, which an LSTM, which an output layer.

Names are read by what they say, since everybody spells them differently: a direction (`fwd`, `forward`, `bwd` ...),
`emb...` for an embedding, `weight_ih_l0` and its like for an LSTM; any other layer can only be an output layer.

V vocabulary, E embedding size, H units per direction.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn, get_args

import torch
from torch import Tensor

from ctxemb.models.directions import DIRECTIONS, Direction
from ctxemb.quoting import quoted

Role = Literal["embedding", "LSTM", "output layer"]
ROLES: tuple[Role, ...] = get_args(Role)
MARKS: dict[str, Direction] = {
    **dict.fromkeys(("fwd", "forward", "fw", "f"), "forward"),
    **dict.fromkeys(("bwd", "backward", "bw", "back", "rev", "reverse", "b"), "backward"),
}
# stacked in one nn.LSTM, or a list of LSTMs of one layer
LSTM = re.compile(r"(?P<part>.+?)(\.(?P<index>\d+))?\.(?P<kind>(weight|bias)_(ih|hh)_l)(?P<layer>\d+)")
OTHER_CELLS = {1: "a plain RNN", 3: "a GRU"}


class BiLMStateError(ValueError):
    """Weights that are none of a plain BiLM; the text says which, what is wrong and what to do."""


@dataclass(frozen=True)
class LSTMState:
    """The weights of one LSTM layer: weight_ih (4H, E or H), weight_hh (4H, H), both biases (4H,)."""

    weight_ih: Tensor
    weight_hh: Tensor
    bias_ih: Tensor
    bias_hh: Tensor


@dataclass(frozen=True)
class DirectionState:
    """The weights of one language model.

    Attributes:
        embedding_VE: (V, E).
        layers: the lowest first.
        output_VH: (V, H).
        bias_V: (V,), of the output layer.
    """

    embedding_VE: Tensor
    layers: tuple[LSTMState, ...]
    output_VH: Tensor
    bias_V: Tensor

    @property
    def sizes(self) -> dict[str, int]:
        """V, E, H and the number of layers, by the names of a `BiLMConfig`."""
        vocabulary_size, embedding_size = self.embedding_VE.shape
        return {
            "vocabulary_size": vocabulary_size,
            "embedding_size": embedding_size,
            "hidden_size": self.output_VH.shape[1],
            "num_layers": len(self.layers),
        }


@dataclass(frozen=True)
class _Named:
    name: str
    tensor: Tensor

    def of_shape(self, *shape: int) -> Tensor:
        if self.tensor.shape != shape:
            raise BiLMStateError(
                f"{quoted(self.name)} is {tuple(self.tensor.shape)}, but with the weights before it has to be {shape}; "
                "a plain BiLM is an embedding, two stacks of LSTM layers and output layers straight above them"
            )
        return self.tensor


def sort_state(tensors: Mapping[str, Tensor]) -> dict[Direction, DirectionState]:
    """Tell the weights of a module apart by their names, and check that their shapes make two language models.

    A beginning that all names share is taken off; what both directions use has no direction in its name. Layers without
    biases get zeros.

    Raises:
        BiLMStateError: naming the weight that is missing, left over or of another shape.
    """
    found = _by_role(_without_beginning(tensors))
    states, unused = {}, dict(found)
    for direction in DIRECTIONS:
        parts = []
        for role in ROLES:
            place = (role, direction if (role, direction) in found else None)
            parts.append(found[place] if place in found else _missing(role, direction))
            unused.pop(place, None)
        states[direction] = _direction_state(*parts)
    for weights in unused.values():
        raise BiLMStateError(
            f"{quoted(next(iter(weights.values())).name)} is left over: both directions have another such layer; "
            "a plain BiLM has no more layers"
        )
    sizes = [state.sizes for state in states.values()]
    if sizes[0] != sizes[1]:
        raise BiLMStateError(
            f"the two directions differ ({sizes[0]} forward, {sizes[1]} backward); give a BiLM with two alike"
        )
    return states


def _without_beginning(tensors: Mapping[str, Tensor]) -> dict[str, _Named]:
    """`module.`, `model.` and whatever else a wrapper puts before every name is taken off."""
    named = {name: _Named(name, tensor) for name, tensor in tensors.items()}
    while len({name.partition(".")[0] for name in named}) == 1 and all(name.count(".") > 1 for name in named):
        named = {name.partition(".")[2]: weight for name, weight in named.items()}
    return named


def _by_role(named: Mapping[str, _Named]) -> dict[tuple[Role, Direction | None], dict[str, _Named]]:
    found: dict[tuple[Role, Direction | None], dict[str, _Named]] = defaultdict(dict)
    for name, weight in named.items():
        part, _, key = name.rpartition(".")
        role: Role = "output layer"
        if match := LSTM.fullmatch(name):
            # sorts as the layers lie above each other: the LSTM in its list, then the layer inside
            layer = f"{int(match['index'] or 0):09} {int(match['layer']):09}"
            part, key, role = match["part"], f"{layer} {match['kind'].removesuffix('_l')}", "LSTM"
        elif key.endswith("_reverse"):
            raise BiLMStateError(
                f"{quoted(weight.name)} is of a bidirectional LSTM, which sees the word that it predicts; give two "
                "LSTMs of one direction each"
            )
        elif key not in ("weight", "bias"):
            raise BiLMStateError(f"{quoted(weight.name)} is no weight of a plain BiLM: embedding, LSTMs, output layers")
        words = re.findall(r"[a-z]+", part.lower())
        if role != "LSTM" and any(word.startswith("emb") for word in words):
            role = "embedding"
        directions: set[Direction] = {MARKS[word] for word in words if word in MARKS}
        if len(directions) > 1 or (role == "LSTM" and not directions):
            raise BiLMStateError(
                f"{quoted(weight.name)} does not say its direction; name the layers fwd_lstm, bwd_lstm and so on"
            )
        direction = directions.pop() if directions else None
        weights = found[role, direction]
        if key in weights:
            raise BiLMStateError(
                f"{quoted(weights[key].name)} and {quoted(weight.name)} could both be the {role}; a plain BiLM has one "
                "a direction, or one for both"
            )
        weights[key] = weight
    return found


def _missing(role: Role, direction: Direction) -> NoReturn:
    hint = "; one that uses the embedding's weights has to be in the file too" if role == "output layer" else ""
    examples = {"embedding": "embed.weight", "LSTM": "fwd_lstm.weight_ih_l0", "output layer": "fwd_out.weight"}
    raise BiLMStateError(
        f"there is no {role} for the {direction} direction; save the whole BiLM, with weights such as "
        f"{examples[role].replace('fwd', direction[0] + 'wd')}{hint}"
    )


def _direction_state(
    embedding: Mapping[str, _Named], lstm: Mapping[str, _Named], output: Mapping[str, _Named]
) -> DirectionState:
    table = _get(embedding, "weight", "embedding")
    if "bias" in embedding or table.tensor.dim() != 2:
        raise BiLMStateError(f"{quoted(table.name)} is no embedding; it has to be one weight of two dimensions")
    num_words, size = table.tensor.shape
    layers, hidden_size = [], 0
    for layer in sorted({key.rpartition(" ")[0] for key in lstm}):
        recurrent = _get(lstm, f"{layer} weight_hh", "LSTM")
        if not hidden_size:
            hidden_size = recurrent.tensor.shape[-1]
            _check_cell(recurrent, hidden_size)
        biases = {kind: lstm.get(f"{layer} bias_{kind}") for kind in ("ih", "hh")}
        layers.append(
            LSTMState(
                _get(lstm, f"{layer} weight_ih", "LSTM").of_shape(4 * hidden_size, size),
                recurrent.of_shape(4 * hidden_size, hidden_size),
                *(b.of_shape(4 * hidden_size) if b else torch.zeros(4 * hidden_size) for b in biases.values()),
            )
        )
        size = hidden_size
    weight, bias = _get(output, "weight", "output layer"), output.get("bias")
    return DirectionState(
        embedding_VE=table.tensor,
        layers=tuple(layers),
        output_VH=weight.of_shape(num_words, hidden_size),
        bias_V=bias.of_shape(num_words) if bias else torch.zeros(num_words),
    )


def _get(weights: Mapping[str, _Named], key: str, role: Role) -> _Named:
    if key not in weights:
        other = next(iter(weights.values()))
        raise BiLMStateError(f"the {role} of {quoted(other.name)} has no {key.rpartition(' ')[2]}; save the whole BiLM")
    return weights[key]


def _check_cell(recurrent: _Named, hidden_size: int) -> None:
    num_gates = len(recurrent.tensor) / hidden_size
    if num_gates in OTHER_CELLS:
        raise BiLMStateError(f"{quoted(recurrent.name)} is of {OTHER_CELLS[int(num_gates)]}; only LSTMs are read")
