"""What became of a lexicon: what was kept, what was dropped, and why."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Dropped:
    """Pairs or groups that were left out for one reason.

    Attributes:
        reason: in words.
        count: how many.
        examples: a few of them.
    """

    reason: str
    count: int
    examples: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.count:,} {self.reason}" + (f" ({', '.join(self.examples)})" if self.examples else "")


@dataclass(frozen=True)
class LexiconReport:
    """Counts before and after cleaning; what is dropped and kept adds up to what was listed.

    Attributes:
        name: of the lexicon.
        num_words: words with a synonym or an antonym.
        num_groups: groups with a pair left, aliases included.
        num_alias_groups: those of them that hold names of one thing.
        num_synonyms: different pairs, aliases included.
        num_antonyms: different pairs.
        num_groups_listed: in the source, chains of aliases joined.
        num_alias_entries: in the source, before chains were joined.
        num_synonyms_listed: all pairs within those groups.
        num_antonyms_listed: in the source.
        dropped_groups, dropped_synonyms, dropped_antonyms: why the rest is missing.
    """

    name: str
    num_words: int
    num_groups: int
    num_alias_groups: int
    num_synonyms: int
    num_antonyms: int
    num_groups_listed: int
    num_alias_entries: int
    num_synonyms_listed: int
    num_antonyms_listed: int
    dropped_groups: tuple[Dropped, ...]
    dropped_synonyms: tuple[Dropped, ...]
    dropped_antonyms: tuple[Dropped, ...]

    def __str__(self) -> str:
        aliases = f", {self.num_alias_groups:,} of them aliases" if self.num_alias_groups else ""
        lines = [f"{self.name}: {self.num_words:,} words in {self.num_groups:,} groups{aliases}"]
        for kept, listed, what, dropped in (
            (self.num_groups, self.num_groups_listed, "groups", self.dropped_groups),
            (self.num_synonyms, self.num_synonyms_listed, "synonym pairs", self.dropped_synonyms),
            (self.num_antonyms, self.num_antonyms_listed, "antonym pairs", self.dropped_antonyms),
        ):
            if listed:
                lines.append(f"  {what}: {kept:,} of {listed:,} kept")
                lines += [f"    dropped: {reason}" for reason in dropped]
        return "\n".join(lines)
