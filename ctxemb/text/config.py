"""How text becomes words, and which words are known."""

from importlib import metadata
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ctxemb.text import chinese, english

NUM_SPECIAL = 4
Language = Literal["en", "zh"]


class TextConfig(BaseModel):
    """How text becomes words, and which words are known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: Language = Field(default="en", description="Language of the text")
    lowercase: bool = Field(default=True, description="Read every letter as lower case")
    words_only: bool | None = Field(
        default=None, description="Chinese: URLs, numbers and symbols are no words (yes, unless said otherwise)"
    )
    min_frequency: int = Field(default=3, ge=1, le=1_000_000, description="A word seen less often becomes <unk>")
    max_vocabulary: int | None = Field(
        default=None,
        ge=NUM_SPECIAL + 1,
        le=2_000_000,
        description="Keep at most this many entries, special ones included",
    )
    min_sentence_tokens: int = Field(default=5, ge=1, le=1_000, description="Shorter sentences are dropped")
    max_sentence_tokens: int = Field(
        default=100, ge=1, le=10_000, description="Longer sentences are cut here, and counted"
    )

    @model_validator(mode="after")
    def _check_words_only(self) -> Self:
        if self.words_only and self.language == "en":
            raise ValueError("words_only is for Chinese text (language zh); English keeps numbers and symbols")
        return self


def cutting_rule(language: Language) -> str:
    """A text that changes whenever sentences of this language are cut into other words: for fingerprints."""
    if language == "en":
        return english.WORDS
    # rjieba's dictionary comes with its version
    return f"rjieba {metadata.version('rjieba')}, reading {chinese.READING}"
