"""Numbers behind a map: how far the senses of each word lie apart in the full space, and which uses cluster.

Distances are 1 - cosine; a zero vector has cosine 0 with every other. A use without a sense is passed over, and so is
one whose sense no other use of its word has: nothing could be near to it that should be.

N uses, n uses of one word, S senses or clusters, D numbers per vector.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ctxemb.analysis.neighbours import leave_one_out_senses
from ctxemb.analysis.similarity import unit_vectors
from ctxemb.background import OnProgress, no_progress

NUM_PERMUTATIONS = 50
CLUSTERS_TRIED = range(2, 9)
CLUSTERED_POINTS = 2_000  # on which k-means is fitted; all the others go to the nearest centre
NUM_STARTS = 4


@dataclass(frozen=True)
class WordSeparation:
    """How the senses of one word lie apart, or those of all words, each within its word.

    Attributes:
        word: None for all words together, where each use counts the same.
        num_uses: that were looked at.
        num_senses: that these have.
        silhouette: mean over the uses, -1 to 1: how much nearer the uses of its sense are than those of the nearest
            other sense, as a share of the larger of the two; NaN where it is undefined.
        silhouette_chance: the same for senses dealt out anew within the word, mean over `NUM_PERMUTATIONS`.
        accuracy: share of uses whose nearest other use of the word has their sense; NaN where it is undefined.
        accuracy_chance: its mean over all ways to deal out the senses anew within the word.
        most_frequent_share: accuracy of always saying the word's most frequent sense.
        note: a sentence: why the numbers are undefined, or which uses were passed over; empty otherwise.
    """

    word: str | None
    num_uses: int
    num_senses: int
    silhouette: float
    silhouette_chance: float
    accuracy: float
    accuracy_chance: float
    most_frequent_share: float
    note: str

    @property
    def is_defined(self) -> bool:
        """Whether there are two senses to tell apart."""
        return not np.isnan(self.silhouette)


@dataclass(frozen=True)
class Separation:
    """One row a word, in the order in which the words were first seen, and all of them together."""

    words: tuple[WordSeparation, ...]
    total: WordSeparation


def separation(
    vectors_ND: np.ndarray,
    words: Sequence[str],
    senses: Sequence[str | None],
    seed: int = 0,
    on_progress: OnProgress = no_progress,
) -> Separation:
    """Measure how the senses of each word lie apart.

    Args:
        vectors_ND: (N, D), finite.
        words: N, the word of each use.
        senses: N, its sense; None or "" where nobody said.
        seed: of the senses that are dealt out anew.
        on_progress: called with a fraction and a stage.
    """
    if not len(vectors_ND) == len(words) == len(senses):
        raise ValueError(f"{len(vectors_ND)} vectors, {len(words)} words and {len(senses)} senses; give one each")
    unit_ND = np.nan_to_num(unit_vectors(np.asarray(vectors_ND, dtype=np.float64)))
    rows_of: dict[str, list[int]] = {}
    for row, word in enumerate(words):
        rows_of.setdefault(word, []).append(row)
    rows = []
    for number, (word, own) in enumerate(rows_of.items()):
        on_progress(number / len(rows_of), "measuring the senses")
        rows.append(_word_separation(word, unit_ND[own], [senses[row] or "" for row in own], seed))
    return Separation(tuple(rows), _total(rows))


def silhouettes(unit_nD: np.ndarray, labels_n: np.ndarray) -> np.ndarray:
    """Silhouette of each vector by cosine distance, (n,) in [-1, 1]; 0 where a label has one vector only.

    The sum of the cosines of a vector with a group is its product with the group's sum, so that no matrix of n x n
    distances is needed.

    Args:
        unit_nD: (n, D) of length 1 or 0.
        labels_n: (n,) at least two different ones.

    Source: Rousseeuw 1987, doi:10.1016/0377-0427(87)90125-7.
    """
    _, labels_n, sizes_S = np.unique(labels_n, return_inverse=True, return_counts=True)
    assert len(sizes_S) > 1, "a silhouette compares two groups"
    sums_SD = np.zeros((len(sizes_S), unit_nD.shape[1]))
    np.add.at(sums_SD, labels_n, unit_nD)
    distances_nS = sizes_S - unit_nD @ sums_SD.T
    rows = np.arange(len(unit_nD))
    own_distances_n = distances_nS[rows, labels_n] - (1 - np.einsum("nd,nd->n", unit_nD, unit_nD))
    within_n = own_distances_n / np.maximum(sizes_S[labels_n] - 1, 1)
    means_nS = distances_nS / sizes_S
    means_nS[rows, labels_n] = np.inf
    between_n = means_nS.min(axis=1)
    largest_n = np.maximum(np.maximum(within_n, between_n), 1e-12)
    return np.where(sizes_S[labels_n] > 1, np.clip((between_n - within_n) / largest_n, -1, 1), 0.0)


def cluster(
    vectors_ND: np.ndarray, num_clusters: int | None = None, seed: int = 0, on_progress: OnProgress = no_progress
) -> np.ndarray:
    """Group vectors by direction, without looking at a label: k-means on unit vectors, (N,) from 0, the largest first.

    Args:
        vectors_ND: (N, D), finite.
        num_clusters: None for that of 2 to 8 which has the highest mean silhouette. Never more than different vectors.
        seed: of the starts, and of the sample that is looked at where there are many vectors.
        on_progress: called with a fraction and a stage.

    Raises:
        ValueError: if there are no vectors, or fewer than one cluster is asked for.
    """
    from sklearn.cluster import KMeans  # here, because it slows every start of the app

    if not len(vectors_ND):
        raise ValueError("there are no vectors to be grouped; choose some")
    if num_clusters is not None and num_clusters < 1:
        raise ValueError(f"{num_clusters} clusters were asked for; ask for at least 1")
    unit_ND = np.nan_to_num(unit_vectors(np.asarray(vectors_ND, dtype=np.float64)))
    chosen = np.random.default_rng(seed).permutation(len(unit_ND))[:CLUSTERED_POINTS]
    sample_nD = unit_ND[np.sort(chosen)]
    num_different = len(np.unique(sample_nD.round(6), axis=0))
    tried = [number for number in CLUSTERS_TRIED if number < num_different] if num_clusters is None else [num_clusters]
    best, best_silhouette = None, -np.inf
    for number, size in enumerate(tried):
        on_progress(number / len(tried), "grouping")
        means = KMeans(min(size, num_different), n_init=NUM_STARTS, random_state=seed)  # pyright: ignore[reportArgumentType]
        labels_n = means.fit_predict(sample_nD)
        silhouette = float(silhouettes(sample_nD, labels_n).mean()) if len(tried) > 1 else 0.0
        if silhouette > best_silhouette:
            best, best_silhouette = means, silhouette
    if best is None:  # fewer than three different vectors: one or two groups
        labels_N = np.unique(unit_ND.round(6), axis=0, return_inverse=True)[1].reshape(-1)
    else:
        labels_N = best.predict(unit_ND)
    largest_first = np.argsort(-np.bincount(labels_N), kind="stable")
    return np.argsort(largest_first)[labels_N]


def _word_separation(word: str, unit_nD: np.ndarray, senses: list[str], seed: int) -> WordSeparation:
    counts = Counter(sense for sense in senses if sense)
    single = [sense for sense, count in counts.items() if count == 1]
    kept = [row for row, sense in enumerate(senses) if counts[sense] > 1]
    unit_nD, senses_n = unit_nD[kept], np.array([senses[row] for row in kept])
    shares = {sense: count for sense, count in counts.items() if count > 1}
    num_uses, num_senses = len(kept), len(shares)
    if num_senses < 2:
        return WordSeparation(word, num_uses, num_senses, *[np.nan] * 5, note=_reason(num_senses, counts, single))
    rng = np.random.default_rng(seed)
    dealt = [silhouettes(unit_nD, rng.permutation(senses_n)).mean() for _ in range(NUM_PERMUTATIONS)]
    return WordSeparation(
        word=word,
        num_uses=num_uses,
        num_senses=num_senses,
        silhouette=float(silhouettes(unit_nD, senses_n).mean()),
        silhouette_chance=float(np.mean(dealt)),
        accuracy=float((leave_one_out_senses(unit_nD, senses_n) == senses_n).mean()),
        accuracy_chance=sum(count * (count - 1) for count in shares.values()) / (num_uses * (num_uses - 1)),
        most_frequent_share=max(shares.values()) / num_uses,
        note=_passed_over(len(senses) - counts.total(), single),
    )


def _total(rows: Sequence[WordSeparation]) -> WordSeparation:
    defined = [row for row in rows if row.is_defined]
    weights = [row.num_uses for row in defined]

    def mean(name: str) -> float:
        return float(np.average([getattr(row, name) for row in defined], weights=weights)) if defined else np.nan

    num_undefined = len(rows) - len(defined)
    words = "word is" if num_undefined == 1 else "words are"
    return WordSeparation(
        word=None,
        num_uses=sum(weights),
        num_senses=sum(row.num_senses for row in defined),
        silhouette=mean("silhouette"),
        silhouette_chance=mean("silhouette_chance"),
        accuracy=mean("accuracy"),
        accuracy_chance=mean("accuracy_chance"),
        most_frequent_share=mean("most_frequent_share"),
        note=f"{num_undefined} {words} not counted: each needs two senses with two uses." if num_undefined else "",
    )


def _reason(num_senses: int, counts: Counter[str], single: list[str]) -> str:
    if not counts:
        return "Undefined: no use has a sense."
    if len(counts) == 1:
        return f"Undefined: all uses have one sense, {next(iter(counts))!r}."
    few = "no sense has" if num_senses == 0 else "only one sense has"
    return f"Undefined: {few} two uses; single ones: {', '.join(single)}."


def _passed_over(num_unlabelled: int, single: list[str]) -> str:
    parts = [f"{num_unlabelled} without a sense"] if num_unlabelled else []
    parts += (
        [f"the only use of {', '.join(single)}" if len(single) == 1 else f"the only uses of {', '.join(single)}"]
        if single
        else []
    )
    return f"Passed over: {'; '.join(parts)}." if parts else ""
