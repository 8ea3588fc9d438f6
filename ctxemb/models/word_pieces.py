"""Words -> word pieces, by the tokenizer of a Hugging Face folder; and the words that are one piece each.

Sentences are cut into words by our own rule, and each word into pieces by the folder's: a word is read as it stands
alone. That differs from the folder's own reading of a sentence only where our rule parts what it keeps together:
"do|n't", "1990|s".

Source: WordPiece, arXiv:1609.08144.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from ctxemb.examples import example_words
from ctxemb.text import NUM_SPECIAL, SPECIAL_TOKENS, TextConfig, WordTokenizer

TOKENIZER, VOCABULARY, SETTINGS = "tokenizer.json", "vocab.txt", "tokenizer_config.json"
MAX_FILE_BYTES = 64 * 2**20
BOUNDARIES = (("[CLS]", "[SEP]"), ("<s>", "</s>"))
# Chinese models have a half, those of a hundred languages a fifth, English ones a hundredth
MIN_CHINESE_SHARE = 0.25


class WordPieceError(ValueError):
    """Tokenizer files that cannot be read; the text says which, what is wrong and what to do."""


@dataclass(frozen=True)
class WordPieces:
    """A WordPiece tokenizer without boundary tokens: no text can be mistaken for one.

    Attributes:
        text: how sentences are cut into words, and whether in lower case.
        words: what ids 4, 5, ... of an encoder stand for, in which corpora are kept: the entries of the vocabulary that
            are words, and the words of our examples, of however many pieces.
        num_pieces: entries of the vocabulary.
        first, last: ids of the boundary tokens that the model expects around a sentence.
        unknown: id of the piece for what no pieces spell.
    """

    text: TextConfig
    words: tuple[str, ...] = field(repr=False)
    num_pieces: int
    first: int
    last: int
    unknown: int
    tokenizer: Tokenizer = field(repr=False, compare=False)

    def cut(self, words: Sequence[str]) -> list[list[int]]:
        """Ids of the pieces of each word, at least one a word."""
        found = self.tokenizer.encode_batch_fast(list(words), add_special_tokens=False)
        return [encoding.ids or [self.unknown] for encoding in found]


def read_word_pieces(folder: Path) -> WordPieces:
    """The word pieces of a Hugging Face folder: tokenizer.json, else vocab.txt.

    Raises:
        WordPieceError: if there is neither, or it is no WordPiece vocabulary.
    """
    if (path := folder / TOKENIZER).is_file():
        tokenizer, boundaries = _from_json(path)
    elif (path := folder / VOCABULARY).is_file():
        tokenizer, boundaries = _from_vocabulary(path, _settings(folder / SETTINGS))
    else:
        raise WordPieceError(
            f"{folder} has no {TOKENIZER} and no {VOCABULARY}; copy the one that was saved with the model"
        )
    pieces = tokenizer.get_vocab(with_added_tokens=False)
    found = [pieces.get(name) for name in (*boundaries, tokenizer.model.unk_token)]
    first, last, unknown = found
    if first is None or last is None or unknown is None:
        raise WordPieceError(f"{path} has no {' or '.join(a for a, _ in BOUNDARIES)} with its partner, or no [UNK]")
    prefix = tokenizer.model.continuing_subword_prefix
    whole = [piece for piece, _ in sorted(pieces.items(), key=lambda item: item[1]) if not piece.startswith(prefix)]
    text = TextConfig(
        language="zh" if _chinese_share(whole) >= MIN_CHINESE_SHARE else "en",
        lowercase=_is_lowercased(tokenizer),
        min_frequency=1,
    )
    words = _words_of_one_piece(whole, text, tokenizer, pieces)
    words = tuple(dict.fromkeys([*words, *example_words(text.language)]))
    return WordPieces(text, words, max(pieces.values()) + 1, first, last, unknown, tokenizer)


def _from_json(path: Path) -> tuple[Tokenizer, tuple[str, str]]:
    _check_size(path)
    try:
        read = Tokenizer.from_file(str(path))
    except Exception as error:  # the library raises bare `Exception`
        raise WordPieceError(f"{path} is not a readable tokenizer file ({str(error)[:200]})") from error
    if not isinstance(read.model, models.WordPiece):
        kind = type(read.model).__name__
        raise WordPieceError(f"{path} is a {kind} tokenizer; only WordPiece is read, as BERT models have it")
    read.no_truncation()
    read.no_padding()
    around = read.encode("").tokens
    bare = Tokenizer(read.model)  # without tokens that are found before the text is cut
    if read.normalizer is not None:
        bare.normalizer = read.normalizer
    bare.pre_tokenizer = read.pre_tokenizer or pre_tokenizers.BertPreTokenizer()
    return bare, (around[0], around[1]) if len(around) == 2 else _boundaries(bare)


def _from_vocabulary(path: Path, settings: dict[str, Any]) -> tuple[Tokenizer, tuple[str, str]]:
    _check_size(path)
    try:
        with path.open(encoding="utf-8") as file:
            entries = [line.rstrip("\n") for line in file]
    except UnicodeDecodeError as error:
        raise WordPieceError(f"{path}, byte {error.start:,}: is not UTF-8; copy it again") from error
    ids = {piece: number for number, piece in enumerate(entries)}  # of a repeated one the last counts, as there
    special = {name for pair in BOUNDARIES for name in pair} | {"[PAD]", "[UNK]", "[MASK]"}
    is_cased = any(piece != piece.lower() for piece in entries if piece not in special and not piece.startswith("[unu"))
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=settings.get("do_lower_case", not is_cased),
        strip_accents=settings.get("strip_accents"),
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer, _boundaries(tokenizer)


def _boundaries(tokenizer: Tokenizer) -> tuple[str, str]:
    known = [pair for pair in BOUNDARIES if all(tokenizer.token_to_id(name) is not None for name in pair)]
    return known[0] if known else BOUNDARIES[0]


def _settings(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    _check_size(path)
    try:
        settings = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise WordPieceError(f"{path} is not JSON ({error}); copy it again") from error
    return settings if isinstance(settings, dict) else {}


def _check_size(path: Path) -> None:
    if (num_bytes := path.stat().st_size) > MAX_FILE_BYTES:
        raise WordPieceError(f"{path} has {num_bytes:,} bytes; at most {MAX_FILE_BYTES:,} are read")


def _chinese_share(pieces: Sequence[str]) -> float:
    return sum(len(piece) == 1 and "\u4e00" <= piece <= "\u9fff" for piece in pieces) / max(len(pieces), 1)


def _is_lowercased(tokenizer: Tokenizer) -> bool:
    return tokenizer.normalizer is not None and tokenizer.normalizer.normalize_str("A") == "a"


def _words_of_one_piece(
    whole: Sequence[str], text: TextConfig, tokenizer: Tokenizer, pieces: dict[str, int]
) -> tuple[str, ...]:
    """Entries that both rules, ours and the folder's, read as one word: themselves."""
    candidates = [piece for piece in whole if piece not in SPECIAL_TOKENS]
    ours = WordTokenizer.from_words(candidates, text).encode_ids(candidates)
    theirs = tokenizer.encode_batch_fast(candidates, add_special_tokens=False)
    return tuple(
        piece
        for number, (piece, own, other) in enumerate(zip(candidates, ours, theirs, strict=True), NUM_SPECIAL)
        if own.tolist() == [number] and other.ids == [pieces[piece]]
    )
