"""A target word in a plain sentence, and its vectors: what every test set of words in context is made of.

Test sets give characters, so that any tokenizer can be used. The sentence is cut at the target; of a target of several
tokens, the longest stands for it.

N targets, T tokens, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ctxemb.encoder import CHARACTERS_PER_CHUNK, Encoder, Encoding
from ctxemb.text import UNK, Tokens, WordTokenizer

TARGETS_PER_CHUNK = 1_000


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
            context.
        known_N: (N,) bool: is the target in the vocabulary, or read by its spelling?
    """

    vectors_NLD: np.ndarray
    known_N: np.ndarray

    @property
    def num_unknown(self) -> int:
        """Targets that are out of the vocabulary."""
        return int((~self.known_N).sum())


class TokenEncoder(Protocol):
    """All that is asked of an encoder here."""

    @property
    def tokenizer(self) -> WordTokenizer:
        """Words and ids."""
        ...

    def encode_tokens(self, texts: Sequence[str], tokens: Sequence[Tokens], /) -> list[Encoding]:
        """One encoding a sentence, in order."""
        ...


def target_at_token(tokens: Sequence[str], index: int, separator: str = " ") -> Target:
    """The target as one of the tokens of a sentence, which are joined by `separator`.

    Raises:
        IndexError: if there is no such token, or it is empty.
    """
    if not 0 <= index < len(tokens) or not tokens[index].strip():
        raise IndexError(f"there is no token {index} in {len(tokens)} tokens")
    start = sum(len(token) + len(separator) for token in tokens[:index])
    word = tokens[index].strip()  # some files have a no-break space at the end of a token
    start += tokens[index].index(word)
    return Target(separator.join(tokens), start, start + len(word))


def position_of_target(spans: Sequence[tuple[int, int]], target: Target) -> int:
    """The longest token within a target, the first of several, in a sentence that was cut there."""
    inside = [i for i, (start, end) in enumerate(spans) if target.start <= start and end <= target.end]
    return max(inside, key=lambda i: spans[i][1] - spans[i][0])


def known_share(encoder: Encoder, targets: Sequence[Target]) -> float:
    """Share of the targets that the encoder knows, 0 to 1: the mean of `TargetVectors.known_N`, without vectors."""
    if encoder.reads_spelling:
        return 1.0
    known, tokenizer = [], encoder.tokenizer
    for target in targets:
        tokens = tokenizer.encode_at(target.text, target.start, target.end)
        known.append(tokens.ids[position_of_target(tokens.spans, target)] != UNK)
    return float(np.mean(known))


def encode_targets(encoder: TokenEncoder, targets: Sequence[Target]) -> TargetVectors:
    """Vectors of targets at every layer, in the order given, and whether each is known.

    `encoder.reading.combine(found.vectors_NLD.swapaxes(0, 1))` gives the (N, D) of the encoder's own reading.

    Raises:
        ValueError: if there is no target, or one without a character.
    """
    if not targets:
        raise ValueError("there are no targets to encode; give at least one")
    if empty := [target.text for target in targets if not target.word.strip()]:
        raise ValueError(f"a target in “{empty[0][:80]}” has no character; give its start and end")
    vectors, known = [], []
    for chunk in _chunks(targets):  # only a chunk's whole sentences are held at once
        tokens = [encoder.tokenizer.encode_at(target.text, target.start, target.end) for target in chunk]
        encodings = encoder.encode_tokens([target.text for target in chunk], tokens)
        for target, encoding in zip(chunk, encodings, strict=True):
            position = position_of_target(encoding.spans, target)
            vectors.append(encoding.layers[:, position].copy())  # a copy, so that no whole sentence is kept
            known.append(not encoding.oov[position])
    return TargetVectors(np.stack(vectors), np.array(known))


def _chunks(targets: Sequence[Target]) -> Iterator[Sequence[Target]]:
    """The targets in order, in chunks of a bounded number of sentences and characters."""
    num_characters = np.cumsum([len(target.text) for target in targets]) // CHARACTERS_PER_CHUNK
    bounds = np.append(np.unique(num_characters, return_index=True)[1], len(targets))
    for start, end in zip(bounds, bounds[1:], strict=False):
        for first in range(start, end, TARGETS_PER_CHUNK):
            yield targets[first : min(first + TARGETS_PER_CHUNK, end)]


def encode_words(encoder: TokenEncoder, words: Sequence[str]) -> TargetVectors:
    """Vectors of words that stand alone, each looked up whole and never cut, in the order given.

    Raises:
        ValueError: if there is no word.
    """
    if not words:
        raise ValueError("there are no words to encode; give at least one")
    encodings = encoder.encode_tokens(words, [encoder.tokenizer.encode_words([word]) for word in words])
    vectors_NLD = np.stack([encoding.layers[:, 0] for encoding in encodings])
    return TargetVectors(vectors_NLD, np.array([not encoding.oov[0] for encoding in encodings]))
