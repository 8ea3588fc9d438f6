"""Train what is not trained yet, measure it, and put the article's table together.

V vocabulary, D numbers per vector.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ctxemb.corpora import Corpus
from ctxemb.encoder import Encoder
from ctxemb.evaluation.context_average import context_averages
from ctxemb.evaluation.measures import Candidate, Measure, Value, open_measures
from ctxemb.evaluation.table import ArticleTable, Row, Trial
from ctxemb.evaluation.table_training import OnProgress, Opponents, prepare_opponents
from ctxemb.models.reading import Reading
from ctxemb.recipes import Material, Recipe
from ctxemb.text import NUM_SPECIAL
from ctxemb.word2vec import Word2VecConfig

READING = Reading(readout="here", layer="last")
CONTEXT_SEED = 0


@dataclass(frozen=True)
class TableConfig:
    """How much is trained and measured.

    Attributes:
        num_seeds: trainings of each opponent, with the seeds 0, 1, ...
        num_contexts: uses that a word's vector is the mean of, at most.
        min_count: rarer words get no vector: they are no candidates, and questions with them are left out.
        num_frequent: how many of the most frequent words the energy is of.
        shares: of their length at which both are trained once more, to see what time buys; above 0, below 1.
    """

    num_seeds: int = 3
    num_contexts: int = 20
    min_count: int = 30
    num_frequent: int = 5_000
    shares: tuple[float, ...] = ()


def build_table(
    control: Recipe,
    contrastive: Recipe,
    corpora: Sequence[Corpus],
    work: Path,
    cache: Path,
    config: TableConfig,
    on_progress: OnProgress = lambda _: None,
) -> ArticleTable:
    """The table for two recipes on the same corpora.

    Args:
        work: where the trainings are kept; those that are there are not repeated.
        cache: of tokenised text.
        on_progress: called with what is being done.

    Raises:
        ValueError: if the recipes do not fit each other, or no word is frequent enough to be measured.
        CorpusError: if the corpora hold no text.
        LexiconError: if the lexicon is missing.
    """
    opponents = prepare_opponents(control, contrastive, corpora, work, cache, on_progress)
    material = opponents.material
    ids = frequent_words(material, config.min_count)
    measures = open_measures(contrastive, material, min(config.num_frequent, len(ids)))
    seeds = tuple(range(config.num_seeds))
    shorter = {
        share: prepare_opponents(
            shortened(control, share), shortened(contrastive, share), corpora, work, cache, on_progress
        )
        for share in config.shares
    }
    # all trainings first, so that nothing else runs beside the clock
    for trained, of_seeds in [(opponents, seeds), *((others, (0,)) for others in shorter.values())]:
        for recipe in trained.recipes:
            for seed in of_seeds:
                trained.train(recipe, seed, on_progress)
    columns, trials = [], []
    for side, recipe in enumerate(opponents.recipes):
        candidates = [_candidate(opponents, recipe, seed, ids, config, on_progress) for seed in seeds]
        columns.append([_measured(candidate, measures, on_progress) for candidate in candidates])
        for share, others in sorted(shorter.items()):
            candidate = _candidate(others, others.recipes[side], 0, ids, config, on_progress)
            trials.append(_trial(recipe, share, _measured(candidate, measures, on_progress)))
        if shorter:
            trials.append(_trial(recipe, 1.0, columns[-1][0]))
    return ArticleTable(
        language=contrastive.text.language,
        control=control.name,
        contrastive=contrastive.name,
        corpora=tuple(corpus.name for corpus in corpora),
        seeds=seeds,
        threads=torch.get_num_threads(),
        num_tokens=material.corpus.report.num_tokens,
        num_words=len(ids),
        notes=_notes(config, opponents),
        rows=tuple(_row(measure, *columns) for measure in measures),
        trade_off=tuple(trials),
    )


def shortened(recipe: Recipe, share: float) -> Recipe:
    """A recipe with a share (above 0 to 1) of its optimiser steps or epochs, at least one; its start likewise."""
    training = recipe.training
    if isinstance(training, Word2VecConfig):
        shorter = _fewer_epochs(training, share)
    else:
        steps = {name: getattr(training, name) for name in ("max_steps", "warmup_steps")}
        shorter = training.model_copy(
            update={name: max(1, round(share * number)) for name, number in steps.items() if number}
        )
        if not training.max_steps:
            shorter = shorter.model_copy(update={"num_epochs": max(1, round(share * training.num_epochs))})
    initial = _fewer_epochs(recipe.initial, share) if recipe.initial else None
    return recipe.model_copy(update={"training": shorter, "initial": initial})


def _fewer_epochs(config: Word2VecConfig, share: float) -> Word2VecConfig:
    return config.model_copy(update={"num_epochs": max(1, round(share * config.num_epochs))})


def frequent_words(material: Material, min_count: int) -> np.ndarray:
    """Ids of the words that the corpus has at least `min_count` times, the most frequent first.

    Raises:
        ValueError: if there are fewer than two.
    """
    counts_V = np.bincount(material.corpus.ids, minlength=len(material.tokenizer))
    counts_V[:NUM_SPECIAL] = 0
    ids = np.argsort(-counts_V, kind="stable")[: np.count_nonzero(counts_V >= max(min_count, 1))]
    if len(ids) < 2:
        raise ValueError(f"{len(ids)} words occur {min_count} times in the text; use more text or a lower min_count")
    return ids


def _candidate(
    opponents: Opponents, recipe: Recipe, seed: int, ids: np.ndarray, config: TableConfig, on_progress: OnProgress
) -> Candidate:
    trained = opponents.train(recipe, seed, on_progress)
    encoder = Encoder.load(trained.checkpoint, device="cpu").with_reading(READING)
    words = [encoder.tokenizer.word(word_id) for word_id in ids.tolist()]
    name = f"{recipe.name}, seed {seed}"
    if recipe.family == "static":
        return Candidate(name, encoder, words, encoder.model.word_vectors().numpy()[ids], trained.seconds)

    def on_sentences(num_done: int) -> None:
        on_progress(f"{name}: averaging contexts, {num_done:,} sentences")

    corpus = opponents.material.corpus
    means_VD, _ = context_averages(encoder, corpus, config.num_contexts, CONTEXT_SEED, on_sentences)
    return Candidate(name, encoder, words, means_VD[ids], trained.seconds, opponents.start_seconds)


def _measured(candidate: Candidate, measures: Sequence[Measure], on_progress: OnProgress) -> dict[str, Value]:
    values = {}
    for measure in measures:
        if measure.of:
            on_progress(f"{candidate.name}: {measure.name}")
            values[measure.name] = measure.of(candidate)
    return values


def _trial(recipe: Recipe, share: float, values: dict[str, Value]) -> Trial:
    numbers = {name: value.number for name, value in values.items()}
    return Trial(recipe.name, share, numbers["seconds"], numbers)


def _row(measure: Measure, of_control: Sequence[dict[str, Value]], of_contrastive: Sequence[dict[str, Value]]) -> Row:
    control, contrastive = (
        [values[measure.name] for values in seeds if measure.name in values] for seeds in (of_control, of_contrastive)
    )
    return Row(
        name=measure.name,
        title=measure.title,
        unit=measure.unit,
        control=tuple(value.number for value in control),
        contrastive=tuple(value.number for value in contrastive),
        aim=measure.aim,
        coverage=control[0].coverage if control else None,
        problem=measure.problem,
    )


def _notes(config: TableConfig, opponents: Opponents) -> tuple[str, ...]:
    notes = [
        f"A word's vector is its row of the table ({opponents.control.name}), or the mean of at most "
        f"{config.num_contexts} of its uses in the corpus, read-out here, last layer ({opponents.contrastive.name}). "
        "Neither is centred.",
        f"Only words that occur at least {config.min_count} times take part, as questions and as answers.",
        "Few-shot: the mean over the known words of a text, scaled to length 1; logistic regression, mean of 10 draws.",
        "Time is that of one process from the tokenised corpus on, on this machine. All seeds have the same start.",
    ]
    lexicon = opponents.material.lexicon
    if lexicon:
        notes.append(
            "No word of a held-out synonym group was learnt from."
            if lexicon.is_word_disjoint
            else "No pair of a held-out synonym group was learnt from, but some of its words were, in other pairs."
        )
    return tuple(notes)
