"""Checks of the numbers in the weights.

V vocabulary, E embedding size.
"""

from collections.abc import Iterable

import numpy as np
import torch

from ctxemb.checkup.result import Finding, not_applicable
from ctxemb.checkup.subject import Subject
from ctxemb.models.families import build_model
from ctxemb.text import NUM_SPECIAL

# no two words of the shipped checkpoints have the same row; an imported file may repeat a few under other spellings
MAX_EQUAL_SHARE, SOME_EQUAL_SHARE = 0.01, 0.001
# a row of one number has no direction of its own; a file of word vectors may have a few such fillers
MAX_CONSTANT_SHARE = 0.01
NUM_SHOWN = 3


def check_values(subject: Subject) -> Finding:
    """Whether every number is finite, and no weight is zero that is not zero in a new model."""
    model = subject.encoder.model
    parameters = dict(model.named_parameters())
    num_bad = {name: int((~torch.isfinite(p)).sum()) for name, p in parameters.items()}
    broken = [name for name, count in num_bad.items() if count]
    total, limit = sum(num_bad.values()), "no NaN, no infinity, no weight that is zero throughout"
    if broken:
        return Finding(
            "fail",
            f"{total:,} {'number is' if total == 1 else 'numbers are'} NaN or infinite, in {_names(broken)}.",
            total,
            f"{total:,} broken",
            limit,
            "The training went wrong before this was saved: take an earlier checkpoint, or train with a lower rate.",
        )
    # a bias of zero stops nothing, and an LSTM may be built without one
    zeros = [name for name, p in parameters.items() if p.numel() and not p.any() and not _is_bias(name)]
    zeros = [name for name in zeros if name not in _zero_at_start(subject)] if zeros else []
    if zeros:
        return Finding(
            "fail",
            f"{_names(zeros)} {'is' if len(zeros) == 1 else 'are'} zero throughout, and nothing passes there.",
            len(zeros),
            f"{len(zeros)} zero",
            limit,
            "These weights were never filled or were wiped: save the checkpoint again from the trained model.",
        )
    num_numbers = sum(p.numel() for p in parameters.values())
    return Finding(
        "pass", f"All {num_numbers:,} numbers are finite, and no weight is zero throughout.", 0, "0 broken", limit
    )


def check_rows(subject: Subject) -> Finding:
    """Whether every word has a row of its own in the table of word vectors."""
    if subject.encoder.reads_spelling:
        return not_applicable("Words are read by their spelling; there is no table with a row for each.")
    words_VE = subject.encoder.model.word_vectors().cpu().numpy()[NUM_SPECIAL:]
    num_words = len(words_VE)
    is_constant_V = (words_VE == words_VE[:, :1]).all(axis=1) if words_VE.shape[1] > 1 else np.zeros(num_words, bool)
    is_equal_V = _has_a_double(words_VE) & ~is_constant_V
    constant, equal = float(is_constant_V.mean()), float(is_equal_V.mean())
    limit = f"equal at most {SOME_EQUAL_SHARE:.1%}, constant none"
    shown = f"{equal:.1%} equal, {constant:.1%} constant"
    if not (constant or equal > SOME_EQUAL_SHARE):
        return Finding("pass", f"The {num_words:,} words have {num_words:,} rows of their own.", equal, shown, limit)
    problems = []
    if constant:
        problems.append(
            f"{int(is_constant_V.sum()):,} words have a row of one repeated number{_eg(subject, is_constant_V)}"
        )
    if equal > SOME_EQUAL_SHARE:
        problems.append(f"{int(is_equal_V.sum()):,} words share their row with another{_eg(subject, is_equal_V)}")
    return Finding(
        "fail" if constant > MAX_CONSTANT_SHARE or equal > MAX_EQUAL_SHARE else "warn",
        f"Of {num_words:,} words, {' and '.join(problems)}.",
        max(constant, equal),
        shown,
        limit,
        "Such words cannot be told apart: look at how the table was filled, and leave out words without a vector.",
    )


def _is_bias(name: str) -> bool:
    return "bias" in name.rpartition(".")[2]


def _has_a_double(rows_VE: np.ndarray) -> np.ndarray:
    """(V,) whether some other row is the same, to the bit."""
    as_bytes_V = np.ascontiguousarray(rows_VE).view(np.dtype((np.void, rows_VE.itemsize * rows_VE.shape[1]))).ravel()
    _, inverse_V, counts = np.unique(as_bytes_V, return_inverse=True, return_counts=True)
    return counts[inverse_V] > 1


def _zero_at_start(subject: Subject) -> set[str]:
    """Weights that are zero before training: there it says nothing. The table of words is none of them."""
    model = subject.encoder.model
    with torch.random.fork_rng(devices=[]):
        fresh = build_model(model.config)
    zeros = {name for name, p in fresh.named_parameters() if not p.any()}
    if subject.encoder.reads_spelling:
        return zeros
    table = model.word_vectors().data_ptr()
    return zeros - {name for name, p in model.named_parameters() if p.data_ptr() == table}


def _names(names: list[str]) -> str:
    more = len(names) - NUM_SHOWN
    return ", ".join(names[:NUM_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _eg(subject: Subject, is_meant_V: np.ndarray) -> str:
    ids: Iterable[int] = np.flatnonzero(is_meant_V)[:NUM_SHOWN] + NUM_SPECIAL
    return f" ({', '.join(subject.encoder.tokenizer.word(int(word_id)) for word_id in ids)})"
