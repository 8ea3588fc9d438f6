"""Several uses of one word, held against each other: what the Compare page and `ctxemb compare` show.

N uses, L layers above layer 0, T tokens, D numbers per vector.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import pandas as pd
import torch

from ctxemb.analysis.context_bag import ContextBag
from ctxemb.analysis.senses import SensePairs, labelled_pairs, sense_pairs
from ctxemb.analysis.similarity import RandomPairs, cosine_matrix, random_pair_cosine
from ctxemb.batching import make_batch
from ctxemb.calibration import CorpusUse, Statistics, WordIndex, sample_text, use_layers
from ctxemb.encoder import Encoder, Encoding
from ctxemb.examples import example_words, load_examples
from ctxemb.models.contrastive import Contrastive
from ctxemb.models.reading import Readout
from ctxemb.text import UNK, Tokens
from ctxemb.tokenized import TokenizedCorpus

Centring = Literal["off", "all words", "per word"]
CENTRINGS: tuple[Centring, ...] = get_args(Centring)
NUM_BASELINE_SENTENCES = 200


class TargetError(ValueError):
    """A target word that cannot be compared; the text says why."""


@dataclass(frozen=True)
class Sentence:
    """What the user gives: a sentence, its sense if known, which occurrence of the word is meant (1 = first)."""

    text: str
    sense: str | None = None
    occurrence: int = 1


@dataclass(frozen=True)
class Use:
    """A target word found in an encoded sentence."""

    sentence: Sentence
    encoding: Encoding
    position: int
    num_occurrences: int


@dataclass(frozen=True)
class Comparison:
    """Uses of one word under one reading.

    Attributes:
        uses: the N uses that could be compared.
        cosines_NN: cosine of each pair of uses, after centring; NaN where a vector is zero.
        pairs: same-sense and cross-sense summary of those cosines.
        mean_cosine: mean over all pairs, labelled or not; NaN for a single use.
        layer_pairs: the same summary for every layer, 0 first.
        layer_means: mean cosine over all pairs for every layer, 0 first.
        bag_cosines_NN, bag_pairs: the bag-of-context baseline; None if the checkpoint has no word counts.
    """

    word: str
    uses: list[Use]
    cosines_NN: np.ndarray
    pairs: SensePairs
    mean_cosine: float
    layer_pairs: list[SensePairs]
    layer_means: list[float]
    bag_cosines_NN: np.ndarray | None
    bag_pairs: SensePairs | None


def find_use(sentence: Sentence, encoding: Encoding, word: str) -> Use:
    """Locate the target in its sentence.

    Raises:
        TargetError: if the word is absent, has fewer occurrences than asked for, or is out of vocabulary.
    """
    positions = encoding.positions(word)
    shown = encoding.text if len(encoding.text) <= 80 else encoding.text[:77] + "..."
    if not encoding.tokens:
        raise TargetError("a sentence without any word cannot be compared; type some text or delete the row")
    if not positions:
        raise TargetError(f"“{word}” does not occur in “{shown}”; use the word in exactly this form")
    if not 1 <= sentence.occurrence <= len(positions):
        raise TargetError(
            f"“{word}” occurs {len(positions)} times in “{shown}”, not {sentence.occurrence}; choose one of them"
        )
    position = positions[sentence.occurrence - 1]
    if encoding.oov[position]:
        raise TargetError(
            f"“{word}” is not in this checkpoint's vocabulary, so its vector would mean nothing; choose another word"
        )
    return Use(sentence, encoding, position, len(positions))


def find_uses(encoder: Encoder, sentences: Sequence[Sentence], word: str) -> tuple[list[Use], list[TargetError]]:
    """Encode the sentences and locate the target in each; sentences where it cannot be found are reported."""
    if not word.strip():
        raise TargetError("no target word is given; type the word to compare")
    word, texts = word.strip(), [s.text for s in sentences]
    tokens = [_cut_at_word(encoder, t, cut, word) for t, cut in zip(texts, encoder.tokenize(texts), strict=True)]
    uses, problems = [], []
    for sentence, encoding in zip(sentences, encoder.encode_tokens(texts, tokens), strict=True):
        try:
            uses.append(find_use(sentence, encoding, word))
        except TargetError as problem:
            problems.append(problem)
    return uses, problems


def _cut_at_word(encoder: Encoder, text: str, tokens: Tokens, word: str) -> Tokens:
    """Where words are not written apart, a word that the likeliest cut hides in a longer one is cut out of it."""
    if encoder.config.text.language != "zh" or word in tokens.words or (start := text.find(word)) < 0:
        return tokens
    return encoder.tokenizer.encode_at(text, start, start + len(word))


def example_uses(encoder: Encoder, words: Iterable[str]) -> dict[str, list[Use]]:
    """Uses of example words in their own example sentences, in alphabetical order; words without a use are left out."""
    examples = load_examples(encoder.config.text.language)
    uses = {}
    for word in sorted(words):
        rows = examples[examples.word == word]
        sentences = [Sentence(text, sense) for text, sense in zip(rows.sentence, rows.sense, strict=True)]
        found, _ = find_uses(encoder, sentences, word)
        if found:
            uses[word] = found
    return uses


def compare(
    encoder: Encoder, uses: Sequence[Use], word: str, mean_LD: np.ndarray | None, bag: ContextBag | None
) -> Comparison:
    """Hold uses of a word against each other.

    Args:
        uses: from `find_uses` with the same encoder (its read-out has decided their layers).
        mean_LD: (L + 1, D) to subtract, from `centring_mean`; None for no centring.
        bag: the baseline, from `context_bag`.
    """
    senses = [use.sentence.sense for use in uses]
    layers_LND = np.stack([use.encoding.layers[:, use.position] for use in uses], axis=1)
    if mean_LD is not None:
        layers_LND = layers_LND - mean_LD[:, None]
    cosines_NN = cosine_matrix(encoder.reading.combine(layers_LND))
    by_layer = [cosine_matrix(layer_ND) for layer_ND in layers_LND]
    bag_NN = None
    if bag:
        bag_NN = cosine_matrix(np.stack([bag.vector(use.encoding.ids, use.position) for use in uses]))
    return Comparison(
        word=word,
        uses=list(uses),
        cosines_NN=cosines_NN,
        pairs=sense_pairs(*labelled_pairs(cosines_NN, senses)),
        mean_cosine=_mean_of_pairs(cosines_NN),
        layer_pairs=[sense_pairs(*labelled_pairs(cosines, senses)) for cosines in by_layer],
        layer_means=[_mean_of_pairs(cosines) for cosines in by_layer],
        bag_cosines_NN=bag_NN,
        bag_pairs=None if bag_NN is None else sense_pairs(*labelled_pairs(bag_NN, senses)),
    )


def pairs_table(comparison: Comparison) -> pd.DataFrame:
    """One row a pair of uses: both sentences, both senses, cosine (empty where it is undefined)."""
    first, second = np.triu_indices(len(comparison.uses), k=1)
    sentences = [use.sentence for use in comparison.uses]
    return pd.DataFrame(
        {
            "sentence_1": [sentences[i].text for i in first],
            "sentence_2": [sentences[j].text for j in second],
            "sense_1": [sentences[i].sense for i in first],
            "sense_2": [sentences[j].sense for j in second],
            "cosine": comparison.cosines_NN[first, second],
        }
    )


def context_bag(encoder: Encoder, statistics: Statistics | None) -> ContextBag | None:
    """The bag of context over the checkpoint's own layer 0; None without word counts."""
    if statistics is None:
        return None
    vectors_VE = encoder.model.word_vectors().cpu().numpy()
    return ContextBag.build(vectors_VE, statistics.counts_V)


