"""The BiLM: two independent language models, one reading forwards, one backwards, joined only when read.

Forward reads `<bos> w1 .. wn` and predicts `w1 .. wn <eos>`; backward reads `<eos> wn .. w1` and predicts
`wn .. w1 <bos>`. A bidirectional LSTM would see the word it has to predict; these two cannot.
Each direction runs from left to right over its own (right-padded) input, so a state never depends on padding.

Its words are rows of a table, or read by their spelling. Corpora are ids: of a word that is none of the vocabulary's,
training knows no spelling, but a sentence that is read later has one for every word.

Source: Peters et al. 2018 (ELMo), arXiv:1802.05365. Left out here: its residual connection.

B sentences, T tokens, V vocabulary, E embedding size, H units per direction, D = 2H, L layers, N predictions,
W words that are looked up (all of the vocabulary, or the distinct ones of a batch).
"""

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple, Self, cast

import torch
from pydantic import BaseModel, ConfigDict, Field, model_validator
from torch import Tensor, nn
from torch.nn import functional as F

from ctxemb.batching import Batch
from ctxemb.models.character_cnn import CharacterCNN, SpelledWords
from ctxemb.models.directions import DIRECTIONS, Direction, inputs_and_targets, reverse
from ctxemb.models.reading import Readout
from ctxemb.models.softmax import AdaptiveSoftmax
from ctxemb.models.spelling import MIN_CHARACTERS
from ctxemb.text import NUM_SPECIAL


class BiLMConfig(BaseModel):
    """Sizes and choices of a BiLM."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    family: ClassVar[Literal["bilm"]] = "bilm"
    readouts: ClassVar[tuple[Readout, ...]] = ("here", "context", "sentence")

    vocabulary_size: int = Field(
        default=NUM_SPECIAL + 1, ge=NUM_SPECIAL + 1, le=2_000_000, description="V, words and special ids"
    )
    embedding_size: int = Field(default=128, ge=1, le=4_096, description="E, numbers per word at layer 0")
    hidden_size: int = Field(default=256, ge=1, le=4_096, description="H, LSTM units per direction and layer")
    num_layers: int = Field(default=2, ge=1, le=8, description="LSTM layers in each direction")
    dropout: float = Field(default=0.1, ge=0, lt=1, description="Share of units switched off while training")
    shared_embeddings: bool = Field(default=True, description="Both directions use one embedding and one output layer")
    softmax: Literal["full", "adaptive"] = Field(
        default="adaptive", description="Output layer; both give exact likelihoods"
    )
    cutoffs: tuple[int, ...] = Field(
        default=(2_000, 8_000), description="Ids at which the adaptive softmax starts a new cluster"
    )
    tied_weights: bool = Field(
        default=True, description="The output layer uses the input embedding's weights; characters have none to share"
    )
    output_size: int | None = Field(
        default=None, ge=1, le=4_096, description="Numbers per word at the output layer; none: as at layer 0"
    )
    input: Literal["word", "char"] = Field(
        default="word", description="What is read of a word: its row in a table, or its characters"
    )
    character_size: int = Field(default=16, ge=1, le=256, description="char: numbers per character")
    filter_widths: tuple[int, ...] = Field(
        default=(1, 2, 3, 4, 5), min_length=1, max_length=16, description="char: neighbouring characters read at once"
    )
    filters_per_width: int = Field(default=32, ge=1, le=1_024, description="char: filters of each width")
    highway_layers: int = Field(default=1, ge=0, le=8, description="char: layers between filters and embedding")
    max_characters: int = Field(
        default=50, ge=MIN_CHARACTERS, le=200, description="char: bytes of a word that are read, two marks included"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.embedding_size > self.hidden_size:
            raise ValueError(
                f"embedding_size {self.embedding_size} is larger than hidden_size {self.hidden_size}: "
                "layer 0 has to fit into the width of the other layers"
            )
        if list(self.cutoffs) != sorted(set(self.cutoffs)) or any(cutoff < 1 for cutoff in self.cutoffs):
            raise ValueError(f"cutoffs {self.cutoffs} are not positive and ascending")
        if not all(1 <= width <= self.max_characters for width in self.filter_widths):
            raise ValueError(
                f"filter_widths {self.filter_widths} are not all from 1 to max_characters, {self.max_characters}"
            )
        if self.output_size is not None and self.tied_weights:
            raise ValueError(
                f"output_size {self.output_size} is for an output layer of its own; set tied_weights to false, or "
                "leave output_size out"
            )
        return self

    @property
    def width(self) -> int:
        """D, numbers per vector."""
        return 2 * self.hidden_size

    @property
    def reads_spelling(self) -> bool:
        """Whether words are read by their characters."""
        return self.input == "char"


class Lookup(NamedTuple):
    """A batch, and (W, E): the vector of every id that its `ids_BT` may hold."""

    batch: Batch
    table_WE: Tensor


class DirectionalLM(nn.Module):
    """A stack of LSTM layers that reads from left to right, whatever it is given, and an output layer."""

    def __init__(self, config: BiLMConfig, embedding: nn.Embedding | SpelledWords, softmax: AdaptiveSoftmax) -> None:
        super().__init__()
        self.embedding, self.softmax = embedding, softmax
        self.dropout = nn.Dropout(config.dropout)
        sizes = [config.embedding_size] + [config.hidden_size] * config.num_layers
        # one nn.LSTM per layer, because a stacked one does not give its inner layers
        self.layers = nn.ModuleList(
            nn.LSTM(size_in, size_out, batch_first=True) for size_in, size_out in zip(sizes, sizes[1:], strict=False)
        )

    def look_up(self, batch: Batch) -> Lookup:
        """The vectors of a batch's words; where they are spelled, the batch gets numbers of its own."""
        if isinstance(self.embedding, SpelledWords):
            return Lookup(*self.embedding(batch))
        return Lookup(batch, self.embedding.weight)

    def forward(self, inputs_BTE: Tensor) -> list[Tensor]:
        """States after each input token, one (B, T, H) per layer, the lowest first."""
        states = self.dropout(inputs_BTE)
        layers = []
        for lstm in self.layers:
            states, _ = lstm(states)
            layers.append(states)
            states = self.dropout(states)
        return layers

    def nll(self, inputs_BTE: Tensor, targets_BT: Tensor, mask_BT: Tensor) -> Tensor:
        """Negative log-likelihood of each unmasked target, (N,), in nats."""
        states_BTH = self.dropout(self.forward(inputs_BTE)[-1])
        return self.softmax(states_BTH[mask_BT], targets_BT[mask_BT])


