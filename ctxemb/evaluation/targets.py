"""A target word in a plain sentence, and its vectors: what every test set of words in context is made of.

Test sets give characters, so that any tokenizer can be used; the token that shares most characters with the target
stands for it.

N targets, T tokens, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ctxemb.encoder import Encoding
from ctxemb.text import UNK, WordTokenizer


@dataclass(frozen=True)
class Target:
    """The word at characters `start` to `end` (exclusive) of a sentence."""

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The target as it stands in the sentence."""
        return self.text[self.start : self.end]


@dataclass(frozen=True)
class TargetVectors:
    """Vectors of N targets.

    Attributes:
        vectors_NLD: (N, L + 1, D) float32. An out-of-vocabulary target has the vectors of the unknown word in its
            context; zeros where no token touches the target.
        known_N: (N,) bool: is there a token, and is it in the vocabulary?
        exact_N: (N,) bool: is the token the target, neither a part of it nor longer?
    """

    vectors_NLD: np.ndarray
    known_N: np.ndarray
    exact_N: np.ndarray

    @property
    def num_unknown(self) -> int:
        """Targets that are out of the vocabulary."""
        return int((~self.known_N).sum())

    @property
    def num_inexact(self) -> int:
        """Targets that the tokenizer splits, or joins with their neighbours."""
        return int((~self.exact_N).sum())


class SentenceEncoder(Protocol):
    """All that is asked of an encoder here."""

    def encode_stream(self, sentences: Iterable[str], /) -> Iterator[Encoding]:
        """One encoding a sentence, in order."""
        ...


def target_at_token(tokens: Sequence[str], index: int, separator: str = " ") -> Target:
    """The target as one of the tokens of a sentence, which are joined by `separator`.

    Raises:
        IndexError: if there is no such token, or it is empty.
    """
    if not 0 <= index < len(tokens) or not tokens[index]:
        raise IndexError(f"there is no token {index} in {len(tokens)} tokens")
    start = sum(len(token) + len(separator) for token in tokens[:index])
    return Target(separator.join(tokens), start, start + len(tokens[index]))


def token_of_target(spans: Sequence[tuple[int, int]], target: Target) -> int | None:
    """The token that shares most characters with the target, the first of several; None if none shares any."""
    shared = [min(end, target.end) - max(start, target.start) for start, end in spans]
    best = max(range(len(shared)), key=shared.__getitem__, default=None)
    return best if best is not None and shared[best] > 0 else None


def known_share(tokenizer: WordTokenizer, targets: Sequence[Target]) -> float:
    """Share of the targets that are in the vocabulary, 0 to 1: the mean of `TargetVectors.known_N`, without vectors."""
    known = []
    for target, tokens in zip(targets, tokenizer.encode_batch([target.text for target in targets]), strict=True):
        position = token_of_target(tokens.spans, target)
        known.append(position is not None and tokens.ids[position] != UNK)
    return float(np.mean(known))


def encode_targets(encoder: SentenceEncoder, targets: Sequence[Target]) -> TargetVectors:
    """Vectors of targets at every layer, in the order given; whether each is known, and is a token of its own.

    `encoder.reading.combine(found.vectors_NLD.swapaxes(0, 1))` gives the (N, D) of the encoder's own reading.

    Raises:
        ValueError: if there is no target.
    """
    if not targets:
        raise ValueError("there are no targets to encode; give at least one")
    vectors, known, exact = [], [], []
    for target, encoding in zip(targets, encoder.encode_stream(target.text for target in targets), strict=True):
        position = token_of_target(encoding.spans, target)
        if position is None:
            vectors.append(np.zeros_like(encoding.layers, shape=(len(encoding.layers), encoding.layers.shape[-1])))
        else:
            # a copy, so that no whole sentence is kept
            vectors.append(encoding.layers[:, position].copy())
        known.append(position is not None and not encoding.oov[position])
        exact.append(position is not None and tuple(encoding.spans[position]) == (target.start, target.end))
    return TargetVectors(np.stack(vectors), np.array(known), np.array(exact))
