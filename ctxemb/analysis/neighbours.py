"""Nearest neighbours by cosine inside one set of vectors, in blocks of bounded memory.

A zero vector has cosine 0 with every other.

N uses of a word, V words, Q queries, P pairs, D numbers per vector.
"""

from collections.abc import Iterator

import numpy as np

from ctxemb.analysis.similarity import unit_vectors

CELLS = 1 << 24  # cosines held at once: 64 MB


def leave_one_out_senses(vectors_ND: np.ndarray, senses_N: np.ndarray) -> np.ndarray:
    """The sense of each use's nearest other use, (N,); of several equally near, the first.

    Raises:
        ValueError: if there are fewer than two uses.
    """
    if len(vectors_ND) < 2:
        raise ValueError(f"{len(vectors_ND)} uses: a nearest other use needs at least two")
    unit_ND = np.nan_to_num(unit_vectors(vectors_ND.astype(np.float64)))
    cosines_NN = (unit_ND @ unit_ND.T).round(6)  # equal cosines that differ by rounding are equal
    np.fill_diagonal(cosines_NN, -np.inf)
    return senses_N[cosines_NN.argmax(axis=1)]


def nearest_partner_ranks(vectors_VD: np.ndarray, pairs_P2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At which place among a word's neighbours the nearest of its partners stands.

    Args:
        vectors_VD: (V, D); all of them are candidates, except the word itself.
        pairs_P2: (P, 2) rows (word, partner) of different words, in any order; a word may have many partners.

    Returns:
        (Q,) the distinct words asked about, ascending, and (Q,) ranks from 1. Ties count against the partner.
    """
    assert (pairs_P2[:, 0] != pairs_P2[:, 1]).all(), "a word is no partner of its own"
    pairs_P2 = pairs_P2[np.argsort(pairs_P2[:, 0], kind="stable")]
    words_Q, first_Q = np.unique(pairs_P2[:, 0], return_index=True)
    end_Q = np.append(first_Q[1:], len(pairs_P2))
    unit_VD = _unit32(vectors_VD)
    ranks_Q = np.zeros(len(words_Q), dtype=np.int64)
    for rows in _blocks(len(words_Q), len(unit_VD)):
        words = words_Q[rows]
        cosines = unit_VD[words] @ unit_VD.T
        cosines[np.arange(len(words)), words] = -np.inf
        pairs = pairs_P2[first_Q[rows][0] : end_Q[rows][-1]]
        of_pairs = cosines[np.searchsorted(words, pairs[:, 0]), pairs[:, 1]]
        best = np.maximum.reduceat(of_pairs, first_Q[rows] - first_Q[rows][0])
        ranks_Q[rows] = (cosines >= best[:, None]).sum(axis=1)
    return words_Q, ranks_Q


def three_cos_add(vectors_VD: np.ndarray, questions_Q3: np.ndarray) -> np.ndarray:
    """Answer "a is to b as c is to ?": the word nearest to b - a + c, (Q,) rows of `vectors_VD`.

    The three words of the question are never the answer.

    Args:
        vectors_VD: (V, D), V above 3; scaled to length 1 before they are added.
        questions_Q3: (Q, 3) rows a, b, c.

    Source: Mikolov et al. 2013, arXiv:1301.3781; named 3CosAdd by Levy & Goldberg 2014.
    """
    unit_VD = _unit32(vectors_VD)
    answers_Q = np.zeros(len(questions_Q3), dtype=np.int64)
    for rows in _blocks(len(questions_Q3), len(unit_VD)):
        questions = questions_Q3[rows]
        a, b, c = questions.T
        scores = (unit_VD[b] - unit_VD[a] + unit_VD[c]) @ unit_VD.T
        scores[np.arange(len(questions))[:, None], questions] = -np.inf
        answers_Q[rows] = scores.argmax(axis=1)
    return answers_Q


def _unit32(vectors_VD: np.ndarray) -> np.ndarray:
    return np.nan_to_num(unit_vectors(vectors_VD)).astype(np.float32)


def _blocks(num_rows: int, num_columns: int) -> Iterator[slice]:
    size = max(1, CELLS // max(num_columns, 1))
    return (slice(start, min(start + size, num_rows)) for start in range(0, num_rows, size))
