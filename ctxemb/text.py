"""Sentence <-> tokens <-> ids: word tokenisation with character offsets, and the vocabulary.

The work is done by Hugging Face `tokenizers` (a WordLevel model behind a regular expression) and, for
sentence splitting, by `sentencex`; this room adds the special ids and the checks at the door.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import sentencex
from pydantic import BaseModel, ConfigDict, Field
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>", "<unk>")
NUM_SPECIAL = len(SPECIAL_TOKENS)

# In order: the stem of "don't", its "n't", clitics ('s, 're ...), words, numbers, any other visible character.
# Hyphens and punctuation are tokens of their own; control characters and spaces are none.
ENGLISH_WORDS = (
    r"[\p{L}\p{M}]+?(?=n['’]t\b)|n['’]t\b|['’](?i:s|re|ve|ll|d|m)\b"
    r"|[\p{L}\p{M}]+|\p{N}+(?:[.,]\p{N}+)*|[^\s\p{L}\p{M}\p{N}\p{C}]"
)


class TextConfig(BaseModel):
    """How text becomes words, and which words are known."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: Literal["en"] = Field(default="en", description="Language of the text")
    lowercase: bool = Field(default=True, description="Read every letter as lower case")
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


@dataclass(frozen=True)
class Tokens:
    """One sentence in words.

    Attributes:
        words: T strings as they stand in the text (before lower-casing).
        spans: T pairs (start, end), character offsets into the text.
        ids: T vocabulary ids; 3 for a word outside the vocabulary.
    """

    words: list[str]
    spans: list[tuple[int, int]]
    ids: list[int]

    def __len__(self) -> int:
        return len(self.ids)


def split_sentences(text: str, language: str = "en") -> list[str]:
    """Split a passage into sentences, without surrounding white space; empty ones are left out."""
    pieces = sentencex.segment(language, text)  # pyright: ignore[reportAttributeAccessIssue] (Rust, without stubs)
    return [sentence for piece in pieces if (sentence := piece.strip())]


class WordTokenizer:
    """Words and their ids: 0 `<pad>`, 1 `<bos>`, 2 `<eos>`, 3 `<unk>`, real words from 4 by falling frequency."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        found = tuple(tokenizer.id_to_token(i) for i in range(NUM_SPECIAL))
        if found != SPECIAL_TOKENS:
            raise ValueError(f"ids 0-3 of this tokenizer are {found}; they have to be {SPECIAL_TOKENS}")
        self._tokenizer = tokenizer

    @classmethod
    def train(cls, sentences: Iterable[str], config: TextConfig) -> "WordTokenizer":
        """Build the vocabulary of a corpus.

        Raises:
            ValueError: if no word reaches `config.min_frequency`.
        """
        tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
        if config.lowercase:
            tokenizer.normalizer = normalizers.Lowercase()
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(ENGLISH_WORDS), behavior="removed", invert=True)
        trainer = trainers.WordLevelTrainer(
            vocab_size=config.max_vocabulary or 2_000_000,
            min_frequency=config.min_frequency,
            special_tokens=[AddedToken(token, normalized=False) for token in SPECIAL_TOKENS],
            show_progress=False,
        )
        tokenizer.train_from_iterator((_checked(sentence) for sentence in sentences), trainer)
        if tokenizer.get_vocab_size() <= NUM_SPECIAL:
            raise ValueError(
                f"the vocabulary is empty: no word occurs {config.min_frequency} times; "
                "use more text or a lower min_frequency"
            )
        return cls(tokenizer)

    @classmethod
    def from_file(cls, path: Path) -> "WordTokenizer":
        """Read a `tokenizer.json`.

        Raises:
            ValueError: if the file is no tokenizer, or its ids 0-3 are not the special ones.
        """
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare `Exception`
            raise ValueError(f"{path} is not a readable tokenizer file ({error})") from error
        return cls(tokenizer)

    def to_json(self) -> str:
        """The whole tokenizer as the text of a standard `tokenizer.json`."""
        return self._tokenizer.to_str(pretty=True)

    def __len__(self) -> int:
        return self._tokenizer.get_vocab_size()

    def word(self, word_id: int) -> str:
        """The vocabulary entry of an id.

        Raises:
            KeyError: if there is no such id.
        """
        word = self._tokenizer.id_to_token(word_id)
        if word is None:
            raise KeyError(f"there is no word {word_id}; ids end at {len(self) - 1}")
        return word

    def word_id(self, word: str) -> int:
        """The id of a single word after normalisation; 3 if it is unknown, or looks like a special token."""
        found = self._tokenizer.token_to_id(self.normalize(word))
        return UNK if found is None else max(found, UNK)

    def normalize(self, word: str) -> str:
        """The form under which a word is looked up (lower case, if the tokenizer lower-cases)."""
        normalizer = self._tokenizer.normalizer
        return normalizer.normalize_str(word) if normalizer else word

    def encode(self, sentence: str) -> Tokens:
        """Words, character spans and ids of a sentence."""
        return self.encode_batch([sentence])[0]

    def encode_batch(self, sentences: Sequence[str]) -> list[Tokens]:
        """`encode` for many sentences."""
        encodings = self._tokenizer.encode_batch([_checked(sentence) for sentence in sentences])
        return [
            Tokens(
                [sentence[start:end] for start, end in encoding.offsets],
                encoding.offsets,
                [max(word_id, UNK) for word_id in encoding.ids],  # "<pad>" typed into a text is no padding
            )
            for sentence, encoding in zip(sentences, encodings, strict=True)
        ]

    def encode_words(self, words: Sequence[str]) -> Tokens:
        """Look up ready tokens as they are, without splitting them; spans refer to `" ".join(words)`."""
        spans, start = [], 0
        for word in words:
            spans.append((start, start + len(word)))
            start += len(word) + 1
        return Tokens(list(words), spans, [self.word_id(_checked(word)) for word in words])

    def encode_ids(self, sentences: Sequence[str]) -> Iterator[np.ndarray]:
        """Ids alone (int32 arrays), several times faster than `encode_batch`: for whole corpora."""
        for encoding in self._tokenizer.encode_batch_fast([_checked(sentence) for sentence in sentences]):
            yield np.maximum(np.array(encoding.ids, dtype=np.int32), UNK)


def _checked(text: str) -> str:
    """Lone surrogates (half of a character, left by a wrong decoder) cannot cross into Rust: replace them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
