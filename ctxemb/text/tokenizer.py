"""Words and their ids: the vocabulary, its file, and sentences looked up in it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

from ctxemb.quoting import printable
from ctxemb.text import chinese, english
from ctxemb.text.config import NUM_SPECIAL, TextConfig

PAD, BOS, EOS, UNK = 0, 1, 2, 3
SPECIAL_TOKENS = ("<pad>", "<bos>", "<eos>", "<unk>")
NUM_WORDS_REMEMBERED = 200_000


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


class WordTokenizer:
    """Words and their ids: 0 `<pad>`, 1 `<bos>`, 2 `<eos>`, 3 `<unk>`, real words from 4 by falling frequency.

    The file of an English tokenizer says how to cut a sentence; that of a Chinese one takes ready words, which
    `chinese.segment` makes.
    """

    def __init__(self, tokenizer: Tokenizer, config: TextConfig) -> None:
        found = tuple(tokenizer.id_to_token(i) for i in range(NUM_SPECIAL))
        if found != SPECIAL_TOKENS:
            raise ValueError(f"ids 0-3 of this tokenizer are {found}; they have to be {SPECIAL_TOKENS}")
        takes_ready_words = tokenizer.pre_tokenizer is None
        if takes_ready_words != (config.language == "zh"):
            takes = "ready words" if takes_ready_words else "whole sentences"
            raise ValueError(f"this tokenizer takes {takes}, so it is not one for language {config.language!r}")
        self._tokenizer = tokenizer
        self._config = config
        self._remembered_id = lru_cache(NUM_WORDS_REMEMBERED)(self.word_id)

    @classmethod
    def train(cls, sentences: Iterable[str], config: TextConfig) -> "WordTokenizer":
        """Build the vocabulary of a corpus.

        Raises:
            ValueError: if no word reaches `config.min_frequency`.
        """
        tokenizer = _tokenizer_of(models.WordLevel(unk_token="<unk>"), config)
        checked: Iterator[str | list[str]] = (_checked(sentence) for sentence in sentences)
        if config.language == "zh":
            checked = (_chinese_words(sentence, config) for sentence in map(_checked, sentences))
        trainer = trainers.WordLevelTrainer(
            vocab_size=config.max_vocabulary or 2_000_000,
            min_frequency=config.min_frequency,
            special_tokens=_special_tokens(),
            show_progress=False,
        )
        tokenizer.train_from_iterator(checked, trainer)
        if tokenizer.get_vocab_size() <= NUM_SPECIAL:
            raise ValueError(
                f"the vocabulary is empty: no word occurs {config.min_frequency} times; "
                "use more text or a lower min_frequency"
            )
        return cls(tokenizer, config)

    @classmethod
    def from_words(cls, words: Iterable[str], config: TextConfig) -> "WordTokenizer":
        """Take a ready vocabulary; its words get the ids from 4 on in the order given.

        Args:
            words: the most frequent first; only the form under which a word is looked up (`normalize`) is ever found.
            config: of its settings only the language, the case and `words_only` matter.

        Raises:
            ValueError: if a word repeats or is a special token.
        """
        ids = {token: word_id for word_id, token in enumerate(SPECIAL_TOKENS)}
        for word in words:
            if word in ids:
                what = "a special token" if ids[word] < NUM_SPECIAL else "in the list twice"
                raise ValueError(f"the word {word!r} is {what}; give other words, each once")
            ids[word] = len(ids)
        tokenizer = _tokenizer_of(models.WordLevel(ids, unk_token="<unk>"), config)
        tokenizer.add_special_tokens(_special_tokens())
        return cls(tokenizer, config)

    @classmethod
    def from_file(cls, path: Path, config: TextConfig) -> "WordTokenizer":
        """Read a `tokenizer.json`.

        Args:
            path: the file.
            config: the settings it was made with.

        Raises:
            ValueError: if the file is no tokenizer of whole words, its ids have gaps, 0-3 are not the special ones, or
                it is not one for the config's language.
        """
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare `Exception`
            raise ValueError(f"{path} is not a readable tokenizer file ({printable(error)})") from error
        checked = cls(tokenizer, config)
        model, num_words = tokenizer.model, tokenizer.get_vocab_size()
        if not isinstance(model, models.WordLevel) or model.unk_token != SPECIAL_TOKENS[UNK]:
            raise ValueError(
                f"{path} is no list of whole words (WordLevel) with {SPECIAL_TOKENS[UNK]} for unknown ones"
            )
        if sorted(tokenizer.get_vocab().values()) != list(range(num_words)):
            raise ValueError(f"{path}: the ids of its {num_words:,} words are not 0 to {num_words - 1:,}, each once")
        return checked

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
        """The form under which a word is looked up: lower case if the tokenizer lower-cases, half-width if Chinese."""
        normalizer, checked = self._tokenizer.normalizer, _checked(word)
        return normalizer.normalize_str(checked) if normalizer else checked

    def encode(self, sentence: str) -> Tokens:
        """Words, character spans and ids of a sentence."""
        return self.encode_batch([sentence])[0]

    def encode_batch(self, sentences: Sequence[str]) -> list[Tokens]:
        """`encode` for many sentences."""
        if self._config.language == "zh":
            return [self._encode_chinese(sentence) for sentence in sentences]
        encodings = self._tokenizer.encode_batch([_checked(sentence) for sentence in sentences])
        return [
            Tokens(
                [sentence[start:end] for start, end in encoding.offsets],
                encoding.offsets,
                [max(word_id, UNK) for word_id in encoding.ids],  # "<pad>" typed into a text is no padding
            )
            for sentence, encoding in zip(sentences, encodings, strict=True)
        ]

    def encode_at(self, sentence: str, start: int, end: int) -> Tokens:
        """`encode`, with a cut at the characters `start` and `end`, wherever words would be cut.

        What lies between is one token if it is in the vocabulary. Chinese words are cut by what is likely, which may
        join a target with its neighbours.
        """
        word = sentence[start:end]
        middle = self.encode_words([word])
        if middle.ids == [UNK] and len(pieces := self.encode(word)):
            middle = pieces
        parts = ((0, self.encode(sentence[:start])), (start, middle), (end, self.encode(sentence[end:])))
        return Tokens(
            [part_word for _, part in parts for part_word in part.words],
            [(first + shift, last + shift) for shift, part in parts for first, last in part.spans],
            [word_id for _, part in parts for word_id in part.ids],
        )

    def encode_words(self, words: Sequence[str]) -> Tokens:
        """Look up ready tokens as they are, without splitting them; spans refer to `" ".join(words)`."""
        spans, start = [], 0
        for word in words:
            spans.append((start, start + len(word)))
            start += len(word) + 1
        return Tokens(list(words), spans, [self.word_id(_checked(word)) for word in words])

    def encode_ids(self, sentences: Sequence[str]) -> Iterator[np.ndarray]:
        """Ids alone (int32 arrays), faster than `encode_batch`: for whole corpora."""
        if self._config.language == "zh":
            for sentence in sentences:
                words = _chinese_words(_checked(sentence), self._config)
                yield np.fromiter(map(self._remembered_id, words), dtype=np.int32, count=len(words))
            return
        for encoding in self._tokenizer.encode_batch_fast([_checked(sentence) for sentence in sentences]):
            yield np.maximum(np.array(encoding.ids, dtype=np.int32), UNK)

    def _encode_chinese(self, sentence: str) -> Tokens:
        checked = _checked(sentence)
        spans = chinese.segment(checked, self._config.words_only is not False)
        ids = [self._remembered_id(checked[start:end]) for start, end in spans]
        return Tokens([sentence[start:end] for start, end in spans], spans, ids)


def _tokenizer_of(model: models.Model, config: TextConfig) -> Tokenizer:
    """The model between what normalises a sentence and what cuts it; Chinese comes in ready words."""
    tokenizer = Tokenizer(model)
    lower = [normalizers.Lowercase()] if config.lowercase else []
    if config.language == "zh":
        tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), *lower])
        return tokenizer
    if lower:
        tokenizer.normalizer = lower[0]
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(english.WORDS), behavior="removed", invert=True)
    return tokenizer


def _special_tokens() -> list[str | AddedToken]:
    return [AddedToken(token, normalized=False) for token in SPECIAL_TOKENS]


def _chinese_words(checked: str, config: TextConfig) -> list[str]:
    return [checked[start:end] for start, end in chinese.segment(checked, config.words_only is not False)]


def _checked(text: str) -> str:
    """Lone surrogates (half of a character, left by a wrong decoder) cannot cross into Rust: replace each."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text
