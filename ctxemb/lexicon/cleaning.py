"""From what a source lists to what training can trust: thresholds, contradictions, repetitions.

A pair is dropped for the first reason that applies; groups keep the words that still have a pair.
G groups, M memberships of a word in a group, P pairs.
"""

from collections.abc import Iterable
from itertools import islice

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ctxemb.lexicon.ids import Csr, IdLexicon, contains, key_ids, member_pairs, pair_keys
from ctxemb.lexicon.lexicon import Entry, Lexicon, LexiconError
from ctxemb.lexicon.packing import ALIAS, NUM_EXAMPLES, SENSE, Packed, Vocabulary, pack
from ctxemb.lexicon.report import Dropped, LexiconReport


class LexiconConfig(BaseModel):
    """Which pairs of a lexicon are used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_senses: int = Field(
        default=2, ge=1, le=1_000, description="A synonym pair needs two words that stand in at most this many groups"
    )
    max_sense_number: int | None = Field(
        default=None, ge=1, le=255, description="A word is a synonym in its most frequent senses only, up to this one"
    )
    # Opposites such as hot and cold have many senses and are opposites all the same.
    max_antonym_senses: int | None = Field(
        default=None, ge=1, le=1_000, description="The same for antonym pairs; all of them if empty"
    )
    max_group_words: int = Field(
        default=100, ge=2, le=10_000, description="A larger group is dropped: it joins what is merely related"
    )
    max_pairs: int = Field(
        default=20_000_000,
        ge=1,
        le=100_000_000,
        description="A larger lexicon is refused: a pair takes about 150 bytes while it is cleaned",
    )


def clean(
    entries: Lexicon | Iterable[Entry],
    vocabulary: Vocabulary | None = None,
    config: LexiconConfig | None = None,
    name: str | None = None,
) -> tuple[IdLexicon, LexiconReport]:
    """Turn a lexicon, or a stream of entries that is read once and never held, into ids.

    Args:
        entries: what a source lists.
        vocabulary: word -> id (such as `WordTokenizer.word_id`; below 4 is unknown), such a mapping, or a set of the
            known words; None numbers the words as they come, from 4.
        config: thresholds.
        name: of the lexicon, for the report and messages.

    Raises:
        LexiconError: more than `config.max_pairs` pairs, or none that can be used; the report is part of the message.
    """
    config = config or LexiconConfig()
    name = name or (entries.name if isinstance(entries, Lexicon) else "the lexicon")
    packed = pack(entries, vocabulary, config.max_pairs, name)
    lexicon, report = _Cleaner(packed, config, name).clean()
    if not report.num_words:
        raise LexiconError(
            f"{name} has no pair that can be used; look for its language and at the thresholds. {report}"
        )
    return lexicon, report


class _Cleaner:
    """The pairs of one packed lexicon, and what each of them is."""

    def __init__(self, packed: Packed, config: LexiconConfig, name: str) -> None:
        self.packed, self.config, self.name = packed, config, name
        members_M, sizes_G = packed.groups.values, packed.groups.sizes
        groups_M = np.repeat(np.arange(len(sizes_G), dtype=np.int32), sizes_G)
        is_sense_M = (packed.kinds_G == SENSE)[groups_M]
        num_words = max(packed.words, default=0) + 1
        self.num_senses_V = np.bincount(members_M[is_sense_M], minlength=num_words)
        self.fits_M = self.num_senses_V[members_M] <= config.max_senses
        if config.max_sense_number is not None:
            self.fits_M &= packed.sense_numbers_M <= config.max_sense_number
        self.groups_M, self.is_large_G = groups_M, sizes_G > config.max_group_words

    def clean(self) -> tuple[IdLexicon, LexiconReport]:
        members_M, sizes_G = self.packed.groups.values, self.packed.groups.sizes
        num_pairs = int(_num_pairs(sizes_G[~self.is_large_G]).sum())
        if num_pairs > self.config.max_pairs:
            raise LexiconError(
                f"{self.name}: its groups hold {num_pairs:,} pairs, more than {self.config.max_pairs:,}; "
                "raise max_pairs or lower max_group_words."
            )
        first_P, second_P = member_pairs(self.packed.groups.offsets, ~self.is_large_G)
        keys_P = pair_keys(members_M[first_P], members_M[second_P])
        opposites = self.packed.antonyms_A2
        opposite_keys = np.unique(pair_keys(*opposites[opposites[:, 0] != opposites[:, 1]].T))

        contradicts_P = contains(opposite_keys, keys_P)
        fits_P = self.fits_M[first_P] & self.fits_M[second_P]
        kept_P = fits_P & ~contradicts_P
        kept_keys = keys_P[kept_P]
        synonym_keys = np.unique(kept_keys)
        num_repeated = len(kept_keys) - len(synonym_keys)
        is_used_M = np.zeros(len(members_M), dtype=bool)
        is_used_M[first_P[kept_P]] = is_used_M[second_P[kept_P]] = True

        antonym_keys, dropped_antonyms = self.antonyms(opposite_keys, np.unique(keys_P[contradicts_P]))
        num_used_G = np.bincount(self.groups_M[is_used_M], minlength=len(sizes_G))
        groups = Csr(np.concatenate([[0], np.cumsum(num_used_G[num_used_G > 0])]), members_M[is_used_M])
        is_alias_G = self.packed.kinds_G[num_used_G > 0] == ALIAS
        used_ids = np.unique(np.concatenate([groups.values, *key_ids(antonym_keys)])).tolist()
        words = {word_id: self.packed.words[word_id] for word_id in used_ids}
        lexicon = IdLexicon(self.name, groups, is_alias_G, synonym_keys, antonym_keys, words)
        too_many = ~fits_P & ~contradicts_P
        past = f", or past sense {self.config.max_sense_number}" if self.config.max_sense_number else ""
        dropped_synonyms = [
            *self.unusable_synonyms(),
            Dropped("both synonyms and antonyms", int(contradicts_P.sum()), self.pairs(keys_P, contradicts_P)),
            Dropped(
                f"with a word of more than {self.config.max_senses} senses{past}",
                int(too_many.sum()),
                self.pairs(keys_P, too_many),
            ),
            Dropped("listed more than once", num_repeated),
        ]
        report = LexiconReport(
            name=self.name,
            num_words=len(words),
            num_groups=len(groups),
            num_alias_groups=int(is_alias_G.sum()),
            num_synonyms=len(synonym_keys),
            num_antonyms=len(antonym_keys),
            num_groups_listed=len(sizes_G),
            num_alias_entries=self.packed.num_alias_entries,
            num_synonyms_listed=int(_num_pairs(self.packed.num_listed_G).sum()),
            num_antonyms_listed=self.packed.num_antonyms_listed,
            dropped_groups=_only(self.empty_groups(num_used_G)),
            dropped_synonyms=_only(dropped_synonyms),
            dropped_antonyms=_only(dropped_antonyms),
        )
        return lexicon, report

    def unusable_synonyms(self) -> list[Dropped]:
        """Reasons that apply before there is a pair of ids."""
        packed = self.packed
        listed, known = int(_num_pairs(packed.num_listed_G).sum()), int(_num_pairs(packed.num_known_G).sum())
        different = _num_pairs(packed.groups.sizes)
        large = (
            ", ".join(self.packed.words[int(i)] for i in packed.groups[int(g)][:2]) + f" and {size - 2:,} more"
            for g in np.flatnonzero(self.is_large_G)[:NUM_EXAMPLES]
            if (size := int(packed.groups.sizes[g]))
        )
        return [
            Dropped("with a word outside the vocabulary", listed - known, tuple(packed.unknown)),
            Dropped("with a word repeated in its group", known - int(different.sum())),
            Dropped(
                f"in groups of more than {self.config.max_group_words} words",
                int(different[self.is_large_G].sum()),
                tuple(large),
            ),
        ]

    def antonyms(self, keys: np.ndarray, contradictory: np.ndarray) -> tuple[np.ndarray, list[Dropped]]:
        """The antonyms that are kept, and why others are not."""
        opposites, limit = self.packed.antonyms_A2, self.config.max_antonym_senses
        num_same = int((opposites[:, 0] == opposites[:, 1]).sum())
        contradicts = contains(contradictory, keys)
        fits = np.ones(len(keys), dtype=bool)
        if limit is not None:
            small, large = key_ids(keys)
            fits = (self.num_senses_V[small] <= limit) & (self.num_senses_V[large] <= limit)
        too_many = ~fits & ~contradicts
        num_unknown = self.packed.num_antonyms_listed - len(opposites)
        return keys[fits & ~contradicts], [
            Dropped("with a word outside the vocabulary", num_unknown),
            Dropped("of a word with itself", num_same),
            Dropped("listed more than once", len(opposites) - num_same - len(keys)),
            Dropped("both synonyms and antonyms", int(contradicts.sum()), self.pairs(keys, contradicts)),
            Dropped(f"with a word of more than {limit} senses", int(too_many.sum()), self.pairs(keys, too_many)),
        ]

    def empty_groups(self, num_used_G: np.ndarray) -> list[Dropped]:
        """Why groups are not among those kept."""
        listed = self.packed.num_listed_G
        return [
            Dropped("without a word", int((listed == 0).sum())),
            Dropped("of one word", int((listed == 1).sum())),
            Dropped("without a pair left", int(((listed >= 2) & (num_used_G == 0)).sum())),
        ]

    def pairs(self, keys: np.ndarray, mask: np.ndarray) -> tuple[str, ...]:
        """The first few different pairs among the masked, in words."""
        first = dict.fromkeys(keys[np.flatnonzero(mask)[: 2 * NUM_EXAMPLES]].tolist())
        both = (map(int, key_ids(np.array(key))) for key in first)
        return tuple(" / ".join(self.packed.words[i] for i in pair) for pair in islice(both, NUM_EXAMPLES))


def _num_pairs(sizes: np.ndarray) -> np.ndarray:
    sizes = sizes.astype(np.int64)
    return sizes * (sizes - 1) // 2


def _only(reasons: list[Dropped]) -> tuple[Dropped, ...]:
    return tuple(reason for reason in reasons if reason.count)