def centring_mean(
    centring: Centring,
    encoder: Encoder,
    statistics: Statistics | None,
    word: str,
    sample: Callable[[Encoder], TokenizedCorpus] = sample_text,
) -> np.ndarray | None:
    """What centring subtracts, (L + 1, D), for the encoder's read-out; None for `off`.

    Args:
        sample: gives a text to look for uses of words whose mean is not kept with the checkpoint.

    Raises:
        TargetError: if the checkpoint has no statistics or no layer above 0, or the sample no use of the word.
    """
    readout: Readout = encoder.reading.readout
    if centring == "off":
        return None
    if centring == "all words":
        return _mean_of_all_words(statistics, readout)
    if encoder.num_layers == 0:
        raise TargetError(
            f"a {encoder.config.family} encoder gives “{word}” the same vector in every sentence, so centring per word "
            "leaves nothing of it; choose another centring"
        )
    word_id = encoder.tokenizer.word_id(word)
    kept = statistics.word_mean(readout, word_id) if statistics else None
    if kept is not None:
        return kept
    if word_id == UNK:
        raise TargetError(
            f"“{word}” is not in this checkpoint's list of words, by which its uses would be looked up in a text; "
            "centre on all words instead"
        )
    uses = WordIndex(sample(encoder)).uses(word_id)
    if len(uses) < 2:
        raise TargetError(
            f"the sample text has {len(uses)} uses of “{word}”, too few for its mean; centre on all words instead"
        )
    return use_layers(encoder, uses, readout).mean(axis=0)


