"""A stream of entries -> arrays of word ids: a pair costs about 20 bytes from here on, whatever its words.

G groups, M memberships, E aliases, A antonyms.
"""

from array import array
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ctxemb.lexicon.ids import Csr, components
from ctxemb.lexicon.lexicon import Entry, LexiconError
from ctxemb.text import NUM_SPECIAL, UNK

# Word -> id (as `WordTokenizer.word_id`: below 4 is unknown), such a mapping, or merely the known words.
Vocabulary = Callable[[str], int] | Mapping[str, int] | Collection[str]
MAX_ID = 1 << 24  # arrays with a place for each id stay below 150 MB
HASH_MASK = (1 << 62) - 1
NUM_EXAMPLES = 5
LISTED, SENSE, ALIAS = 0, 1, 2


@dataclass(frozen=True)
class Packed:
    """Entries in ids.

    Attributes:
        groups: group -> ids of its known words, each once.
        kinds_G: (G,) LISTED, SENSE or ALIAS.
        num_listed_G: (G,) words in the source.
        num_known_G: (G,) those in the vocabulary, repetitions counted.
        sense_numbers_M: (M,) uint8, 0 where the source does not say.
        antonyms_A2: (A, 2) pairs with both words known.
        num_antonyms_listed: pairs in the source.
        num_alias_entries: before chains were joined.
        words: id -> its first spelling.
        unknown: some words outside the vocabulary.
    """

    groups: Csr
    kinds_G: np.ndarray
    num_listed_G: np.ndarray
    num_known_G: np.ndarray
    sense_numbers_M: np.ndarray
    antonyms_A2: np.ndarray
    num_antonyms_listed: int
    num_alias_entries: int
    words: dict[int, str]
    unknown: list[str]


def pack(entries: Iterable[Entry], vocabulary: Vocabulary | None, max_pairs: int, name: str) -> Packed:
    """Pack a stream.

    Raises:
        LexiconError: more than `max_pairs` pairs, an id out of range, or an antonym entry that is no pair.
    """
    packer = _Packer(vocabulary, name)
    num_pairs = 0
    for entry in entries:
        num_pairs += max(len(entry.words) - 1, 1)
        if num_pairs > max_pairs:
            raise LexiconError(f"{name} lists more than {max_pairs:,} pairs; raise max_pairs or give a part of it.")
        packer.add(entry)
    return packer.packed()


class _Packer:
    """Arrays that grow."""

    def __init__(self, vocabulary: Vocabulary | None, name: str) -> None:
        self.name, self.lookup = name, _lookup(vocabulary)
        self.ids: dict[str, int] = {}  # known words only, so that it cannot outgrow the vocabulary
        self.words: dict[int, str] = {}
        self.unknown: list[str] = []
        self.members, self.sense_numbers = array("i"), array("B")
        self.shapes = array("i")  # of each group: different known words, words listed, words known, its kind
        self.antonyms, self.num_antonyms = array("i"), 0
        self.aliases, self.num_aliases, self.num_empty_aliases = array("q"), 0, 0

    def id_of(self, word: str) -> int:
        """The id, or UNK."""
        found = self.ids.get(word)
        if found is None:
            found = self.lookup(word)
            if found < NUM_SPECIAL:
                if len(self.unknown) < NUM_EXAMPLES and word not in self.unknown:
                    self.unknown.append(word)
                return UNK
            if found >= MAX_ID:
                raise LexiconError(f"{self.name}: the id {found} of {word!r} is too large; ids end at {MAX_ID - 1:,}.")
            self.ids[word] = found
            self.words.setdefault(found, word)
        return found

    def add(self, entry: Entry) -> None:
        kind, words, sense, sense_numbers = entry
        if kind == "alias":
            self.add_alias(words)
            return
        ids = [self.ids.get(word) or self.id_of(word) for word in words]
        if kind == "antonym":
            if len(ids) != 2:
                raise LexiconError(f"{self.name}: antonyms come in pairs, not {words}.")
            self.num_antonyms += 1
            if UNK not in ids:
                self.antonyms.extend(ids)
            return
        if sense_numbers:
            numbers = {}
            for word_id, number in zip(ids, sense_numbers, strict=True):
                numbers.setdefault(word_id, min(number, 255))
        else:
            numbers = dict.fromkeys(ids, 0)
        num_unknown = ids.count(UNK)
        numbers.pop(UNK, None)
        self.members.extend(numbers)
        self.sense_numbers.extend(numbers.values())
        self.shapes.extend((len(numbers), len(words), len(words) - num_unknown, SENSE if sense else LISTED))

    def add_alias(self, words: tuple[str, ...]) -> None:
        self.num_aliases += 1
        self.num_empty_aliases += not words
        nodes = [self.alias_node(word) for word in words]
        for one, other in zip(nodes, nodes[1:] or nodes, strict=False):
            self.aliases.extend((one, other))

    def alias_node(self, word: str) -> int:
        """The id of a word; a hash for an unknown one, as a chain may lead through it from known to known."""
        found = self.id_of(word)
        # Past all ids: hashes differ from run to run, and must not decide the order of the known words.
        return found if found != UNK else MAX_ID + (hash(word) & HASH_MASK)

    def packed(self) -> Packed:
        nodes, entity_of_node = _entities(_array(self.aliases, np.int64).reshape(-1, 2))
        known = nodes < MAX_ID
        num_entities = int(entity_of_node.max(initial=-1)) + 1
        aliases = Csr.of(entity_of_node[known], nodes[known].astype(np.int32), num_entities)
        num_names = np.bincount(entity_of_node, minlength=num_entities)
        empty = np.zeros(self.num_empty_aliases, np.int64)
        shapes_G4 = _array(self.shapes, np.int32).reshape(-1, 4)
        sizes_G = np.concatenate([shapes_G4[:, 0], aliases.sizes, empty])
        return Packed(
            groups=Csr(
                np.concatenate([[0], np.cumsum(sizes_G)]),
                np.concatenate([_array(self.members, np.int32), aliases.values]),
            ),
            kinds_G=np.concatenate([shapes_G4[:, 3], np.full(num_entities + len(empty), ALIAS)]).astype(np.int8),
            num_listed_G=np.concatenate([shapes_G4[:, 1], num_names, empty]).astype(np.int32),
            num_known_G=np.concatenate([shapes_G4[:, 2], aliases.sizes, empty]).astype(np.int32),
            sense_numbers_M=np.concatenate(
                [_array(self.sense_numbers, np.uint8), np.zeros(len(aliases.values), np.uint8)]
            ),
            antonyms_A2=_array(self.antonyms, np.int32).reshape(-1, 2),
            num_antonyms_listed=self.num_antonyms,
            num_alias_entries=self.num_aliases,
            words=self.words,
            unknown=self.unknown,
        )


def _array(values: array, dtype: type) -> np.ndarray:
    return np.frombuffer(values, dtype) if len(values) else np.zeros(0, dtype)


def _entities(edges_E2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The names that occur, and which entity each is a name of."""
    nodes, places = np.unique(edges_E2, return_inverse=True)
    return nodes, components(places.reshape(-1, 2), len(nodes))


def _lookup(vocabulary: Vocabulary | None) -> Callable[[str], int]:
    if vocabulary is None:
        growing: dict[str, int] = {}
        return lambda word: growing.setdefault(word, NUM_SPECIAL + len(growing))
    if callable(vocabulary):
        return vocabulary
    if not isinstance(vocabulary, Mapping):
        vocabulary = {word: i for i, word in enumerate(sorted(vocabulary), start=NUM_SPECIAL)}
    numbers = vocabulary
    return lambda word: numbers.get(word, UNK)
