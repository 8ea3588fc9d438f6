"""What the article's table measures, each measure for both opponents alike; what cannot be measured says why.

V words, most frequent first; D numbers per vector.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ctxemb.analysis.isotropy import top_energy
from ctxemb.corpora import CorpusError
from ctxemb.encoder import Encoder
from ctxemb.evaluation.analogies import Question, load_analogies, score_analogies
from ctxemb.evaluation.fewshot import FEW_SHOT_TASKS, FewShotTask, few_shot_f1, mean_vectors
from ctxemb.evaluation.table import Aim
from ctxemb.evaluation.words import synonym_hit_rate
from ctxemb.lexicon import IdLexicon
from ctxemb.lexicon.ids import key_ids
from ctxemb.recipes import Material, Recipe
from ctxemb.text import Language, WordTokenizer

ANALOGIES: dict[Language, tuple[str, ...]] = {
    "en": ("google", "bats"),
    "zh": ("ca8-semantic", "ca8-morphological", "ca-translated"),
}
FEW_SHOT: dict[Language, tuple[str, ...]] = {"en": ("trec", "ag-news"), "zh": ("tnews", "thucnews")}


@dataclass(frozen=True)
class Candidate:
    """A trained encoder, and one vector for each word.

    Attributes:
        name: for people who wait.
        encoder: with the reading that texts are read with.
        words: V strings, the most frequent first.
        vectors_VD: (V, D).
        seconds: of its training.
        start_seconds: of the word vectors that it started from.
    """

    name: str
    encoder: Encoder
    words: Sequence[str]
    vectors_VD: np.ndarray = field(repr=False)
    seconds: float
    start_seconds: float = 0.0


@dataclass(frozen=True)
class Value:
    """A number, and the share of the questions (0 to 1) that it is about; None where all are."""

    number: float
    coverage: float | None = None


@dataclass(frozen=True)
class Measure:
    """A row of the table.

    Attributes:
        name, title, unit, aim: see `Row`.
        of: measures a candidate; None if the data is missing.
        problem: which data is missing, and where to get it.
    """

    name: str
    title: str
    of: Callable[[Candidate], Value] | None
    aim: Aim | None = None
    unit: str = "share"
    problem: str = ""


def open_measures(recipe: Recipe, material: Material, num_frequent: int) -> list[Measure]:
    """All measures for a contrastive recipe, in the order of the article; the data is read here, once.

    Args:
        recipe: of the contrastive encoder; its language decides the questions.
        material: of the same recipe, with its lexicon.
        num_frequent: how many of the most frequent words the energy is of.
    """
    language = recipe.text.language
    return [
        *_synonyms(material),
        *(_analogies(name) for name in ANALOGIES[language]),
        Measure(
            "energy",
            f"top-10 singular-value energy of the {num_frequent:,} most frequent words (squared values)",
            lambda candidate: Value(top_energy(candidate.vectors_VD[:num_frequent]).squared),
            Aim(max_ratio=0.55, max_value=0.43),
        ),
        Measure(
            "energy:plain",
            "the same of plain singular values",
            lambda candidate: Value(top_energy(candidate.vectors_VD[:num_frequent]).plain),
        ),
        *(_few_shot(name) for name in FEW_SHOT[language]),
        Measure(
            "seconds",
            "training time, the Word2Vec start included",
            lambda candidate: Value(candidate.seconds + candidate.start_seconds),
            Aim(max_ratio=1.0),
            unit="seconds",
        ),
        Measure(
            "seconds:without-start",
            "training time without the Word2Vec start",
            lambda candidate: Value(candidate.seconds),
            unit="seconds",
        ),
    ]


def synonym_pairs(lexicon: IdLexicon, tokenizer: WordTokenizer) -> list[tuple[str, str]]:
    """Every two words of a lexicon that are synonyms or aliases, as the vocabulary spells them."""
    firsts, seconds = key_ids(lexicon.synonym_keys)
    return [(tokenizer.word(a), tokenizer.word(b)) for a, b in zip(firsts.tolist(), seconds.tolist(), strict=True)]


def _synonyms(material: Material) -> Iterable[Measure]:
    titles = {
        "synonyms": "synonym among the 10 nearest words, all groups of the lexicon (the article's protocol)",
        "synonyms:held-out": "the same, only groups held out from training",
    }
    # all groups, also those that the division into two parts had to drop
    everything = material.whole_lexicon
    if everything is None or material.lexicon is None:
        return [Measure(name, title, None, problem="the recipe has no lexicon") for name, title in titles.items()]
    parts = zip((everything, material.lexicon.held_out), (Aim(min_gain=0.19), Aim(min_gain=0)), strict=True)
    return [
        Measure(name, title, partial(_synonym_value, pairs=synonym_pairs(lexicon, material.tokenizer)), aim)
        for (name, title), (lexicon, aim) in zip(titles.items(), parts, strict=True)
    ]


def _synonym_value(candidate: Candidate, pairs: Sequence[tuple[str, str]]) -> Value:
    score = synonym_hit_rate(candidate.vectors_VD, candidate.words, pairs)
    return Value(score.hit_rate, score.coverage)


def _analogies(name: str) -> Measure:
    key, title, aim = f"analogies:{name}", f"analogies, {name}, 3CosAdd accuracy", Aim(min_gain=0.10)
    try:
        questions = load_analogies(name)
    except CorpusError as error:
        return Measure(key, title, None, aim, problem=str(error))
    return Measure(key, title, partial(_analogy_value, questions=questions), aim)


def _analogy_value(candidate: Candidate, questions: Sequence[Question]) -> Value:
    score = score_analogies(questions, candidate.words, candidate.vectors_VD).total
    return Value(score.accuracy, score.coverage)


def _few_shot(name: str) -> Measure:
    key, title, aim = f"few-shot:{name}", f"few-shot {name}, macro F1 of 200 examples", Aim(min_gain=0.05)
    try:
        task = FEW_SHOT_TASKS[name](None)
    except CorpusError as error:
        return Measure(key, title, None, aim, problem=str(error))
    return Measure(key, title, partial(_few_shot_value, task=task), aim)


def _few_shot_value(candidate: Candidate, task: FewShotTask) -> Value:
    pool_ND, test_MD = (
        candidate.encoder.reading.combine(mean_vectors(candidate.encoder, part.texts).swapaxes(0, 1))
        for part in (task.pool, task.test)
    )
    return Value(few_shot_f1(pool_ND, task.pool.labels_N, test_MD, task.test.labels_N).mean)
