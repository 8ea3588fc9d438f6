"""Whose vectors a store holds: one checkpoint under one reading, and no others."""

import hashlib
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ctxemb.checkpoint import CONFIG, checkpoint_files
from ctxemb.encoder import Encoder
from ctxemb.models.reading import Reading
from ctxemb.text import TextConfig, cutting_rule

VectorType = Literal["float32", "float16"]
DIGITS = 24


class StoreError(ValueError):
    """A store that cannot be used, or a question that it cannot answer; the text says why and what to do."""


class About(BaseModel):
    """What a store says of itself.

    Attributes:
        checkpoint: name of the checkpoint's folder, for people.
        identity: from `checkpoint_identity`.
        reading: how its vectors were read.
        text: how sentences are cut into words, and words written as keys.
        width: D, numbers per vector.
        vector_type: of the numbers kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1] = 1
    checkpoint: str
    identity: str
    reading: Reading
    text: TextConfig
    width: int
    vector_type: VectorType = "float32"

    @classmethod
    def of(cls, encoder: Encoder, vector_type: VectorType = "float32") -> "About":
        """What a new store of an encoder says."""
        return cls(
            checkpoint=encoder.checkpoint.path.resolve().name,
            identity=checkpoint_identity(encoder),
            reading=encoder.reading,
            text=encoder.config.text,
            width=encoder.config.model.width,
            vector_type=vector_type,
        )

    def check(self, other: "About", uri: str) -> None:
        """Refuse to mix.

        Raises:
            StoreError: if the other is another checkpoint, reading or type of numbers.
        """
        if self.identity != other.identity:
            raise StoreError(
                f"{uri} holds vectors of the checkpoint {self.checkpoint} ({self.identity[:8]}), not of "
                f"{other.checkpoint} ({other.identity[:8]}); use another store, or build one with that checkpoint"
            )
        if self.reading != other.reading:
            raise StoreError(
                f"{uri} holds vectors read as {describe(self.reading)}, not as {describe(other.reading)}; "
                "use that reading, or another store"
            )

    def key(self, word: str) -> str:
        """The form under which a word is kept, as the tokenizer looks it up."""
        word = unicodedata.normalize("NFKC", word) if self.text.language == "zh" else word
        return word.strip().lower() if self.text.lowercase else word.strip()


def describe(reading: Reading) -> str:
    """A reading in a few words."""
    return f"{reading.readout}, layer {reading.layer}"


def checkpoint_identity(encoder: Encoder) -> str:
    """A digest of all that decides a checkpoint's vectors: weights, sizes, vocabulary, how sentences are cut."""
    folder = encoder.checkpoint.path
    files = sorted(folder / name for name in checkpoint_files(folder) if name != CONFIG)
    changed = tuple(path.stat().st_mtime_ns for path in files)
    config = encoder.config
    rule = cutting_rule(config.text.language)
    settings = (config.family, config.model.model_dump_json(), config.text.model_dump_json(), rule)
    return _digest(tuple(files), changed, settings)


@lru_cache(maxsize=64)
def _digest(files: tuple[Path, ...], changed: tuple[int, ...], settings: tuple[str, ...]) -> str:
    """Weights are megabytes: they are read once, unless the files have changed."""
    digest = hashlib.sha256("\n".join(settings).encode())
    for path in files:
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:DIGITS]
