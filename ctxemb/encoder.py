"""Sentences in, vectors out: `Encoder.load(path).encode(sentences)`.

Boundary tokens, padding and batches stay inside; a sentence's vectors depend on nothing but the sentence.

T tokens, L layers above layer 0, D numbers per vector.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from ctxemb.batching import make_batch, plan_batches
from ctxemb.checkpoint import Checkpoint, CheckpointConfig, load_checkpoint
from ctxemb.distributed import choose_device
from ctxemb.models.families import Model
from ctxemb.models.reading import Reading, Readout
from ctxemb.text import UNK, Tokens, WordTokenizer

# `encode_stream` holds the vectors of this much text, whichever is reached first
SENTENCES_PER_CHUNK = 1_000
CHARACTERS_PER_CHUNK = 100_000
Precision = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class Encoding:
    """One encoded sentence.

    Attributes:
        text: the sentence; for ready tokens, the tokens joined by spaces.
        tokens: T strings as they stand in the text.
        spans: T pairs (start, end), character offsets into `text`.
        ids: (T,) int64 vocabulary ids.
        layers: (L + 1, T, D) float32; layer 0 is the embedding.
        vectors: (T, D) float32, the encoder's reading of those layers.
        is_spelled: the words were read by their spelling, so that none is out of vocabulary.
    """

    text: str
    tokens: list[str]
    spans: list[tuple[int, int]]
    ids: np.ndarray
    layers: np.ndarray
    vectors: np.ndarray
    is_spelled: bool = False

    @property
    def oov(self) -> np.ndarray:
        """(T,) bool, True where the word was read as unknown."""
        return np.zeros(len(self.ids), dtype=bool) if self.is_spelled else self.ids == UNK

    def positions(self, word: str) -> list[int]:
        """Where a word occurs, compared without regard to case."""
        return [i for i, token in enumerate(self.tokens) if token.casefold() == word.casefold()]


@dataclass(frozen=True)
class Encoder:
    """A checkpoint ready to read sentences. Use `load`, not the constructor."""

    checkpoint: Checkpoint
    reading: Reading
    device: torch.device
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        self._check_readout(self.reading.readout)

    @classmethod
    def load(cls, path: str | Path, device: str = "auto", precision: Precision = "float32") -> "Encoder":
        """Open a checkpoint folder.

        Args:
            path: the folder that holds config.json.
            device: `auto` (a GPU if there is one), or torch's own device string.
            precision: of matrix products. `bfloat16` is about twice as fast where the processor computes in it, for
                vectors that are the same to two or three digits; only in `float32` does a sentence have the same
                vectors in every batch.

        Raises:
            CheckpointError: if a file of it is missing, damaged or of another size than declared.
            ValueError: if there is no such device, or its default reading is none that its family has.
        """
        checkpoint = load_checkpoint(path)
        chosen = choose_device(device)
        checkpoint.model.to(chosen)
        return cls(checkpoint, checkpoint.config.reading, chosen, precision)

    @property
    def config(self) -> CheckpointConfig:
        """Family, sizes, text settings and default reading."""
        return self.checkpoint.config

    @property
    def model(self) -> Model:
        """The module, in evaluation mode."""
        return self.checkpoint.model

    @property
    def tokenizer(self) -> WordTokenizer:
        """Words and ids."""
        return self.checkpoint.tokenizer

    @property
    def num_layers(self) -> int:
        """L; there are L + 1 layers with the embedding."""
        return self.config.model.num_layers

    @property
    def reads_spelling(self) -> bool:
        """Whether words are read by their spelling; then every word has a vector, also outside the vocabulary."""
        return self.config.model.reads_spelling

    @property
    def is_read_only(self) -> bool:
        """Whether the folder is another program's, in which nothing is written."""
        return self.config.family == "transformer"

    def knows(self, word: str) -> bool:
        """Whether a word has a vector of its own."""
        return self.reads_spelling or self.tokenizer.word_id(word) != UNK

    def entry(self, encoding: Encoding, position: int) -> str:
        """The form of a word under which its uses belong together; `<unk>` if it is out of vocabulary."""
        if encoding.is_spelled:
            return self.tokenizer.normalize(encoding.tokens[position])
        return self.tokenizer.word(int(encoding.ids[position]))

    def with_reading(self, reading: Reading) -> "Encoder":
        """The same weights, read another way.

        Raises:
            ValueError: if this family of encoders has no such read-out.
        """
        return dataclasses.replace(self, reading=reading)

    def reading_for(self, readout: Readout, layer: int | Literal["last", "mean", "weighted"]) -> Reading:
        """A reading of this checkpoint; `weighted` takes the weights that were learnt for the read-out.

        Raises:
            ValueError: if `weighted` is asked of a checkpoint that has learnt no weights, or this family of encoders
                has no such read-out.
        """
        weights = self.config.layer_weights.get(readout) if layer == "weighted" else None
        reading = Reading(readout=readout, layer=layer, layer_weights=weights)
        self._check_readout(readout)
        return reading

    def _check_readout(self, readout: Readout) -> None:
        model = self.config.model
        if readout not in model.readouts:
            raise ValueError(
                f"{self.checkpoint.path} is a {model.family} encoder, which has no read-out {readout!r}; "
                f"choose {' or '.join(model.readouts)}"
            )

    def encode(self, sentences: Sequence[str] | Sequence[Sequence[str]], batch_tokens: int = 2_048) -> list[Encoding]:
        """Vectors of every word of every sentence, in the order given.

        Args:
            sentences: strings, or lists of ready tokens, which are looked up as they are. A sentence
                without a token gives an encoding with T = 0.
            batch_tokens: cells computed at once; decides memory and speed, never the result.

        Raises:
            TypeError: if a single string is given instead of a list.
        """
        if isinstance(sentences, str):
            raise TypeError('encode takes a list of sentences: encode(["..."])')
        texts = [s if isinstance(s, str) else " ".join(s) for s in sentences]
        return self.encode_tokens(texts, self.tokenize(sentences), batch_tokens)

    def encode_tokens(
        self, texts: Sequence[str], tokens: Sequence[Tokens], batch_tokens: int = 2_048
    ) -> list[Encoding]:
        """`encode` for sentences that the tokenizer has cut already."""
        ids, words = [t.ids for t in tokens], [t.words for t in tokens]
        layers = self.layers_of_ids(ids, self.reading.readout, batch_tokens, words)
        return [
            Encoding(
                text,
                t.words,
                t.spans,
                np.array(t.ids, dtype=np.int64),
                layers_LTD,
                self.reading.combine(layers_LTD),
                self.reads_spelling,
            )
            for text, t, layers_LTD in zip(texts, tokens, layers, strict=True)
        ]

    def encode_stream(self, sentences: Iterable[str], batch_tokens: int = 2_048) -> Iterator[Encoding]:
        """`encode` for any number of sentences in bounded memory."""
        for chunk in _chunks(sentences):
            yield from self.encode(chunk, batch_tokens)

    @torch.inference_mode()
    def layers_of_ids(
        self,
        sentences: Sequence[Sequence[int] | np.ndarray],
        readout: Readout,
        batch_tokens: int = 2_048,
        words: Sequence[Sequence[str]] | None = None,
    ) -> list[np.ndarray]:
        """Vectors at every layer for sentences that are ids already: (L + 1, T, D) float32 each, in the order given.

        Args:
            words: the same sentences in words as they stand in a text. A model that reads spellings reads them; without
                them, those that the vocabulary has for the ids.
        """
        spelled = None
        if words is not None and self.reads_spelling:
            spelled = [[self.tokenizer.normalize(word) for word in sentence] for sentence in words]
        layers = [np.zeros((self.num_layers + 1, 0, self.config.model.width), np.float32) for _ in sentences]
        filled = np.array([index for index, ids in enumerate(sentences) if len(ids)], dtype=np.int64)
        lengths = np.array([len(sentences[index]) for index in filled], dtype=np.int64)
        for rows in plan_batches(lengths, batch_tokens):
            members = filled[rows]
            batch = make_batch(
                [sentences[index] for index in members], spelled and [spelled[index] for index in members]
            ).to(self.device)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bfloat16"):
                layers_LBTD = self.model.layers(batch, readout).float().cpu().numpy()
            for row, index in enumerate(members):
                # a copy, so that one kept sentence does not keep its whole batch alive
                layers[index] = layers_LBTD[:, row, : len(sentences[index])].copy()
        return layers

    def tokenize(self, sentences: Sequence[str] | Sequence[Sequence[str]]) -> list[Tokens]:
        """Words, spans and ids of sentences; ready tokens are looked up as they are."""
        strings = [s for s in sentences if isinstance(s, str)]
        encoded = iter(self.tokenizer.encode_batch(strings))
        return [next(encoded) if isinstance(s, str) else self.tokenizer.encode_words(s) for s in sentences]


def _chunks(sentences: Iterable[str]) -> Iterator[list[str]]:
    chunk, num_characters = [], 0
    for sentence in sentences:
        chunk.append(sentence)
        num_characters += len(sentence)
        if len(chunk) == SENTENCES_PER_CHUNK or num_characters >= CHARACTERS_PER_CHUNK:
            yield chunk
            chunk, num_characters = [], 0
    if chunk:
        yield chunk
