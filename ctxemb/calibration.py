"""What a finished checkpoint learns about its own space: word counts, mean vectors, a weight for each layer.

Means are for centring (subtracting what all uses share), counts for the bag of context; the layer weights are
ELMo's, learnt without sense labels from *one sense per passage*: two uses of a word in one passage should be
closer than its uses in other passages (Gale, Church & Yarowsky 1992).
They are kept beside the weights, in `statistics.safetensors` and `config.json`; those of a folder that is opened
read-only in the cache folder, without the layer weights.

V vocabulary, W words with a mean of their own, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from ctxemb import examples
from ctxemb.checkpoint import WEIGHTS, CheckpointError, read_state, update_config, write_state
from ctxemb.corpora import NAMED, Corpus, open_corpus
from ctxemb.encoder import Encoder
from ctxemb.models.reading import Readout
from ctxemb.text import NUM_SPECIAL, Language
from ctxemb.tokenized import TokenizedCorpus, cache_folder, content_key, tokenize

SAMPLES: dict[Language, tuple[str, ...]] = {"en": ("wiki-sample",), "zh": ("people-daily-1998", "tatoeba-zh")}
STATISTICS = "statistics.safetensors"
WHOLE_NUMBERS = ("counts", "word_ids")
USES_PER_WORD = 100
USES_PER_CHUNK = 64
SENTENCES_FOR_MEAN = 1_000
PASSAGES_PER_WORD, WORDS_FOR_WEIGHTS = 8, 200
FIRST_CONTENT_WORD = 300  # ids follow frequency, and the most frequent words have no senses to separate
MIN_LETTERS_OF_COMMON_WORD = 4


@dataclass(frozen=True)
class CorpusUse:
    """One occurrence of a word: the ids of its sentence, and where it stands in them.

    Attributes:
        words: the sentence in words, where they are known; a corpus is ids.
    """

    ids: np.ndarray
    position: int
    words: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Statistics:
    """What centring and the bag of context need to know of a checkpoint's space.

    Attributes:
        counts_V: (V,) how often each id occurs in the training text.
        means: per read-out (L + 1, D), the mean over all words of running text.
        word_ids_W: (W,) ids of words with a mean of their own.
        word_means: per read-out (W, L + 1, D), the mean over a sample of each word's uses.
    """

    counts_V: np.ndarray
    means: dict[Readout, np.ndarray]
    word_ids_W: np.ndarray
    word_means: dict[Readout, np.ndarray]

    def word_mean(self, readout: Readout, word_id: int) -> np.ndarray | None:
        """(L + 1, D), or None for a word that is not among the W."""
        rows = np.flatnonzero(self.word_ids_W == word_id)
        return self.word_means[readout][rows[0]] if len(rows) else None


class WordIndex:
    """Where each word stands in a corpus; built by one sort of its ids (8 bytes a token while it lives)."""

    def __init__(self, corpus: TokenizedCorpus) -> None:
        self.corpus = corpus
        ids = np.asarray(corpus.ids)
        self._places = np.argsort(ids, kind="stable")
        self._starts = np.searchsorted(ids, np.arange(int(ids.max(initial=0)) + 2), sorter=self._places)

    def places(self, word_id: int) -> tuple[np.ndarray, np.ndarray]:
        """Sentence, and position in it, of every use of a word, in the order of the text."""
        if word_id + 1 >= len(self._starts):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        places = self._places[self._starts[word_id] : self._starts[word_id + 1]]
        sentences = np.searchsorted(self.corpus.offsets, places, side="right") - 1
        return sentences, places - self.corpus.offsets[sentences]

    def uses(self, word_id: int, limit: int = USES_PER_WORD, seed: int = 0) -> list[CorpusUse]:
        """A random sample of at most `limit` uses of a word, in the order of the text."""
        sentences, positions = self.places(word_id)
        rows = np.arange(len(sentences))
        if len(rows) > limit:
            rows = np.sort(np.random.default_rng(seed).choice(rows, limit, replace=False))
        return [CorpusUse(self.corpus[int(sentences[row])], int(positions[row])) for row in rows]

    def passage_pairs(self, word_id: int, limit: int, rng: np.random.Generator) -> list[tuple[CorpusUse, CorpusUse]]:
        """Two uses, in two sentences, from each of up to `limit` random passages that have two."""
        sentences, positions = self.places(word_id)
        sentences, first = np.unique(sentences, return_index=True)
        _, starts, counts = np.unique(self.corpus.passages[sentences], return_index=True, return_counts=True)
        pairs = []
        for start in rng.permutation(starts[counts >= 2])[:limit]:
            one, other = (
                CorpusUse(self.corpus[int(sentences[row])], int(positions[first[row]])) for row in (start, start + 1)
            )
            pairs.append((one, other))
        return pairs


def use_layers(encoder: Encoder, uses: Sequence[CorpusUse], readout: Readout) -> np.ndarray:
    """Vectors of uses at every layer, (uses, L + 1, D)."""
    vectors = []
    for start in range(0, len(uses), USES_PER_CHUNK):  # only a chunk's whole sentences are held at once
        chunk = uses[start : start + USES_PER_CHUNK]
        words = [use.words for use in chunk if use.words is not None]
        assert len(words) in (0, len(chunk)), "uses with and without words are not mixed"
        layers = encoder.layers_of_ids([use.ids for use in chunk], readout, words=words or None)
        vectors += [layers_LTD[:, use.position].copy() for layers_LTD, use in zip(layers, chunk, strict=True)]
    return np.stack(vectors)


def sample_corpus(language: Language) -> Corpus:
    """A text of a language that is on this machine, small enough to wait for: at least our own example sentences."""
    if name := next((name for name in SAMPLES[language] if NAMED[name].found), None):
        return open_corpus(name)
    return example_corpus(language)


def example_corpus(language: Language) -> Corpus:
    """Our own example sentences as a text."""
    with resources.as_file(resources.files(examples) / f"polysemy_{language}.csv") as path:
        return open_corpus(path)


def sample_text(encoder: Encoder) -> TokenizedCorpus:
    """`sample_corpus` in the encoder's ids: where uses of any word can be looked for."""
    text = encoder.config.text
    return tokenize([sample_corpus(text.language)], encoder.tokenizer, text, cache_folder())


