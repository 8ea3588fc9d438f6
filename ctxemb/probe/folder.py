"""What a probe leaves in a run's folder, each file replaced in one move.

Looks at steps that a resumed run does again are replaced: there is one for each validation, however often the run was
interrupted.

N uses, D numbers per vector.
"""

import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctxemb.analysis.senses import SensePairs
from ctxemb.analysis.similarity import unit_vectors
from ctxemb.atomic import replace_file
from ctxemb.comparison import Centring
from ctxemb.probe.uses import ProbedUse

POINTS = "probe.jsonl"
MAX_FRAMES = 100


@dataclass(frozen=True)
class ProbePoint:
    """One look.

    Attributes:
        step: after which the model was looked at; 0 is untrained.
        pairs: by centring and word, same-sense against cross-sense pairs; `ALL_WORDS` pools the pairs of each word.
    """

    step: int
    pairs: Mapping[Centring, Mapping[str, SensePairs]]


class ProbeFolder:
    """The probe's files in one run's folder; nothing is written before `add`."""

    def __init__(self, run: Path) -> None:
        self._points, self._frames = run / POINTS, run / "probe"
        self._uses = self._frames / "uses.json"

    def uses(self) -> list[ProbedUse]:
        """The sentences; none if nothing was probed yet."""
        if not self._uses.exists():
            return []
        return [ProbedUse(**use) for use in json.loads(self._uses.read_text(encoding="utf-8"))]

    def points(self) -> list[ProbePoint]:
        """All looks, in order."""
        return [_read(json.loads(line)) for line in self._lines()]

    def frame_steps(self) -> list[int]:
        """Steps whose directions are kept, in order."""
        return sorted(int(path.stem) for path in self._frames.glob("*.npy"))

    def frame(self, step: int) -> np.ndarray:
        """(N, D) float16 directions of all uses after a step; zero where a vector has none."""
        return np.load(self._frame(step))

    def add(self, point: ProbePoint, vectors_ND: np.ndarray, uses: Sequence[ProbedUse]) -> None:
        """Keep a look, in place of those at its step and after it."""
        if not self._uses.exists():
            replace_file(self._uses, json.dumps([asdict(use) for use in uses], ensure_ascii=False).encode())
        for step in self.frame_steps():
            if step >= point.step:
                self._frame(step).unlink()
        buffer = io.BytesIO()
        np.save(buffer, np.nan_to_num(unit_vectors(vectors_ND)).astype(np.float16))
        replace_file(self._frame(point.step), buffer.getvalue())
        kept = [line for line in self._lines() if json.loads(line)["step"] < point.step]
        replace_file(self._points, "".join(f"{line}\n" for line in [*kept, _line(point)]).encode())
        self._thin()

    def _thin(self) -> None:
        """Give up the frame that leaves the smallest gap; the first and the last stay."""
        steps_S = np.array(self.frame_steps())
        if len(steps_S) > MAX_FRAMES:
            self._frame(int(steps_S[1 + np.argmin(steps_S[2:] - steps_S[:-2])])).unlink()

    def _lines(self) -> list[str]:
        return self._points.read_text(encoding="utf-8").splitlines() if self._points.exists() else []

    def _frame(self, step: int) -> Path:
        return self._frames / f"{step:09}.npy"


def _line(point: ProbePoint) -> str:
    def shown(value: float) -> float | None:
        return None if math.isnan(value) else round(value, 5)  # JSON has no NaN

    pairs = {
        centring: {word: {name: shown(value) for name, value in asdict(found).items()} for word, found in words.items()}
        for centring, words in point.pairs.items()
    }
    return json.dumps({"step": point.step, "pairs": pairs}, ensure_ascii=False)


def _read(line: Mapping[str, Any]) -> ProbePoint:
    def restored(found: Mapping[str, Any]) -> SensePairs:
        values: dict[str, Any] = {name: math.nan if value is None else value for name, value in found.items()}
        return SensePairs(**values)

    pairs = {
        centring: {word: restored(found) for word, found in words.items()} for centring, words in line["pairs"].items()
    }
    return ProbePoint(line["step"], pairs)
