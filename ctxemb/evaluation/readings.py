"""Every way of reading a checkpoint, side by side with the bag of context: which of them separates senses?

The columns are our own example sentences and the public test sets of the checkpoint's language (columns.py).

N targets, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from ctxemb.analysis.senses import SensePairs, labelled_pairs, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.calibration import Statistics, load_statistics
from ctxemb.comparison import CENTRINGS, Centring, TargetError, Use, centring_mean, context_bag, example_uses
from ctxemb.encoder import Encoder
from ctxemb.evaluation.bag_reader import BagReader
from ctxemb.evaluation.columns import Column
from ctxemb.evaluation.targets import TargetVectors, encode_targets
from ctxemb.examples import example_words
from ctxemb.models.reading import Reading, Readout
from ctxemb.text import UNK

BAG = "bag of context"
CONTROL = "static control (layer 0)"
LAYER_ZERO = Reading(layer=0)
BAG_READING = Reading(readout="context")  # the bag leaves the word out


@dataclass(frozen=True)
class ReadingScore:
    """One row of the table.

    Attributes:
        reading: read-out, layer and centring in words, or `bag of context`.
        example_auc: chance that a same-sense pair of the example sentences is closer than a cross-sense pair.
        example_gap: same-sense minus cross-sense mean cosine of the example sentences.
        example_same: the same-sense mean.
        example_cross: the cross-sense mean.
        tests: score of each test set, 0 to 1, by its column's name. None where the centring needs more uses of a
            word than the test set has; NaN where the checkpoint knows too few of its words.
    """

    reading: str
    example_auc: float
    example_gap: float
    example_same: float
    example_cross: float
    tests: Mapping[str, float | None]


def readings_of(encoder: Encoder, readout: Readout) -> list[Reading]:
    """The readings of a read-out: each layer above 0, their mean, and the learnt mix if there is one."""
    if encoder.num_layers == 0:
        return []  # the static control is all there is
    layers: list[int | Literal["mean", "weighted"]] = [*range(1, encoder.num_layers + 1), "mean"]
    if readout in encoder.config.layer_weights:
        layers.append("weighted")
    return [encoder.reading_for(readout, layer) for layer in layers]


def score_readings(
    encoder: Encoder, columns: Sequence[Column], on_progress: Callable[[str], None] = lambda _: None
) -> Iterator[ReadingScore]:
    """Score every reading and centring on the example sentences and on test sets.

    Layer 0 is the static control: it is the same in every context. The bag of context is the last row. Centring per
    word subtracts the kept mean for the example sentences and the mean of the test set's own uses elsewhere; neither
    looks at a sense label.

    Args:
        columns: from `open_columns`; none where no test set is here.
        on_progress: called with what is read next.

    Raises:
        TargetError: if the checkpoint was never calibrated, or knows no example word.
    """
    statistics = load_statistics(encoder)
    first, *_ = encoder.config.model.readouts
    uses: dict[str, list[Use]] = {}
    for readout in encoder.config.model.readouts:
        reader = encoder.with_reading(Reading(readout=readout))
        # also where every word has a vector: the mean that centring subtracts is of uses found by id
        listed = [w for w in example_words(encoder.config.text.language) if encoder.tokenizer.word_id(w) != UNK]
        uses = example_uses(reader, listed)
        if not uses:
            raise TargetError("none of the example words is in this checkpoint's vocabulary; train it on more text")
        found: list[tuple[Column, TargetVectors]] = []
        for column in columns:
            on_progress(f"{readout}: {column.title}")
            found.append((column, encode_targets(reader, column.targets)))
        if readout == first:  # layer 0 is the same for all
            tests = {column.name: _test_score(column, vectors, LAYER_ZERO) for column, vectors in found}
            yield _row(CONTROL, _example_pairs(uses, lambda use: use.encoding.layers[0, use.position]), tests)
        for reading in readings_of(encoder, readout):
            for centring in CENTRINGS:
                yield _score(encoder.with_reading(reading), centring, statistics, uses, found)
    bag = context_bag(encoder, statistics)
    if bag:
        on_progress(BAG)
        bag_reader = BagReader(encoder.tokenizer, bag)
        tests = {c.name: _test_score(c, encode_targets(bag_reader, c.targets), BAG_READING) for c in columns}
        yield _row(BAG, _example_pairs(uses, lambda use: bag.vector(use.encoding.ids, use.position)), tests)


def best_reading(scores: Sequence[ReadingScore]) -> ReadingScore:
    """The reading of the encoder itself that does best on the first test set (on the examples, without one)."""
    own = [score for score in scores if score.reading != BAG]
    firsts = [next(iter(score.tests.values()), None) for score in own]
    if any(first is None or np.isnan(first) for first in firsts):
        return max(own, key=lambda score: score.example_auc)
    return own[int(np.argmax(np.array(firsts, dtype=float)))]


def as_rows(scores: Sequence[ReadingScore]) -> list[dict[str, Any]]:
    """Rounded rows for metrics.json, where an undefined number is null."""
    return [_rounded(asdict(score)) for score in scores]


def from_rows(rows: Sequence[Mapping[str, Any]]) -> list[ReadingScore]:
    """The inverse of `as_rows`; also of rows from the time when CoarseWSD-20 was the only test set."""
    scores = []
    for row in rows:
        values: dict[str, Any] = {name: np.nan if value is None else value for name, value in row.items()}
        if "dev_recall" in row:
            values["tests"] = {"coarsewsd-20:dev": values.pop("dev_recall")}
        scores.append(ReadingScore(**values))
    return scores


def _rounded(value: Any) -> Any:
    match value:
        case dict():
            return {name: _rounded(inner) for name, inner in value.items()}
        case float():
            return round(value, 4) if np.isfinite(value) else None
    return value


def _score(
    encoder: Encoder,
    centring: Centring,
    statistics: Statistics | None,
    uses: dict[str, list[Use]],
    found: Sequence[tuple[Column, TargetVectors]],
) -> ReadingScore:
    means = {word: centring_mean(centring, encoder, statistics, word) for word in uses}

    def example_vector(use: Use) -> np.ndarray:
        mean_LD = means[use.encoding.tokens[use.position].casefold()]
        layers_LD = use.encoding.layers[:, use.position]
        return encoder.reading.combine(layers_LD if mean_LD is None else layers_LD - mean_LD)

    mean_LD = centring_mean(centring, encoder, statistics, "") if centring == "all words" else None
    tests = {column.name: _test_score(column, vectors, encoder.reading, centring, mean_LD) for column, vectors in found}
    name = f"{encoder.reading.readout}, layer {encoder.reading.layer}, centred {centring}"
    return _row(name, _example_pairs(uses, example_vector), tests)


def _test_score(
    column: Column,
    vectors: TargetVectors,
    reading: Reading,
    centring: Centring = "off",
    mean_LD: np.ndarray | None = None,
) -> float | None:
    """The column's score; `mean_LD` is subtracted if it is given."""
    vectors_ND = reading.combine(vectors.vectors_NLD.swapaxes(0, 1))
    known_N = vectors.known_N | (not reading.sees_word)
    if mean_LD is not None:
        vectors_ND = vectors_ND - reading.combine(mean_LD)
    if centring == "per word":
        if column.groups is None:
            return None
        vectors_ND = column.groups.centre(vectors_ND, known_N)
    return column.score(vectors_ND, known_N)


def _row(name: str, pairs: SensePairs, tests: Mapping[str, float | None]) -> ReadingScore:
    return ReadingScore(name, pairs.auc, pairs.gap, pairs.same_mean, pairs.cross_mean, tests)


def _example_pairs(uses: dict[str, list[Use]], vector: Callable[[Use], np.ndarray]) -> SensePairs:
    """Pairs within each word, pooled over words."""
    parts = [
        labelled_pairs(cosine_matrix(np.stack([vector(use) for use in found])), [use.sentence.sense for use in found])
        for found in uses.values()
    ]
    return sense_pairs(np.concatenate([cosines for cosines, _ in parts]), np.concatenate([same for _, same in parts]))