def calibrate(
    encoder: Encoder, corpus: TokenizedCorpus, words: Sequence[str], num_common_words: int = 60
) -> Statistics:
    """Measure the space on a corpus and write the result into the checkpoint.

    Args:
        words: words that get a mean of their own, besides the most frequent ones.
        num_common_words: how many of the most frequent longer words get one too.

    Raises:
        CheckpointError: if the corpus was tokenised with another vocabulary.
    """
    num_words = encoder.config.model.vocabulary_size
    counts_V = np.bincount(corpus.ids, minlength=num_words)
    if len(counts_V) > num_words:
        raise CheckpointError(f"the corpus has ids up to {len(counts_V) - 1}, the checkpoint only {num_words} words")
    named = [encoder.tokenizer.word_id(word) for word in words]
    common = [i for i in range(FIRST_CONTENT_WORD, num_words) if _is_common_word(encoder.tokenizer.word(i))]
    wanted = dict.fromkeys([i for i in named if i >= NUM_SPECIAL] + common[:num_common_words])
    index = WordIndex(corpus)
    uses = {word_id: found for word_id in wanted if (found := index.uses(word_id))}
    rng = np.random.default_rng(0)
    sample = np.sort(rng.choice(len(corpus), min(SENTENCES_FOR_MEAN, len(corpus)), replace=False))
    sentences = [corpus[int(i)] for i in sample]
    readouts = encoder.config.model.readouts
    statistics = Statistics(
        counts_V=counts_V,
        means={r: np.concatenate(encoder.layers_of_ids(sentences, r), axis=1).mean(axis=1) for r in readouts},
        word_ids_W=np.array(list(uses), dtype=np.int64),
        word_means={r: _word_means(encoder, list(uses.values()), r) for r in readouts},
    )
    _save(statistics_file(encoder), statistics)
    has_mix = encoder.num_layers > 0 and not encoder.is_read_only
    pairs = passages_of_words(index, counts_V) if has_mix else []
    if pairs:
        weights = {readout: learn_layer_weights(encoder, pairs, readout) for readout in readouts}
        update_config(encoder.checkpoint.path, layer_weights=weights)
    return statistics


def measure_read_only(encoder: Encoder, words: Sequence[str]) -> None:
    """Make the statistics of an encoder whose folder is only read, once, on a text that is on this machine.

    Our example sentences are part of it, so that each of their words has a mean; their labels are not looked at.
    """
    if not encoder.is_read_only or statistics_file(encoder).exists():
        return
    text = encoder.config.text
    corpora = [sample_corpus(text.language)]
    if corpora[0].name in NAMED:
        corpora.append(example_corpus(text.language))
    corpus = tokenize(corpora, encoder.tokenizer, text, cache_folder())
    calibrate(encoder, corpus, words, num_common_words=0)  # minutes, as it is


def statistics_file(encoder: Encoder) -> Path:
    """Where the statistics of a checkpoint are, or would be."""
    folder = encoder.checkpoint.path
    if not encoder.is_read_only:
        return folder / STATISTICS
    weights = (folder / WEIGHTS).stat()
    of_weights = str(folder.resolve()), str(weights.st_mtime_ns), str(weights.st_size)
    key = content_key(*of_weights, encoder.tokenizer.to_json())
    return cache_folder() / "statistics" / f"{folder.resolve().name}-{key[:12]}.safetensors"


