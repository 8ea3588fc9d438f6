"""The trainings behind the article's table: one folder each, trained once, resumed if they were interrupted.

Both opponents read the same corpus with the same vocabulary, in one process and on the same number of threads.
"""

import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from ctxemb.atomic import replace_file
from ctxemb.corpora import Corpus
from ctxemb.distributed import World
from ctxemb.progress import EndRecord
from ctxemb.recipes import Material, Recipe, initial_vectors, prepare, run
from ctxemb.tokenized import content_key
from ctxemb.training import TrainingError

TRAINED = "trained.json"
OnProgress = Callable[[str], None]


@dataclass(frozen=True)
class Trained:
    """A finished training.

    Attributes:
        checkpoint: its best checkpoint.
        seconds: by the clock on the wall, from the tokenised corpus to the end. Not in it: the initial word vectors.
    """

    checkpoint: Path
    seconds: float


@dataclass(frozen=True)
class Opponents:
    """Two recipes and what they share.

    Attributes:
        material: vocabulary and tokenised corpus of both; lexicon and initial vectors of the contrastive encoder.
        work: where the trainings are kept.
        content: what every training depends on besides its recipe.
    """

    control: Recipe
    contrastive: Recipe
    material: Material
    work: Path
    content: tuple[str, ...]

    @property
    def recipes(self) -> tuple[Recipe, Recipe]:
        """The control's and the contrastive encoder's."""
        return self.control, self.contrastive

    @property
    def start_seconds(self) -> float:
        """What the initial vectors of the contrastive encoder cost; 0 if it starts from random ones."""
        return self.material.initial.seconds if self.material.initial else 0.0

    def train(self, recipe: Recipe, seed: int, on_progress: OnProgress) -> Trained:
        """One training; if it was finished earlier, nothing is done.

        Raises:
            TrainingError: if the corpus is too small, or the loss stays non-finite.
        """
        settings = recipe.model_dump_json(exclude={"description", "corpora", "reading"})
        key = content_key(*self.content, settings)[:12]
        out = self.work / f"{recipe.name}-{key}-seed{seed}"
        if not (out / TRAINED).exists():
            seconds = self._seconds(recipe, seed, out, on_progress)
            replace_file(out / TRAINED, json.dumps({"seconds": round(seconds, 4)}).encode())
        return Trained(out / "best", json.loads((out / TRAINED).read_text())["seconds"])

    def _seconds(self, recipe: Recipe, seed: int, out: Path, on_progress: OnProgress) -> float:
        training = recipe.training.model_copy(update={"seed": seed})
        if recipe.family == "static":
            shutil.rmtree(out, ignore_errors=True)  # Word2Vec is trained in one piece: what is there is a ruin
        on_progress(f"{recipe.name}, seed {seed}")
        started = time.perf_counter()
        records = run(
            recipe.model_copy(update={"training": training}),
            self.material,
            out,
            World(0, 1, torch.device("cpu")),
        )
        preparation = time.perf_counter() - started
        for record in records:
            if isinstance(record, EndRecord):
                return preparation + record.seconds
            on_progress(f"{recipe.name}, seed {seed}: step {record.step:,}")
        raise TrainingError(f"the training in {out} ended without saying so; delete the folder and start again")


def prepare_opponents(
    control: Recipe, contrastive: Recipe, corpora: Sequence[Corpus], work: Path, cache: Path, on_progress: OnProgress
) -> Opponents:
    """Read the corpus and train the initial vectors of the contrastive encoder, where that was not done before.

    Raises:
        ValueError: if the two recipes would not have the same vocabulary.
    """
    if control.text != contrastive.text:
        raise ValueError(f"{control.name} and {contrastive.name} read text differently, so they cannot be compared")
    on_progress("reading the corpora")
    material = prepare(contrastive.model_copy(update={"initial": None}), corpora, cache)
    content = [corpus.fingerprint for corpus in corpora] + [f"{torch.get_num_threads()} threads"]
    if contrastive.initial:
        on_progress("initial word vectors")
        # not those of the cache, which may have been trained on another number of threads
        of_text = [*content, contrastive.text.model_dump_json()]
        initial = initial_vectors(contrastive.initial, material.corpus, len(material.tokenizer), of_text, work)
        material = replace(material, initial=initial)
    return Opponents(control, contrastive, material, work, tuple(content))
