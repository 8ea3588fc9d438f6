"""The article's table: the Word2Vec control against the contrastive encoder, seed by seed, with an aim for each row.

What is measured stands in measures.py, the trainings in table_training.py; the article's own numbers in published.py.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from ctxemb.atomic import replace_file

SHIPPED_TABLES = Path(__file__).parents[2] / "checkpoints"


@dataclass(frozen=True)
class Aim:
    """What the contrastive encoder should reach; every condition that is given has to hold for the means over seeds.

    Attributes:
        min_gain: it is at least so much above the control; with 0, anything above.
        max_ratio: it is at most so many times the control.
        max_value: it is at most this.
    """

    min_gain: float | None = None
    max_ratio: float | None = None
    max_value: float | None = None

    def is_met(self, control: float, contrastive: float) -> bool:
        """Whether two means satisfy the aim; NaN never does."""
        gain, ratio = contrastive - control, contrastive / control if control else np.nan
        return bool(
            (self.min_gain is None or (gain > 0 and gain >= self.min_gain))
            and (self.max_ratio is None or ratio <= self.max_ratio)
            and (self.max_value is None or contrastive <= self.max_value)
        )

    def __str__(self) -> str:
        parts = []
        if self.min_gain is not None:
            parts.append(f"+{100 * self.min_gain:.0f} points" if self.min_gain else "above the control")
        if self.max_ratio is not None:
            parts.append(f"<= {self.max_ratio:.2f}x")
        if self.max_value is not None:
            parts.append(f"<= {self.max_value:.0%}")
        return " and ".join(parts)


@dataclass(frozen=True)
class Row:
    """One measure of both encoders.

    Attributes:
        name: its key.
        title: what was measured.
        unit: `share` (0 to 1) or `seconds`.
        control: a value a seed; empty if the data is missing.
        contrastive: the same.
        aim: None if the row is there to be compared with another.
        coverage: share of the questions that are in the vocabulary, 0 to 1; None where nothing can be missing.
        problem: which data is missing, and where to get it; empty if none is.
    """

    name: str
    title: str
    unit: str = "share"
    control: tuple[float, ...] = ()
    contrastive: tuple[float, ...] = ()
    aim: Aim | None = None
    coverage: float | None = None
    problem: str = ""

    @property
    def control_mean(self) -> float:
        """Mean over seeds; NaN without a value."""
        return _mean(self.control)

    @property
    def contrastive_mean(self) -> float:
        """Mean over seeds; NaN without a value."""
        return _mean(self.contrastive)

    @property
    def is_met(self) -> bool | None:
        """Whether the aim is reached; None without an aim or without values."""
        if self.aim is None or not self.control or not self.contrastive:
            return None
        return self.aim.is_met(self.control_mean, self.contrastive_mean)

    def cells(self) -> tuple[str, ...]:
        """For people: title, both means with their range over seeds, what lies between them, aim, verdict, coverage."""
        if not self.control or not self.contrastive:
            return (self.title, "", "", "", str(self.aim or ""), "", "")
        between = f"{self.contrastive_mean / self.control_mean:.2f}x" if self.control_mean else ""
        if self.unit == "share":
            between = f"{100 * (self.contrastive_mean - self.control_mean):+.1f}, {between}"
        verdict = {None: "", True: "met", False: "missed"}[self.is_met]
        known = "" if self.coverage is None else f"{self.coverage:.0%}"
        sides = (self._with_range(values) for values in (self.control, self.contrastive))
        return (self.title, *sides, between, str(self.aim or ""), verdict, known)

    def _with_range(self, values: tuple[float, ...]) -> str:
        scale, unit = (100, "") if self.unit == "share" else (1, " s")
        mean, low, high = (f"{scale * value:.1f}" for value in (_mean(values), min(values), max(values)))
        return f"{mean}{unit} ({low}-{high})" if len(values) > 1 else f"{mean}{unit}"


@dataclass(frozen=True)
class Trial:
    """One training of either encoder, whole or shortened, to see what time buys.

    Attributes:
        recipe: its name.
        share: of the recipe's length, above 0 to 1; the word vectors that a contrastive encoder starts from are
            shortened with it.
        seconds: of the training, those word vectors included.
        values: name of a row -> its value.
    """

    recipe: str
    share: float
    seconds: float
    values: Mapping[str, float]

    def __str__(self) -> str:
        return f"{self.recipe}, {self.share:.0%}: {self.seconds:.0f} s"


@dataclass(frozen=True)
class ArticleTable:
    """The whole table, and what its numbers depend on.

    Attributes:
        language: of the corpora.
        control: name of the control's recipe.
        contrastive: name of the contrastive encoder's recipe.
        corpora: names of the corpora that both were trained on.
        seeds: one training of each a seed.
        threads: of every training, which ran in one process.
        num_tokens: words of the corpora.
        num_words: words with a vector that were measured.
        notes: how the word vectors were made, and what else a reader has to know.
        rows: the measures.
        trade_off: quality against time: trainings of seed 0, each encoder's shortest first; may be empty.
    """

    language: str
    control: str
    contrastive: str
    corpora: tuple[str, ...]
    seeds: tuple[int, ...]
    threads: int
    num_tokens: int
    num_words: int
    notes: tuple[str, ...]
    rows: tuple[Row, ...]
    trade_off: tuple[Trial, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Plain values; means and verdicts are there for readers, and `from_json` makes them anew."""
        return asdict(self) | {
            "rows": [_row_as_json(row) for row in self.rows],
            "trade_off": [_trial_as_json(trial) for trial in self.trade_off],
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `as_json`, up to its rounding.

        Raises:
            ValueError: if a field is missing or unknown.
        """
        try:
            rows = tuple(_row(row) for row in values["rows"])
            trade_off = tuple(_trial(trial) for trial in values["trade_off"])
            rest: dict[str, Any] = {
                name: tuple(v) if isinstance(v, list) else v
                for name, v in values.items()
                if name not in ("rows", "trade_off")
            }
            return cls(rows=rows, trade_off=trade_off, **rest)
        except (KeyError, TypeError) as error:
            raise ValueError(
                f"this is no table of this version ({error}); make it anew: ctxemb table --save"
            ) from error

    def save(self, path: Path) -> None:
        """Write the table as JSON, in one move."""
        replace_file(path, json.dumps(self.as_json(), indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a table that was saved.

        Raises:
            ValueError: if the file is not one.
            OSError: if there is no such file.
        """
        try:
            return cls.from_json(json.loads(path.read_text(encoding="utf-8")))
        except ValueError as error:
            raise ValueError(f"{path} cannot be read: {error}") from error


def _row_as_json(row: Row) -> dict[str, Any]:
    seeds = {name: tuple(round(value, 6) for value in getattr(row, name)) for name in ("control", "contrastive")}
    rounded = replace(row, **seeds)
    return (
        asdict(rounded)
        | {name: [_number(value) for value in values] for name, values in seeds.items()}
        | {
            "control_mean": _number(rounded.control_mean),
            "contrastive_mean": _number(rounded.contrastive_mean),
            "is_met": row.is_met,
        }
    )


def _row(values: Mapping[str, Any]) -> Row:
    known = {field.name for field in fields(Row)}
    kept: dict[str, Any] = {name: value for name, value in values.items() if name in known}
    for name in ("control", "contrastive"):
        kept[name] = tuple(np.nan if value is None else float(value) for value in kept[name])
    kept["aim"] = Aim(**values["aim"]) if values["aim"] else None
    return Row(**kept)


def _trial_as_json(trial: Trial) -> dict[str, Any]:
    numbers = {name: _number(value) for name, value in trial.values.items()}
    return asdict(trial) | {"seconds": round(trial.seconds, 4), "values": numbers}


def _trial(values: Mapping[str, Any]) -> Trial:
    numbers = {name: np.nan if value is None else float(value) for name, value in values["values"].items()}
    return Trial(**{**values, "values": numbers})


def _number(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None


def _mean(values: tuple[float, ...]) -> float:
    return float(np.mean(values)) if values else np.nan
