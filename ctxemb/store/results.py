"""What a store answers."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Context:
    """A use of a word.

    Attributes:
        word: as it is looked up: mostly in lower case.
        start, end: character offsets of the word in its sentence.
        source: the corpus it is from; `asked` if a person typed it.
        sense: where it is known.
    """

    word: str
    sentence: str
    start: int
    end: int
    source: str
    sense: str | None = None


@dataclass(frozen=True)
class Hit:
    """A context near to what was asked for, with their cosine (-1 to 1)."""

    context: Context
    cosine: float


@dataclass(frozen=True)
class Neighbours:
    """The nearest contexts, nearest first.

    Attributes:
        num_searched: how many contexts fulfilled the conditions.
        is_exact: whether each of them was compared; otherwise an index chose which.
    """

    hits: list[Hit]
    num_searched: int
    is_exact: bool


@dataclass(frozen=True)
class WordHit:
    """A word, the cosine of its mean vector with the one asked for, and how many contexts it is the mean of."""

    word: str
    cosine: float
    num_contexts: int


@dataclass(frozen=True)
class WordNeighbours:
    """Words, nearest first; each of `num_searched` words was compared."""

    hits: list[WordHit]
    num_searched: int


@dataclass(frozen=True)
class Source:
    """A corpus in a store; `num_contexts` of it are in, all that were asked for if it is complete."""

    name: str
    is_complete: bool
    num_contexts: int
