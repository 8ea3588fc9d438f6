"""Maps: seconds from handing vectors to the app's worker until the picture is here, t-SNE and UMAP, once it is warm."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.checkpoint import SHIPPED, untrained_checkpoint
from benchmarks.report import Row, limit_row
from benchmarks.sizes import Sizes
from benchmarks.text import load_text, take
from ctxemb import Encoder
from ctxemb.analysis.projection import Projection, ProjectionConfig, project, warm_up
from ctxemb.background import OnProgress, Worker

AIMS_SECONDS = {200: 3, 5_000: 60}
MAPPED = SHIPPED.parent / "en-contrastive"
SENTENCES_AT_ONCE = 500


def run(sizes: Sizes, folder: Path) -> Iterator[Row]:
    """Uses of words in a text, as the shipped checkpoint (or an untrained one) reads them; one thread."""
    text = load_text(sizes, folder)
    encoder = Encoder.load(MAPPED if MAPPED.is_dir() else untrained_checkpoint(sizes, text, folder / "untrained"))
    vectors_ND = use_vectors(encoder, take(text.sentences(), max(sizes.mapped_points)))
    with Worker("benchmark", num_threads=1) as worker:
        _, seconds = timed(worker, project, vectors_ND[: min(sizes.mapped_points)], ProjectionConfig())
        yield Row("map: the first t-SNE of a worker, and its start", f"{seconds:.2f} s")
        _, seconds = timed(worker, warm)
        yield Row("map: warm-up of the worker, mostly compiling UMAP", f"{seconds:.2f} s")
        for method in ("t-sne", "umap"):
            for num_points in sizes.mapped_points:
                config = ProjectionConfig(method=method)
                picture, seconds = timed(worker, project, vectors_ND[:num_points], config)
                yield picture_row(f"map: {method}, {num_points:,} uses", picture, seconds, AIMS_SECONDS.get(num_points))


def use_vectors(encoder: Encoder, sentences: list[str]) -> np.ndarray:
    """The vector of the longest word of each sentence, (sentences, D)."""
    vectors = []
    for start in range(0, len(sentences), SENTENCES_AT_ONCE):
        for encoding in encoder.encode(sentences[start : start + SENTENCES_AT_ONCE]):
            longest = max(range(len(encoding.tokens)), key=lambda i, tokens=encoding.tokens: len(tokens[i]))
            vectors.append(encoding.vectors[longest].copy())
    return np.stack(vectors)


def timed(worker: Worker, function: Callable[..., Any], *args: Any) -> tuple[Any, float]:
    """What a job gives, and the seconds until it is here."""
    started = time.perf_counter()
    return worker.submit(function, *args).result, time.perf_counter() - started


def warm(on_progress: OnProgress) -> None:
    """The warm-up as a job."""
    for _ in warm_up():
        pass


def picture_row(what: str, picture: Projection, seconds: float, aim_seconds: float | None) -> Row:
    """Seconds, where an aim was set beside it."""
    what = f"{what} of {picture.width} numbers (trustworthiness {picture.trustworthiness:.2f})"
    return limit_row(what, seconds, aim_seconds, "s") if aim_seconds else Row(what, f"{seconds:.2f} s")
