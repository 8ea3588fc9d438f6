"""Encoding: sentences a second, `Encoder.encode` against one sentence at a time through the same weights."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.checkpoint import untrained_checkpoint
from benchmarks.plain import PlainEncoder
from benchmarks.report import Row, ratio_row
from benchmarks.sizes import Sizes
from benchmarks.text import load_text, take
from benchmarks.timing import best_rates
from ctxemb import Encoder

SENTENCE_WORDS = 20
AIM = 6
TOLERANCE = 1e-5


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Speed at one length and at mixed lengths, in both precisions; and that the vectors are the same."""
    text = load_text(sizes, folder)
    checkpoint = untrained_checkpoint(sizes, text, folder / "untrained")
    ours, fast = Encoder.load(checkpoint, "cpu"), Encoder.load(checkpoint, "cpu", precision="bfloat16")
    plain = PlainEncoder(ours)
    even = take(text.sentences_of(SENTENCE_WORDS), sizes.num_encoded)
    mixed = take(text.sentences(), sizes.num_encoded)
    for what, sentences, aim in (
        (f"{SENTENCE_WORDS}-token sentences", even, AIM),
        ("sentences of mixed length", mixed, None),
    ):
        rates = best_rates(
            {
                "ours": lambda sentences=sentences: len(ours.encode(sentences)),
                "fast": lambda sentences=sentences: len(fast.encode(sentences)),
                "plain": lambda sentences=sentences: len([plain.encode(sentence) for sentence in sentences]),
            },
            sizes.num_rounds,
        )
        yield ratio_row(f"encoding {what}, sentences/s", rates["ours"], rates["plain"], aim)
        yield ratio_row('the same with `precision="bfloat16"`, sentences/s', rates["fast"], rates["plain"], aim)
    few = mixed[: sizes.num_compared]
    together = ours.encode(few)
    yield _distance_row(
        "largest difference between a batch of 1 and a batch of N",
        [(ours.encode([s])[0].layers, e.layers) for s, e in zip(few, together, strict=True)],
    )
    yield _distance_row(
        "largest difference between the plain loop's vectors and ours",
        [(plain.encode(s), e.vectors) for s, e in zip(few, together, strict=True)],
    )


def _distance_row(what: str, pairs: list[tuple[np.ndarray, np.ndarray]]) -> Row:
    distance = max(float(np.abs(one - other).max()) for one, other in pairs)
    return Row(what, f"{distance:.1e}", aim=f"<= {TOLERANCE:g}", is_met=distance <= TOLERANCE)
