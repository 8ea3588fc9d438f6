"""A checkpoint under examination: what several checks look at is made once, when the first one asks.

N uses, P pairs, D numbers per vector.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from torch import Tensor

from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.batching import Batch
from ctxemb.comparison import Use, example_uses
from ctxemb.encoder import Encoder, Encoding
from ctxemb.examples import example_words, load_examples
from ctxemb.geometry import USES_PER_WORD
from ctxemb.text import Language

NUM_SENTENCES = 200
MIN_WORDS = 20  # fewer have no shape worth a number


@runtime_checkable
class PredictsWords(Protocol):
    """A language model of both directions."""

    def predictions(self, batch: Batch) -> Tensor:
        """Log-probabilities of every word at every position, (2, B, T, V)."""
        ...

    def __call__(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Negative log-likelihoods of both directions, sentence after sentence."""
        ...


class Subject:
    """A checkpoint folder and what was read of it.

    Args:
        folder: that holds config.json.
        encoder: the same, if it is open already.
    """

    def __init__(self, folder: Path, encoder: Encoder | None = None) -> None:
        self.folder = folder
        if encoder is not None:
            self.encoder = encoder

    @cached_property
    def encoder(self) -> Encoder:
        """The checkpoint, open.

        Raises:
            CheckpointError: if it cannot be opened.
        """
        return Encoder.load(self.folder, "cpu")

    @property
    def language(self) -> Language:
        """What its text is written in."""
        return self.encoder.config.text.language

    @property
    def predictor(self) -> PredictsWords | None:
        """The model, if it predicts words."""
        model = self.encoder.model
        return model if isinstance(model, PredictsWords) else None

    @cached_property
    def sentences(self) -> list[str]:
        """Some of our example sentences: everyday text that no checkpoint was trained on."""
        sentences = load_examples(self.language).sentence
        return sentences.sample(min(NUM_SENTENCES, len(sentences)), random_state=0).tolist()

    @cached_property
    def sample(self) -> list[Encoding]:
        """Those sentences, read as the checkpoint says."""
        return self.encoder.encode(self.sentences)

    @cached_property
    def uses(self) -> dict[str, list[Use]]:
        """Uses of the example words, with their senses."""
        return example_uses(self.encoder, example_words(self.language))

    @cached_property
    def cloud(self) -> tuple[np.ndarray, np.ndarray]:
        """Vectors of known words of the sample, (N, D), and the word of each, (N,) strings; no word too often.

        A static encoder has one vector a word, so a word counts once there.
        """
        limit = USES_PER_WORD if self.encoder.num_layers else 1
        vectors, words, counts = [], [], dict[str, int]()
        for encoding in self.sample:
            for token, is_unknown, vector_D in zip(encoding.tokens, encoding.oov, encoding.vectors, strict=True):
                word = token.casefold()
                if is_unknown or not word.isalpha() or counts.get(word, 0) == limit:
                    continue
                counts[word] = counts.get(word, 0) + 1
                vectors.append(vector_D)
                words.append(word)
        return np.array(vectors).reshape(len(words), self.encoder.config.model.width), np.array(words)

    @cached_property
    def random_cosines(self) -> np.ndarray:
        """(P,) cosines of all pairs of different words of the cloud; those of zero vectors are left out."""
        vectors_ND, words_N = self.cloud
        cosines_P = cosine_matrix(vectors_ND)[np.triu(words_N[:, None] != words_N, k=1)]
        return cosines_P[~np.isnan(cosines_P)]

    @property
    def knows_too_little(self) -> str | None:
        """Why the space cannot be measured, if it cannot."""
        num_words = len(set(self.cloud[1].tolist()))
        if num_words >= MIN_WORDS:
            return None
        return f"The vocabulary has {num_words} words of our example sentences; the shape of a space takes {MIN_WORDS}."

    def known_sentences(self, num_sentences: int, min_tokens: int = 6, max_tokens: int = 20) -> list[Encoding]:
        """Sentences of the sample of a handy length, those with the fewest unknown words first."""
        handy = [e for e in self.sample if min_tokens <= len(e.tokens) <= max_tokens]
        return sorted(handy, key=lambda e: int(e.oov.sum()))[:num_sentences]


def largest_difference(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> float:
    """Largest difference between arrays of equal shapes, in units of their largest number if that is above 1."""
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a.size]
    if not pairs:
        return 0.0
    differences, sizes = np.array([(np.abs(a - b).max(), np.abs(a).max()) for a, b in pairs]).T
    return float(differences.max() / max(1.0, sizes.max()))
