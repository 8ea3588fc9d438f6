"""Candidates for a lexicon that a domain does not have: words whose contexts look alike.

Two words are proposed if each is among the other's nearest neighbours, their cosine passes a threshold, and both fall
into one cluster: average linkage, so that a chain of neighbours does not become a group. They are proposals for a
person to review: antonyms and words of one kind (Monday, Tuesday) share contexts just as synonyms do.

N words, D numbers per vector, E pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ctxemb.analysis.similarity import unit_vectors
from ctxemb.lexicon.ids import components


class CandidateConfig(BaseModel):
    """What makes two words candidates."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_neighbours: int = Field(default=5, ge=1, le=100, description="Each is among this many nearest of the other")
    min_cosine: float = Field(default=0.6, gt=-1, lt=1, description="Their cosine is at least this")
    min_count: int = Field(default=5, ge=1, le=1_000_000, description="Each was seen at least this often")
    is_centred: bool = Field(default=True, description="Subtract the mean of all words first")
    max_component_words: int = Field(
        default=5_000, ge=2, le=20_000, description="More words than this linked together: the threshold is too low"
    )


@dataclass(frozen=True)
class Candidate:
    """Two different words with similar contexts.

    Attributes:
        a, b: the words, in the order in which they were given.
        cosine: of their mean contexts, -1 to 1.
        count_a, count_b: how often each was seen.
        cluster: number of their cluster; candidates of one cluster may be one group of synonyms.
    """

    a: str
    b: str
    cosine: float
    count_a: int
    count_b: int
    cluster: int


def candidates(
    vectors_ND: np.ndarray, words: Sequence[str], counts_N: np.ndarray, config: CandidateConfig | None = None
) -> list[Candidate]:
    """Propose pairs, the most similar first; empty if no two words are similar enough.

    Args:
        vectors_ND: (N, D) the mean context vector of each word; rows of zeros or NaN are passed over.
        words: N different words.
        counts_N: (N,) how often each was seen.
        config: thresholds.

    Raises:
        ValueError: lengths that differ, a word twice, fewer than two words that are frequent enough, or so low a
            threshold that thousands of words hang together.
    """
    config = config or CandidateConfig()
    if not len(vectors_ND) == len(words) == len(counts_N):
        raise ValueError(f"{len(vectors_ND)} vectors, {len(words)} words and {len(counts_N)} counts; give one each")
    if len(set(words)) < len(words):
        twice = next(word for i, word in enumerate(words) if word in words[:i])
        raise ValueError(f"the word {twice!r} is given twice; give one mean vector a word")
    kept = np.flatnonzero((counts_N >= config.min_count) & (np.abs(vectors_ND).sum(axis=1) > 0))
    if len(kept) < 2:
        raise ValueError(
            f"{len(kept)} of {len(words)} words have a vector and were seen {config.min_count} times; two are needed"
        )
    unit_ND = vectors_ND[kept].astype(np.float64)
    if config.is_centred:
        unit_ND = unit_ND - unit_ND.mean(axis=0)
    unit_ND = np.nan_to_num(unit_vectors(unit_ND))
    pairs_E2 = mutual_neighbours(unit_ND, config.num_neighbours)
    cosines_E = np.einsum("ed,ed->e", unit_ND[pairs_E2[:, 0]], unit_ND[pairs_E2[:, 1]]).clip(-1, 1)
    is_close_E = cosines_E >= config.min_cosine
    pairs_E2, cosines_E = pairs_E2[is_close_E], cosines_E[is_close_E]
    cluster_N = clusters(unit_ND, pairs_E2, config)
    is_one_cluster_E = cluster_N[pairs_E2[:, 0]] == cluster_N[pairs_E2[:, 1]]
    found = []
    for edge in np.argsort(-cosines_E, kind="stable"):
        if is_one_cluster_E[edge]:
            i, j = (int(kept[end]) for end in pairs_E2[edge])
            cluster = int(cluster_N[pairs_E2[edge, 0]])
            found.append(
                Candidate(words[i], words[j], float(cosines_E[edge]), int(counts_N[i]), int(counts_N[j]), cluster)
            )
    return found


def mutual_neighbours(unit_ND: np.ndarray, num_neighbours: int) -> np.ndarray:
    """Pairs of which each is among the other's nearest by cosine, (E, 2), the smaller row first, sorted."""
    from sklearn.neighbors import NearestNeighbors  # here, because it slows every start of the app

    num_words = len(unit_ND)
    # On unit vectors the order by distance is that by cosine; without a query no row is its own neighbour.
    search = NearestNeighbors(n_neighbors=min(num_neighbours, num_words - 1), algorithm="brute").fit(unit_ND)
    neighbours = search.kneighbors(return_distance=False)
    rows = np.repeat(np.arange(num_words), neighbours.shape[1])
    keys = np.minimum(rows, neighbours.ravel()) * num_words + np.maximum(rows, neighbours.ravel())
    keys, counts = np.unique(keys, return_counts=True)
    return np.stack(np.divmod(keys[counts == 2], num_words), axis=1)


def clusters(unit_ND: np.ndarray, pairs_E2: np.ndarray, config: CandidateConfig) -> np.ndarray:
    """The cluster of each word, (N,): connected pairs, cut where the mean cosine falls below the threshold."""
    from sklearn.cluster import AgglomerativeClustering

    component_N = components(pairs_E2, len(unit_ND))
    sizes = np.bincount(component_N)
    if sizes.max() > config.max_component_words:
        raise ValueError(
            f"{sizes.max():,} words hang together at a cosine of {config.min_cosine}; raise min_cosine, or lower "
            "num_neighbours"
        )
    cluster_N, num_clusters = component_N.astype(np.int64), len(sizes)
    cut = AgglomerativeClustering(
        n_clusters=None,  # pyright: ignore[reportArgumentType] (what a threshold requires; pyright infers from the default)
        distance_threshold=1 - config.min_cosine,
        metric="cosine",
        linkage="average",
    )
    for component in np.flatnonzero(sizes > 2):
        members = np.flatnonzero(component_N == component)
        cluster_N[members] = num_clusters + cut.fit_predict(unit_ND[members])
        num_clusters += len(members)
    _, cluster_N = np.unique(cluster_N, return_inverse=True)
    return cluster_N
