"""A vector for every spelling: convolutions over a word's characters, the strongest answer of each, highway layers.

`SpelledWords` stands where other models have a table of embeddings. Only the distinct words of a batch are computed.

Sources: Kim et al. 2016, arXiv:1508.06615; Srivastava et al. 2015 (highway layers), arXiv:1505.00387.

B sentences, T tokens, N distinct words, C codes of a word, K numbers per character, F filters, V vocabulary,
E numbers per word.
"""

from collections.abc import Sequence
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ctxemb.batching import Batch
from ctxemb.models.spelling import NO_CHARACTER, NUM_CODES, spell, spell_special
from ctxemb.text import NUM_SPECIAL

Activation = Literal["relu", "tanh"]
MAX_ANSWERS = 64_000_000  # of filters at every place of a word, held at once: bounds memory, whatever is typed
MOSTLY_CARRY = -2.0  # the first bias of a highway's gate


class Highway(nn.Module):
    """gate * relu(W x + b) + (1 - gate) * x, with a gate of its own for every number."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.gate, self.transform = nn.Linear(size, size), nn.Linear(size, size)
        nn.init.constant_(self.gate.bias, MOSTLY_CARRY)

    def forward(self, inputs_NF: Tensor) -> Tensor:
        """(N, F) -> (N, F)."""
        gate_NF = torch.sigmoid(self.gate(inputs_NF))
        return gate_NF * torch.relu(self.transform(inputs_NF)) + (1 - gate_NF) * inputs_NF


class CharacterCNN(nn.Module):
    """Codes of words -> vectors.

    Args:
        character_size: K.
        filters: width and number of each group of filters.
        num_highways: highway layers after the filters.
        activation: of the filters.
        output_size: E; there is no projection where it is the number of filters.
        has_norm: whether what the filters say of a word, and its vector, are brought to mean 0 and variance 1. One
            that learns from the start needs it: otherwise the part that all words share grows first, until an LSTM
            above saturates.
    """

    def __init__(
        self,
        character_size: int,
        filters: Sequence[tuple[int, int]],
        num_highways: int,
        activation: Activation,
        output_size: int,
        has_norm: bool = False,
    ) -> None:
        super().__init__()
        self.activation = activation
        self.widest = max(width for width, _ in filters)
        self.characters = nn.Parameter(torch.empty(NUM_CODES, character_size))
        nn.init.uniform_(self.characters, -1, 1)
        self.convolutions = nn.ModuleList(nn.Conv1d(character_size, number, width) for width, number in filters)
        self.num_filters = sum(number for _, number in filters)
        self.has_norm = has_norm
        self.norm = nn.LayerNorm(self.num_filters) if has_norm else nn.Identity()
        self.highways = nn.ModuleList(Highway(self.num_filters) for _ in range(num_highways))
        is_projected = self.num_filters != output_size
        self.projection = nn.Linear(self.num_filters, output_size) if is_projected else nn.Identity()

    def forward(self, codes_NC: Tensor) -> Tensor:
        """(N, C) -> (N, E)."""
        lengths_N = (codes_NC != NO_CHARACTER).sum(dim=1)
        # one window of nothing but padding says what all of them say
        codes_NC = codes_NC[:, : int(lengths_N.max()) + self.widest].long()
        characters_NKC = F.embedding(codes_NC, self.characters).transpose(1, 2)
        strongest = [convolution(characters_NKC).amax(dim=-1) for convolution in self.convolutions]
        vectors_NF = torch.cat(strongest, dim=-1)
        vectors_NF = self.norm(torch.relu(vectors_NF) if self.activation == "relu" else torch.tanh(vectors_NF))
        for highway in self.highways:
            vectors_NF = highway(vectors_NF)
        vectors_NE = self.projection(vectors_NF)
        return F.layer_norm(vectors_NE, vectors_NE.shape[1:]) if self.has_norm else vectors_NE


class SpelledWords(nn.Module):
    """Words -> vectors by their spelling, in place of a table of embeddings.

    Corpora are ids: for those, `spell_vocabulary` has to be called once.
    """

    def __init__(self, cnn: CharacterCNN, max_characters: int) -> None:
        super().__init__()
        self.cnn, self.max_characters = cnn, max_characters
        # no buffer: it stays out of checkpoints, and out of what processes send each other at every step
        self.vocabulary_VC = spell([], max_characters)

    def spell_vocabulary(self, words: Sequence[str]) -> None:
        """Tell how ids are spelled: the words from id 4 on."""
        self.vocabulary_VC = torch.cat([spell_special(self.max_characters), spell(words, self.max_characters)])

    def forward(self, batch: Batch) -> tuple[Batch, Tensor]:
        """Each distinct word's vector, once.

        Args:
            batch: B sentences. Their words are read where they are given, else what the vocabulary says of their ids.

        Returns:
            The batch in numbers of its own, of which 0 to 3 are the special ids as ever, and (N, E): a vector for each.
        """
        numbers_BT, codes_NC = self._by_ids(batch) if batch.words is None else self._by_words(batch)
        device = batch.ids_BT.device
        return Batch(numbers_BT.to(device), batch.lengths_B), self._vectors(codes_NC.to(device))

    @torch.no_grad()
    def table(self) -> Tensor:
        """(V, E), the vector of every word of the vocabulary."""
        return self._vectors(self.vocabulary_VC.to(self.cnn.characters.device))

    def _vectors(self, codes_NC: Tensor) -> Tensor:
        words_at_once = max(MAX_ANSWERS // (self.max_characters * self.cnn.num_filters), 1)
        return torch.cat([self.cnn(part) for part in codes_NC.split(words_at_once)])

    def _by_ids(self, batch: Batch) -> tuple[Tensor, Tensor]:
        assert len(self.vocabulary_VC), "ids have no spelling before `spell_vocabulary`"
        ids = torch.cat([torch.arange(NUM_SPECIAL), batch.ids_BT.flatten().cpu()])
        distinct_N, numbers = torch.unique(ids, return_inverse=True)
        return numbers[NUM_SPECIAL:].view(batch.ids_BT.shape), self.vocabulary_VC[distinct_N]

    def _by_words(self, batch: Batch) -> tuple[Tensor, Tensor]:
        numbers: dict[str, int] = {}
        numbers_BT = torch.zeros(batch.ids_BT.shape, dtype=torch.int64)
        for row_T, words in zip(numbers_BT, cast(Sequence[Sequence[str]], batch.words), strict=True):
            row = [numbers.setdefault(word, NUM_SPECIAL + len(numbers)) for word in words]
            row_T[: len(row)] = torch.tensor(row, dtype=torch.int64)
        codes = [spell_special(self.max_characters), spell(list(numbers), self.max_characters)]
        return numbers_BT, torch.cat(codes)
