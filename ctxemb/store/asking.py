"""A sentence of the user's: encoded, answered from a store, and kept there for a while, so that it is found itself.

What is kept stands in a table of its own: the corpora stay as they were indexed, and the last `MAX_ASKED` are few
enough to be compared one by one.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, get_args

import numpy as np
import pyarrow as pa

from ctxemb.comparison import Sentence, Use, find_uses
from ctxemb.encoder import Encoder
from ctxemb.store.build import rows_of
from ctxemb.store.tables import ASKED, WRITE_ERRORS, connect, contexts_schema, first_line, open_table, quoted
from ctxemb.store.vectors import Neighbours, VectorStore

Among = Literal["same word", "any word", "other words"]
AMONG: tuple[Among, ...] = get_args(Among)
MAX_ASKED = 500
SPARE = 100  # the oldest are dropped so many at a time: each time rewrites the table
_adding = threading.Lock()


@dataclass(frozen=True)
class Answer:
    """What a use is nearest to.

    Attributes:
        use: the word found in the sentence.
        neighbours: other sentences, nearest first.
        is_known: whether the store had this use already.
        problem: why it could not be kept; None if it was, or had not to be.
    """

    use: Use
    neighbours: Neighbours
    is_known: bool
    problem: str | None


def ask(
    store: VectorStore,
    encoder: Encoder,
    sentence: Sentence,
    word: str,
    k: int = 10,
    *,
    among: Among = "any word",
    sources: Sequence[str] | None = None,
    asked: bool = False,
    keep: bool = True,
) -> Answer:
    """The contexts nearest to a word in a sentence: one of each sentence at most, and none of the sentence itself.

    Args:
        among: whose uses are looked through.
        sources: look in these corpora only.
        asked: look also among the uses asked about before.
        keep: add this use to those, if the store has it not.

    Raises:
        TargetError: if the word is not in the sentence, or not in the vocabulary.
        StoreError: if the store is of another checkpoint or reading.
    """
    store.check_fits(encoder)
    uses, problems = find_uses(encoder, [sentence], word)
    if problems:
        raise problems[0]
    use = uses[0]
    key = encoder.entry(use.encoding, use.position)
    neighbours = store.nearest(
        use.encoding.vectors[use.position],
        k,
        only_word=key if among == "same word" else None,
        not_word=key if among == "other words" else None,
        sources=sources,
        not_sentence=use.encoding.text,
        one_per_sentence=True,
        asked=asked,
    )
    row = rows_of(encoder, [(use.encoding, use.position, sentence.sense)], ASKED, time.time_ns(), store.about)
    is_known = _has(store, row)
    problem = _keep(store, row) if keep and not is_known else None
    return Answer(use, neighbours, is_known, problem)


def _has(store: VectorStore, row: pa.Table) -> bool:
    place = row.to_pylist()[0]
    condition = " and ".join(
        [f"{name} = {quoted(place[name])}" for name in ("word", "sentence")] + [f"start = {place['start']}"]
    )
    tables = (store.table, open_table(store.uri, ASKED))
    return any(table is not None and table.count_rows(condition) > 0 for table in tables)


def _keep(store: VectorStore, row: pa.Table) -> str | None:
    """Add a row and drop the oldest of too many; what stands in the way, in words."""
    try:
        with _adding:
            table = connect(store.uri).create_table(ASKED, schema=contexts_schema(store.about), exist_ok=True)
            table.add(row)
            if table.count_rows() > MAX_ASKED + SPARE:
                times = np.sort(table.to_arrow()["chunk"].to_numpy())
                table.delete(f"chunk < {times[-MAX_ASKED]}")
                table.optimize(cleanup_older_than=timedelta(minutes=1))
    except WRITE_ERRORS as error:
        return f"this sentence is answered, but {store.uri} cannot keep it ({first_line(error)})"
    return None
