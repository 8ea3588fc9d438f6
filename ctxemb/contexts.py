"""Uses of words, each in its sentence and with its vector: what a map is drawn of.

A table of contexts has a row a use: `word`, `sense` (empty if unknown), `sentence`, `start` (first character of the
word; -1 where it is still to be found: the word's first occurrence is meant). Its index names the rows, and stays.

N uses, L layers above layer 0, D numbers per vector.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from pandas.util import hash_pandas_object

from ctxemb.background import OnProgress, no_progress
from ctxemb.calibration import load_statistics
from ctxemb.comparison import Centring, Sentence, Use, centring_mean, find_uses
from ctxemb.encoder import Encoder
from ctxemb.examples import load_examples
from ctxemb.models.reading import Reading
from ctxemb.text import Language

MAX_CONTEXTS = 5_000
MAX_WORDS_CENTRED = 50
SENTENCES_PER_CHUNK = 128  # the vectors of whole sentences are held for so many at once
FIRST = -1


@dataclass(frozen=True)
class Contexts:
    """Uses that could be encoded.

    Attributes:
        table: N rows of the table given, with `start` and `end` of the word, and `place`: where the word stands in its
            sentence, from 0 (the first word) to 1 (the last).
        vectors_ND: (N, D) float32, row by row.
        problems: why the other rows are not there, each reason once.
    """

    table: pd.DataFrame
    vectors_ND: np.ndarray
    problems: tuple[str, ...] = ()


def context_table(
    sentences: Sequence[str], words: Sequence[str], senses: Sequence[str], starts: Sequence[int] | None = None
) -> pd.DataFrame:
    """A table of contexts."""
    return pd.DataFrame(
        {
            "word": pd.Series(list(words), dtype=str),
            "sense": pd.Series(list(senses), dtype=str),
            "sentence": pd.Series(list(sentences), dtype=str),
            "start": pd.Series([FIRST] * len(sentences) if starts is None else list(starts), dtype=np.int64),
        }
    )


def example_contexts(words: Sequence[str], language: Language) -> pd.DataFrame:
    """Our own example sentences of some words."""
    examples = load_examples(language)
    rows = pd.concat([examples[examples.word == word.casefold()] for word in words] or [examples[:0]])
    return context_table(rows.sentence.tolist(), rows.word.tolist(), rows.sense.tolist())


def find_words(table: pd.DataFrame, words: Sequence[str], language: Language) -> pd.DataFrame:
    """A row for every word that stands in a sentence, for rows that do not say which word they mean."""
    named, searched = table.loc[table.word != ""], table.loc[table.word == ""]
    found = []
    for word in dict.fromkeys(words):
        # where words are written apart, a part of a longer word is none
        pattern = re.escape(word) if language == "zh" else rf"(?<!\w){re.escape(word)}(?!\w)"
        holds = searched.sentence.str.contains(pattern, case=False, regex=True)
        found.append(searched.loc[holds].assign(word=word))
    return pd.concat([named, *found], ignore_index=True)


def sample_contexts(table: pd.DataFrame, limit: int = MAX_CONTEXTS, seed: int = 0) -> pd.DataFrame:
    """At most `limit` rows, drawn at random and kept in their order."""
    if len(table) <= limit:
        return table
    return table.sample(limit, random_state=seed).sort_index()


def table_key(table: pd.DataFrame) -> str:
    """A digest of everything in a table: equal tables have equal keys."""
    rows = hash_pandas_object(table)  # pyright: ignore[reportCallIssue] (a function, whatever its type says)
    return hashlib.sha256(rows.to_numpy().tobytes()).hexdigest()


def encode_contexts(
    encoder: Encoder,
    table: pd.DataFrame,
    mean_of: Callable[[str], np.ndarray | None],
    on_progress: OnProgress = no_progress,
) -> Contexts:
    """The vector of every use, under the encoder's reading, in bounded memory.

    Args:
        encoder: with the reading that is wanted.
        table: a table of contexts, every row with its word.
        mean_of: word -> (L + 1, D) to subtract from its uses, or None.
        on_progress: called after every chunk of sentences.

    Raises:
        ValueError: if there is no mean of a word.
    """
    uses: dict[int, tuple[tuple[int, int, float], np.ndarray]] = {}
    problems: dict[str, None] = {}
    num_done = 0
    for word, rows in table.groupby("word", sort=False):
        for first in range(0, len(rows), SENTENCES_PER_CHUNK):
            chunk = rows.iloc[first : first + SENTENCES_PER_CHUNK]
            sentences = _sentences(encoder, chunk, str(word))
            found, lost = find_uses(encoder, sentences, str(word))
            problems |= dict.fromkeys(map(str, lost))
            row_of = {id(sentence): row for sentence, row in zip(sentences, chunk.index, strict=True)}
            mean_LD = mean_of(str(word)) if found else None
            for use in found:
                layers_LD = use.encoding.layers[:, use.position]
                vector_D = encoder.reading.combine(layers_LD if mean_LD is None else layers_LD - mean_LD)
                uses[row_of[id(use.sentence)]] = _place(use), vector_D.astype(np.float32)
            num_done += len(chunk)
            on_progress(num_done / len(table), f"Encoding: {num_done:,} of {len(table):,} sentences")
    kept = [row for row in table.index if row in uses]
    spans = [uses[row][0] for row in kept]
    placed = table.loc[kept].assign(
        start=[start for start, _, _ in spans], end=[end for _, end, _ in spans], place=[place for *_, place in spans]
    )
    width = encoder.config.model.width
    vectors_ND = np.array([uses[row][1] for row in kept], dtype=np.float32).reshape(len(kept), width)
    return Contexts(placed, vectors_ND, tuple(problems))


def encode_from_disk(
    path: str, reading: Reading, centring: Centring, table: pd.DataFrame, *, on_progress: OnProgress
) -> Contexts:
    """`encode_contexts` where no checkpoint is loaded: in a process of its own."""
    on_progress(0.0, "Loading the checkpoint")
    encoder = Encoder.load(path).with_reading(reading)
    mean_of = partial(centring_mean, centring, encoder, load_statistics(encoder))
    return encode_contexts(encoder, table, mean_of, on_progress)


def check_centring(table: pd.DataFrame, centring: Centring) -> None:
    """Refuse to look for the means of very many words.

    Raises:
        ValueError: if there are more words than can be centred one by one.
    """
    num_words = table.word.nunique()
    if centring == "per word" and num_words > MAX_WORDS_CENTRED:
        raise ValueError(
            f"centring per word is for at most {MAX_WORDS_CENTRED} words, and there are {num_words:,}; "
            "choose some words, or centre on all words instead"
        )


def with_coordinates(table: pd.DataFrame, points_NK: np.ndarray) -> pd.DataFrame:
    """Each use with its place on a map, for a file: word, sense, sentence, start, end, and x, y, perhaps z."""
    columns = table[["word", "sense", "sentence", "start", "end"]]
    return columns.assign(**dict(zip("xyz", points_NK.T, strict=False)))


def _sentences(encoder: Encoder, chunk: pd.DataFrame, word: str) -> list[Sentence]:
    tokens = encoder.tokenize(chunk.sentence.tolist())
    folded, sentences = word.casefold(), []
    for text, sense, start, cut in zip(chunk.sentence, chunk.sense, chunk.start, tokens, strict=True):
        starts = [first for (first, _), token in zip(cut.spans, cut.words, strict=True) if token.casefold() == folded]
        occurrence = starts.index(start) + 1 if start in starts else 1
        sentences.append(Sentence(text, sense or None, occurrence))
    return sentences


def _place(use: Use) -> tuple[int, int, float]:
    start, end = use.encoding.spans[use.position]
    return start, end, use.position / max(len(use.encoding.tokens) - 1, 1)
