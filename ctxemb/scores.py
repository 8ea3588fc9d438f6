"""Numbers that stand in files, as tables to look at: ours, the article's table, and what others published.

Nothing is measured here; every table names the command that makes its file.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from ctxemb.checkpoint import METRICS, CheckpointConfig, read_config
from ctxemb.evaluation.public.score import TESTS, WHOLE, PublicScore, ScoreRow
from ctxemb.evaluation.published import PUBLISHED
from ctxemb.evaluation.readings import BAG, CONTROL, ReadingScore, best_reading, from_rows
from ctxemb.evaluation.table import ArticleTable
from ctxemb.text import Language

RowKind = Literal["own", "layer", "baseline", "floor"]
MAX_BYTES = 8 * 2**20
# of published numbers, by unit
FORMATS = {
    "percent": "{:.1f} %",
    "share": "{:.3f}",
    "perplexity": "perplexity {:.1f}",
    "cosine": "cosine {:.3f}",
    "minutes": "{:.0f} min",
    "nats": "{:.0f} nats",
}


class ScoresError(ValueError):
    """A file of numbers that cannot be read; the text says which and what to do."""


@dataclass(frozen=True)
class Scores:
    """What is recorded of one checkpoint.

    Attributes:
        config: of the checkpoint.
        readings: the best reading of the encoder first, then the two baselines, then the others, best first; empty if
            the checkpoint was not evaluated.
        best: name of the best reading; empty without readings.
        perplexity: forward and backward on WikiText-2's validation part, if the family predicts words.
        floors: name of a test set -> the score of one who sees no vector.
        known_shares: name of a test set -> share of its targets that the vocabulary has, 0 to 1.
        public: scores on public test sets by name.
    """

    config: CheckpointConfig
    readings: Sequence[ReadingScore]
    best: str
    perplexity: tuple[float, float] | None
    floors: dict[str, float]
    known_shares: dict[str, float]
    public: Sequence[PublicScore] = ()


@dataclass(frozen=True)
class PublicRow:
    """One number of one checkpoint on a public test set.

    Attributes:
        checkpoint: its name; empty for a floor.
        kind: the checkpoint's own reading, another layer, a baseline, or a floor, which sees no vector.
        row: the number.
    """

    checkpoint: str
    kind: RowKind
    row: ScoreRow


def read_scores(folder: Path) -> Scores:
    """The recorded numbers of a checkpoint folder.

    Raises:
        CheckpointError: if its config cannot be read.
        ScoresError: if its metrics cannot.
    """
    config, path = read_config(folder), folder / METRICS
    try:
        # a transformer's folder is another program's, and so is a file of this name in it
        metrics = {} if config.family == "transformer" else _read_json(path)
        evaluation = metrics.get("evaluation", {})
        readings = from_rows(evaluation.get("readings", []))
        perplexity = evaluation.get("wikitext-2:valid")
        return Scores(
            config=config,
            readings=_in_order(readings),
            best=_best(readings).reading if readings else "",
            perplexity=(perplexity["perplexity_forward"], perplexity["perplexity_backward"]) if perplexity else None,
            floors=_floors(evaluation),
            known_shares=evaluation.get("known_shares", {}),
            public=[PublicScore.from_json(record) for record in metrics.get(TESTS, [])],
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ScoresError(f"{path} cannot be read ({error!r}); record it again: ctxemb evaluate --save") from error


def readings_table(scores: Scores) -> pd.DataFrame:
    """One row a reading, in the order of `Scores.readings`, with what sees no vector last: columns by test set."""
    names = list(dict.fromkeys(name for score in scores.readings for name in score.tests))
    rows = [
        {"reading": s.reading, "examples: AUC": s.example_auc, "examples: gap": s.example_gap} | dict(s.tests)
        for s in scores.readings
    ]
    if scores.floors:
        rows.append({"reading": "no vector", "examples: AUC": 0.5, "examples: gap": 0.0} | scores.floors)
    columns = ["reading", "examples: AUC", "examples: gap", *names]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[1:], float))


def public_scores(scores: Mapping[str, Scores]) -> dict[str, dict[str, PublicScore]]:
    """By test set, part and language, what each checkpoint scored: only these may be compared.

    Args:
        scores: name of a checkpoint -> what is recorded of it.
    """
    found: dict[str, dict[str, PublicScore]] = {}
    for checkpoint, recorded in scores.items():
        for score in recorded.public:
            part = "" if score.split == WHOLE else f", {score.split}"
            found.setdefault(f"{score.name}{part} ({recorded.config.text.language})", {})[checkpoint] = score
    return found


def public_rows(found: Mapping[str, PublicScore]) -> list[PublicRow]:
    """All numbers of one test set and part; what sees no vector is the same for all and stands last.

    Args:
        found: name of a checkpoint -> its score.
    """
    rows: list[PublicRow] = []
    floors: dict[tuple[str, str], PublicRow] = {}
    for checkpoint, score in found.items():
        rows += [PublicRow(checkpoint, _kind(row.reading, score), row) for row in score.rows]
        for name, measure, value in score.floors:
            floors[name, measure] = PublicRow("", "floor", ScoreRow(name, measure, value, np.nan, np.nan, 0))
    return [*rows, *floors.values()]


def find_table(language: Language, folders: Sequence[Path]) -> Path | None:
    """The file of the article's table, as `ctxemb table --save` writes it, in the first folder that has one."""
    paths = [folder / f"table-{language}.json" for folder in folders]
    return next((path for path in paths if path.is_file()), None)


