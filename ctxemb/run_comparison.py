"""Training runs held against each other: their curves over one axis, the settings that differ, what came of them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from ctxemb.probe import ALL_WORDS, ProbeHistory, read_probe
from ctxemb.runs import ProgressReader
from ctxemb.training import PROGRESS, RUN

Axis = Literal["step", "tokens", "seconds"]
AXES: tuple[Axis, ...] = get_args(Axis)
Part = Literal["training", "validation"]


@dataclass(frozen=True)
class ComparedRun:
    """One run.

    Attributes:
        settings: everything in its run.json, such as `training.learning_rate`.
        progress: its curves up to now.
        probe: its looks at labelled sentences, if it has any.
    """

    name: str
    settings: Mapping[str, Any]
    progress: ProgressReader
    probe: ProbeHistory | None

    def curves(self, part: Part) -> Mapping[str, Any]:
        """Measure -> its curve over steps."""
        return self.progress.steps if part == "training" else self.progress.validations


def open_runs(folders: Mapping[str, Path]) -> list[ComparedRun]:
    """Read runs.

    Args:
        folders: name to show -> the folder that `train --out` was given.

    Raises:
        ValueError: if a folder holds no run.
    """
    runs = []
    for name, folder in folders.items():
        if not (folder / RUN).is_file():
            raise ValueError(
                f"{folder} holds no training run ({RUN} is missing); choose the folder given to train --out"
            )
        parts = json.loads((folder / RUN).read_text(encoding="utf-8"))
        settings = {f"{part}.{key}": value for part, values in parts.items() for key, value in values.items()}
        progress = ProgressReader(folder / PROGRESS)
        progress.read()
        runs.append(ComparedRun(name, settings, progress, read_probe(folder)))
    return runs


def shared_measures(runs: Sequence[ComparedRun], part: Part) -> list[str]:
    """What all of them report, in the order of the first: runs of two families share few measures."""
    first, *rest = (run.curves(part) for run in runs)
    return [measure for measure in first if all(measure in curves for curves in rest)]


def curve(run: ComparedRun, measure: str, part: Part, axis: Axis = "step") -> tuple[np.ndarray, np.ndarray]:
    """A measure of a run over steps, tokens read or seconds trained: two (N,) arrays.

    Raises:
        ValueError: if the run does not report the measure.
    """
    found = run.curves(part).get(measure)
    if found is None:
        raise ValueError(f"{run.name} reports no {measure} of its {part}; choose another measure")
    return _along(run, found.x, axis), found.y


def curves_table(runs: Sequence[ComparedRun], measure: str, part: Part) -> pd.DataFrame:
    """The curves as rows, for a CSV file: run, step, tokens, seconds, and the measure."""
    tables = []
    for run in runs:
        steps_N, values_N = curve(run, measure, part)
        axes = {axis: _along(run, steps_N, axis) for axis in AXES}
        tables.append(pd.DataFrame({"run": run.name, **axes, measure: values_N}))
    return pd.concat(tables, ignore_index=True)


def differing_settings(runs: Sequence[ComparedRun]) -> pd.DataFrame:
    """One row a setting that is not the same in all runs, one column a run, as text; “–” where a run has none."""
    names = dict.fromkeys(name for run in runs for name in run.settings)
    rows = {name: [_shown(run.settings[name]) if name in run.settings else "–" for run in runs] for name in names}
    differing = {name: values for name, values in rows.items() if len(set(values)) > 1}
    columns = [run.name for run in runs]
    return pd.DataFrame.from_dict(differing, orient="index", columns=columns).rename_axis("setting")


def outcomes(runs: Sequence[ComparedRun]) -> pd.DataFrame:
    """One row a run: its best validation, how long it took, and what its last look saw; empty where there is nothing.

    `perplexity` is of both directions together. `gap` and `auc` are of the probed sentences, all words, not centred:
    only runs that are probed with the same sentences can be compared by them.
    """
    return pd.DataFrame([_outcome(run) for run in runs]).set_index("run")


def _outcome(run: ComparedRun) -> dict[str, Any]:
    best, last = run.progress.best_validation or {}, run.progress.last_step or {}
    loss = best.get("loss_nats", math.nan)
    perplexity = math.nan
    if "loss_forward_nats" in best:
        loss = (best["loss_forward_nats"] + best["loss_backward_nats"]) / 2
        perplexity = math.exp(min(loss, 700))
    seen = run.probe.points[-1].pairs["off"][ALL_WORDS] if run.probe else None
    end, steps_N = run.progress.end, np.array([last.get("step", math.nan)])
    return {
        "run": run.name,
        "ended": end.reason if end else "",
        "best_loss_nats": loss,
        "perplexity": perplexity,
        "accuracy": best.get("accuracy", math.nan),
        "best_step": best.get("step", math.nan),
        "steps": last.get("step", 0),
        "tokens": last.get("num_tokens", 0),
        "seconds": end.seconds if end else float(_along(run, steps_N, "seconds")[0]),
        "gap": seen.gap if seen else math.nan,
        "auc": seen.auc if seen else math.nan,
    }


def _along(run: ComparedRun, steps_N: np.ndarray, axis: Axis) -> np.ndarray:
    """Steps as tokens or seconds; between two points that are kept, in proportion."""
    if axis == "step" or not run.progress.steps:
        return steps_N
    curves = run.progress.steps
    if axis == "tokens":
        known = curves["num_tokens"]
        return np.interp(steps_N, known.x, known.y)
    # a step's estimate of the time left is (time so far / steps so far) x steps left
    left, total_steps = curves["eta_seconds"], (run.progress.last_step or {})["total_steps"]
    is_before_end = left.x < total_steps
    steps_K, left_K = left.x[is_before_end], left.y[is_before_end]
    seconds_K = left_K * steps_K / (total_steps - steps_K)
    if run.progress.end:
        steps_K = np.append(steps_K, max(run.progress.end.step, steps_K[-1] if len(steps_K) else 0))
        seconds_K = np.append(seconds_K, run.progress.end.seconds)
    return np.interp(steps_N, steps_K, seconds_K) if len(steps_K) else np.full(len(steps_N), np.nan)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
