"""Every way of reading a checkpoint, side by side with the bag of context: which of them separates senses?"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ctxemb.analysis.senses import SensePairs, labelled_pairs, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.calibration import Statistics, load_statistics
from ctxemb.comparison import CENTRINGS, Centring, Sentence, TargetError, Use, centring_mean, context_bag, find_uses
from ctxemb.encoder import Encoder
from ctxemb.evaluation.coarsewsd import (
    WordTask,
    WordVectors,
    dev_recall,
    encode_task,
    load_coarsewsd,
    most_frequent_sense_recall,
)
from ctxemb.examples import load_examples
from ctxemb.models.bilm import READOUTS, Readout
from ctxemb.models.reading import Reading

BAG = "bag of context"


@dataclass(frozen=True)
class ReadingScore:
    """One row of the table.

    Attributes:
        reading: read-out, layer and centring in words, or `bag of context`.
        example_auc: chance that a same-sense pair of the example sentences is closer than a cross-sense pair.
        example_gap: same-sense minus cross-sense mean cosine of the example sentences.
        dev_recall: macro 1-NN sense recall on the CoarseWSD-20 dev part; None if that data is not here.
    """

    reading: str
    example_auc: float
    example_gap: float
    example_same: float
    example_cross: float
    dev_recall: float | None


def readings_of(encoder: Encoder, readout: Readout) -> list[Reading]:
    """The readings of a read-out: each layer above 0, their mean, and the learnt mix if there is one."""
    layers: list[Any] = [*range(1, encoder.num_layers + 1), "mean"]
    if readout in encoder.config.layer_weights:
        layers.append("weighted")
    return [encoder.reading_for(readout, layer) for layer in layers]


def score_readings(
    encoder: Encoder, coarsewsd_folder: Path | None, on_progress: Callable[[str], None] = lambda _: None
) -> Iterator[ReadingScore]:
    """Score every reading and centring on the example sentences and, if its folder is given, on CoarseWSD-20.

    Layer 0 with the read-out `here` is the static control: it is the same in every context. The bag of context is
    the last row. Centring per word subtracts the kept mean for the example sentences, and the mean of the index
    sentences for CoarseWSD-20; neither looks at a sense label.

    Raises:
        CorpusError: if the folder holds no CoarseWSD-20.
        TargetError: if the checkpoint was never calibrated, or knows no example word.
    """
    statistics = load_statistics(encoder)
    bag = context_bag(encoder, statistics)
    tasks = load_coarsewsd(coarsewsd_folder) if coarsewsd_folder else []
    uses: dict[str, list[Use]] = {}
    bag_scores: list[float] = []
    for readout in READOUTS:
        uses = _example_uses(encoder.with_reading(Reading(readout=readout)))
        vectors: list[WordVectors] = []
        for task in tasks:
            on_progress(f"{readout}: {task.word}")
            vectors.append(encode_task(encoder.with_reading(Reading(readout=readout)), task, bag))
        if readout == "here":
            yield _row(
                "static control (layer 0)",
                _example_pairs(uses, lambda use: use.encoding.layers[0, use.position]),
                [dev_recall(v.task, v.layers_LSD[0]) for v in vectors],
            )
        for reading in readings_of(encoder, readout):
            for centring in CENTRINGS:
                yield _score(encoder.with_reading(reading), centring, statistics, uses, vectors)
        bag_scores = [dev_recall(v.task, v.bag_SE) for v in vectors if v.bag_SE is not None]
    if bag:
        yield _row(BAG, _example_pairs(uses, lambda use: bag.vector(use.encoding.ids, use.position)), bag_scores)


def most_frequent_sense(tasks: list[WordTask]) -> float:
    """Macro recall of the most-frequent-sense baseline, averaged over words."""
    return float(np.mean([most_frequent_sense_recall(task) for task in tasks]))


def best_reading(scores: list[ReadingScore]) -> ReadingScore:
    """The reading of the encoder itself that does best on the dev part (on the examples, without it)."""
    own = [score for score in scores if score.reading != BAG]
    return max(own, key=lambda score: score.dev_recall if score.dev_recall is not None else score.example_auc)


def as_rows(scores: list[ReadingScore]) -> list[dict[str, Any]]:
    """Rounded rows for metrics.json."""
    return [
        {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(score).items()}
        for score in scores
    ]


def _score(
    encoder: Encoder,
    centring: Centring,
    statistics: Statistics | None,
    uses: dict[str, list[Use]],
    vectors: list[WordVectors],
) -> ReadingScore:
    means = {word: centring_mean(centring, encoder, statistics, word) for word in uses}

    def example_vector(use: Use) -> np.ndarray:
        mean_LD = means[use.encoding.tokens[use.position].casefold()]
        layers_LD = use.encoding.layers[:, use.position]
        return encoder.reading.combine(layers_LD if mean_LD is None else layers_LD - mean_LD)

    recalls = []
    for word in vectors:
        mean_LD = None
        if centring == "per word":
            mean_LD = word.layers_LSD[:, ~word.task.is_dev].mean(axis=1)
        elif centring == "all words":
            mean_LD = centring_mean(centring, encoder, statistics, word.task.word)
        layers_LSD = word.layers_LSD if mean_LD is None else word.layers_LSD - mean_LD[:, None]
        recalls.append(dev_recall(word.task, encoder.reading.combine(layers_LSD)))
    name = f"{encoder.reading.readout}, layer {encoder.reading.layer}, centred {centring}"
    return _row(name, _example_pairs(uses, example_vector), recalls)


def _row(name: str, pairs: SensePairs, recalls: list[float]) -> ReadingScore:
    recall = float(np.mean(recalls)) if recalls else None
    return ReadingScore(name, pairs.auc, pairs.gap, pairs.same_mean, pairs.cross_mean, recall)


def _example_uses(encoder: Encoder) -> dict[str, list[Use]]:
    uses = {}
    for word, rows in load_examples(encoder.config.text.language).groupby("word"):
        sentences = [Sentence(text, sense) for text, sense in zip(rows.sentence, rows.sense, strict=True)]
        uses[str(word)], _ = find_uses(encoder, sentences, str(word))
    if not any(uses.values()):
        raise TargetError("none of the example words is in this checkpoint's vocabulary; train it on more text")
    return {word: found for word, found in uses.items() if found}


def _example_pairs(uses: dict[str, list[Use]], vector: Callable[[Use], np.ndarray]) -> SensePairs:
    """Pairs within each word, pooled over words."""
    parts = [
        labelled_pairs(cosine_matrix(np.stack([vector(use) for use in found])), [use.sentence.sense for use in found])
        for found in uses.values()
    ]
    return sense_pairs(np.concatenate([cosines for cosines, _ in parts]), np.concatenate([same for _, same in parts]))
