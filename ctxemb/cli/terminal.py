"""What the commands share: the terminal, options that return, an encoder under the reading that was asked for."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

# brackets and colons in people's sentences and paths are text, and a message is one line however narrow the terminal
screen = Console(markup=False, emoji=False, highlight=False)
console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True, stderr=True)

CheckpointPath = Annotated[Path, typer.Argument(help="Checkpoint folder", metavar="CHECKPOINT")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout, for programs")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads (default: torch's own choice)")]
RecipeName = Annotated[str, typer.Argument(help="Name of a recipe; a wrong one lists them", metavar="RECIPE")]
Corpora = Annotated[list[str] | None, typer.Option(help="Named corpus or file; repeat to mix")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="e.g. training.learning_rate=0.002")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Read at most this many words of each corpus")]
TextColumnName = Annotated[str | None, typer.Option(help="Text column of csv, tsv, jsonl or parquet")]
ReadoutName = Annotated[str | None, typer.Option("--readout", help="here, context or sentence")]
LayerName = Annotated[str | None, typer.Option("--layer", help="0, 1, ..., last, mean or weighted")]


def load_encoder(
    checkpoint: Path,
    device: str,
    readout: str | None,
    layer: str | None,
    precision: Literal["float32", "bfloat16"] = "float32",
) -> Any:
    """Open a checkpoint under the reading that was asked for, else under its own."""
    from ctxemb.encoder import Encoder

    encoder = Encoder.load(checkpoint, device, precision)
    if readout is None and layer is None:
        return encoder
    chosen: Any = int(layer) if layer is not None and layer.lstrip("-").isdecimal() else layer or encoder.reading.layer
    reading = encoder.reading_for(readout or encoder.reading.readout, chosen)  # pyright: ignore[reportArgumentType]
    reading.combine(np.zeros((encoder.num_layers + 1, 1, 1)))  # an absent layer is refused before any work is done
    return encoder.with_reading(reading)


def calibrate_checkpoint(checkpoint: Path, tokens: Any) -> None:
    """Measure a new checkpoint's space on a tokenised text."""
    from ctxemb.calibration import calibrate
    from ctxemb.encoder import Encoder
    from ctxemb.examples import example_words

    encoder = Encoder.load(checkpoint)
    with console.status("measuring the space: means and layer weights"):
        calibrate(encoder, tokens, sorted(example_words(encoder.config.text.language)))
    console.print(f"checkpoint: {checkpoint}")


def set_threads(threads: int | None) -> None:
    """Limit torch to so many threads; None leaves its own choice."""
    if threads:
        import torch

        torch.set_num_threads(threads)


@contextmanager
def counter(
    description: str, *, visible: bool = True, also: Callable[[str, int], None] = lambda what, done: None
) -> Iterator[Any]:
    """A spinner with a count; the inner call is handed the number done so far, and perhaps a new description.

    `also` is told the same.
    """
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}: {task.completed:,.0f}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not visible, transient=True) as progress:
        task = progress.add_task(description, total=None)

        def count(done: int, stage: str | None = None) -> None:
            progress.update(task, completed=done, description=stage)
            also(stage or description, done)

        yield count


def print_json(value: Any) -> None:
    """JSON has no NaN: undefined numbers become null."""

    def clean(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: clean(inner) for key, inner in item.items()}
        if isinstance(item, list | tuple):
            return [clean(inner) for inner in item]
        return None if isinstance(item, float) and not np.isfinite(item) else item

    print(json.dumps(clean(value), indent=2, ensure_ascii=False))
