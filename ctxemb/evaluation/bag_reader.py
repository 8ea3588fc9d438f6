"""The bag of context in an encoder's place, so that it goes through the same test sets.

T tokens, E embedding size.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctxemb.analysis.context_bag import ContextBag
from ctxemb.encoder import Encoding
from ctxemb.text import Tokens, WordTokenizer


@dataclass(frozen=True)
class BagReader:
    """Reads sentences like an encoder of one layer: a word's vector is the bag of the other words of its sentence."""

    tokenizer: WordTokenizer
    bag: ContextBag

    def encode_tokens(self, texts: Sequence[str], tokens: Sequence[Tokens], /) -> list[Encoding]:
        """One encoding a sentence, in order; `layers` is (1, T, E)."""
        encodings = []
        for text, cut in zip(texts, tokens, strict=True):
            ids = np.array(cut.ids, dtype=np.int64)
            vectors_TE = self._vectors(ids)
            encodings.append(Encoding(text, cut.words, cut.spans, ids, vectors_TE[None], vectors_TE))
        return encodings

    def _vectors(self, ids: np.ndarray) -> np.ndarray:
        # each word's own weight is set to zero, not subtracted: a word without company gets exactly zero
        weights_TT = np.where(np.eye(len(ids), dtype=bool), 0, self.bag.weights_V[ids])
        totals_T1 = weights_TT.sum(axis=1, keepdims=True)
        return weights_TT @ self.bag.vectors_VE[ids] / np.maximum(totals_T1, 1e-12)