def read_table(path: Path) -> ArticleTable:
    """A saved table.

    Raises:
        ScoresError: if the file is none.
    """
    try:
        _check_size(path)
        return ArticleTable.load(path)
    except (OSError, ValueError) as error:
        raise ScoresError(str(error)) from error


def article_table(table: ArticleTable) -> pd.DataFrame:
    """One row a measure: mean of the seeds and their range for both encoders, the aim, and whether it is met."""
    columns = ["measure", "control", "contrastive", "difference", "aim", "verdict", "known", "missing data"]
    return pd.DataFrame([(*row.cells(), row.problem) for row in table.rows], columns=columns)


def trade_off_lines(table: ArticleTable, row: str) -> dict[str, list[tuple[float, float, float]]]:
    """Quality against time, for `figures.scores.trade_off_chart`: encoder -> (seconds, value, share of its length)."""
    lines: dict[str, list[tuple[float, float, float]]] = {}
    for trial in table.trade_off:
        if row in trial.values:
            lines.setdefault(trial.recipe, []).append((trial.seconds, trial.values[row], trial.share))
    return lines


def published_table() -> pd.DataFrame:
    """What others published, each number with its set-up and source."""
    return pd.DataFrame(
        [
            {
                "benchmark": number.benchmark,
                "system": number.system,
                "value": FORMATS[number.unit].format(number.value),
                "set-up": number.set_up,
                "source": number.source,
            }
            for number in PUBLISHED
        ]
    )


def _kind(reading: str, score: PublicScore) -> RowKind:
    if reading == score.reading or score.reading not in {row.reading for row in score.rows}:
        return "own"
    return "baseline" if reading.startswith((CONTROL, BAG)) else "layer"


def _in_order(readings: Sequence[ReadingScore]) -> list[ReadingScore]:
    if not readings:
        return []
    best = _best(readings)
    baselines = [r for r in readings if r.reading in (CONTROL, BAG) and r is not best]
    others = [r for r in readings if r is not best and r not in baselines]
    return [best, *baselines, *sorted(others, key=_first_score, reverse=True)]


def _best(readings: Sequence[ReadingScore]) -> ReadingScore:
    own = [r for r in readings if r.reading not in (CONTROL, BAG)]
    return best_reading(own or readings)


def _first_score(score: ReadingScore) -> float:
    first = next(iter(score.tests.values()), None)
    return score.example_auc if first is None or np.isnan(first) else first


def _floors(evaluation: dict[str, Any]) -> dict[str, float]:
    older = evaluation.get("most_frequent_sense_recall")  # when CoarseWSD-20 was the only test set
    return evaluation.get("floors") or ({} if older is None else {"coarsewsd-20:dev": older})


def _read_json(path: Path) -> dict[str, Any]:
    _check_size(path)
    return json.loads(path.read_text(encoding="utf-8"))


def _check_size(path: Path) -> None:
    if path.stat().st_size > MAX_BYTES:
        raise ScoresError(f"{path} has {path.stat().st_size:,} bytes; at most {MAX_BYTES:,} are read")
