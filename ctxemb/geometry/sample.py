"""What a space is seen through: uses of many words in a text, and the uses that have a sense label.

N uses, W words, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ctxemb.comparison import TargetError, example_uses
from ctxemb.encoder import Encoder
from ctxemb.examples import example_words
from ctxemb.text import NUM_SPECIAL
from ctxemb.tokenized import TokenizedCorpus

NUM_SENTENCES, USES_PER_WORD = 300, 6
NUM_SENTENCES_OF_STATIC = 1_200  # where a word has one vector, it counts once
MIN_WORDS = 20


class GeometryError(ValueError):
    """A space that cannot be measured; the text says why."""


@dataclass(frozen=True)
class Cloud:
    """Uses of words of a text.

    Attributes:
        layers_LND: (L + 1, N, D) float32.
        words_N: (N,) which of the W words each use is of.
        words: W strings.
        counts_W: (W,) how often the text has each.
    """

    layers_LND: np.ndarray = field(repr=False)
    words_N: np.ndarray = field(repr=False)
    words: Sequence[str] = field(repr=False)
    counts_W: np.ndarray = field(repr=False)

    def half(self, which: int) -> "Cloud":
        """The uses of every second word: of the first, third, ... for 0, of the others for 1."""
        rows = np.flatnonzero(self.words_N % 2 == which)
        words_N = self.words_N[rows] // 2
        return Cloud(self.layers_LND[:, rows], words_N, self.words[which::2], self.counts_W[which::2])


@dataclass(frozen=True)
class LabelledUses:
    """Uses of the example words in our example sentences.

    Attributes:
        layers_LND: (L + 1, N, D) float32.
        words_N, senses_N: (N,) strings.
    """

    layers_LND: np.ndarray = field(repr=False)
    words_N: np.ndarray = field(repr=False)
    senses_N: np.ndarray = field(repr=False)


def sample_uses(encoder: Encoder, corpus: TokenizedCorpus, seed: int = 0) -> Cloud:
    """Draw sentences of a text, encode them under the encoder's read-out, and keep a few uses of every word.

    A word counts as often as it stands in those sentences, but at most `USES_PER_WORD` times, and once for an encoder
    without layers. Words are those of the vocabulary that consist of letters, in random order.

    Raises:
        GeometryError: if the text has too few of them.
    """
    rng = np.random.default_rng(seed)
    num_sentences, limit = (NUM_SENTENCES, USES_PER_WORD) if encoder.num_layers else (NUM_SENTENCES_OF_STATIC, 1)
    drawn = np.sort(rng.choice(len(corpus), min(num_sentences, len(corpus)), replace=False))
    sentences = [corpus[int(sentence)] for sentence in drawn]
    ids_N = np.concatenate([np.zeros(0, np.int64), *sentences])
    distinct = [i for i in np.unique(ids_N).tolist() if i >= NUM_SPECIAL and encoder.tokenizer.word(i).isalpha()]
    if len(distinct) < MIN_WORDS:
        raise GeometryError(
            f"the sample text has {len(distinct)} words that this checkpoint knows, and the shape of a space takes "
            f"{MIN_WORDS}; choose another checkpoint"
        )
    word_ids_W = rng.permutation(distinct)
    kept_N = np.isin(ids_N, word_ids_W) & (_place_among_equals(ids_N, rng) < limit)
    number_of = {word_id: number for number, word_id in enumerate(word_ids_W.tolist())}
    layers = encoder.layers_of_ids(sentences, encoder.reading.readout)
    return Cloud(
        layers_LND=np.concatenate(layers, axis=1)[:, kept_N],
        words_N=np.array([number_of[word_id] for word_id in ids_N[kept_N].tolist()]),
        words=[encoder.tokenizer.word(word_id) for word_id in number_of],
        counts_W=np.bincount(corpus.ids, minlength=encoder.config.model.vocabulary_size)[word_ids_W],
    )


def labelled_uses(encoder: Encoder) -> LabelledUses:
    """The example sentences under the encoder's read-out.

    Raises:
        TargetError: if the vocabulary has none of the example words.
    """
    uses = example_uses(encoder, example_words(encoder.config.text.language))
    if not uses:
        raise TargetError("none of the example words is in this checkpoint's vocabulary; train it on more text")
    found = [use for uses_of_word in uses.values() for use in uses_of_word]
    return LabelledUses(
        layers_LND=np.stack([use.encoding.layers[:, use.position] for use in found], axis=1),
        words_N=np.repeat(list(uses), [len(uses_of_word) for uses_of_word in uses.values()]),
        senses_N=np.array([use.sentence.sense for use in found]),
    )


def _place_among_equals(ids_N: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(N,) 0 for one use of each word, 1 for another, ..., in random order."""
    order = rng.permutation(len(ids_N))
    place_N = np.zeros(len(ids_N), dtype=np.int64)
    place_N[order] = pd.Series(ids_N[order]).groupby(ids_N[order]).cumcount()
    return place_N
