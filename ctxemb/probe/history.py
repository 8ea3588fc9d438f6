"""What a probe has seen of a run: series over steps, and a map on which the uses move.

S looks, N uses, D numbers per vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxemb.comparison import Centring
from ctxemb.probe.folder import ProbeFolder, ProbePoint
from ctxemb.probe.probe import ALL_WORDS
from ctxemb.probe.uses import ProbedUse


@dataclass(frozen=True)
class ProbeSeries:
    """Same-sense and cross-sense mean cosine and AUC after each step that was looked at, (S,) each."""

    steps_S: np.ndarray
    same_S: np.ndarray
    cross_S: np.ndarray
    auc_S: np.ndarray


@dataclass(frozen=True)
class ProbeHistory:
    """A run's looks, in order of their steps."""

    uses: list[ProbedUse]
    points: list[ProbePoint]
    folder: ProbeFolder

    @property
    def words(self) -> list[str]:
        """The probed words, in order."""
        return list(dict.fromkeys(use.word for use in self.uses))

    def series(self, word: str = ALL_WORDS, centring: Centring = "off") -> ProbeSeries:
        """How a word's uses came apart, or those of all words."""
        pairs = [point.pairs[centring][word] for point in self.points]
        return ProbeSeries(
            np.array([point.step for point in self.points]),
            np.array([pair.same_mean for pair in pairs]),
            np.array([pair.cross_mean for pair in pairs]),
            np.array([pair.auc for pair in pairs]),
        )


@dataclass(frozen=True)
class ProbeMap:
    """Uses on one plane, at several steps.

    The plane is spanned by the two main directions of the last look and holds for all of them, so that a point that
    moves has moved. What all uses of a word share at a step is subtracted, since it says nothing about senses.

    Attributes:
        steps: S steps.
        positions_SN2: (S, N, 2).
        uses: N uses.
        variance_share: of the last look's variance that the plane shows, 0 to 1.
        limit: no coordinate at any step is larger; the bound for fixed axes.
    """

    steps: list[int]
    positions_SN2: np.ndarray
    uses: list[ProbedUse]
    variance_share: float
    limit: float


def read_probe(run: Path) -> ProbeHistory | None:
    """What was probed in a run's folder so far; None if nothing was."""
    folder = ProbeFolder(run)
    points = folder.points()
    return ProbeHistory(folder.uses(), points, folder) if points else None


def probe_map(history: ProbeHistory, words: Sequence[str] | None = None) -> ProbeMap | None:
    """Positions of the uses of some words (None: of all) at every step whose directions are kept.

    Only one step's directions are held at a time. None if no use is left to draw.
    """
    rows = [row for row, use in enumerate(history.uses) if words is None or use.word in words]
    steps = history.folder.frame_steps()
    if not rows or not steps:
        return None
    uses = [history.uses[row] for row in rows]
    names_N = np.array([use.word for use in uses])
    last_ND = _centred(history.folder.frame(steps[-1])[rows], names_N)
    _, lengths, directions_KD = np.linalg.svd(last_ND, full_matrices=False)
    plane_2D = directions_KD[:2]
    # a direction has no sign of its own: the largest number decides, so that a map does not flip between two looks
    signs_2 = np.sign(plane_2D[np.arange(len(plane_2D)), np.abs(plane_2D).argmax(axis=1)])
    plane_D2 = np.zeros((last_ND.shape[1], 2))
    plane_D2[:, : len(plane_2D)] = (plane_2D * signs_2[:, None]).T
    positions_SN2 = np.stack([_centred(history.folder.frame(step)[rows], names_N) @ plane_D2 for step in steps])
    total = float((lengths**2).sum())
    return ProbeMap(
        steps,
        positions_SN2,
        uses,
        variance_share=float((lengths[:2] ** 2).sum()) / total if total else 0.0,
        limit=float(np.abs(positions_SN2).max()),
    )


def _centred(directions_ND: np.ndarray, words_N: np.ndarray) -> np.ndarray:
    """Each word's own mean subtracted, in float64."""
    centred_ND = directions_ND.astype(np.float64)
    for word in np.unique(words_N):
        centred_ND[words_N == word] -= centred_ND[words_N == word].mean(axis=0)
    return centred_ND
