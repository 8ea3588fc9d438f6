"""Static word vectors against people's judgement: are synonyms near, do cosines follow rated similarity?

Words are compared without regard to case; of several spellings in a vocabulary the first, most frequent one counts.

Sources: SimLex-999 (Hill et al. 2015), WordSim-353 (Finkelstein et al. 2002), wordsim-240 and -297 (Chen et al. 2015),
COS960 (Huang et al. 2019).

V words of the vocabulary, P pairs, D numbers per vector.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path

import numpy as np

from ctxemb.analysis.neighbours import nearest_partner_ranks
from ctxemb.analysis.similarity import unit_vectors
from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.sources import find_file, has_file, numbered_lines, read_text

GENSIM_HOME = "https://github.com/piskvorky/gensim/tree/develop/gensim/test/test_data"
CWE_HOME = "https://github.com/Leonard-Xu/CWE/tree/master/data"


@dataclass(frozen=True)
class RatedFile:
    """A file of rated pairs: two words at the head of each line, and a number.

    Attributes:
        rating: column of the number.
        separator: of the columns; None: any white space.
        has_header: whether line 1 names the columns.
    """

    name: str
    rating: int = 2
    separator: str | None = None
    has_header: bool = False


@dataclass(frozen=True)
class SimilaritySet:
    """Rated pairs under one name; of its files, which hold the same in different layouts, one is enough."""

    folder: str
    files: tuple[RatedFile, ...]
    home: str


SIMILARITY_SETS = {
    "simlex999": SimilaritySet(
        "word-evals-en", (RatedFile("simlex999.txt"), RatedFile("SimLex-999.txt", 3, "\t", True)), GENSIM_HOME
    ),
    "wordsim353": SimilaritySet(
        "word-evals-en",
        (
            RatedFile("wordsim353.tsv"),
            RatedFile("combined.tab", 2, "\t", True),
            RatedFile("combined.csv", 2, ",", True),
        ),
        GENSIM_HOME,
    ),
    "wordsim240": SimilaritySet("zh-word-evals", (RatedFile("240.txt"),), CWE_HOME),
    "wordsim297": SimilaritySet("zh-word-evals", (RatedFile("297.txt"),), CWE_HOME),
    "cos960": SimilaritySet("zh-word-evals", (RatedFile("COS960_all.txt"),), "https://github.com/thunlp/COS960"),
}


@dataclass(frozen=True)
class SynonymScore:
    """How often a synonym is among the nearest neighbours.

    Attributes:
        hit_rate: share of the words with a synonym in the vocabulary, 0 to 1; NaN if there is none.
        num_words: how many words that is.
        coverage: their share of all words that the groups give a synonym for.
        k: number of neighbours looked at.
    """

    hit_rate: float
    num_words: int
    coverage: float
    k: int


@dataclass(frozen=True)
class RatedPairs:
    """P pairs of words with people's mean rating of their similarity (or relatedness), (P,)."""

    pairs: list[tuple[str, str]]
    ratings_P: np.ndarray


@dataclass(frozen=True)
class SimilarityScore:
    """Rank correlation of cosines with ratings.

    Attributes:
        spearman: over the pairs in the vocabulary, -1 to 1; NaN if fewer than two, or all alike.
        num_pairs: how many those are.
        coverage: their share of all pairs.
    """

    spearman: float
    num_pairs: int
    coverage: float


def word_rows(words: Iterable[str]) -> dict[str, int]:
    """Row of each case-folded word; of several spellings the first."""
    rows: dict[str, int] = {}
    for row, word in enumerate(words):
        rows.setdefault(word.casefold(), row)
    return rows


