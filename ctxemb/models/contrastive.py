"""The contrastive encoder: what stands around a word, as a vector that is trained to tell its uses apart.

Two LSTMs read the sentence, one from each side; an attention weighs the other words by what they are and how far away
they stand. Both leave the word itself out, so that the `context` read-out never sees it; `here` adds the word's own
embedding. A projection with LayerNorm makes the vector. The losses that train it are in `ctxemb.losses`.

Sources: InfoNCE, arXiv:1807.03748; the context on both sides of a hidden word as its representation is that of
context2vec (Melamud et al. 2016).

B sentences, T tokens, V vocabulary, E embedding size, H units per direction, D = 2H, A attention heads,
L layers (the LSTMs', then the projection), N uses (a word at its position in a sentence), K words.
"""

from collections.abc import Iterator
from typing import ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from ctxemb.batching import Batch
from ctxemb.models.directions import DIRECTIONS, Direction, inputs_and_targets, read_states, reverse
from ctxemb.models.reading import Readout
from ctxemb.text import NUM_SPECIAL

RARE_SHARE = 1e-4  # words of this share of the text get half the attention of the rarest
MAX_WEIGHTS = 4_000_000  # attention weights held at once when every position is read
UNHEARD = -8.0  # the first score of ids that are no words


class ContrastiveConfig(BaseModel):
    """Sizes and choices of a contrastive encoder."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    family: ClassVar[Literal["contrastive"]] = "contrastive"
    readouts: ClassVar[tuple[Readout, ...]] = ("context", "here")
    reads_spelling: ClassVar[bool] = False

    vocabulary_size: int = Field(
        default=NUM_SPECIAL + 1, ge=NUM_SPECIAL + 1, le=2_000_000, description="V, words and special ids"
    )
    embedding_size: int = Field(default=160, ge=1, le=4_096, description="E, numbers per word at layer 0")
    hidden_size: int = Field(default=128, ge=1, le=4_096, description="H, LSTM units per direction and layer")
    lstm_layers: int = Field(default=1, ge=1, le=8, description="LSTM layers in each direction")
    attention_heads: int = Field(default=4, ge=0, le=64, description="Ways to weigh the other words; 0 = no attention")
    attention_span: int = Field(default=32, ge=1, le=1_000, description="Farther words weigh as if this far away")
    dropout: float = Field(default=0.0, ge=0, lt=1, description="Share of units switched off while training")

    @property
    def width(self) -> int:
        """D, numbers per vector: no less than E, so that layer 0 fits."""
        return max(2 * self.hidden_size, self.embedding_size)

    @property
    def num_layers(self) -> int:
        """L: the LSTM layers and the projection."""
        return self.lstm_layers + 1


class Contrastive(nn.Module):
    """Context of a word -> vector; see the module's text."""

    def __init__(self, config: ContrastiveConfig) -> None:
        super().__init__()
        self.config = config
        E, H, D = config.embedding_size, config.hidden_size, config.width
        self.embedding = _table(config.vocabulary_size, E)
        sizes = [E] + [H] * config.lstm_layers
        self.forward_lstms, self.backward_lstms = (
            nn.ModuleList(nn.LSTM(size_in, H, batch_first=True) for size_in in sizes[:-1]) for _ in DIRECTIONS
        )
        self.project_states = nn.Linear(2 * H, D, bias=False)
        if config.attention_heads:
            # the importance of a word does not depend on the target: a score a word and head
            self.importance = _table(config.vocabulary_size, config.attention_heads)
            self.distance = nn.Parameter(torch.zeros(config.attention_heads, 2 * config.attention_span + 1))
            self.project_words = nn.Linear(config.attention_heads * E, D, bias=False)
        self.project_target = nn.Linear(E, D, bias=False)
        self.norm = nn.LayerNorm(D)
        self.dropout = nn.Dropout(config.dropout)
        if not self.embedding.weight.is_meta:  # where a draw draws nothing and costs seconds of imports
            self._draw_weights()

    def _draw_weights(self) -> None:
        E, D = self.config.embedding_size, self.config.width
        nn.init.normal_(self.embedding.weight, std=E**-0.5)
        nn.init.orthogonal_(self.project_target.weight)  # a turn keeps what the embedding knows of words
        nn.init.normal_(self.project_states.weight, std=0.2 * self.project_states.in_features**-0.5)
        if self.config.attention_heads:
            nn.init.normal_(self.importance.weight, std=0.01)
            # at first the mean of the words around the target, turned but not distorted
            turn_DE = nn.init.orthogonal_(torch.empty(D, E)) / self.config.attention_heads
            self.project_words.weight.data.copy_(turn_DE.repeat(1, self.config.attention_heads))

    def start_from(self, vectors_VE: np.ndarray, counts_V: np.ndarray) -> np.ndarray:
        """Start from ready word vectors instead of random ones.

        They are centred on running text and brought to unit size; rare words are given more attention than frequent
        ones (smooth inverse frequency, arXiv:1607.04906), so that an untrained encoder is a bag of context.

        Args:
            vectors_VE: (V, E) word vectors.
            counts_V: (V,) how often each word occurs in the text.

        Returns:
            (V, E) float32, the embedding as it is now.

        Raises:
            ValueError: if the vectors have another shape.
        """
        shape = tuple(self.embedding.weight.shape)
        if vectors_VE.shape != shape:
            raise ValueError(f"the initial word vectors are {vectors_VE.shape}, but the encoder's embedding is {shape}")
        shares_V = counts_V.astype(np.float64)
        shares_V[:NUM_SPECIAL] = 0
        shares_V /= max(shares_V.sum(), 1)
        centred_VE = vectors_VE - shares_V @ vectors_VE
        centred_VE[:NUM_SPECIAL] = 0
        centred_VE /= max(float(np.sqrt((centred_VE**2).sum(axis=1).mean())), 1e-9)
        with torch.no_grad():
            self.embedding.weight.copy_(torch.from_numpy(centred_VE))
            if self.config.attention_heads:
                scores_V = torch.from_numpy(np.log(RARE_SHARE / (RARE_SHARE + shares_V)))
                scores_V[:NUM_SPECIAL] = UNHEARD
                self.importance.weight.add_(scores_V[:, None])
        return self.embedding.weight.detach().numpy().copy()

    def forward(
        self, batch: Batch, rows_N: Tensor, positions_N: Tensor, words_K: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Everything a training step needs, in one pass over the sentences.

        Args:
            batch: B sentences.
            rows_N: sentence of each use; a sentence may serve many.
            positions_N: position of each use in its sentence.
            words_K: ids of single words.

        Returns:
            (N, D) contexts of the uses and (K, D) words, both to be joined by `join`; (B, D) sentence vectors.
        """
        embedded_BTE = self.dropout(self.embedding(batch.ids_BT))
        states = self._run(batch, embedded_BTE)
        before_NH = states["forward"][-1][rows_N, positions_N]
        after_NH = states["backward"][-1][rows_N, batch.lengths_B[rows_N] - 1 - positions_N]
        contexts_ND = self.project_states(torch.cat([before_NH, after_NH], dim=-1))
        if self.config.attention_heads:
            weights_NTA = self._weights(self.importance(batch.ids_BT)[rows_N], batch.lengths_B[rows_N], positions_N)
            pooled_NAE = torch.einsum("nta,nte->nae", weights_NTA, embedded_BTE[rows_N])
            contexts_ND = contexts_ND + self.project_words(pooled_NAE.flatten(1))
        words_KD = self.project_target(self.embedding(words_K))
        return contexts_ND, words_KD, self._sentence_vectors(batch, embedded_BTE)

    def join(self, contexts_ND: Tensor, words_ND: Tensor | None = None) -> Tensor:
        """The vector of a use: of its context alone (`context`), or with the word (`here`); any leading shape."""
        return self.norm(contexts_ND if words_ND is None else contexts_ND + words_ND)

    def joined_cosines(self, anchors_ND: Tensor, contexts_ND: Tensor, words_MD: Tensor) -> Tensor:
        """Cosine of each anchor with every word joined to its context, (N, M), without making N * M vectors.

        It equals the cosine of `anchors_ND[:, None]` with `join(contexts_ND[:, None], words_MD)`: LayerNorm's mean,
        variance, gain and shift all come apart into products of contexts and words.
        """
        gain_D, shift_D = self.norm.weight, self.norm.bias
        anchors_ND = nn.functional.normalize(anchors_ND, dim=-1)
        contexts_ND = contexts_ND - contexts_ND.mean(dim=-1, keepdim=True)
        words_MD = words_MD - words_MD.mean(dim=-1, keepdim=True)

        def products(weights_ND: Tensor) -> Tensor:
            """Of weights with contexts and words, added up, (N, M)."""
            return (weights_ND * contexts_ND).sum(dim=-1, keepdim=True) + weights_ND @ words_MD.T

        def squares(weights_D: Tensor) -> Tensor:
            """Weighted squares of contexts and words joined, (N, M)."""
            of_contexts_N1, of_words_M = ((x.square() * weights_D).sum(-1) for x in (contexts_ND, words_MD))
            return of_contexts_N1[:, None] + 2 * (contexts_ND * weights_D) @ words_MD.T + of_words_M

        variance_NM = squares(torch.ones_like(gain_D)) / self.config.width
        scale_NM = (variance_NM + self.norm.eps).rsqrt()
        dots_NM = products(anchors_ND * gain_D) * scale_NM + (anchors_ND @ shift_D)[:, None]
        mixed_NM = products((gain_D * shift_D).expand_as(contexts_ND)) * scale_NM
        lengths_NM = squares(gain_D.square()) * scale_NM.square() + 2 * mixed_NM + shift_D @ shift_D
        return dots_NM * lengths_NM.clamp(min=1e-12).rsqrt()

    def layers(self, batch: Batch, readout: Readout = "context") -> Tensor:
        """Vectors of every word at every layer.

        Args:
            batch: B sentences.
            readout: `context`, of the words around it only; `here`, of the word too.

        Returns:
            (L + 1, B, T, D): the embedding padded with zeros, the LSTMs' states (before the word and after it; with
            `here`, those that have read it), the projection. Cells beyond a sentence's length are undefined.
        """
        embedded_BTE = self.embedding(batch.ids_BT)
        layer_zero_BTD = nn.functional.pad(embedded_BTE, (0, self.config.width - self.config.embedding_size))
        states = self._run(batch, embedded_BTE)
        around = read_states(states, batch, "context")
        contexts_BTD = self.project_states(around[-1])
        if self.config.attention_heads:
            contexts_BTD = contexts_BTD + self._attend_everywhere(batch, embedded_BTE)
        words_BTD = self.project_target(embedded_BTE) if readout == "here" else None
        shown = around if readout == "context" else read_states(states, batch, readout)
        widening = (0, self.config.width - 2 * self.config.hidden_size)
        middle = [nn.functional.pad(states_BTx, widening) for states_BTx in shown]
        return torch.stack([layer_zero_BTD, *middle, self.join(contexts_BTD, words_BTD)])

    def sentence_vectors(self, batch: Batch) -> Tensor:
        """(B, D): attention pooling over all words of each sentence."""
        return self._sentence_vectors(batch, self.embedding(batch.ids_BT))

    def attention(self, batch: Batch) -> Tensor:
        """(B, T, T) the share of word s in the context of word t, mean over heads; each row sums to 1 (or is empty).

        Raises:
            ValueError: if the encoder has no attention.
        """
        if not self.config.attention_heads:
            raise ValueError("this encoder has no attention (attention_heads is 0)")
        return torch.cat([weights_BQTA.mean(dim=-1) for weights_BQTA in self._weights_everywhere(batch)], dim=1)

    def word_vectors(self) -> Tensor:
        """(V, E), the embedding."""
        return self.embedding.weight.detach()

    def _run(self, batch: Batch, embedded_BTE: Tensor) -> dict[Direction, list[Tensor]]:
        """States of both directions in their own reading order, one (B, T + 1, H) a layer; state t has read t words."""
        both: dict[Direction, list[Tensor]] = {}
        for direction, lstms in zip(DIRECTIONS, (self.forward_lstms, self.backward_lstms), strict=True):
            edge_B1 = inputs_and_targets(batch, direction)[0][:, :1]
            words_BTE = embedded_BTE if direction == "forward" else reverse(embedded_BTE, batch.lengths_B)
            states_BTx = torch.cat([self.embedding(edge_B1), words_BTE], dim=1)
            both[direction] = []
            for lstm in lstms:
                states_BTx, _ = cast(nn.LSTM, lstm)(self.dropout(states_BTx) if both[direction] else states_BTx)
                both[direction].append(states_BTx)
        return both

    def _weights(self, importance_xTA: Tensor, lengths_x: Tensor, positions_x: Tensor) -> Tensor:
        """Attention of each use to the words of its sentence; none to itself and to padding. Any leading shape x."""
        span = self.config.attention_span
        steps_T = torch.arange(importance_xTA.shape[-2], device=importance_xTA.device)
        offsets_xT = steps_T - positions_x[..., None]
        scores_xTA = importance_xTA + self.distance.T[offsets_xT.clamp(-span, span) + span]
        return _masked_softmax(scores_xTA, (offsets_xT == 0) | (steps_T >= lengths_x[..., None]))

    def _weights_everywhere(self, batch: Batch) -> Iterator[Tensor]:
        """Attention of every position, (B, Q, T, A) for Q positions at a time, so that memory stays bounded."""
        num_sentences, num_tokens = batch.ids_BT.shape
        importance_B1TA = self.importance(batch.ids_BT)[:, None]
        step = max(MAX_WEIGHTS // max(importance_B1TA.numel(), 1), 1)
        for positions_Q in torch.arange(num_tokens, device=batch.ids_BT.device).split(step):
            positions_BQ = positions_Q.expand(num_sentences, -1)
            yield self._weights(importance_B1TA, batch.lengths_B[:, None], positions_BQ)

    def _attend_everywhere(self, batch: Batch, embedded_BTE: Tensor) -> Tensor:
        pooled = [
            torch.einsum("bqta,bte->bqae", weights_BQTA, embedded_BTE).flatten(2)
            for weights_BQTA in self._weights_everywhere(batch)
        ]
        return self.project_words(torch.cat(pooled, dim=1))

    def _sentence_vectors(self, batch: Batch, embedded_BTE: Tensor) -> Tensor:
        absent_BT = torch.arange(batch.ids_BT.shape[1], device=batch.ids_BT.device) >= batch.lengths_B[:, None]
        if not self.config.attention_heads:
            scores_BT1 = embedded_BTE.new_zeros((*batch.ids_BT.shape, 1))
            return self.norm(self.project_target((_masked_softmax(scores_BT1, absent_BT) * embedded_BTE).sum(1)))
        weights_BTA = _masked_softmax(self.importance(batch.ids_BT), absent_BT)
        pooled_BAE = torch.einsum("bta,bte->bae", weights_BTA, embedded_BTE)
        return self.norm(self.project_words(pooled_BAE.flatten(1)))


def _masked_softmax(scores_xTA: Tensor, absent_xT: Tensor) -> Tensor:
    """Softmax over T; exactly zero where absent, also where everything is."""
    # the lowest number there is, not minus infinity, which would make an empty row NaN
    never = torch.finfo(scores_xTA.dtype).min
    weights_xTA = scores_xTA.masked_fill(absent_xT[..., None], never).softmax(dim=-2)
    return weights_xTA.masked_fill(absent_xT[..., None], 0.0)


def _table(num_rows: int, width: int) -> nn.Embedding:
    # from_pretrained skips nn.Embedding's own draw, which costs seconds of imports on the meta device
    return nn.Embedding.from_pretrained(torch.empty(num_rows, width), freeze=False)