def load_statistics(encoder: Encoder) -> Statistics | None:
    """The statistics kept with a checkpoint, or None if it was never calibrated.

    Raises:
        CheckpointError: if the file is damaged or belongs to another checkpoint.
    """
    path = statistics_file(encoder)
    if not path.exists():
        return None
    model = encoder.config.model
    try:
        tensors, _ = read_state(path)
    except CheckpointError as error:
        raise CheckpointError(f"{path} cannot be read; copy it again, or delete it to go without") from error
    arrays = {
        name: tensor.float().numpy() if tensor.is_floating_point() else tensor.numpy()
        for name, tensor in tensors.items()
    }
    num_kept = arrays["word_ids"].size if "word_ids" in arrays else 0
    shape = (encoder.num_layers + 1, model.width)
    readouts = model.readouts
    expected = {"counts": (model.vocabulary_size,), "word_ids": (num_kept,)}
    expected |= {f"mean.{readout}": shape for readout in readouts}
    expected |= {f"word_mean.{readout}": (num_kept, *shape) for readout in readouts}
    found = {name: array.shape for name, array in arrays.items()}
    kinds = {name: array.dtype.kind for name, array in arrays.items()}
    if found != expected or any(kind != ("i" if name in WHOLE_NUMBERS else "f") for name, kind in kinds.items()):
        raise CheckpointError(f"{path} does not fit this checkpoint; calibrate it again or delete the file")
    return Statistics(
        counts_V=arrays["counts"],
        means={readout: arrays[f"mean.{readout}"] for readout in readouts},
        word_ids_W=arrays["word_ids"],
        word_means={readout: arrays[f"word_mean.{readout}"] for readout in readouts},
    )


def passages_of_words(index: WordIndex, counts_V: np.ndarray, seed: int = 0) -> list[list[tuple[CorpusUse, CorpusUse]]]:
    """For some words of middling frequency: a pair of uses from each of `PASSAGES_PER_WORD` passages."""
    rng = np.random.default_rng(seed)
    candidates = np.flatnonzero((counts_V >= 50) & (counts_V <= counts_V.sum() // 2_000))
    found: list[list[tuple[CorpusUse, CorpusUse]]] = []
    for word_id in rng.permutation(candidates[candidates >= NUM_SPECIAL]):
        pairs = index.passage_pairs(int(word_id), PASSAGES_PER_WORD, rng)
        if len(pairs) == PASSAGES_PER_WORD:
            found.append(pairs)
        if len(found) == WORDS_FOR_WEIGHTS:
            break
    return found


def learn_layer_weights(
    encoder: Encoder, words: list[list[tuple[CorpusUse, CorpusUse]]], readout: Readout
) -> tuple[float, ...]:
    """Softmax-normalised layer weights that tell a word's passages apart best (InfoNCE in nats, full batch)."""
    flat = [use for pairs in words for pair in pairs for use in pair]
    layers = torch.from_numpy(use_layers(encoder, flat, readout))
    layers = layers.unflatten(0, (len(words), PASSAGES_PER_WORD, 2))  # (words, passages, 2, L + 1, D)
    logits = torch.zeros(encoder.num_layers + 1, requires_grad=True)
    log_temperature = torch.tensor(-2.0, requires_grad=True)
    optimizer = torch.optim.Adam([logits, log_temperature], lr=0.05)
    targets = torch.arange(PASSAGES_PER_WORD).repeat(len(words))
    for _ in range(150):
        mixed = torch.einsum("wpuld,l->wpud", layers, torch.softmax(logits, 0))
        first, second = F.normalize(mixed, dim=-1).unbind(2)
        scores = first @ second.transpose(1, 2) / log_temperature.exp()
        loss = F.cross_entropy(scores.flatten(0, 1), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return tuple(round(weight, 4) for weight in torch.softmax(logits.detach(), 0).tolist())


def _word_means(encoder: Encoder, words: Sequence[Sequence[CorpusUse]], readout: Readout) -> np.ndarray:
    means = [use_layers(encoder, uses, readout).mean(axis=0) for uses in words]
    # a text of short words only has none
    return np.array(means, dtype=np.float32).reshape(len(words), encoder.num_layers + 1, encoder.config.model.width)


def _is_common_word(word: str) -> bool:
    return word.isalpha() and len(word) >= MIN_LETTERS_OF_COMMON_WORD


def _save(path: Path, statistics: Statistics) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tensors = {"counts": torch.from_numpy(statistics.counts_V), "word_ids": torch.from_numpy(statistics.word_ids_W)}
    for readout in statistics.means:
        tensors[f"mean.{readout}"] = torch.from_numpy(statistics.means[readout]).half()
        tensors[f"word_mean.{readout}"] = torch.from_numpy(statistics.word_means[readout]).half()
    write_state(path, tensors, {})
