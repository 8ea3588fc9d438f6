"""The records of a file of word vectors -> a static checkpoint, and a count of everything that was left out.

V vocabulary, N words kept, D numbers per vector.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ctxemb.checkpoint import MAX_PARAMETERS, MAX_TEXT_FILE_BYTES, check_new_folder, save_checkpoint
from ctxemb.foreign.vector_file import Kind, VectorFile, VectorFileError, open_vector_file
from ctxemb.models.static import Static
from ctxemb.text import NUM_SPECIAL, SPECIAL_TOKENS, Language, TextConfig, WordTokenizer

MAX_VOCABULARY = 2_000_000
WORDS_PER_CHUNK = 10_000


@dataclass(frozen=True)
class ImportReport:
    """What became of a file of word vectors.

    Attributes:
        num_words: words in the checkpoint, special ones not counted.
        num_repeated: left out, because the word was there before (where case is dropped, also in another case).
        num_undecodable: left out, because their bytes are not UTF-8.
        num_reserved: left out, because they are empty or the name of a special token such as `<unk>`.
        num_never_read: kept, though no text is ever cut into such a word (`New_York`).
    """

    file: str
    kind: Kind
    num_words: int
    vector_size: int
    num_repeated: int
    num_undecodable: int
    num_reserved: int
    num_never_read: int

    def __str__(self) -> str:
        return (
            f"{self.num_words:,} words of {self.vector_size:,} numbers from {self.file} ({self.kind}); left out: "
            f"{self.num_repeated:,} repeated, {self.num_undecodable:,} not UTF-8, {self.num_reserved:,} reserved; "
            f"{self.num_never_read:,} of the words are kept, but no text is ever cut into them"
        )


@dataclass
class _Kept:
    """Words with their vectors while a file is read, and how many were left out."""

    words: dict[str, None] = field(default_factory=dict)  # in the order of the file
    chunks: list[np.ndarray] = field(default_factory=list)
    num_repeated: int = 0
    num_undecodable: int = 0
    num_reserved: int = 0

    def take_vectors(self, vector_size: int) -> np.ndarray:
        """(V, D), the special ids first; the chunks are gone afterwards, so that they are never held twice."""
        vectors_VD = np.zeros((NUM_SPECIAL + len(self.words), vector_size), dtype=np.float32)
        start = NUM_SPECIAL
        while self.chunks:
            chunk_ND = self.chunks.pop(0)
            vectors_VD[start : start + len(chunk_ND)] = chunk_ND
            start += len(chunk_ND)
        return vectors_VD


def import_word_vectors(
    path: Path,
    out: Path,
    language: Language = "en",
    lowercase: bool = True,
    max_words: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> ImportReport:
    """Make a static checkpoint out of a word2vec or GloVe file.

    The special ids, `<unk>` among them, get zeros: an unknown word has no direction.

    Args:
        out: the checkpoint's folder, new or empty.
        lowercase: read every text in lower case; of words that then are the same, the first stays.
        max_words: keep the first so many words, which are the most frequent ones in most files.
        on_progress: called with the number of words kept so far.

    Raises:
        VectorFileError: if the file is none, is damaged, or holds too many words or none that can be kept.
        ValueError: if there is something in `out` already.
    """
    check_new_folder(out)
    file = open_vector_file(path)
    text = TextConfig(language=language, lowercase=lowercase, min_frequency=1)
    kept = _read(file, text, max_words, on_progress)
    tokenizer = WordTokenizer.from_words(kept.words, text)
    num_bytes = len(tokenizer.to_json().encode())
    if num_bytes > MAX_TEXT_FILE_BYTES:
        raise VectorFileError(
            f"the words of {path} make a tokenizer of {num_bytes:,} bytes; at most {MAX_TEXT_FILE_BYTES:,} are read: "
            "keep fewer words with --max-words"
        )
    report = ImportReport(
        file=path.name,
        kind=file.kind,
        num_words=len(kept.words),
        vector_size=file.vector_size,
        num_repeated=kept.num_repeated,
        num_undecodable=kept.num_undecodable,
        num_reserved=kept.num_reserved,
        num_never_read=count_never_read(tokenizer, list(kept.words)),
    )
    model = Static.from_vectors(kept.take_vectors(file.vector_size))
    save_checkpoint(out, model, tokenizer, text, metrics={"import": dataclasses.asdict(report)})
    return report


def _read(
    file: VectorFile, text: TextConfig, max_words: int | None, on_progress: Callable[[int], None] | None
) -> _Kept:
    limit = min(MAX_VOCABULARY, MAX_PARAMETERS // file.vector_size) - NUM_SPECIAL
    too_many = VectorFileError(
        f"{file.path} holds more words than the {limit:,} of {file.vector_size:,} numbers that a checkpoint can hold; "
        f"keep the first ones with --max-words, at most {limit:,}"
    )
    if (max_words or file.num_declared or 0) > limit:
        raise too_many
    normalize = WordTokenizer.from_words([], text).normalize
    kept, vectors = _Kept(), []
    for record in file.records():
        word = None if record.word is None else normalize(record.word)
        if word is None:
            kept.num_undecodable += 1
        elif not word or word in SPECIAL_TOKENS:
            kept.num_reserved += 1
        elif word in kept.words:
            kept.num_repeated += 1
        elif len(kept.words) == limit:
            raise too_many
        else:
            kept.words[word] = None
            vectors.append(record.vector_D)
            if len(vectors) == WORDS_PER_CHUNK:
                kept.chunks.append(np.stack(vectors))
                vectors.clear()
                if on_progress:
                    on_progress(len(kept.words))
            if len(kept.words) == max_words:
                break
    if not kept.words:
        raise VectorFileError(f"{file.path} has no word that can be kept; give a file of words in UTF-8")
    if vectors:
        kept.chunks.append(np.stack(vectors))
    return kept


def count_never_read(tokenizer: WordTokenizer, words: list[str]) -> int:
    """Number of words, those of the ids from 4 on, that a text which holds nothing else is not cut into."""
    num_found = 0
    for start in range(0, len(words), WORDS_PER_CHUNK):
        for word_id, ids in enumerate(
            tokenizer.encode_ids(words[start : start + WORDS_PER_CHUNK]), NUM_SPECIAL + start
        ):
            num_found += ids.tolist() == [word_id]
    return len(words) - num_found
