"""A passage -> its sentences."""

import re

import sentencex

from ctxemb.text.config import Language

# Up to an end mark and the closing marks after it; titles and short remarks in brackets stay whole. sentencex knows
# Chinese too, but not that a semicolon or the end of a line ends a sentence.
CHINESE_SENTENCE = re.compile(
    r"(?:《[^《》\n]{1,50}》|（[^（）\n]{1,50}）|\([^()\n]{1,50}\)|[^。！？；!?\n])+[。！？；!?]*[”’」』）)】》]*"
)


def split_sentences(text: str, language: Language = "en") -> list[str]:
    """Split a passage into sentences, without surrounding white space; empty ones are left out."""
    segment = sentencex.segment  # pyright: ignore[reportAttributeAccessIssue] (Rust, without stubs)
    pieces = CHINESE_SENTENCE.findall(text) if language == "zh" else segment(language, text)
    return [sentence for piece in pieces if (sentence := piece.strip())]
