"""What a public test set says about a checkpoint: numbers with their interval, coverage and baselines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

import numpy as np

from ctxemb.evaluation.readings import CONTROL
from ctxemb.models.reading import Reading

NUM_DIGITS = 4
TESTS = "tests"  # the key in metrics.json
WHOLE = "all"  # the split of a set that is not divided


@dataclass(frozen=True)
class ScoreRow:
    """One number.

    Attributes:
        reading: what was scored: read-out and layer, a baseline, or a direction of a language model.
        measure: what the number is.
        value: NaN where it cannot be said.
        low: lower end of the 95 % bootstrap interval.
        high: its upper end.
        num_items: what the number is of: pairs, uses, questions, sentences.
        num_skipped: further items that are not in it, because the encoder does not know their words.
        baselines: name -> the same measure of something that sees less.
    """

    reading: str
    measure: str
    value: float
    low: float
    high: float
    num_items: int
    num_skipped: int = 0
    baselines: Mapping[str, float] = field(default_factory=dict)

    @property
    def coverage(self) -> float:
        """Share of the items that the number is of, 0 to 1."""
        return self.num_items / max(self.num_items + self.num_skipped, 1)


@dataclass(frozen=True)
class PublicScore:
    """All numbers of one checkpoint on one part of a test set.

    Attributes:
        name: of the test set.
        split: which part: test, dev, valid, `dev (carved from train)`, or `all` where there is one part.
        reading: how the checkpoint was read for the first row.
        rows: the most important first.
        notes: what was done, a sentence each.
        details: name -> item -> number, for programs: recall of each sense, accuracy of each section ...
    """

    name: str
    split: str
    reading: str
    rows: Sequence[ScoreRow]
    notes: Sequence[str] = ()
    details: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def floors(self) -> list[tuple[str, str, float]]:
        """Baselines that have no row of their own: (name, measure, value)."""
        readings = {row.reading for row in self.rows}
        found = {(name, row.measure): value for row in self.rows for name, value in row.baselines.items()}
        return [(name, measure, value) for (name, measure), value in found.items() if name not in readings]

    def as_json(self) -> dict[str, Any]:
        """Rounded, for metrics.json and other programs; an undefined number is null."""
        return _rounded(asdict(self))

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """The inverse of `as_json`.

        Raises:
            KeyError, TypeError, AttributeError: if the record is none.
        """
        rows = [ScoreRow(**{name: _read(value) for name, value in row.items()}) for row in record["rows"]]
        score = cls(**{**record, "rows": rows, "details": _read(record["details"])})
        texts = [score.name, score.split, score.reading, *score.notes]
        numbers: list[object] = []
        for row in rows:
            texts += [row.reading, row.measure, *row.baselines]
            numbers += [row.value, row.low, row.high, row.num_items, row.num_skipped, *row.baselines.values()]
        if not rows or not all(isinstance(text, str) for text in texts):
            raise TypeError("a score has rows, and its names and notes are texts")
        if not all(isinstance(number, int | float) for number in numbers):
            raise TypeError("the values of a score are numbers")
        return score


def reading_name(reading: Reading, num_layers: int) -> str:
    """How a reading is called in a row."""
    layer = num_layers if reading.layer == "last" else reading.layer
    return f"{reading.readout}, layer {layer}" if layer else CONTROL


def with_baselines(
    rows: Iterable[ScoreRow], baselines: Sequence[str], floors: Mapping[str, Mapping[str, float]]
) -> list[ScoreRow]:
    """The rows, each beside the baselines of its measure.

    Args:
        rows: those of the baselines among them.
        baselines: readings that are baselines for the other rows.
        floors: measure -> name -> score of one who sees no vector.
    """
    rows = list(rows)
    seen = {(row.measure, row.reading): row.value for row in rows if row.reading in baselines}

    def beside(row: ScoreRow) -> dict[str, float]:
        others = {name: value for (measure, name), value in seen.items() if measure == row.measure}
        return dict(floors.get(row.measure, {})) | {n: v for n, v in others.items() if row.reading not in baselines}

    return [replace(row, baselines=beside(row)) for row in rows]


def _rounded(value: Any) -> Any:
    match value:
        case dict():
            return {name: _rounded(inner) for name, inner in value.items()}
        case list() | tuple():
            return [_rounded(inner) for inner in value]
        case float():
            return round(float(value), NUM_DIGITS) if np.isfinite(value) else None
    return value


def _read(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _read(inner) for name, inner in value.items()}
    return np.nan if value is None else value
