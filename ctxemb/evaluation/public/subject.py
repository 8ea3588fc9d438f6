"""A checkpoint as the test sets see it: target words under every layer beside the baselines, and words by themselves.

N targets, V words, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ctxemb.analysis.context_bag import ContextBag
from ctxemb.calibration import load_statistics, sample_corpus, sample_text
from ctxemb.comparison import context_bag
from ctxemb.encoder import Encoder
from ctxemb.evaluation.bag_reader import BagReader
from ctxemb.evaluation.context_average import context_averages
from ctxemb.evaluation.public.score import reading_name
from ctxemb.evaluation.readings import BAG, CONTROL
from ctxemb.evaluation.targets import Target, encode_targets, encode_words
from ctxemb.evaluation.words import word_rows
from ctxemb.models.reading import Reading, Readout
from ctxemb.text import NUM_SPECIAL

BASELINES = (CONTROL, BAG)
WORD_READING = Reading(readout="here", layer="last")
USES_PER_WORD, SEED = 20, 0
WORDS_AT_ONCE = 50


@dataclass(frozen=True)
class Read:
    """N targets under one reading.

    Attributes:
        reading: its name, or a baseline's.
        vectors_ND: (N, D).
        known_N: (N,) bool: False where the vector is that of the unknown word.
    """

    reading: str
    vectors_ND: np.ndarray = field(repr=False)
    known_N: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class WordTable:
    """One vector a word.

    Attributes:
        reading: where the vectors come from.
        words: V strings, the most frequent first.
        vectors_VD: (V, D).
    """

    reading: str
    words: list[str] = field(repr=False)
    vectors_VD: np.ndarray = field(repr=False)


@dataclass(frozen=True)
class Subject:
    """A checkpoint under test.

    Attributes:
        encoder: with the reading that is scored first.
        on_progress: called with what is being done.
    """

    encoder: Encoder
    on_progress: Callable[[str], None] = lambda _: None

    @property
    def reading(self) -> str:
        """The name of the encoder's own reading."""
        return self._name(self.encoder.reading)

    def read(self, targets: Sequence[Target], also: Readout | None = None) -> Iterator[Read]:
        """Targets under the encoder's own reading, at every other layer of its read-out, and as bags of context.

        Args:
            also: a read-out whose layers follow, where the encoder has it.
        """
        encoder, seen = self.encoder, set()
        for readout in dict.fromkeys((encoder.reading.readout, also)):
            if readout not in encoder.config.model.readouts:
                continue
            reader = encoder if readout == encoder.reading.readout else encoder.with_reading(Reading(readout=readout))
            found = encode_targets(reader, targets)
            layers = (encoder.reading_for(readout, layer) for layer in range(encoder.num_layers, -1, -1))
            for reading in (reader.reading, *layers):
                name = self._name(reading)
                if name not in seen:
                    seen.add(name)
                    vectors_ND = reading.combine(found.vectors_NLD.swapaxes(0, 1))
                    yield Read(name, vectors_ND, found.known_N | (not reading.sees_word))
        if self._bag:
            vectors_ND = encode_targets(BagReader(encoder.tokenizer, self._bag), targets).vectors_NLD[:, 0]
            yield Read(BAG, vectors_ND, np.ones(len(targets), dtype=bool))  # it does not look at the word

    def word_tables(self, wanted: Iterable[str]) -> list[WordTable]:
        """Vectors of single words: layer 0, and the mean of uses where there is a layer above it.

        Args:
            wanted: words of the test set; those outside the vocabulary are added to layer 0 if the encoder reads them.
        """
        words, vectors_VD = self._vocabulary
        rows = word_rows(words)
        others = [word for word in dict.fromkeys(wanted) if word.casefold() not in rows]
        if others:
            found = encode_words(self.encoder, others)
            words = [*words, *(word for word, known in zip(others, found.known_N, strict=True) if known)]
            vectors_VD = np.concatenate([vectors_VD, found.vectors_NLD[found.known_N, 0]])
        return [WordTable(CONTROL, words, vectors_VD), *self._means_of_uses]

    @property
    def text(self) -> str:
        """Where the uses of words are taken from."""
        return sample_corpus(self.encoder.config.text.language).name

    @cached_property
    def _bag(self) -> ContextBag | None:
        return context_bag(self.encoder, load_statistics(self.encoder))

    @cached_property
    def _vocabulary(self) -> tuple[list[str], np.ndarray]:
        ids = list(range(NUM_SPECIAL, len(self.encoder.tokenizer)))
        # in which sentence a word stands makes no difference to layer 0
        sentences = [ids[start : start + WORDS_AT_ONCE] for start in range(0, len(ids), WORDS_AT_ONCE)]
        layers = self.encoder.layers_of_ids(sentences, self.encoder.reading.readout)
        words = [self.encoder.tokenizer.word(word_id) for word_id in ids]
        return words, np.concatenate([layers_LTD[0] for layers_LTD in layers])

    @cached_property
    def _means_of_uses(self) -> list[WordTable]:
        if self.encoder.num_layers == 0:
            return []  # layer 0 is all there is
        encoder, corpus = self.encoder.with_reading(WORD_READING), sample_text(self.encoder)

        def on_sentences(num_done: int) -> None:
            self.on_progress(f"mean vectors of words: {num_done:,} sentences")

        means_VD, counts_V = context_averages(encoder, corpus, USES_PER_WORD, SEED, on_sentences)
        ids = np.flatnonzero(counts_V)
        words = [encoder.tokenizer.word(word_id) for word_id in ids.tolist()]
        return [WordTable(f"mean of uses ({self._name(WORD_READING)})", words, means_VD[ids])]

    def _name(self, reading: Reading) -> str:
        return reading_name(reading, self.encoder.num_layers)
