"""The plain loop, as it is usually taught: nothing here is tuned, and nothing is slower than it usually is.

Two `nn.LSTM`s with a full softmax each; random batches of 32 sentences, padded to the longest; dense Adam; float32;
encoding one sentence at a time. What is a word, and which id it has, is the same as in ours.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from benchmarks.sizes import Sizes
from ctxemb import Encoder
from ctxemb.models.bilm import DirectionalLM
from ctxemb.text import BOS, EOS, PAD, UNK
from ctxemb.tokenized import TokenizedCorpus

BATCH_SENTENCES = 32


class PlainBiLM(nn.Module):
    """A forward and a backward language model on one embedding."""

    def __init__(self, sizes: Sizes, num_words: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(num_words, sizes.embedding, padding_idx=PAD)
        self.forward_lstm = nn.LSTM(sizes.embedding, sizes.hidden, sizes.num_layers, batch_first=True)
        self.backward_lstm = nn.LSTM(sizes.embedding, sizes.hidden, sizes.num_layers, batch_first=True)
        self.forward_softmax = nn.Linear(sizes.hidden, num_words)
        self.backward_softmax = nn.Linear(sizes.hidden, num_words)

    def losses(self, sentences: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
        """Mean loss per prediction, forward and backward, in nats."""
        first, last = torch.tensor([BOS]), torch.tensor([EOS])
        rows = [torch.cat([first, sentence, last]) for sentence in sentences]
        flipped = [row.flip(0) for row in rows]
        return (
            self._loss(self.forward_lstm, self.forward_softmax, rows),
            self._loss(self.backward_lstm, self.backward_softmax, flipped),
        )

    def _loss(self, lstm: nn.LSTM, softmax: nn.Linear, rows: Sequence[Tensor]) -> Tensor:
        inputs = pad_sequence([row[:-1] for row in rows], batch_first=True, padding_value=PAD)
        targets = pad_sequence([row[1:] for row in rows], batch_first=True, padding_value=PAD)
        states, _ = lstm(self.embedding(inputs))
        logits = softmax(states)
        return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PAD)


def train(
    model: PlainBiLM,
    corpus: TokenizedCorpus,
    sentences_S: np.ndarray,
    num_tokens: int,
    learning_rate: float,
) -> Iterator[int]:
    """Train on at least `num_tokens` words; yields the words of every step.

    Args:
        model: changed in place.
        corpus: where the sentences stand.
        sentences_S: indices of the training sentences.
        num_tokens: words to train on; the sentences are gone through again where they are too few.
        learning_rate: Adam's, constant.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    rng = np.random.default_rng(0)
    num_done = 0
    while num_done < num_tokens:
        order = rng.permutation(sentences_S)
        for start in range(0, len(order), BATCH_SENTENCES):
            sentences = sentences_of(corpus, order[start : start + BATCH_SENTENCES])
            num_words = sum(map(len, sentences))
            optimizer.zero_grad()
            forward, backward = model.losses(sentences)
            (forward + backward).backward()
            optimizer.step()
            num_done += num_words
            yield num_words
            if num_done >= num_tokens:
                break


@torch.no_grad()
def perplexities(model: PlainBiLM, corpus: TokenizedCorpus, sentences_S: np.ndarray) -> tuple[float, float]:
    """Forward and backward perplexity, over words and one boundary a sentence."""
    sums, num_predictions = [0.0, 0.0], 0
    for start in range(0, len(sentences_S), BATCH_SENTENCES):
        sentences = sentences_of(corpus, sentences_S[start : start + BATCH_SENTENCES])
        count = sum(len(sentence) + 1 for sentence in sentences)
        for direction, loss in enumerate(model.losses(sentences)):
            sums[direction] += loss.item() * count
        num_predictions += count
    return math.exp(sums[0] / num_predictions), math.exp(sums[1] / num_predictions)


def sentences_of(corpus: TokenizedCorpus, sentences_S: np.ndarray) -> list[Tensor]:
    """Sentences as tensors of ids."""
    return [torch.from_numpy(corpus[int(sentence)].astype(np.int64)) for sentence in sentences_S]


class PlainEncoder:
    """One sentence at a time, with the weights of a checkpoint: the top layer of both directions."""

    def __init__(self, encoder: Encoder) -> None:
        self.ids = {encoder.tokenizer.word(i): i for i in range(len(encoder.tokenizer))}
        self.embedding = encoder.model.forward_lm.embedding
        self.forward_lstm = _stacked(encoder.model.forward_lm)
        self.backward_lstm = _stacked(encoder.model.backward_lm)

    @torch.no_grad()
    def encode(self, sentence: str) -> np.ndarray:
        """(T, D) vectors of the words that white space sets apart."""
        ids = torch.tensor([self.ids.get(word, UNK) for word in sentence.split()])
        first, last = torch.tensor([BOS]), torch.tensor([EOS])
        forward, _ = self.forward_lstm(self.embedding(torch.cat([first, ids])).unsqueeze(0))
        backward, _ = self.backward_lstm(self.embedding(torch.cat([last, ids.flip(0)])).unsqueeze(0))
        return torch.cat([forward[0, 1:], backward[0, 1:].flip(0)], dim=-1).numpy()


def _stacked(direction: DirectionalLM) -> nn.LSTM:
    """The layers of ours as one `nn.LSTM`."""
    layers = [layer for layer in direction.layers if isinstance(layer, nn.LSTM)]
    stacked = nn.LSTM(layers[0].input_size, layers[0].hidden_size, len(layers), batch_first=True)
    weights = {
        name.replace("_l0", f"_l{index}"): weight
        for index, layer in enumerate(layers)
        for name, weight in layer.state_dict().items()
    }
    stacked.load_state_dict(weights)
    return stacked.eval()
