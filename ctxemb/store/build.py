"""A corpus -> a store, in bounded memory; the same command goes on where it was interrupted.

A corpus is cut into chunks of so many passages. Each is encoded by itself, so any process can take any of them: under
`torchrun` every process takes its own, and what the store says it has is left out.
"""

import hashlib
import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch

from ctxemb.background import OnProgress, no_progress
from ctxemb.comparison import Sentence, find_uses
from ctxemb.corpora import Corpus
from ctxemb.distributed import World
from ctxemb.encoder import SENTENCES_PER_CHUNK, Encoder, Encoding
from ctxemb.store.about import About, StoreError, VectorType
from ctxemb.store.selection import Selection, SelectionConfig, unknown_words
from ctxemb.store.tables import contexts_schema, vector_column
from ctxemb.store.writer import StoreWriter, sole_writer
from ctxemb.text import Tokens, split_sentences
from ctxemb.tokenized import TokenizedCorpus, tokenize

PASSAGES_PER_CHUNK = 256
ROWS_PER_COMMIT = 10_000
READ, ENCODED = 0.1, 0.9  # shares of the whole after which the reading and the encoding are over
MIN_NORM = 1e-6
CONTENT_WORDS = SelectionConfig()
ALONE = World(0, 1, torch.device("cpu"))


@dataclass(frozen=True)
class IndexReport:
    """What came of indexing.

    Attributes:
        source: the corpus.
        num_contexts: how many of its contexts are in the store.
        num_added: how many of them this process has added.
        num_tokens: how many tokens it has read for that.
        unknown_words: those asked for that are not in the vocabulary.
    """

    source: str
    num_contexts: int
    num_added: int
    num_tokens: int
    unknown_words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kept:
    """A sentence and which of its T tokens go into the store."""

    text: str
    tokens: Tokens
    positions: np.ndarray


