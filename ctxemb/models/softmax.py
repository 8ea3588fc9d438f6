"""The output layer: the exact probability of the next word, full or adaptive, with tied weights.

One mechanism serves both. Words are sorted by frequency; the head holds the frequent ones and one entry per
cluster of rarer words, and a rare word costs a second, smaller softmax inside its cluster:
p(word) = p(cluster) p(word | cluster). Without cutoffs the head is the whole vocabulary: the full softmax.

Source: Grave et al. 2017, "Efficient softmax approximation for GPUs", arXiv:1609.04309 (there with narrower
tails; here every cluster keeps the full width, so that the weights can be tied to the input embedding,
arXiv:1608.05859).

N predictions, H hidden units, E numbers per word (tied: the embedding size), V vocabulary, C clusters.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class AdaptiveSoftmax(nn.Module):
    """Log-likelihood of words, exact for every choice of cutoffs.

    Args:
        hidden_size: H, size of the incoming states.
        weight_VE: (V, E) output embeddings; hand in the input embedding's weight to tie them.
        cutoffs: ascending ids at which a new cluster starts; those at or beyond V are ignored.
    """

    def __init__(self, hidden_size: int, weight_VE: nn.Parameter, cutoffs: Sequence[int] = ()) -> None:
        super().__init__()
        num_words, embedding_size = weight_VE.shape
        edges = [cutoff for cutoff in cutoffs if cutoff < num_words] + [num_words]
        self.head_size = edges[0]
        self.clusters = list(zip(edges[:-1], edges[1:], strict=True))
        self.projection = nn.Linear(hidden_size, embedding_size, bias=False)
        self.weight = weight_VE
        self.bias = nn.Parameter(torch.zeros(num_words))
        self.cluster_weight = nn.Parameter(torch.zeros(len(self.clusters), embedding_size))
        # a cluster starts with the probability of its size: an untrained model is uniform, its loss ln V
        sizes = [math.log(stop - start) for start, stop in self.clusters]
        self.cluster_bias = nn.Parameter(torch.tensor(sizes))

    def forward(self, states_NH: Tensor, targets_N: Tensor) -> Tensor:
        """Negative log-likelihood of each target, (N,), in nats."""
        queries_NE = self.projection(states_NH)
        head_targets_N = targets_N
        for index, (start, stop) in enumerate(self.clusters):
            inside_N = (targets_N >= start) & (targets_N < stop)
            head_targets_N = torch.where(inside_N, self.head_size + index, head_targets_N)
        nll_N = F.cross_entropy(self._head(queries_NE).float(), head_targets_N, reduction="none")
        for start, stop in self.clusters:
            rows = torch.nonzero((targets_N >= start) & (targets_N < stop)).squeeze(1)
            logits = F.linear(queries_NE[rows], self.weight[start:stop], self.bias[start:stop])
            tail = F.cross_entropy(logits.float(), targets_N[rows] - start, reduction="none")
            nll_N = nll_N.index_add(0, rows, tail)
        return nll_N

    def log_probabilities(self, states_NH: Tensor) -> Tensor:
        """Log-probability of every word, (N, V), in nats; each row of exponentials sums to 1."""
        queries_NE = self.projection(states_NH)
        head = F.log_softmax(self._head(queries_NE).float(), dim=-1)
        parts = [head[:, : self.head_size]]
        for index, (start, stop) in enumerate(self.clusters):
            logits = F.linear(queries_NE, self.weight[start:stop], self.bias[start:stop])
            within = F.log_softmax(logits.float(), dim=-1)
            parts.append(within + head[:, self.head_size + index, None])
        return torch.cat(parts, dim=-1)

    def _head(self, queries_NE: Tensor) -> Tensor:
        weight = torch.cat([self.weight[: self.head_size], self.cluster_weight])
        bias = torch.cat([self.bias[: self.head_size], self.cluster_bias])
        return F.linear(queries_NE, weight, bias)
