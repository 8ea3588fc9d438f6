"""The one thing this room hands out: a named stream of passages with a fingerprint."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

HAN_RUN = re.compile("[\u4e00-\u9fff]+")
HAN_PER_WORD = 1.7


class CorpusError(ValueError):
    """A corpus that cannot be found, fetched or read; the message says what, where and what to do."""


@dataclass(frozen=True)
class Corpus:
    """Text to train on or to look into, read as a stream.

    Attributes:
        name: the registered name or the file's name.
        description: origin and licence in a sentence.
        files: the files read, in order.
        settings: whatever else decides the passages; part of the fingerprint.
        read: starts a fresh pass over the passages.
        max_tokens: stop after the passage that reaches this many words, as `count_words` counts them.
    """

    name: str
    description: str
    files: tuple[Path, ...]
    settings: Mapping[str, str | int | None]
    read: Callable[[], Iterator[str]] = field(repr=False)
    max_tokens: int | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Sha256 (hex) over the content of the files and every setting that changes the passages."""
        digest = hashlib.sha256(json.dumps({**self.settings, "max_tokens": self.max_tokens}, sort_keys=True).encode())
        for path in self.files:
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()

    def passages(self) -> Iterator[str]:
        """Yield one paragraph, document or row at a time, stripped and never empty.

        Raises:
            CorpusError: a line cannot be read, or the corpus holds no text at all.
        """
        num_tokens = -1
        for text in self.read():
            passage = text.strip()
            if not passage:
                continue
            num_tokens = max(num_tokens, 0)
            yield passage
            if self.max_tokens is not None:
                num_tokens += count_words(passage)
                if num_tokens >= self.max_tokens:
                    return
        if num_tokens < 0:
            raise CorpusError(f"{self.name} holds no text: give a file with at least one line of words.")


def count_words(text: str) -> int:
    """Count words at white space; Chinese, which has none, by its characters: about 1.7 make a word.

    >>> count_words("We sat on the bank."), count_words("我们坐在河边的草地上")
    (5, 5)
    """
    rest, num_runs = HAN_RUN.subn("", text)
    if num_runs == 0:
        return len(rest.split())
    return len(rest.split()) + int((len(text) - len(rest)) / HAN_PER_WORD)
