"""Sentences -> batches: bucketed by length, bounded by a token budget, every sentence exactly once an epoch.

B sentences, T tokens (longest of the batch), S sentences of the corpus.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ctxemb.text import PAD
from ctxemb.tokenized import TokenizedCorpus

NUM_BOUNDARY_TOKENS = 1  # a direction reads one boundary token more than the sentence has words
MAX_PADDING_SHARE = 0.5


@dataclass(frozen=True)
class Batch:
    """Padded sentences, without boundary tokens.

    Attributes:
        ids_BT: (B, T) int64; padding (0) stands on the right.
        lengths_B: (B,) int64, true lengths, each >= 1.
        words: the words themselves, for models that read spellings; None where only the ids are known.
    """

    ids_BT: Tensor
    lengths_B: Tensor
    words: tuple[tuple[str, ...], ...] | None = None

    @property
    def num_tokens(self) -> int:
        """Words in the batch, padding not counted."""
        return int(self.lengths_B.sum())

    @property
    def padding_share(self) -> float:
        """Share of cells that are padding, 0 to 1."""
        return 1 - self.num_tokens / max(self.ids_BT.numel(), 1)

    def to(self, device: torch.device) -> "Batch":
        """The same batch on another device."""
        ids_BT, lengths_B = (tensor.to(device, non_blocking=True) for tensor in (self.ids_BT, self.lengths_B))
        return Batch(ids_BT, lengths_B, self.words)


def plan_batches(lengths_S: np.ndarray, batch_tokens: int, seed: int | None = None) -> list[np.ndarray]:
    """Group sentences of similar length.

    Args:
        lengths_S: (S,) tokens of each sentence.
        batch_tokens: upper bound on the padded cells of a batch, boundary tokens included.
        seed: shuffles the sentences within a length, and the batches; None keeps both in order of length.

    Returns:
        Arrays of sentence indices; together they hold every sentence once. A batch is over budget only
        if it is a single sentence; at most half of its cells are padding.

    Raises:
        ValueError: if the budget is below 1 or there is an empty sentence.
    """
    if batch_tokens < 1:
        raise ValueError(f"batch_tokens is {batch_tokens}; it has to be at least 1")
    if len(lengths_S) and lengths_S.min() < 1:
        raise ValueError(f"sentence {int(lengths_S.argmin())} has no token")
    rng = np.random.default_rng(seed)
    tie_break = rng.random(len(lengths_S)) if seed is not None else np.arange(len(lengths_S))
    order = np.lexsort((tie_break, lengths_S))
    sorted_lengths = lengths_S[order]
    batches, start = [], 0
    while start < len(order):
        # lengths rise, so the first sentence decides the padding limit and the last one the width
        limit = np.searchsorted(sorted_lengths, sorted_lengths[start] / (1 - MAX_PADDING_SHARE), side="right")
        candidates = sorted_lengths[start : min(limit, start + batch_tokens)] + NUM_BOUNDARY_TOKENS
        cells = candidates * np.arange(1, len(candidates) + 1)
        size = max(int(np.searchsorted(cells, batch_tokens, side="right")), 1)
        batches.append(order[start : start + size])
        start += size
    if seed is not None:
        rng.shuffle(batches)
    return batches


def make_batch(sentences: Sequence[np.ndarray | Sequence[int]], words: Sequence[Sequence[str]] | None = None) -> Batch:
    """Pad sentences (ids, each with at least one token) into one batch; `words` are the same sentences in words."""
    lengths = [len(sentence) for sentence in sentences]
    ids_BT = np.full((len(sentences), max(lengths, default=0)), PAD, dtype=np.int64)
    for row, sentence in zip(ids_BT, sentences, strict=True):
        row[: len(sentence)] = sentence
    assert words is None or [len(sentence) for sentence in words] == lengths, "a word for every id"
    spelled = None if words is None else tuple(map(tuple, words))
    return Batch(torch.from_numpy(ids_BT), torch.tensor(lengths, dtype=torch.int64), spelled)


def corpus_batch(corpus: TokenizedCorpus, sentences: np.ndarray) -> Batch:
    """The batch that a plan's indices name."""
    return make_batch([corpus[int(sentence)] for sentence in sentences])
