"""One way of going wrong, and an instance of it."""

from collections.abc import Callable
from dataclasses import dataclass

from ctxemb.watch.history import History


@dataclass(frozen=True)
class Rule:
    """One way of going wrong.

    Attributes:
        name: a word or two.
        advice: what to do.
        look: what is seen at the end of a run's history, as a sentence with its numbers; None if all is well.
    """

    name: str
    advice: str
    look: Callable[[History], str | None]


@dataclass(frozen=True)
class Finding:
    """A rule that has fired.

    Attributes:
        step: of the record that made it fire.
        seen: what is seen, and what it means.
    """

    name: str
    step: int
    seen: str
    advice: str

    def __str__(self) -> str:
        return f"{self.name}: {self.seen} {self.advice}"
