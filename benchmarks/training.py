"""Training: tokens a second, and the perplexity that the very same run reaches after equal tokens.

The library's own `train` against the plain loop: same words, same sizes, same held-out sentences. All runs go on in
turns, slice by slice; their speed is that of their best slice, their perplexity that of the end. Larger batches are
faster but make fewer steps of the same text: with 500 tokens a batch, both numbers hold in one configuration.

Each side has the learning rate that suits it: ours the library's schedule (warm-up and cosine), the plain loop a
constant rate as usual (1e-3 left it with a lower perplexity than 2e-3, and than a cosine from 2e-3 or 4e-3).
"""

import math
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks import plain
from benchmarks.checkpoint import model_config
from benchmarks.report import Row, ratio_row
from benchmarks.sizes import Sizes
from benchmarks.text import load_text
from benchmarks.timing import best_rates, slices
from ctxemb.distributed import World
from ctxemb.progress import StepRecord, ValidationRecord
from ctxemb.training import LanguageModelling, TrainingConfig, train

BATCH_TOKENS = 500
LEARNING_RATE = 8e-3
PLAIN_LEARNING_RATE = 1e-3
WARMUP_SHARE = 0.1
TIMED_SHARE = 0.95  # the rest is left for the end of the run, where ours validates and saves
AIM = 5


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Two rows of speed, two of perplexity."""
    text = load_text(sizes, folder)
    num_steps = math.ceil(sizes.training_tokens / BATCH_TOKENS)
    config = TrainingConfig(
        max_tokens=sizes.training_tokens,
        batch_tokens=BATCH_TOKENS,
        learning_rate=LEARNING_RATE,
        warmup_steps=round(WARMUP_SHARE * num_steps),
        validation_share=0.2,
        max_validation_tokens=sizes.validation_tokens,
        validate_every=1_000_000,
    )
    training_S, validation_S = text.corpus.split(config.validation_share, config.max_validation_tokens, config.seed)
    perplexities: dict[str, tuple[float, float]] = {}

    def ours(name: str, changed: TrainingConfig) -> Iterator[int]:
        num_tokens = 0
        world = World(0, 1, torch.device("cpu"))
        objective = LanguageModelling(model_config(sizes, text), changed, text.corpus, text.tokenizer, text.config)
        for record in train(objective, folder / name, world):
            if isinstance(record, StepRecord):
                yield record.num_tokens - num_tokens
                num_tokens = record.num_tokens
            elif isinstance(record, ValidationRecord):
                perplexities[name] = record.perplexity_forward, record.perplexity_backward

    def plain_loop() -> Iterator[int]:
        torch.manual_seed(config.seed)
        model = plain.PlainBiLM(sizes, len(text.tokenizer))
        yield from plain.train(model, text.corpus, training_S, sizes.training_tokens, PLAIN_LEARNING_RATE)
        perplexities["plain"] = plain.perplexities(model, text.corpus, validation_S)

    runs = {
        "ours": ours("ours", config),
        "float32": ours("float32", config.model_copy(update={"precision": "float32"})),
        "plain": plain_loop(),
    }
    slice_tokens = int(TIMED_SHARE * sizes.training_tokens / sizes.num_rounds)
    rates = best_rates({name: slices(steps, slice_tokens) for name, steps in runs.items()}, sizes.num_rounds)
    for steps in runs.values():
        for _ in steps:
            pass
    yield ratio_row(f"training, batches of {BATCH_TOKENS} tokens, tokens/s", rates["ours"], rates["plain"], AIM)
    yield ratio_row("the same in float32, tokens/s", rates["float32"], rates["plain"])
    for name, what in (("ours", "held-out perplexity"), ("float32", "the same in float32")):
        yield _perplexity_row(
            f"{what}, after {sizes.training_tokens:,} tokens", perplexities[name], perplexities["plain"]
        )


def _perplexity_row(what: str, ours: tuple[float, float], plain: tuple[float, float]) -> Row:
    return Row(
        f"{what}, forward / backward",
        f"{ours[0]:,.0f} / {ours[1]:,.0f}",
        f"{plain[0]:,.0f} / {plain[1]:,.0f}",
        aim="<= plain",
        is_met=ours[0] <= plain[0] and ours[1] <= plain[1],
    )
