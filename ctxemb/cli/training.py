"""Train a recipe, and draw its progress."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ctxemb.cli.terminal import (
    Corpora,
    Device,
    MaxTokens,
    RecipeName,
    Settings,
    TextColumnName,
    Threads,
    calibrate_checkpoint,
    console,
    counter,
    set_threads,
)
from ctxemb.corpora import open_corpus

if TYPE_CHECKING:
    from ctxemb.distributed import World
    from ctxemb.event_files import EventFiles
    from ctxemb.probe import Probe
    from ctxemb.watch import Watcher


def train(
    recipe: RecipeName,
    out: Annotated[Path, typer.Option(help="Folder of the run; a run that is there is resumed")],
    corpus: Corpora = None,
    setting: Settings = None,
    max_tokens: MaxTokens = None,
    text_column: TextColumnName = None,
    device: Device = "auto",
    threads: Threads = None,
    probe: Annotated[
        str | None,
        typer.Option(help="Words (a,b) whose labelled sentences are read at each validation; none: no probe"),
    ] = None,
    tensorboard: Annotated[Path | None, typer.Option(help="Also write TensorBoard event files to this folder")] = None,
) -> None:
    """Train a recipe, or go on with the run in --out. Under torchrun, every process takes its share."""
    from ctxemb.distributed import world
    from ctxemb.event_files import EventFiles
    from ctxemb.probe import open_probe
    from ctxemb.recipes import choose_recipe, prepare, run, with_settings
    from ctxemb.runs import reporting
    from ctxemb.tokenized import cache_folder
    from ctxemb.training import PROGRESS
    from ctxemb.watch import Watcher

    set_threads(threads)
    chosen = with_settings(choose_recipe(recipe), setting or [])
    chosen = chosen.model_copy(update={"corpora": tuple(corpus or chosen.corpora)})
    events = EventFiles(tensorboard) if tensorboard else None
    with reporting(out) as reporter, world(device) as peers:
        sources = []
        for name in chosen.corpora:
            with counter(f"fetching {name}", visible=peers.is_first, also=reporter.reading) as on_fetch:
                sources.append(
                    open_corpus(
                        name, text_column=text_column, max_tokens=max_tokens, on_progress=lambda n, _: on_fetch(n)
                    )
                )
        if not peers.is_first:
            peers.barrier()  # the first process builds the caches that the others open
        with counter("reading", visible=peers.is_first, also=reporter.reading) as on_progress:
            material = prepare(chosen, sources, cache_folder(), lambda stage, done: on_progress(done, stage))
        if peers.is_first:
            peers.barrier()
            console.print(f"{len(material.tokenizer):,} words; {material.corpus.report}")
            if material.lexicon_report:
                console.print(str(material.lexicon_report))
        reporter.say("training")
        looks = None
        if probe != "none" and chosen.family != "static":  # Word2Vec has no validations to look at
            words = probe.replace(",", " ").split() if probe else None
            looks = open_probe(out, material.tokenizer, chosen.text.language, chosen.corpora, words)
        watcher = Watcher(len(material.tokenizer), out / PROGRESS if chosen.family != "static" else None)
        stopped = _watch(run(chosen, material, out, peers, looks), peers, watcher, looks, events)
        if peers.is_first and not stopped:
            calibrate_checkpoint(out / "best", material.corpus)
        if stopped:
            reporter.say("stopped")
            console.print(f"stopped; the same command resumes {out}")
            raise typer.Exit(130)


def _watch(
    records: Iterator[Any],
    peers: "World",
    watcher: "Watcher | None" = None,
    looks: "Probe | None" = None,
    events: "EventFiles | None" = None,
) -> bool:
    """Draw a run's progress until it ends; Ctrl-C or SIGTERM closes it after the current step. True if stopped."""
    from ctxemb.progress import (
        ContrastiveStepRecord,
        ContrastiveValidationRecord,
        EndRecord,
        RescueRecord,
        StepRecord,
        ValidationRecord,
    )

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    shown = console if peers.is_first else Console(quiet=True)
    with _stop_requests() as requests, Progress(*columns, console=shown) as progress, events or nullcontext():
        task = progress.add_task("starting", total=None)
        for record in records:
            if peers.is_first and watcher:
                for finding in watcher.see(record):
                    progress.console.print(f"step {record.step:,}: {finding}", style="yellow")
            if peers.is_first and events:
                events.write(record)
            match record:
                case StepRecord() | ContrastiveStepRecord():
                    if isinstance(record, StepRecord):
                        measures = f"perplexity {record.perplexity:,.0f}"
                    else:
                        measures = _against_chance(record)
                    progress.update(
                        task,
                        total=record.total_steps,
                        completed=record.step,
                        description=f"{measures} | rate {record.learning_rate:.1e} | "
                        f"{record.tokens_per_second:,.0f} tokens/s | {record.eta_seconds / 60:,.0f} min left",
                    )
                case ValidationRecord() | ContrastiveValidationRecord():
                    if isinstance(record, ValidationRecord):
                        measures = (
                            f"perplexity forward {record.perplexity_forward:,.1f}, "
                            f"backward {record.perplexity_backward:,.1f}"
                        )
                    else:
                        measures = _against_chance(record)
                    best = " (best)" if record.is_best else ""
                    progress.console.print(f"step {record.step:,}: validation {measures}{best}{_seen_by(looks)}")
                case RescueRecord():
                    progress.console.print(f"step {record.step:,} skipped: {record.reason}", style="yellow")
                case EndRecord():
                    progress.console.print(f"{record.reason} after {record.seconds / 60:,.1f} min")
            if peers.any(bool(requests)):  # all processes stop after the same step
                records.close()  # pyright: ignore[reportAttributeAccessIssue]
                return True
    return False


def _seen_by(looks: "Probe | None") -> str:
    """The last look, in a few words."""
    if looks is None or looks.last is None:
        return ""
    pairs = looks.last.pairs["off"]["all words"]
    return f"; senses: gap {pairs.gap:.3f}, AUC {pairs.auc:.3f}"


def _against_chance(record: Any) -> str:
    return f"loss {record.loss_nats:.3f} (chance {record.chance_nats:.3f}), accuracy {record.accuracy:.1%}"


@contextmanager
def _stop_requests() -> Iterator[list[int]]:
    """Ctrl-C and SIGTERM, collected as long as this is open instead of ending the process in the middle of a step."""
    requests: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    earlier = [signal.signal(number, lambda received, _: requests.append(received)) for number in numbers]
    try:
        yield requests
    finally:
        for number, handler in zip(numbers, earlier, strict=True):
            signal.signal(number, handler)
