"""Training a contrastive encoder: anchors a second, and what more negatives cost in memory.

An anchor is a use of a word that is held against a positive and negatives of its own. Ours is the library's own
`train` at the sizes of a recipe: both sides of each of its R pairs are anchors, 2R a step, with the other R - 1 pairs,
random words and antonyms as negatives, a teacher and a lexicon. The plain loop (`plain_contrastive.py`) has 64 anchors
a step with 8 negatives each. Both read the same text, cropped alike.

Speed does not depend on what is learnt, so initial vectors are random and the lexicon is made up: neighbours in the
vocabulary are synonyms, and every use has a positive in another context, which is the most work there can be.
"""

import argparse
import itertools
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from benchmarks import plain_contrastive
from benchmarks.report import Row, ratio_row
from benchmarks.sizes import FULL, QUICK, Sizes
from benchmarks.text import Text, load_text
from benchmarks.timing import best_rates, slices
from ctxemb.distributed import World
from ctxemb.lexicon import Entry, clean
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.progress import ContrastiveStepRecord
from ctxemb.recipes import RECIPES, Recipe, with_settings
from ctxemb.training import ContrastiveLearning, ContrastiveTrainingConfig, train

RECIPE = "en-contrastive"
AIM = 8
FEW_NEGATIVES, MANY_NEGATIVES = 8, 100
MEMORY_AIM = 1.1
MEMORY_STEPS = 4
MEMORY_RUNS = 5
STEPS = 1_000_000  # more than are timed


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Two rows of speed, one of memory."""
    recipe, text = _recipe(sizes), load_text(sizes, folder)

    def ours(name: str, **changes: object) -> Iterator[int]:
        objective = _objective(recipe, text, **changes)
        for record in train(objective, folder / f"contrastive-{name}", World(0, 1, torch.device("cpu"))):
            if isinstance(record, ContrastiveStepRecord):
                yield record.num_anchors

    runs = {
        "ours": ours("ours"),
        "float32": ours("float32", precision="float32"),
        "plain": plain_contrastive.train(_objective(recipe, text)),
    }
    for steps in runs.values():
        next(steps)  # the first step also prepares the text
    rates = best_rates({name: slices(steps, sizes.num_anchors) for name, steps in runs.items()}, sizes.num_rounds)
    yield ratio_row("contrastive training, anchors/s", rates["ours"], rates["plain"], AIM)
    yield ratio_row("the same in float32, anchors/s", rates["float32"], rates["plain"])
    few, many = (
        # what the allocator keeps varies by a tenth from one process to the next
        statistics.median(_step_bytes(sizes, folder, number) for _ in range(MEMORY_RUNS))
        for number in (FEW_NEGATIVES, MANY_NEGATIVES)
    )
    yield Row(
        f"memory of a contrastive step, {MANY_NEGATIVES} random negatives / {FEW_NEGATIVES}",
        f"{many / 1e6:,.0f} MB / {few / 1e6:,.0f} MB",
        ratio=f"{many / few:.2f}x",
        aim=f"<= {MEMORY_AIM:g}x",
        is_met=many <= MEMORY_AIM * few,
    )


def _recipe(sizes: Sizes) -> Recipe:
    return with_settings(RECIPES[RECIPE], sizes.contrastive_settings)


def _objective(recipe: Recipe, text: Text, **changes: object) -> ContrastiveLearning:
    """The recipe's objective on the benchmark's text, with all that it can be asked to do."""
    num_words = len(text.tokenizer)
    model = recipe.model.model_copy(update={"vocabulary_size": num_words})
    endless = {"max_steps": STEPS, "num_epochs": 10_000, "validate_every": STEPS, "save_every": STEPS}
    training = recipe.training.model_copy(update=endless | {"stable_cosine": -1.0} | changes)
    assert isinstance(model, ContrastiveConfig)
    assert isinstance(training, ContrastiveTrainingConfig)
    words = [text.tokenizer.word(word_id) for word_id in range(4, num_words)]
    pairs = zip(words[::2], words[1::2], strict=False)
    lexicon, _ = clean((Entry("synonym", pair) for pair in pairs), text.tokenizer.word_id, name="made up")
    initial_VE = np.random.default_rng(0).standard_normal((num_words, model.embedding_size), dtype=np.float32)
    parts = (text.corpus, text.tokenizer, text.config, recipe.reading)
    return ContrastiveLearning(model, training, *parts, initial_VE, lexicon)


def _step_bytes(sizes: Sizes, folder: Path, num_negatives: int) -> int:
    """Memory that training takes beyond what is held before its first step, in a process of its own."""
    quick = ["--quick"] if sizes is QUICK else []
    command = [sys.executable, "-m", "benchmarks.contrastive", str(folder), str(num_negatives), *quick]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=True)
    return int(done.stdout)


def _measure_step() -> None:
    parser = argparse.ArgumentParser(description="Print the bytes that a few steps take; for `run` above.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("num_negatives", type=int)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    sizes = QUICK if arguments.quick else FULL
    text = load_text(sizes, arguments.folder)
    objective = _objective(_recipe(sizes), text, num_negatives=arguments.num_negatives)
    before = _peak_bytes()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as out:
        records = train(objective, Path(out), World(0, 1, torch.device("cpu")))
        list(itertools.islice(records, MEMORY_STEPS))
        print(_peak_bytes() - before)
        records.close()  # pyright: ignore[reportAttributeAccessIssue]


def _peak_bytes() -> int:
    """The most memory that this process ever had."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count the process that started this one as well
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    import resource  # not on Windows

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    _measure_step()
