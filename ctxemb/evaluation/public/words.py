"""Single words: rated pairs and analogies, by vectors of layer 0 and by the mean vector of each word's uses in a text.

Q questions.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ctxemb.evaluation.analogies import answer_analogies, load_analogies
from ctxemb.evaluation.public.intervals import mean_of_groups_interval, share_interval, spearman_interval
from ctxemb.evaluation.public.score import PublicScore, ScoreRow, with_baselines
from ctxemb.evaluation.public.subject import USES_PER_WORD, Subject, WordTable
from ctxemb.evaluation.readings import CONTROL
from ctxemb.evaluation.words import load_similarity, rated_cosines, spearman

SAME_WORDS = f"{CONTROL}, the same words"
RANKS, ACCURACY, SECTIONS = "Spearman", "accuracy (3CosAdd)", "mean accuracy of the sections (3CosAdd)"


def score_rated_pairs(subject: Subject, name: str, key: str, folder: Path, split: str) -> PublicScore:
    """Rated pairs of words.

    Args:
        name: of the test.
        key: of `SIMILARITY_SETS`.
    """
    rated = load_similarity(key, folder)
    rows = []
    for table in _tables(subject, {word for pair in rated.pairs for word in pair}):
        pairs = rated_cosines(rated, table.words, table.vectors_VD)
        num_pairs = len(pairs[0])
        rows.append(
            ScoreRow(
                table.reading,
                RANKS,
                spearman(*pairs),
                *spearman_interval(*pairs),
                num_pairs,
                len(rated.pairs) - num_pairs,
            )
        )
    notes = ("Spearman's correlation of the cosine of two words with their mean rating.", *_notes(subject, rows))
    return PublicScore(name, split, rows[0].reading, with_baselines(rows, (SAME_WORDS, CONTROL), {}), notes)


def score_analogies(subject: Subject, name: str, folder: Path, split: str) -> PublicScore:
    """Analogies, answered with 3CosAdd among all words that have a vector."""
    questions = load_analogies(name, folder)
    sections_Q = np.array([question.section for question in questions])
    wanted = {word for q in questions for word in (q.a, q.b, q.c, *q.answers)}
    rows, details = [], {}
    for table in _tables(subject, wanted):
        subject.on_progress(f"{name}: {table.reading}")
        known_Q, is_right_Q = answer_analogies(questions, table.words, table.vectors_VD)
        is_right, sections = is_right_Q[known_Q], sections_Q[known_Q]
        shares = {name: float(is_right[sections == name].mean()) for name in np.unique(sections).tolist()}
        details[f"accuracy of each section, {table.reading}"] = shares
        for measure, value, interval in (
            (ACCURACY, float(is_right.mean()) if len(is_right) else np.nan, share_interval(is_right)),
            (
                SECTIONS,
                float(np.mean(list(shares.values()))) if shares else np.nan,
                mean_of_groups_interval(is_right, sections),
            ),
        ):
            rows.append(
                ScoreRow(table.reading, measure, value, *interval, len(is_right), len(questions) - len(is_right))
            )
    notes = (
        "3CosAdd; candidates are all words that have a vector, without the three of the question.",
        *_notes(subject, rows),
    )
    return PublicScore(name, split, rows[0].reading, with_baselines(rows, (SAME_WORDS, CONTROL), {}), notes, details)


def _tables(subject: Subject, wanted: Iterable[str]) -> list[WordTable]:
    """Means of uses, where there are any, then layer 0 of the same words; then layer 0 of all."""
    layer_zero, *means = subject.word_tables(sorted(wanted))
    return [*(table for mean in means for table in (mean, _same_words(layer_zero, mean))), layer_zero]


def _same_words(layer_zero: WordTable, other: WordTable) -> WordTable:
    rows = {word: row for row, word in enumerate(layer_zero.words)}
    return WordTable(SAME_WORDS, other.words, layer_zero.vectors_VD[[rows[word] for word in other.words]])


def _notes(subject: Subject, rows: Sequence[ScoreRow]) -> tuple[str, ...]:
    left_out = "A pair or question with a word without a vector is left out."
    if len({row.reading for row in rows}) == 1:
        return (left_out,)
    return (
        left_out,
        f"A word's mean is over at most {USES_PER_WORD} of its uses in {subject.text}; a word without a use there has "
        f"none, so only “{SAME_WORDS}” is about the same words.",
    )