def synonym_hit_rate(
    vectors_VD: np.ndarray, words: Sequence[str], groups: Iterable[Sequence[str]], k: int = 10
) -> SynonymScore:
    """Share of words with at least one synonym among their k nearest neighbours by cosine.

    Asked about are the words that share a group with another word of the vocabulary; the candidates are all V words
    except the word itself. A tie with the k-th place counts as a miss.

    Args:
        vectors_VD: (V, D).
        words: V strings.
        groups: words of one meaning each; a word may be in several.
        k: number of neighbours.
    """
    rows = word_rows(words)
    given: set[str] = set()
    pairs: set[tuple[int, int]] = set()
    for group in groups:
        members = {word.casefold() for word in group}
        if len(members) > 1:
            given |= members
            pairs.update(permutations([rows[word] for word in members if word in rows], 2))
    if not pairs:
        return SynonymScore(np.nan, 0, 0.0, k)
    _, ranks_Q = nearest_partner_ranks(vectors_VD, np.array(sorted(pairs)))
    return SynonymScore(float((ranks_Q <= k).mean()), len(ranks_Q), len(ranks_Q) / len(given), k)


def load_similarity(name: str, folder: Path | None = None) -> RatedPairs:
    """Read one of `SIMILARITY_SETS`: pairs of words and their mean rating.

    Args:
        name: a key of `SIMILARITY_SETS`.
        folder: the one with the file; the set's own in the data folder if None.

    Raises:
        CorpusError: if there is no such set, the file is missing, or a line is not two words and a number.
    """
    if name not in SIMILARITY_SETS:
        raise CorpusError(f"there is no similarity set {name!r}; take one of {', '.join(SIMILARITY_SETS)}")
    rated = SIMILARITY_SETS[name]
    folder = folder or data_folder() / rated.folder
    file = next((file for file in rated.files if has_file(folder, file.name)), rated.files[0])
    path = find_file(folder, file.name, rated.home)
    pairs, ratings = [], []
    for number, line in numbered_lines(read_text(path)):
        if line.startswith("#") or (number == 1 and file.has_header):
            continue
        try:
            columns = line.split(file.separator)
            ratings.append(float(columns[file.rating]))
            first, second = columns[:2]
            pairs.append((first, second))
        except (ValueError, IndexError) as error:
            raise CorpusError(f"{path}, line {number}: not two words and a rating") from error
    if not pairs:
        raise CorpusError(f"{path} holds no pairs; get it from {rated.home}")
    return RatedPairs(pairs, np.array(ratings))


def score_similarity(rated: RatedPairs, words: Sequence[str], vectors_VD: np.ndarray) -> SimilarityScore:
    """Spearman's correlation of cosines with ratings; see `rated_cosines`."""
    cosines_P, ratings_P = rated_cosines(rated, words, vectors_VD)
    return SimilarityScore(spearman(cosines_P, ratings_P), len(cosines_P), len(cosines_P) / max(len(rated.pairs), 1))


def rated_cosines(rated: RatedPairs, words: Sequence[str], vectors_VD: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cosine and rating of each pair whose two words are known; pairs with another word are left out.

    Args:
        rated: the pairs.
        words: V strings.
        vectors_VD: (V, D).
    """
    rows = word_rows(words)
    found = [[rows.get(word.casefold(), -1) for word in pair] for pair in rated.pairs]
    pairs_P2 = np.array(found, dtype=np.int64).reshape(-1, 2)
    known_P = (pairs_P2 >= 0).all(axis=1)
    first_PD, second_PD = (unit_vectors(vectors_VD[rows_P].astype(np.float64)) for rows_P in pairs_P2[known_P].T)
    cosines_P, ratings_P = np.einsum("pd,pd->p", first_PD, second_PD), rated.ratings_P[known_P]
    has_angle = ~np.isnan(cosines_P)
    return cosines_P[has_angle], ratings_P[has_angle]


def spearman(scores_P: np.ndarray, ratings_P: np.ndarray) -> float:
    """Rank correlation, -1 to 1; NaN if there are fewer than two pairs, or all are alike."""
    from scipy.stats import spearmanr

    varied = len(scores_P) > 1 and np.ptp(scores_P) > 0 and np.ptp(ratings_P) > 0
    return float(np.asarray(spearmanr(scores_P, ratings_P))[0]) if varied else np.nan
