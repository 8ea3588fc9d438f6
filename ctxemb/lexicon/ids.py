"""A cleaned lexicon in the ids of a vocabulary, made for questions about many pairs at once.

A pair of words is one 64-bit number, its key: the smaller id in the upper half, the larger in the lower.
G groups, M memberships of a word in a group, P pairs, W words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ctxemb.lexicon.lexicon import LexiconError

HALF = 32
LOWER = (1 << HALF) - 1


@dataclass(frozen=True, eq=False)
class Csr:
    """Rows of different lengths in two arrays (compressed sparse rows).

    Attributes:
        offsets: (rows + 1,) int64; row i is `values[offsets[i]:offsets[i + 1]]`.
        values: the rows one after the other.
    """

    offsets: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, rows: np.ndarray, values: np.ndarray, num_rows: int) -> "Csr":
        """Sort values by row; within a row their order stays."""
        offsets = np.zeros(num_rows + 1, np.int64)
        np.cumsum(np.bincount(rows, minlength=num_rows), out=offsets[1:])
        return cls(offsets, values[np.argsort(rows, kind="stable")])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> np.ndarray:
        """The values of a row; none for a row past the end, such as a word the lexicon does not know."""
        return self.values[self.offsets[row] : self.offsets[row + 1]] if 0 <= row < len(self) else self.values[:0]

    @property
    def sizes(self) -> np.ndarray:
        """(rows,) the length of each row."""
        return np.diff(self.offsets)


@dataclass(frozen=True, eq=False)
class IdLexicon:
    """Who is whose synonym and antonym. Made by `clean`.

    Attributes:
        name: where it comes from.
        groups: group -> ids of its words, at least two; not every two of them need be synonyms (contradictions).
        is_alias_G: (G,) whether a group holds names of one thing rather than synonyms.
        synonym_keys: (P,) int64, sorted; aliases are among them.
        antonym_keys: int64, sorted.
        words: id -> a spelling of every word of the lexicon.
    """

    name: str
    groups: Csr = field(repr=False)
    is_alias_G: np.ndarray = field(repr=False)
    synonym_keys: np.ndarray = field(repr=False)
    antonym_keys: np.ndarray = field(repr=False)
    words: Mapping[int, str] = field(repr=False)

    @cached_property
    def synonyms(self) -> Csr:
        """Word id -> ids of its synonyms and aliases."""
        return _neighbours(self.synonym_keys)

    @cached_property
    def antonyms(self) -> Csr:
        """Word id -> ids of its antonyms."""
        return _neighbours(self.antonym_keys)

    @cached_property
    def word_groups(self) -> Csr:
        """Word id -> numbers of the groups it stands in."""
        groups_M = np.repeat(np.arange(len(self.groups), dtype=np.int32), self.groups.sizes)
        return Csr.of(self.groups.values, groups_M, int(self.groups.values.max(initial=-1)) + 1)

    @cached_property
    def word_ids(self) -> np.ndarray:
        """(W,) ids of the words with a synonym or an antonym, sorted."""
        return np.unique(np.concatenate([np.stack(key_ids(k)) for k in (self.synonym_keys, self.antonym_keys)], axis=1))

    def synonyms_of(self, word_id: int) -> np.ndarray:
        """Ids of a word's synonyms and aliases, sorted; empty if it has none."""
        return self.synonyms[word_id]

    def antonyms_of(self, word_id: int) -> np.ndarray:
        """Ids of a word's antonyms, sorted; empty if it has none."""
        return self.antonyms[word_id]

    def are_synonyms(self, ids_a: np.ndarray, ids_b: np.ndarray) -> np.ndarray:
        """Tell for each pair of ids whether they are synonyms or aliases; shapes broadcast. A word is not its own."""
        return contains(self.synonym_keys, pair_keys(ids_a, ids_b))

    def are_antonyms(self, ids_a: np.ndarray, ids_b: np.ndarray) -> np.ndarray:
        """Tell for each pair of ids whether they are antonyms; shapes broadcast."""
        return contains(self.antonym_keys, pair_keys(ids_a, ids_b))

    def counts_in(self, corpus_ids: np.ndarray, corpus_name: str) -> np.ndarray:
        """Count how often each of `word_ids` occurs in a corpus, (W,).

        Raises:
            LexiconError: none does.
        """
        counts_V = np.bincount(corpus_ids, minlength=int(self.word_ids.max(initial=-1)) + 1)
        counts_W = counts_V[self.word_ids]
        if not counts_W.any():
            some = ", ".join(self.words[int(i)] for i in self.word_ids[:3])
            raise LexiconError(
                f"None of the {len(counts_W):,} words of {self.name} ({some} ...) occurs in {corpus_name}; "
                "use a lexicon of its language and field."
            )
        return counts_W


def pair_keys(ids_a: np.ndarray, ids_b: np.ndarray) -> np.ndarray:
    """The key of each pair of ids, whichever comes first; int64."""
    return np.minimum(ids_a, ids_b).astype(np.int64) << HALF | np.maximum(ids_a, ids_b)


def key_ids(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The smaller and the larger id of each key, int32."""
    return (keys >> HALF).astype(np.int32), (keys & LOWER).astype(np.int32)


def contains(sorted_keys: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Tell which keys are among the sorted ones, in the shape of `keys`."""
    if not len(sorted_keys):
        return np.zeros(np.shape(keys), dtype=bool)
    places = np.searchsorted(sorted_keys, keys)
    return sorted_keys[np.minimum(places, len(sorted_keys) - 1)] == keys


def member_pairs(offsets: np.ndarray, wanted: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Every two members of each (wanted) row as two arrays of places in `Csr.values`; rows by size, not in order."""
    starts, sizes = offsets[:-1], np.diff(offsets)
    if wanted is not None:
        starts, sizes = starts[wanted], sizes[wanted]
    firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for size in np.unique(sizes[sizes >= 2]):
        first, second = np.triu_indices(size, k=1)
        of_size = starts[sizes == size, None]
        firsts.append((of_size + first).ravel())
        seconds.append((of_size + second).ravel())
    return np.concatenate(firsts), np.concatenate(seconds)


def components(edges_E2: np.ndarray, num_nodes: int) -> np.ndarray:
    """The connected component of each node, (num_nodes,), numbered by first appearance; cycles do no harm."""
    # imported where it is used: it slows every start of the app
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(edges_E2), dtype=bool)
    graph = coo_array((ones, (edges_E2[:, 0], edges_E2[:, 1])), shape=(num_nodes, num_nodes))
    _, labels = connected_components(graph, directed=False)
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def _neighbours(keys: np.ndarray) -> Csr:
    small, large = key_ids(keys)
    # From large to small first: then a row is sorted, as all of those are smaller than the rest.
    rows, values = np.concatenate([large, small]), np.concatenate([small, large])
    return Csr.of(rows, values, int(large.max(initial=-1)) + 1)
