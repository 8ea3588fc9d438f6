"""What a check finds, and what all of them say together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from ctxemb.analysis.isotropy import Spectrum

Verdict = Literal["fail", "warn", "pass", "not applicable", "not run"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)  # the worst first
Group = Literal["files", "weights", "reading", "learning", "space", "use"]
Overall = Literal["sound", "unsound", "unreadable"]


@dataclass(frozen=True)
class Cosines:
    """How often pairs of each kind have each cosine: kind -> (80,) shares in the bins of `geometry.BINS`."""

    shares: Mapping[str, np.ndarray] = field(repr=False)


@dataclass(frozen=True)
class LayerCosines:
    """Mean cosine of two uses of one word at each layer, 0 first."""

    layers: Sequence[str]
    means: Sequence[float]


@dataclass(frozen=True)
class Losses:
    """Losses in nats by what they are of: the checkpoint's own, and the levels from which to read them."""

    own: Mapping[str, float]
    levels: Mapping[str, float]


Picture = Spectrum | Cosines | LayerCosines | Losses


@dataclass(frozen=True)
class Finding:
    """What one check found.

    Attributes:
        verdict: `not run` where an earlier check has failed that this one builds on.
        found: in a sentence; where nothing was measured, the reason.
        number: that the verdict rests on; None without one.
        shown: the number with its unit.
        limit: what it has to keep to, in words.
        advice: what to do, for `warn` and `fail`.
        picture: what the number was taken from, to be drawn.
    """

    verdict: Verdict
    found: str
    number: float | None = None
    shown: str = ""
    limit: str = ""
    advice: str = ""
    picture: Picture | None = field(default=None, repr=False)


@dataclass(frozen=True)
class CheckResult:
    """A finding, and the check that made it."""

    name: str
    question: str
    group: Group
    finding: Finding
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """That of the finding."""
        return self.finding.verdict


@dataclass(frozen=True)
class Checkup:
    """The whole battery on one checkpoint.

    Attributes:
        name: for people.
        family, language: None if the config could not be read.
        results: one for each check, in their order.
        seconds: all told.
    """

    name: str
    family: str | None
    language: str | None
    results: tuple[CheckResult, ...]
    seconds: float

    @property
    def verdict(self) -> Overall:
        """`unreadable` if it cannot be opened, `unsound` if a check failed."""
        failed = [result for result in self.results if result.verdict == "fail"]
        if any(result.group == "files" for result in failed):
            return "unreadable"
        return "unsound" if failed else "sound"

    def of(self, verdict: Verdict) -> list[CheckResult]:
        """The results with one verdict, in order."""
        return [result for result in self.results if result.verdict == verdict]

    def result(self, name: str) -> CheckResult:
        """The result of a check by its name."""
        return next(result for result in self.results if result.name == name)

    def renamed(self, name: str) -> "Checkup":
        """The same under another name."""
        return Checkup(name, self.family, self.language, self.results, self.seconds)


def not_applicable(reason: str) -> Finding:
    """A check that has nothing to say, and why."""
    return Finding("not applicable", reason)


def tiny(number: float) -> str:
    """A number of which only the size matters; zero is written as such."""
    return f"{number:.0e}" if number else "0"


def short_name(folder: Path) -> str:
    """What a checkpoint folder is called: a run's best goes by the run."""
    folder = folder.resolve()
    return f"{folder.parent.name}/{folder.name}" if folder.name in ("best", "last") else folder.name
