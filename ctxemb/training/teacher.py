"""What a whole passage says about the sense of a word in it: the teacher of the contrastive family.

It sees many sentences where the encoder sees one, and is nothing but a weighted mean of static vectors.

R pairs, E embedding size, V vocabulary.
"""

from dataclasses import dataclass

import numpy as np

from ctxemb.analysis.context_bag import ContextBag
from ctxemb.pairs import PairBatch
from ctxemb.tokenized import TokenizedCorpus


@dataclass(frozen=True)
class View:
    """What the teacher says of a batch.

    Attributes:
        targets_RR: (R, R) float32, rows that sum to 1: how alike the passages of one word are; zero between words.
        alikeness_R: (R,) mean cosine between the passages of each pair's word: high for a word of one sense.
    """

    targets_RR: np.ndarray
    alikeness_R: np.ndarray


class PassageTeacher:
    """The bag of context of whole passages, over the embeddings that training starts from."""

    def __init__(self, corpus: TokenizedCorpus, vectors_VE: np.ndarray, counts_V: np.ndarray) -> None:
        self.corpus = corpus
        self.bag = ContextBag.build(vectors_VE, counts_V)

    def look(self, pairs: PairBatch, num_passages: int, temperature: float) -> "View":
        """What the teacher says of a batch with `num_passages` pairs a word."""
        vectors_RE = self.vectors(pairs)
        cosines_RR = vectors_RE @ vectors_RE.T
        np.fill_diagonal(cosines_RR, 1)  # also for a passage without any known word, whose vector is zero
        same_RR = pairs.words_R[:, None] == pairs.words_R[None]
        weights_RR = np.exp((cosines_RR - 1) / temperature) * same_RR
        mean_R = ((cosines_RR * same_RR).sum(axis=1) - 1) / max(num_passages - 1, 1)
        alikeness_R = np.repeat(mean_R.reshape(-1, num_passages).mean(axis=1), num_passages)
        return View((weights_RR / weights_RR.sum(axis=1, keepdims=True)).astype(np.float32), alikeness_R)

    def vectors(self, pairs: PairBatch) -> np.ndarray:
        """(R, E) unit vectors of the pairs' passages, without their word."""
        passages = self.corpus.passages
        starts_R = self.corpus.offsets[np.searchsorted(passages, pairs.passages_R, side="left")]
        ends_R = self.corpus.offsets[np.searchsorted(passages, pairs.passages_R, side="right")]
        sums = []
        for word_id, start, end in zip(pairs.words_R, starts_R, ends_R, strict=True):
            ids = self.corpus.ids[start:end]
            sums.append(self.bag.mean(ids[ids != word_id]))
        vectors_RE = np.stack(sums)
        return vectors_RE / np.maximum(np.linalg.norm(vectors_RE, axis=1, keepdims=True), 1e-9)
