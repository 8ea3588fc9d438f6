"""The published ELMo: words by their spelling, then two stacks of projected LSTMs, one from each side.

The output layer is not in the published files, so this encoder predicts nothing. Its boundary tokens have spellings of
their own; as everywhere, forward reads `<bos> w1 .. wn`, backward `<eos> wn .. w1`.

Source: Peters et al. 2018, arXiv:1802.05365; the cell is the LSTM of Sak et al. 2014, arXiv:1402.1128, clipped.

B sentences, T tokens, V vocabulary, P projection size, U units, L layers, D = 2P.
"""

from typing import ClassVar, Literal, Self

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from ctxemb.batching import Batch
from ctxemb.models.character_cnn import Activation, CharacterCNN, SpelledWords
from ctxemb.models.directions import DIRECTIONS, Direction, inputs_and_targets, read_states
from ctxemb.models.reading import Readout
from ctxemb.models.spelling import MIN_CHARACTERS
from ctxemb.text import NUM_SPECIAL

FORGET_BIAS = 1.0  # TensorFlow adds it when it computes, so no file holds it
MAX_FILTERS = 16_384

State = tuple[Tensor, Tensor]  # (B, P) output and (B, U) cell after the last token


class ELMoConfig(BaseModel):
    """Sizes and choices of a published ELMo."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    family: ClassVar[Literal["elmo"]] = "elmo"
    readouts: ClassVar[tuple[Readout, ...]] = ("here", "context")
    reads_spelling: ClassVar[bool] = True

    vocabulary_size: int = Field(
        default=NUM_SPECIAL + 1, ge=NUM_SPECIAL + 1, le=2_000_000, description="V, words that corpora are kept in"
    )
    character_size: int = Field(default=16, ge=1, le=1_024, description="Numbers per character")
    filters: tuple[tuple[int, int], ...] = Field(
        default=((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)),
        min_length=1,
        max_length=32,
        description="Width and number of each group of filters over the characters",
    )
    highway_layers: int = Field(default=2, ge=0, le=8, description="Layers between the filters and the projection")
    max_characters: int = Field(
        default=50, ge=MIN_CHARACTERS, le=200, description="Bytes of a word that are read, two marks included"
    )
    activation: Activation = Field(default="relu", description="Of the filters")
    units: int = Field(default=4_096, ge=1, le=16_384, description="U, LSTM units per direction and layer")
    projection_size: int = Field(default=512, ge=1, le=8_192, description="P, numbers that a layer hands on")
    num_layers: int = Field(default=2, ge=1, le=8, description="LSTM layers in each direction")
    cell_clip: float | None = Field(default=3.0, gt=0, allow_inf_nan=False, description="Bound of the cells, if any")
    projection_clip: float | None = Field(
        default=3.0, gt=0, allow_inf_nan=False, description="Bound of the projections, if any"
    )
    skip_connections: bool = Field(default=True, description="A layer's input is added to its output, from layer 2 on")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for width, number in self.filters:
            if not 1 <= width <= self.max_characters:
                raise ValueError(f"a filter is {width} characters wide, but words have 1 to {self.max_characters}")
            if number < 1:
                raise ValueError(f"there are {number} filters of width {width}; there has to be at least one")
        if self.num_filters > MAX_FILTERS:
            raise ValueError(f"there are {self.num_filters:,} filters; at most {MAX_FILTERS:,} are supported")
        return self

    @property
    def num_filters(self) -> int:
        """Numbers that the filters give together."""
        return sum(number for _, number in self.filters)

    @property
    def width(self) -> int:
        """D, numbers per vector."""
        return 2 * self.projection_size


class ProjectedLSTM(nn.Module):
    """One layer of one direction: cells are clipped, projected, and clipped again."""

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__()
        U, P = config.units, config.projection_size
        self.cell_clip, self.projection_clip = config.cell_clip, config.projection_clip
        self.inputs, self.states = nn.Linear(P, 4 * U), nn.Linear(P, 4 * U, bias=False)
        self.projection = nn.Linear(U, P, bias=False)

    def forward(self, inputs_BTP: Tensor, start: State | None = None) -> tuple[Tensor, State]:
        """States after each token, (B, T, P), and where it stands at the end; `start` is such an end."""
        if start is None:
            size = (len(inputs_BTP), self.projection.in_features)
            start = inputs_BTP.new_zeros(len(inputs_BTP), inputs_BTP.shape[2]), inputs_BTP.new_zeros(size)
        output_BP, cell_BU = start
        outputs = []
        for gates_BG in self.inputs(inputs_BTP).unbind(dim=1):
            # the order of the gates is TensorFlow's: input, candidate, forget, output
            i_BU, j_BU, f_BU, o_BU = (gates_BG + self.states(output_BP)).chunk(4, dim=-1)
            cell_BU = torch.sigmoid(f_BU + FORGET_BIAS) * cell_BU + torch.sigmoid(i_BU) * torch.tanh(j_BU)
            cell_BU = _clip(cell_BU, self.cell_clip)
            output_BP = _clip(self.projection(torch.sigmoid(o_BU) * torch.tanh(cell_BU)), self.projection_clip)
            outputs.append(output_BP)
        return torch.stack(outputs, dim=1), (output_BP, cell_BU)


class DirectionalReader(nn.Module):
    """A stack of layers that reads from left to right, whatever it is given."""

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__()
        self.skip_connections = config.skip_connections
        self.layers = nn.ModuleList(ProjectedLSTM(config) for _ in range(config.num_layers))

    def forward(self, inputs_BTP: Tensor, starts: list[State] | None = None) -> tuple[list[Tensor], list[State]]:
        """States after each token, one (B, T, P) per layer, and where each layer stands at the end."""
        layers, ends = [], []
        for number, layer in enumerate(self.layers):
            states_BTP, end = layer(inputs_BTP, starts[number] if starts else None)
            inputs_BTP = states_BTP + inputs_BTP if number and self.skip_connections else states_BTP
            layers.append(inputs_BTP)
            ends.append(end)
        return layers, ends


class ELMo(nn.Module):
    """Spelling -> token vector -> two directions; see the module's text."""

    def __init__(self, config: ELMoConfig) -> None:
        super().__init__()
        self.config = config
        cnn = CharacterCNN(
            config.character_size, config.filters, config.highway_layers, config.activation, config.projection_size
        )
        self.words = SpelledWords(cnn, config.max_characters)
        self.forward_reader, self.backward_reader = DirectionalReader(config), DirectionalReader(config)

    def spell_vocabulary(self, words: list[str]) -> None:
        """Tell how ids are spelled: the words from id 4 on."""
        self.words.spell_vocabulary(words)

    def layers(self, batch: Batch, readout: Readout = "here") -> Tensor:
        """Vectors of every word at every layer.

        Args:
            batch: B sentences; their words are read where they are given, else the vocabulary's.
            readout: `here`, the states that have just read the word; `context`, the forward state before it and the
                backward state after it, which have not seen it.

        Returns:
            (L + 1, B, T, D). Layer 0 is the token's vector twice. Cells beyond a sentence's length are undefined.
        """
        numbered, table_NP = self.words(batch)
        states: dict[Direction, list[Tensor]] = {}
        for direction in DIRECTIONS:
            inputs_BT, _ = inputs_and_targets(numbered, direction)
            reader = self.forward_reader if direction == "forward" else self.backward_reader
            states[direction], _ = reader(F.embedding(inputs_BT, table_NP))
        layer_zero_BTD = F.embedding(numbered.ids_BT, table_NP).repeat(1, 1, 2)
        return torch.stack([layer_zero_BTD, *read_states(states, batch, readout)])

    def word_vectors(self) -> Tensor:
        """(V, P), the token vector of every word of the vocabulary, computed anew each time."""
        return self.words.table()


def _clip(values: Tensor, bound: float | None) -> Tensor:
    return values if bound is None else values.clamp(-bound, bound)
