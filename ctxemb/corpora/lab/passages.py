"""Passages of one topic, and sentences that are never in them.

A frame and an action form a cell; one cell in five is held out. Held-out sentences are made from those cells alone:
their words and frames are those of the passages, and none of them is in a passage.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from ctxemb.corpora.lab.english import Action, as_sentence, with_s
from ctxemb.corpora.lab.frames import (
    ASIDE,
    ASIDE_NEXT,
    DOING,
    DOING_NEXT,
    SHARED,
    UNDERGOING,
    UNDERGOING_NEXT,
)
from ctxemb.corpora.lab.senses import SENSES, Sense
from ctxemb.corpora.lab.topics import TOPICS

HELD_OUT_EVERY = 5
NUM_SENTENCES = (3, 4, 5)  # of a passage
WORD_SHARE = 0.65  # of the sentences after the first that use the word
NEXT_SHARE = 0.35  # of the sentences that go on about the person of the one before

Cell = tuple[str, Action | None]  # a frame without the word has no action


@dataclass(frozen=True)
class LabSentence:
    """A sentence that uses an ambiguous word once, and in which sense."""

    word: str
    sense: str
    text: str


def passages(num_passages: int, seed: int = 0) -> Iterator[str]:
    """Yield passages of three to five sentences; fewer passages are the beginning of more."""
    return (text for _, text in labelled_passages(num_passages, seed))


def labelled_passages(num_passages: int, seed: int = 0) -> Iterator[tuple[Sense, str]]:
    """Yield passages with the sense in which they use its word; each sense comes once in every `len(SENSES)`."""
    rng = Random(seed)
    writers = [_Writer(sense, rng) for sense in SENSES]
    for number in range(num_passages):
        turn = number % len(writers)
        if turn == 0:
            rng.shuffle(writers)
        yield writers[turn].sense, " ".join(writers[turn].passage())


def held_out_sentences(num_per_sense: int = 12, seed: int = 1) -> list[LabSentence]:
    """Sentences for trying out what was learnt: none of them is in a passage of any seed, nor in the list twice."""
    rng = Random(seed)
    sentences = []
    for sense in SENSES:
        writer, texts = _Writer(sense, rng), dict[str, None]()
        while len(texts) < num_per_sense:
            texts[writer.fill(*rng.choice(writer.held_out))] = None
        sentences += [LabSentence(sense.word, sense.name, text) for text in texts]
    return sentences


class _Writer:
    """Writes about one sense."""

    def __init__(self, sense: Sense, rng: Random) -> None:
        topic = sense.topic
        self.sense, self._rng = sense, rng
        self._slots: dict[str, tuple[str, ...]] = {
            **SHARED,
            "word": (sense.word,),
            "adj": sense.adjectives,
            "person": topic.people,
            "people": tuple(map(with_s, topic.people)),
            "stranger": tuple({person: None for topic in TOPICS.values() for person in topic.people}),
            "thing": topic.things,
            "things": tuple(map(with_s, topic.things)),
            "oddity": tuple({thing: None for topic in TOPICS.values() for thing in topic.things}),
            "handle": tuple(action.base for action in topic.handling),
            "handled": tuple(action.past for action in topic.handling),
            "treated": tuple(action.participle for action in topic.handling),
            "place": topic.places,
            "that": ("who" if sense.is_person else "that",),
        }
        self._it = ("he", "she") if sense.is_person else ("it",)
        self._first, self.held_out = _cells((UNDERGOING, sense.undergoes), (DOING, sense.does))
        self._next, _ = _cells((UNDERGOING_NEXT, sense.undergoes), (DOING_NEXT, sense.does))

    def passage(self) -> list[str]:
        """The first sentence introduces the word; one that goes on about a person follows one that names it."""
        rng = self._rng
        self._slots["it"] = (rng.choice(self._it),)
        he, his = rng.choice((("he", "his"), ("she", "her")))
        self._slots |= {"he": (he,), "his": (his,)}
        cell = rng.choice(self._first)
        cells = [cell]
        for _ in range(rng.choice(NUM_SENTENCES) - 1):
            goes_on = rng.random() < NEXT_SHARE and "{person}" in cell[0]
            if rng.random() < WORD_SHARE:
                cell = rng.choice(self._next if goes_on else self._first)
            else:
                cell = (rng.choice(ASIDE_NEXT if goes_on else ASIDE), None)
            cells.append(cell)
        return [self.fill(*cell) for cell in cells]

    def fill(self, frame: str, action: Action | None) -> str:
        """A sentence; every slot is drawn anew, no word twice."""
        return as_sentence(frame.format_map(_Draw(self._slots, action, self._rng)))


class _Draw:
    """The words of one sentence, drawn when `str.format_map` asks for them."""

    def __init__(self, slots: dict[str, tuple[str, ...]], action: Action | None, rng: Random) -> None:
        self._slots, self._random = slots, rng.random
        self._drawn = (
            {}
            if action is None
            else {"do": action.base, "does": action.third, "did": action.past, "done": action.participle}
        )
        # a cook does not cook, nor a swimmer fight the current that swept the swimmer under
        self._used = action.base.split() if action else []

    def __getitem__(self, slot: str) -> str:
        if slot in self._drawn:
            return self._drawn[slot]
        words = self._slots[slot]
        if len(words) == 1:
            return words[0]
        while (word := words[int(self._random() * len(words))]) in self._used:
            pass
        self._used.append(word)
        return word


def _cells(*parts: tuple[tuple[str, ...], tuple[Action, ...]]) -> tuple[list[Cell], list[Cell]]:
    """All cells of frames and their actions: those of the passages, and those held out."""
    open_cells: list[Cell] = []
    held_out: list[Cell] = []
    for frames, actions in parts:
        for i, frame in enumerate(frames):
            for j, action in enumerate(actions):
                (held_out if (i + j) % HELD_OUT_EVERY == 0 else open_cells).append((frame, action))
    return open_cells, held_out
