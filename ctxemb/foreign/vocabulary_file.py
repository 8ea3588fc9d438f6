"""A file of words in the order of their ids: one word a line, a JSON list, or a JSON object word -> id."""

import json
import unicodedata
from pathlib import Path

from ctxemb.checkpoint import MAX_TEXT_FILE_BYTES

MAX_VOCABULARY = 2_000_000
MAX_WORD_CHARACTERS = 1_000


class VocabularyError(ValueError):
    """A file of words that cannot be used; the text says where, what is wrong and what to do."""


def read_vocabulary(path: Path) -> list[str]:
    """The words of a file, each once, the place of a word being its id.

    Raises:
        VocabularyError: if it is no such file, or a word is empty, repeated, or has no id of its own.
    """
    if not path.is_file():
        raise VocabularyError(f"there is no file {path}; give the file of words, one a line")
    num_bytes = path.stat().st_size
    if num_bytes > MAX_TEXT_FILE_BYTES:
        raise VocabularyError(f"{path} has {num_bytes:,} bytes; at most {MAX_TEXT_FILE_BYTES:,} are read")
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{path}, byte {error.start:,}: is not UTF-8; save the words as UTF-8 text") from error
    words, unit = _from_json(path, text), "entry"
    if words is None:
        words, unit = text.removesuffix("\n").replace("\r\n", "\n").removesuffix("\r").split("\n"), "line"
    if not words:
        raise VocabularyError(f"{path} holds no words; give one for each row of the embedding")
    if len(words) > MAX_VOCABULARY:
        raise VocabularyError(f"{path} holds {len(words):,} words; at most {MAX_VOCABULARY:,} are read")
    places: dict[str, int] = {}
    for number, word in enumerate(words, 1):
        if problem := _problem(word):
            raise VocabularyError(f"{path}, {unit} {number:,}: {problem}; give one word for each row of the embedding")
        if word in places:
            raise VocabularyError(
                f"{path}, {unit} {number:,}: the word {word[:80]!r} is {unit} {places[word]:,} already; each row of "
                "the embedding needs a word of its own"
            )
        places[word] = number
    return words


def _from_json(path: Path, text: str) -> list[str] | None:
    """The words of a list or of an object word -> id; None if it is neither, so that it is read line by line."""
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        if path.suffix.lower() != ".json":
            return None  # the first word may be [PAD]
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise VocabularyError(f"{path} is not JSON ({reason}); give a list of words or an object word -> id") from error
    if isinstance(content, dict):
        ids = list(content.values())
        if not all(type(word_id) is int for word_id in ids) or sorted(ids) != list(range(len(ids))):
            raise VocabularyError(f"{path}: the ids of {len(ids):,} words have to be 0 to {len(ids) - 1:,}, each once")
        return sorted(content, key=content.__getitem__)
    if isinstance(content, list) and all(isinstance(word, str) for word in content):
        return content
    raise VocabularyError(f"{path} is JSON, but no list of words and no object word -> id; give one of these")


def _problem(word: str) -> str | None:
    if not word.strip():
        return "is empty"
    if len(word) > MAX_WORD_CHARACTERS:
        return f"is a word of {len(word):,} characters, at most {MAX_WORD_CHARACTERS:,} are read"
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in word):
        return f"the word {word[:80]!r} holds a tab or another control character"
    return None
