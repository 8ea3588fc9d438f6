"""The plain contrastive loop, as it is usually published: one pass of the encoder for every part of a triplet.

A bidirectional `nn.LSTM`, projection and LayerNorm; 64 anchors a batch, each with a positive and 8 negatives that are
encoded for it alone (10 passes of 64 sentences); InfoNCE at 0.07; AdamW; random batches without buckets of length,
padded to the longest; float32. Which sentences there are, and how they are cropped, is the same as in ours.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.pairs import PairBatch, PassagePairs
from ctxemb.text import PAD
from ctxemb.training import ContrastiveLearning

BATCH_ANCHORS = 64
NUM_NEGATIVES = 8
TEMPERATURE = 0.07
LEARNING_RATE = 1e-3


class PlainContrastive(nn.Module):
    """A use of a word -> vector. B uses, T tokens, D numbers per vector."""

    def __init__(self, config: ContrastiveConfig) -> None:
        super().__init__()
        width = 2 * config.hidden_size
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_size, padding_idx=PAD)
        self.lstm = nn.LSTM(
            config.embedding_size, config.hidden_size, config.lstm_layers, batch_first=True, bidirectional=True
        )
        self.project = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, sentences: Sequence[np.ndarray], positions_B: np.ndarray) -> Tensor:
        """(B, D) vectors of the words at the positions."""
        ids = [torch.from_numpy(sentence.astype(np.int64)) for sentence in sentences]
        states_BTD, _ = self.lstm(self.embedding(pad_sequence(ids, batch_first=True, padding_value=PAD)))
        return self.norm(self.project(states_BTD[torch.arange(len(ids)), torch.from_numpy(positions_B)]))


def train(objective: ContrastiveLearning) -> Iterator[int]:
    """Train on the text of an objective for ever; yields the anchors of every step."""
    config, corpus = objective.config, objective.corpus
    torch.manual_seed(config.seed)
    model = PlainContrastive(objective.model.config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LEARNING_RATE)
    training_S, _ = corpus.split(config.validation_share, config.max_validation_tokens, config.seed)
    words = (objective.pairs.words.__contains__, 1, config.min_word_count, config.max_word_share)
    pairs = PassagePairs(corpus, training_S, *words)
    rng = np.random.default_rng(config.seed)
    while True:
        # a draw has two uses a word: anchors and positives come from the first, negatives from the others
        batches = [pairs.draw(BATCH_ANCHORS, config.max_sentence_tokens, rng) for _ in range(1 + NUM_NEGATIVES // 2)]
        optimizer.zero_grad()
        anchors_BD, *others = (model(*uses) for batch in batches for uses in _sides(batch))
        candidates_BCD = F.normalize(torch.stack(others, dim=1), dim=-1)
        scores_BC = torch.einsum("bd,bcd->bc", F.normalize(anchors_BD, dim=-1), candidates_BCD) / TEMPERATURE
        F.cross_entropy(scores_BC, torch.zeros(len(scores_BC), dtype=torch.int64)).backward()
        optimizer.step()
        yield len(scores_BC)


def _sides(batch: PairBatch) -> Iterator[tuple[Sequence[np.ndarray], np.ndarray]]:
    yield from ((batch.sentences[side::2], batch.positions_B[side::2]) for side in (0, 1))