def index_corpus(
    encoder: Encoder,
    corpus: Corpus,
    uri: str | Path,
    cache: Path,
    selection: SelectionConfig = CONTENT_WORDS,
    vector_type: VectorType = "float32",
    peers: World = ALONE,
    on_progress: OnProgress = no_progress,
) -> IndexReport:
    """Add the uses of a corpus's words to a store, which is made if it is not there.

    Sentences are those that training would read: short ones are left out, long ones cut, as the checkpoint's settings
    say. An interrupted corpus is gone on with; one that is complete is left as it is.

    Args:
        encoder: its reading is the store's.
        uri: a folder, or an address of object storage that `lancedb` knows.
        cache: where the corpus is kept as ids.
        selection: which uses.
        vector_type: of the numbers kept.
        peers: the processes that share the work.
        on_progress: given the share done (0 to 1) and what is being done.

    Raises:
        StoreError: if the store is another checkpoint's, being written to, cannot be written to, or nothing of the
            corpus goes in.
        CorpusError: if the corpus cannot be read or holds no sentence.
    """
    uri, text = str(uri), encoder.config.text
    on_progress(0, "reading the text")
    if not peers.is_first:
        peers.barrier()  # the first process writes what the others open
    tokens = tokenize([corpus], encoder.tokenizer, text, cache)
    wanted = Selection(selection, encoder.tokenizer, tokens, text.language)
    if wanted.num_kept == 0:
        raise StoreError(f"none of the words to index occurs in {corpus.name}; give other words, or another corpus")
    num_chunks = -(-tokens.report.num_passages // PASSAGES_PER_CHUNK)
    with sole_writer(uri) if peers.is_first else nullcontext():
        writer = StoreWriter(uri, About.of(encoder, vector_type))
        if peers.is_first:
            writer.begin(corpus.name, corpus.fingerprint, selection.model_dump_json(), num_chunks)
            peers.barrier()
        done = writer.chunks_of(corpus.name)
        peers.barrier()  # nobody writes before everybody has read
        mine = [number for number in range(num_chunks) if number not in done and number % peers.size == peers.rank]
        on_progress(READ, f"encoding {wanted.num_kept:,} contexts")
        num_added = num_tokens = 0
        pending: list[pa.Table] = []
        for num_done, (number, kept) in enumerate(_chunks(corpus, encoder, tokens, wanted, mine), start=1):
            rows = _rows(encoder, kept, corpus.name, number, writer.about)
            pending += [rows] if len(rows) else []
            num_tokens += sum(len(sentence.tokens) for sentence in kept)
            if pending and (sum(map(len, pending)) >= ROWS_PER_COMMIT or num_done == len(mine)):
                writer.add(pending)
                num_added += sum(map(len, pending))
                pending = []
            share = num_done / len(mine)
            on_progress(READ + (ENCODED - READ) * share, f"encoding {wanted.num_kept:,} contexts: {share:.0%}")
        peers.barrier()
        if peers.is_first and not writer.is_complete(corpus.name):
            on_progress(ENCODED, "word vectors and index")
            writer.complete(corpus.name)
        on_progress(1, "done")
        unknown = unknown_words(selection.words or (), encoder.tokenizer)
        return IndexReport(corpus.name, writer.num_contexts(corpus.name), num_added, num_tokens, tuple(unknown))


def index_labelled(
    encoder: Encoder,
    uses: Sequence[tuple[str, Sentence]],
    source: str,
    uri: str | Path,
    vector_type: VectorType = "float32",
) -> IndexReport:
    """Add one use of a word from each of some sentences, with its sense; sentences without it are left out.

    Raises:
        StoreError: as `index_corpus` does.
    """
    uri = str(uri)
    content = [(word, sentence.text, sentence.sense, sentence.occurrence) for word, sentence in uses]
    fingerprint = hashlib.sha256(json.dumps(content).encode()).hexdigest()
    with sole_writer(uri):
        writer = StoreWriter(uri, About.of(encoder, vector_type))
        writer.begin(source, fingerprint, "labelled", 1)
        num_added = 0
        if not writer.chunks_of(source):
            found = [use for word, sentence in uses for use in find_uses(encoder, [sentence], word)[0]]
            places = [(use.encoding, use.position, use.sentence.sense) for use in found]
            rows = rows_of(encoder, places, source, 0, writer.about)
            if not len(rows):
                raise StoreError(f"none of the {len(uses)} sentences of {source} has a word that the checkpoint knows")
            writer.add([rows])
            num_added = len(rows)
        if not writer.is_complete(source):
            writer.complete(source)
        return IndexReport(source, writer.num_contexts(source), num_added, 0)


def _chunks(
    corpus: Corpus, encoder: Encoder, tokens: TokenizedCorpus, wanted: Selection, numbers: Sequence[int]
) -> Iterator[tuple[int, list[Kept]]]:
    """The sentences of some chunks that have something to keep, in words; the others are only counted."""
    passages, chosen = corpus.passages(), set(numbers)
    first_P = np.searchsorted(tokens.passages, np.arange(tokens.report.num_passages + 1))
    for number in itertools.count():
        chunk = list(itertools.islice(passages, PASSAGES_PER_CHUNK))
        if not chunk:
            return
        first = number * PASSAGES_PER_CHUNK
        start, end = first_P[first], first_P[first + len(chunk)]
        offsets = tokens.offsets[start : end + 1]
        is_kept_N = wanted.keep(np.asarray(tokens.ids[offsets[0] : offsets[-1]]))
        if number in chosen:
            positions = np.split(is_kept_N, (offsets[1:-1] - offsets[0])) if end > start else []
            yield number, list(_kept(chunk, encoder, positions))


def _kept(passages: Sequence[str], encoder: Encoder, is_kept: Sequence[np.ndarray]) -> Iterator[Kept]:
    """Cut passages as `tokenize` does, and pair each sentence with what is kept of it."""
    text = encoder.config.text
    sentences = [sentence for passage in passages for sentence in split_sentences(passage, text.language)]
    sentence_masks = iter(is_kept)
    for sentence, tokens in zip(sentences, encoder.tokenize(sentences), strict=True):
        if len(tokens) < text.min_sentence_tokens:
            continue
        if len(tokens) > text.max_sentence_tokens:
            size = text.max_sentence_tokens
            tokens = Tokens(tokens.words[:size], tokens.spans[:size], tokens.ids[:size])
            sentence = sentence[: tokens.spans[-1][1]]
        positions = np.flatnonzero(next(sentence_masks))
        if len(positions):
            yield Kept(sentence, tokens, positions)
    assert next(sentence_masks, None) is None, "the corpus was cut otherwise before"


def _rows(encoder: Encoder, kept: Sequence[Kept], source: str, chunk: int, about: About) -> pa.Table:
    tables = [contexts_schema(about).empty_table()]
    for start in range(0, len(kept), SENTENCES_PER_CHUNK):
        some = kept[start : start + SENTENCES_PER_CHUNK]
        encodings = encoder.encode_tokens([s.text for s in some], [s.tokens for s in some])
        places = [(e, int(p), None) for e, s in zip(encodings, some, strict=True) for p in s.positions]
        tables.append(rows_of(encoder, places, source, chunk, about))
    return pa.concat_tables(tables)


def rows_of(
    encoder: Encoder, places: Sequence[tuple[Encoding, int, str | None]], source: str, chunk: int, about: About
) -> pa.Table:
    """Words at positions of encoded sentences, with their senses, as rows; those whose vector is zero are left out."""
    vectors_ND = np.array([e.vectors[p] for e, p, _ in places], np.float32).reshape(len(places), about.width)
    has_direction_N = np.linalg.norm(vectors_ND, axis=1) > MIN_NORM
    places = [place for place, has_direction in zip(places, has_direction_N, strict=True) if has_direction]
    schema = contexts_schema(about)
    columns = {
        "word": [encoder.entry(e, p) for e, p, _ in places],
        # half a character, which a wrong decoder leaves, has no place in Arrow's UTF-8
        "sentence": [e.text.encode("utf-8", "replace").decode() for e, _, _ in places],
        "start": [e.spans[p][0] for e, p, _ in places],
        "end": [e.spans[p][1] for e, p, _ in places],
        "sense": [sense for _, _, sense in places],
        "source": [source] * len(places),
        "chunk": [chunk] * len(places),
        "vector": vector_column(vectors_ND[has_direction_N], schema.field("vector")),
    }
    return pa.table(columns, schema=schema)