def random_baselines(
    encoder: Encoder, centring: Centring, statistics: Statistics | None
) -> tuple[RandomPairs, list[RandomPairs]]:
    """Cosine of random words of the example sentences: under the encoder's reading, and at every layer, 0 first.

    Centred per word, only words with a kept mean can take part: the example words themselves.

    Raises:
        TargetError: if the centring needs statistics that the checkpoint has not.
    """
    uses_of_words = _centred_examples if centring == "per word" else _words_of_examples
    layers_LND, words_N = uses_of_words(encoder, statistics)
    if centring == "all words":
        layers_LND = layers_LND - _mean_of_all_words(statistics, encoder.reading.readout)[:, None]
    return (
        _random_pairs(encoder.reading.combine(layers_LND), words_N),
        [_random_pairs(layer_ND, words_N) for layer_ND in layers_LND],
    )


def random_baseline(encoder: Encoder, centring: Centring, statistics: Statistics | None) -> RandomPairs:
    """The first of `random_baselines`."""
    return random_baselines(encoder, centring, statistics)[0]


def influence(encoder: Encoder, use: Use, mean_LD: np.ndarray | None) -> np.ndarray:
    """How far the target's vector moves when each other word is left out: *Why?*

    Returns:
        (T,) values of 1 - cosine, 0 to 2; NaN at the target itself, and everywhere if the vector is zero.
    """
    ids, words = use.encoding.ids, tuple(use.encoding.tokens)
    others = [t for t in range(len(ids)) if t != use.position]
    shortened = [
        CorpusUse(np.delete(ids, t), use.position - (t < use.position), words[:t] + words[t + 1 :]) for t in others
    ]
    layers_NLD = use_layers(encoder, [CorpusUse(ids, use.position, words), *shortened], encoder.reading.readout)
    layers_LND = layers_NLD.swapaxes(0, 1)
    if mean_LD is not None:
        layers_LND = layers_LND - mean_LD[:, None]
    moved_T = np.full(len(ids), np.nan)
    moved_T[others] = 1 - cosine_matrix(encoder.reading.combine(layers_LND))[0, 1:]
    return moved_T


@torch.inference_mode()
def attention(encoder: Encoder, use: Use) -> np.ndarray | None:
    """How much of the attention each other word gets in the target's context: the second answer to *Why?*

    Returns:
        (T,) shares that sum to 1, the mean over heads; NaN at the target. None for a family without attention.
    """
    model = encoder.model
    if not (isinstance(model, Contrastive) and model.config.attention_heads):
        return None
    batch = make_batch([use.encoding.ids]).to(encoder.device)
    shares_T = model.attention(batch)[0, use.position].float().cpu().numpy()
    shares_T[use.position] = np.nan
    return shares_T


def _words_of_examples(encoder: Encoder, statistics: Statistics | None) -> tuple[np.ndarray, np.ndarray]:
    """Every known word of some example sentences: (L + 1, N, D) and N words."""
    examples = load_examples(encoder.config.text.language)
    sample = examples.sentence.sample(min(NUM_BASELINE_SENTENCES, len(examples)), random_state=0).tolist()
    encodings = encoder.encode(sample)
    words = [token.casefold() for e in encodings for token, oov in zip(e.tokens, e.oov, strict=True) if not oov]
    return np.concatenate([e.layers[:, ~e.oov] for e in encodings], axis=1), np.array(words)


def _centred_examples(encoder: Encoder, statistics: Statistics | None) -> tuple[np.ndarray, np.ndarray]:
    """Every use of an example word, less the kept mean of that word: (L + 1, N, D) and N words."""
    means = {}
    for word in example_words(encoder.config.text.language):
        word_id = encoder.tokenizer.word_id(word)
        kept_LD = statistics.word_mean(encoder.reading.readout, word_id) if statistics else None
        if kept_LD is not None:
            means[word] = kept_LD
    uses_of = example_uses(encoder, means)
    if len(uses_of) < 2:
        raise TargetError("this checkpoint keeps no means of single words; use another centring")
    layers = [use.encoding.layers[:, use.position] - means[word] for word, uses in uses_of.items() for use in uses]
    return np.stack(layers, axis=1), np.array([word for word, uses in uses_of.items() for _ in uses])


def _random_pairs(vectors_ND: np.ndarray, words_N: np.ndarray) -> RandomPairs:
    # layer 0, centred per word: nothing is left
    has_direction_N = np.linalg.norm(vectors_ND, axis=1) > 1e-6
    if len(set(words_N[has_direction_N])) < 2:
        return RandomPairs(np.nan, np.nan, 0)
    return random_pair_cosine(vectors_ND, words_N)


def _mean_of_all_words(statistics: Statistics | None, readout: Readout) -> np.ndarray:
    if statistics is None:
        raise TargetError("this checkpoint was never calibrated, so it has no mean of all words; use centring off")
    return statistics.means[readout]


def _mean_of_pairs(cosines_NN: np.ndarray) -> float:
    values = cosines_NN[np.triu_indices(len(cosines_NN), k=1)]
    values = values[~np.isnan(values)]
    return float(values.mean()) if len(values) else np.nan
