"""What is read from a store: contexts of a word, what is nearest to a vector, words that are used alike.

D numbers per vector, N vectors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctxemb.analysis.similarity import unit_vectors
from ctxemb.encoder import Encoder
from ctxemb.store.about import About, StoreError
from ctxemb.store.results import Context, Hit, Neighbours, Source, WordHit, WordNeighbours
from ctxemb.store.tables import (
    ASKED,
    CONTEXTS,
    SOURCES,
    WORDS,
    is_local,
    open_table,
    quoted,
    read_about,
    vectors_of,
)

if TYPE_CHECKING:
    from lancedb.table import Table

TEXT_COLUMNS = ("word", "sentence", "start", "end", "sense", "source")
# of the index: graphs looked into, candidates held in each, and how many times k are compared by their full vectors
NUM_PROBES, NUM_CANDIDATES, REFINE_FACTOR = 20, 60, 2
MIN_CONTEXTS = 10  # the mean of fewer says more about them than about the word


@dataclass(frozen=True)
class VectorStore:
    """A store, open for reading; it goes on being readable while another process adds to it. Use `open`."""

    uri: str
    about: About
    table: "Table" = field(repr=False)

    @classmethod
    def open(cls, uri: str | Path) -> "VectorStore":
        """Open a store.

        Args:
            uri: a folder, or an address of object storage.

        Raises:
            StoreError: if there is none, or none that can be read.
        """
        uri = str(uri)
        if is_local(uri) and not Path(uri).is_dir():
            raise StoreError(f"there is no store {uri}; build one: python -m ctxemb index CHECKPOINT --store {uri}")
        table = open_table(uri, CONTEXTS)
        if table is None:
            raise StoreError(f"{uri} is no store: it has no contexts; give the folder that `ctxemb index` has written")
        return cls(uri, read_about(table, uri), table)

    def check_fits(self, encoder: Encoder) -> None:
        """Refuse vectors of another making.

        Raises:
            StoreError: if the encoder is another checkpoint, or reads in another way.
        """
        self.about.check(About.of(encoder), self.uri)

    def __len__(self) -> int:
        return self.table.count_rows()

    def sources(self) -> list[Source]:
        """The corpora in the store, in the order in which they were begun."""
        table = open_table(self.uri, SOURCES)
        rows = table.to_arrow().to_pylist() if table is not None else []
        complete = {row["name"] for row in rows if row["is_complete"]}
        names = dict.fromkeys(row["name"] for row in rows)
        return [Source(n, n in complete, self.table.count_rows(f"source = {quoted(n)}")) for n in names]

    def contexts(
        self, word: str, limit: int = 200, seed: int = 0, sources: Sequence[str] | None = None
    ) -> list[Context]:
        """A random sample of at most `limit` uses of a word, in the order of the store; empty if it has none."""
        condition = _condition(only_word=self.about.key(word), sources=sources)
        places = (
            self.table.search().where(condition).select(["chunk"]).with_row_id(True).to_arrow()["_rowid"].to_numpy()
        )
        places = np.sort(places)
        if len(places) > limit:
            places = np.sort(np.random.default_rng(seed).choice(places, limit, replace=False))
        if not len(places):
            return []
        found = self.table.take_row_ids(places.tolist()).select([*TEXT_COLUMNS]).to_arrow()
        return [_context(row) for row in found.to_pylist()]

    def nearest(
        self,
        vector_D: np.ndarray,
        k: int = 10,
        *,
        only_word: str | None = None,
        not_word: str | None = None,
        sources: Sequence[str] | None = None,
        not_sentence: str | None = None,
        one_per_sentence: bool = False,
        asked: bool = False,
        exact: bool = False,
    ) -> Neighbours:
        """The k contexts of highest cosine.

        Args:
            vector_D: (D,), read as the store's vectors were.
            only_word: look among the uses of this word.
            not_word: leave out the uses of this word.
            sources: look in these corpora only.
            not_sentence: leave out this sentence, whatever word of it.
            one_per_sentence: of the words of one sentence, whose surroundings are much the same, take the nearest only.
            asked: look also among the uses that people asked about.
            exact: compare every vector, also where there is an index.

        Raises:
            StoreError: if the vector has another width or no direction.
        """
        self._check_vector(vector_D)
        condition = _condition(
            only_word=None if only_word is None else self.about.key(only_word),
            not_word=None if not_word is None else self.about.key(not_word),
            sources=sources,
            not_sentence=not_sentence,
        )
        # an index can miss what only few rows fulfil, and few rows are soon compared
        is_exact = exact or only_word is not None or sources is not None or not self.has_index
        search = _search_sentences if one_per_sentence else _search
        hits = search(self.table, vector_D, k, condition, is_exact)
        num_searched = self.table.count_rows(condition or None)
        if asked and (table := open_table(self.uri, ASKED)) is not None:
            hits = sorted([*hits, *search(table, vector_D, k, condition, True)], key=lambda hit: -hit.cosine)[:k]
            num_searched += table.count_rows(condition or None)
        return Neighbours(hits, num_searched, is_exact)

    @property
    def has_index(self) -> bool:
        """Whether vectors are found through an index rather than compared one by one."""
        return any("vector" in index.columns for index in self.table.list_indices())

    def word_vector(self, word: str) -> tuple[np.ndarray, int]:
        """The mean vector of a word's contexts, (D,), and how many they are; without any, of those asked about.

        Raises:
            StoreError: if the word occurs in neither.
        """
        condition = _condition(only_word=self.about.key(word))
        words = self._words()
        found = words.search().where(condition).to_arrow()
        if len(found):
            return vectors_of(found["vector"], self.about.width)[0], found["num_contexts"][0].as_py()
        if (table := open_table(self.uri, ASKED)) is not None:
            vectors_ND = vectors_of(table.search().where(condition).to_arrow()["vector"], self.about.width)
            if len(vectors_ND):
                return vectors_ND.mean(axis=0), len(vectors_ND)
        raise StoreError(
            f"“{word.strip()}” has no context in this store, so it has no vector of its own here; "
            "ask about a sentence with it first, or choose another word"
        )

    def similar_words(self, word: str, k: int = 10, min_contexts: int = MIN_CONTEXTS) -> WordNeighbours:
        """The k words whose mean vectors have the highest cosine with a word's.

        Raises:
            StoreError: if the word has no context here, or the store no word vectors yet.
        """
        vector_D, _ = self.word_vector(word)
        return self._nearest_words(vector_D, k, [self.about.key(word)], min_contexts)

    def analogy(self, a: str, b: str, c: str, k: int = 10, min_contexts: int = MIN_CONTEXTS) -> WordNeighbours:
        """Answer "a is to b as c is to ?" by 3CosAdd: the words nearest to b - a + c, never one of the three.

        Raises:
            StoreError: if a word has no context here, or the store no word vectors yet.
        """
        vectors_3D = unit_vectors(np.stack([self.word_vector(word)[0] for word in (a, b, c)]))
        return self._nearest_words(
            vectors_3D[1] - vectors_3D[0] + vectors_3D[2], k, [self.about.key(word) for word in (a, b, c)], min_contexts
        )

    def _nearest_words(self, vector_D: np.ndarray, k: int, but: Sequence[str], min_contexts: int) -> WordNeighbours:
        self._check_vector(vector_D)
        condition = f"num_contexts >= {int(min_contexts)} and word not in ({', '.join(map(quoted, but))})"
        words = self._words()
        found = _nearest_rows(words, vector_D, k, condition, ["word", "num_contexts"], True)
        return WordNeighbours(
            [WordHit(row["word"], _cosine(row), row["num_contexts"]) for row in found], words.count_rows(condition)
        )

    def _words(self) -> "Table":
        table = open_table(self.uri, WORDS)
        if table is None:
            raise StoreError(f"{self.uri} has no word vectors yet: they are made when its first corpus is complete")
        return table

    def _check_vector(self, vector_D: np.ndarray) -> None:
        if vector_D.shape != (self.about.width,):
            raise StoreError(
                f"{self.uri} has vectors of {self.about.width} numbers; one of {vector_D.size} does not fit"
            )
        if not np.linalg.norm(vector_D) > 1e-6:  # NaN too
            raise StoreError("this vector has no direction, so nothing is nearer to it than anything else")


def _condition(
    only_word: str | None = None,
    not_word: str | None = None,
    sources: Sequence[str] | None = None,
    not_sentence: str | None = None,
) -> str:
    """A filter of LanceDB; empty where there are no conditions."""
    parts = []
    if only_word is not None:
        parts.append(f"word = {quoted(only_word)}")
    if not_word is not None:
        parts.append(f"word != {quoted(not_word)}")
    if sources is not None:
        parts.append(f"source in ({', '.join(map(quoted, sources))})" if sources else "false")
    if not_sentence is not None:
        parts.append(f"sentence != {quoted(not_sentence)}")
    return " and ".join(parts)


def _search(table: "Table", vector_D: np.ndarray, k: int, condition: str, exact: bool) -> list[Hit]:
    rows = _nearest_rows(table, vector_D, k, condition, TEXT_COLUMNS, exact)
    return [Hit(_context(row), _cosine(row)) for row in rows]


def _search_sentences(table: "Table", vector_D: np.ndarray, k: int, condition: str, exact: bool) -> list[Hit]:
    """The k best sentences, each by its nearest word: more are asked for until so many differ."""
    num_asked = 4 * k
    while True:
        hits = _search(table, vector_D, num_asked, condition, exact)
        best: dict[str, Hit] = {}
        for hit in hits:
            best.setdefault(hit.context.sentence, hit)
        if len(best) >= k or len(hits) < num_asked:
            return list(best.values())[:k]
        num_asked *= 4


def _nearest_rows(
    table: "Table", vector_D: np.ndarray, k: int, condition: str, columns: Sequence[str], exact: bool
) -> list[dict[str, Any]]:
    query: Any = table.search(vector_D.astype(np.float32))
    query = query.distance_type("cosine").limit(k).select([*columns, "_distance"])
    if exact:
        query = query.bypass_vector_index()
    else:
        query = query.nprobes(NUM_PROBES).refine_factor(REFINE_FACTOR).ef(max(NUM_CANDIDATES, 2 * REFINE_FACTOR * k))
    if condition:
        query = query.where(condition, prefilter=True)
    return query.to_arrow().to_pylist()


def _context(row: dict[str, Any]) -> Context:
    return Context(**{name: row[name] for name in TEXT_COLUMNS})


def _cosine(row: dict[str, Any]) -> float:
    return float(np.clip(1 - row["_distance"], -1, 1))