class BiLM(nn.Module):
    """Two `DirectionalLM`s; see the module's text for what each of them reads and predicts."""

    def __init__(self, config: BiLMConfig) -> None:
        super().__init__()
        self.config = config
        parts = [self._embedding_and_softmax() for _ in range(1 if config.shared_embeddings else 2)]
        self.forward_lm = DirectionalLM(config, *parts[0])
        self.backward_lm = DirectionalLM(config, *parts[-1])

    def _embedding_and_softmax(self) -> tuple[nn.Embedding | SpelledWords, AdaptiveSoftmax]:
        config = self.config
        embedding = self._spelled_words() if config.reads_spelling else self._table()
        if isinstance(embedding, nn.Embedding) and config.tied_weights:
            weight_VE = cast(nn.Parameter, embedding.weight)
        else:
            output_size = config.output_size or config.embedding_size
            weight_VE = nn.Parameter(torch.empty(config.vocabulary_size, output_size))
            nn.init.uniform_(weight_VE, -0.1, 0.1)
        cutoffs = config.cutoffs if config.softmax == "adaptive" else ()
        return embedding, AdaptiveSoftmax(config.hidden_size, weight_VE, cutoffs)

    def _table(self) -> nn.Embedding:
        # from_pretrained skips nn.Embedding's own normal draw, which costs a second of imports on the meta device
        weight = torch.empty(self.config.vocabulary_size, self.config.embedding_size)
        embedding = nn.Embedding.from_pretrained(weight, freeze=False)
        # small, so that an untrained model is close to uniform also with tied weights
        nn.init.uniform_(embedding.weight, -0.1, 0.1)
        return embedding

    def _spelled_words(self) -> SpelledWords:
        config = self.config
        filters = [(width, config.filters_per_width) for width in config.filter_widths]
        size = config.embedding_size
        cnn = CharacterCNN(config.character_size, filters, config.highway_layers, "relu", size, has_norm=True)
        return SpelledWords(cnn, config.max_characters)

    def spell_vocabulary(self, words: Sequence[str]) -> None:
        """Tell a model that reads spellings how ids are spelled: the words from id 4 on."""
        for lm in (self.forward_lm, self.backward_lm):
            assert isinstance(lm.embedding, SpelledWords)
            lm.embedding.spell_vocabulary(words)

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Negative log-likelihoods of both directions, each (N,) with N = words + one boundary a sentence."""
        mask_BT, lookups = prediction_mask(batch), self._look_up(batch)
        forward_N, backward_N = (
            self._direction(direction).nll(
                _inputs(lookups[direction], direction), inputs_and_targets(batch, direction)[1], mask_BT
            )
            for direction in DIRECTIONS
        )
        return forward_N, backward_N

    def layers(self, batch: Batch, readout: Readout = "here") -> Tensor:
        """Vectors of every word at every layer.

        Args:
            batch: B sentences.
            readout: `here`, the states that have just read the word; `context`, the forward state before
                it and the backward state after it, which have not seen it; `sentence`, the state at the word and
                the mean state at the sentence's other words, each scaled to length 1, then added.

        Returns:
            (L + 1, B, T, D). Layer 0 is the embedding, the same for every read-out: `[x; 0; x; 0]`, padded with
            zeros to the width of the others, which changes no cosine. Cells beyond a sentence's length are
            undefined.
        """
        # state t has read t words: `here` drops the state that has read none, `context` the one that has read all
        window = slice(0, -1) if readout == "context" else slice(1, None)
        lookups = self._look_up(batch)
        forward, backward = (self._states(lookups[direction], direction, window) for direction in DIRECTIONS)
        layer_zero_BTD = self._layer_zero(lookups)
        # written into one tensor: joining and then stacking would copy everything twice
        layers_LBTD = layer_zero_BTD.new_empty((len(forward) + 1, *layer_zero_BTD.shape))
        layers_LBTD[0] = layer_zero_BTD
        for layer, states in enumerate(zip(forward, backward, strict=True), 1):
            layers_LBTD[layer, ..., : self.config.hidden_size], layers_LBTD[layer, ..., self.config.hidden_size :] = (
                states
            )
            if readout == "sentence":
                layers_LBTD[layer] = with_rest_of_sentence(layers_LBTD[layer], batch.lengths_B)
        return layers_LBTD

    def word_vectors(self) -> Tensor:
        """(V, E), the (forward) embedding; of spelled words it is computed anew each time."""
        embedding = self.forward_lm.embedding
        return embedding.table() if isinstance(embedding, SpelledWords) else embedding.weight.detach()

    def predictions(self, batch: Batch) -> Tensor:
        """Log-probabilities of every word at every position, by both directions: (2, B, T, V), in nats.

        Entry t is the distribution for word t, given the words before it (forward) or after it (backward).
        """
        both, lookups = [], self._look_up(batch)
        for direction in DIRECTIONS:
            states_BTH = self._states(lookups[direction], direction, slice(0, -1))[-1]
            log_p = self._direction(direction).softmax.log_probabilities(states_BTH.flatten(0, 1))
            both.append(log_p.unflatten(0, states_BTH.shape[:2]))
        return torch.stack(both)

    def _look_up(self, batch: Batch) -> dict[Direction, Lookup]:
        forward = self.forward_lm.look_up(batch)
        is_shared = self.backward_lm.embedding is self.forward_lm.embedding
        return {"forward": forward, "backward": forward if is_shared else self.backward_lm.look_up(batch)}

    def _states(self, lookup: Lookup, direction: Direction, window: slice) -> list[Tensor]:
        """States of one direction, one (B, T, H) a layer, in the order of the words."""
        layers = [states_BTH[:, window] for states_BTH in self._direction(direction)(_inputs(lookup, direction))]
        return layers if direction == "forward" else [reverse(layer, lookup.batch.lengths_B) for layer in layers]

    def _direction(self, direction: Direction) -> DirectionalLM:
        return self.forward_lm if direction == "forward" else self.backward_lm

    def _layer_zero(self, lookups: dict[Direction, Lookup]) -> Tensor:
        padding = self.config.hidden_size - self.config.embedding_size
        halves = [F.embedding(lookups[direction].batch.ids_BT, lookups[direction].table_WE) for direction in DIRECTIONS]
        return torch.cat([F.pad(half, (0, padding)) for half in halves], dim=-1)


def _inputs(lookup: Lookup, direction: Direction) -> Tensor:
    """(B, T + 1, E), what a direction reads."""
    inputs_BT, _ = inputs_and_targets(lookup.batch, direction)
    return F.embedding(inputs_BT, lookup.table_WE)


def with_rest_of_sentence(states_BTD: Tensor, lengths_B: Tensor) -> Tensor:
    """Each state plus the mean of the others in its sentence, both scaled to length 1 (the others weigh the same)."""
    positions_T = torch.arange(states_BTD.shape[1], device=states_BTD.device)
    states_BTD = states_BTD * (positions_T < lengths_B[:, None])[:, :, None]
    # a mean differs from the sum only by its length, which is scaled away
    others_BTD = states_BTD.sum(dim=1, keepdim=True) - states_BTD
    return F.normalize(states_BTD, dim=-1) + F.normalize(others_BTD, dim=-1)


def prediction_mask(batch: Batch) -> Tensor:
    """(B, T + 1) bool: which predictions are real; a sentence of n words has n + 1."""
    positions_T = torch.arange(batch.ids_BT.shape[1] + 1, device=batch.ids_BT.device)
    return positions_T <= batch.lengths_B[:, None]
