"""A lexicon in plain words: groups of synonyms, pairs of antonyms, groups of aliases."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["synonym", "antonym", "alias"]
KINDS: tuple[Kind, ...] = ("synonym", "antonym", "alias")


class LexiconError(ValueError):
    """A lexicon that cannot be found, read or used; the message says what, where and what to do."""


class Entry(NamedTuple):
    """One statement of a source. A named tuple: ten million of them pass by, and dataclasses are slower to make.

    Attributes:
        kind: what the words are to each other.
        words: any number for synonyms and aliases, two for antonyms.
        id: of the sense these synonyms share (a synset, a Cilin group). Empty for a pair that is merely listed: it
            does not count when the senses of a word are counted.
        sense_numbers: one a word, 1 for its most frequent sense; empty where the source does not say.
    """

    kind: Kind
    words: tuple[str, ...]
    id: str = ""
    sense_numbers: tuple[int, ...] = ()


@dataclass(frozen=True)
class Lexicon:
    """A whole lexicon as it was read, nothing dropped yet; iterating gives its entries.

    Attributes:
        name: where it comes from.
        synonyms: groups of words with one meaning.
        antonyms: pairs of words with opposite meanings.
        aliases: names of one thing; chains of them are joined by `clean`.
    """

    name: str
    synonyms: tuple[Entry, ...] = ()
    antonyms: tuple[Entry, ...] = ()
    aliases: tuple[Entry, ...] = ()

    @classmethod
    def of(cls, name: str, entries: Iterable[Entry]) -> "Lexicon":
        """Collect a stream of entries, or several lexicons chained."""
        sorted_by_kind: dict[Kind, list[Entry]] = {kind: [] for kind in KINDS}
        for entry in entries:
            sorted_by_kind[entry.kind].append(entry)
        return cls(name, *(tuple(sorted_by_kind[kind]) for kind in KINDS))

    def __iter__(self) -> Iterator[Entry]:
        yield from self.synonyms
        yield from self.antonyms
        yield from self.aliases

    def __len__(self) -> int:
        return len(self.synonyms) + len(self.antonyms) + len(self.aliases)
