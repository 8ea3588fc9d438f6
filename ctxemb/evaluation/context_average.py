"""One vector a word out of a contextual encoder: the mean over a sample of the word's uses in a corpus.

Sentences are visited in a random order, and of every word the first uses met are taken: a fair sample for each word,
although one sentence serves all of its words and is encoded once. Sentences that no word needs are never encoded.

V vocabulary, D numbers per vector, S sentences, N uses of a chunk of sentences.
"""

from collections.abc import Callable, Iterator

import numpy as np
import torch

from ctxemb.encoder import Encoder
from ctxemb.text import NUM_SPECIAL
from ctxemb.tokenized import TokenizedCorpus

SENTENCES_PER_LOOK = 20_000  # looked through at once; only those with a wanted use go on
SENTENCES_PER_CHUNK = 1_000  # encoded at once


def context_averages(
    encoder: Encoder,
    corpus: TokenizedCorpus,
    limit: int,
    seed: int,
    on_progress: Callable[[int], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean vector of at most `limit` uses of every word, under the encoder's reading.

    Args:
        encoder: with the reading that is wanted.
        corpus: in the encoder's ids.
        limit: uses of a word, from 1.
        seed: decides the order of the sentences, and with it the uses.
        on_progress: called with the number of sentences encoded.

    Returns:
        (V, D) float32 means, zero for special ids and for words without a use, and (V,) how many uses they are of.

    Raises:
        ValueError: if the limit is below 1, or the corpus has ids that the encoder has not.
    """
    num_words = encoder.config.model.vocabulary_size
    if limit < 1:
        raise ValueError(f"the limit is {limit} uses a word; a mean needs at least 1")
    if (largest := int(np.max(corpus.ids))) >= num_words:
        raise ValueError(f"the corpus has ids up to {largest}, the encoder only {num_words} words; tokenise it anew")
    sums_VD = torch.zeros(num_words, encoder.config.model.width, dtype=torch.float64)
    counts_V = np.zeros(num_words, dtype=np.int64)
    num_done = 0
    for sentences, wanted in _chunks(corpus, limit, seed, num_words):
        layers = encoder.layers_of_ids(sentences, encoder.reading.readout)
        vectors_ND = np.concatenate(
            [
                encoder.reading.combine(layers_LTD[:, wanted_T])
                for layers_LTD, wanted_T in zip(layers, wanted, strict=True)
            ]
        )
        ids_N = np.concatenate([ids[wanted_T] for ids, wanted_T in zip(sentences, wanted, strict=True)])
        # in float64, so that the order of the sentences does not show
        sums_VD.index_add_(0, torch.from_numpy(ids_N.astype(np.int64)), torch.from_numpy(vectors_ND).double())
        counts_V += np.bincount(ids_N, minlength=num_words)
        num_done += len(sentences)
        if on_progress:
            on_progress(num_done)
    means_VD = sums_VD.numpy() / np.maximum(counts_V, 1)[:, None]
    return means_VD.astype(np.float32), counts_V


def _chunks(
    corpus: TokenizedCorpus, limit: int, seed: int, num_words: int
) -> Iterator[tuple[list[np.ndarray], list[np.ndarray]]]:
    """Sentences to encode, and of each a (T,) bool: which of its uses are wanted."""
    sentences: list[np.ndarray] = []
    wanted: list[np.ndarray] = []
    for ids, wanted_T in _wanted_uses(corpus, limit, seed, num_words):
        sentences.append(ids)
        wanted.append(wanted_T)
        if len(sentences) == SENTENCES_PER_CHUNK:
            yield sentences, wanted
            sentences, wanted = [], []
    if sentences:
        yield sentences, wanted


def _wanted_uses(
    corpus: TokenizedCorpus, limit: int, seed: int, num_words: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Every sentence with a wanted use, in the order drawn."""
    order_S = np.random.default_rng(seed).permutation(len(corpus))
    num_left_V = np.minimum(np.bincount(corpus.ids, minlength=num_words), limit)
    num_left_V[:NUM_SPECIAL] = 0
    for start in range(0, len(order_S), SENTENCES_PER_LOOK):
        if not num_left_V.any():
            return
        sentences = [corpus[int(sentence)] for sentence in order_S[start : start + SENTENCES_PER_LOOK]]
        ids_N = np.concatenate(sentences)
        wanted_N = _ranks(ids_N) < num_left_V[ids_N]
        num_left_V -= np.bincount(ids_N[wanted_N], minlength=num_words)
        bounds = np.cumsum([len(ids) for ids in sentences])[:-1]
        for ids, wanted_T in zip(sentences, np.split(wanted_N, bounds), strict=True):
            if wanted_T.any():
                yield ids, wanted_T


def _ranks(ids_N: np.ndarray) -> np.ndarray:
    """How many equal ids stand before each, (N,)."""
    order_N = np.argsort(ids_N, kind="stable")
    is_first_N = np.append(True, np.diff(ids_N[order_N]) > 0)
    firsts_N = np.maximum.accumulate(np.where(is_first_N, np.arange(len(ids_N)), 0))
    ranks_N = np.empty(len(ids_N), dtype=np.int64)
    ranks_N[order_N] = np.arange(len(ids_N)) - firsts_N
    return ranks_N
