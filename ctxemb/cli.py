"""The command line: a table of commands, each a few lines around one core call.

Exit codes: 0 done, 1 the input was at fault (one sentence on stderr), 2 wrong usage, 130 interrupted.
"""

import dataclasses
import io
import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import typer
from pydantic import ValidationError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column, Table

from ctxemb.checkpoint import load_checkpoint
from ctxemb.corpora import fetch, named_corpora, open_corpus
from ctxemb.text import Language, split_sentences

if TYPE_CHECKING:
    from ctxemb.distributed import World

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False, help=__doc__)
data_app = typer.Typer(no_args_is_help=True, help="Named corpora: what there is, and fetching it.")
app.add_typer(data_app, name="data")
import_app = typer.Typer(no_args_is_help=True, help="Files that other programs wrote, made into checkpoints.")
app.add_typer(import_app, name="import")
# brackets and colons in people's sentences and paths are text, and a message is one line however narrow the terminal
screen = Console(markup=False, emoji=False, highlight=False)
console = Console(markup=False, emoji=False, highlight=False, soft_wrap=True, stderr=True)

CheckpointPath = Annotated[Path, typer.Argument(help="Checkpoint folder", metavar="CHECKPOINT")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON to stdout, for programs")]
Device = Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1 ...")]
Threads = Annotated[int | None, typer.Option(min=1, help="CPU threads (default: torch's own choice)")]


def main() -> None:
    """Run the command line; a user's mistake is one sentence, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # half a character, or one that the terminal's encoding has not
    try:
        app()
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors())
        _fail(problems)
    except (ValueError, OSError) as error:
        _fail(str(error))


def _fail(message: str) -> None:
    console.print(f"error: {message}", style="red")
    sys.exit(1)


@app.command()
def train(
    recipe: Annotated[str, typer.Argument(help="Name of a recipe; a wrong one lists them", metavar="RECIPE")],
    out: Annotated[Path, typer.Option(help="Folder of the run; a run that is there is resumed")],
    corpus: Annotated[list[str] | None, typer.Option(help="Named corpus or file; repeat to mix")] = None,
    setting: Annotated[list[str] | None, typer.Option("--set", help="e.g. training.learning_rate=0.002")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Read at most this many words of each corpus")] = None,
    text_column: Annotated[str | None, typer.Option(help="Text column of csv, tsv, jsonl or parquet")] = None,
    device: Device = "auto",
    threads: Threads = None,
) -> None:
    """Train a recipe, or go on with the run in --out. Under torchrun, every process takes its share."""
    from ctxemb.distributed import world
    from ctxemb.recipes import choose_recipe, prepare, run, with_settings
    from ctxemb.tokenized import cache_folder

    _set_threads(threads)
    chosen = with_settings(choose_recipe(recipe), setting or [])
    chosen = chosen.model_copy(update={"corpora": tuple(corpus or chosen.corpora)})
    with world(device) as peers:
        sources = []
        for name in chosen.corpora:
            with _counter(f"fetching {name}", visible=peers.is_first) as on_fetch:
                sources.append(
                    open_corpus(
                        name, text_column=text_column, max_tokens=max_tokens, on_progress=lambda n, _: on_fetch(n)
                    )
                )
        if not peers.is_first:
            peers.barrier()  # the first process builds the caches that the others open
        with _counter("reading", visible=peers.is_first) as on_progress:
            material = prepare(chosen, sources, cache_folder(), lambda stage, done: on_progress(done, stage))
        if peers.is_first:
            peers.barrier()
            console.print(f"{len(material.tokenizer):,} words; {material.corpus.report}")
            if material.lexicon_report:
                console.print(str(material.lexicon_report))
        stopped = _watch(run(chosen, material, out, peers), peers)
        if peers.is_first and not stopped:
            _calibrate(out / "best", material.corpus)
    if stopped:
        console.print(f"stopped; the same command resumes {out}")
        raise typer.Exit(130)


def _watch(records: Iterator[Any], peers: "World") -> bool:
    """Draw a run's progress until it ends; Ctrl-C or SIGTERM closes it after the current step. True if stopped."""
    from ctxemb.progress import (
        ContrastiveStepRecord,
        ContrastiveValidationRecord,
        EndRecord,
        RescueRecord,
        StepRecord,
        ValidationRecord,
    )
    from ctxemb.watch import watch

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    shown = console if peers.is_first else Console(quiet=True)
    seen: list[Any] = []
    said: set[str] = set()
    with _stop_requests() as requests, Progress(*columns, console=shown) as progress:
        task = progress.add_task("starting", total=None)
        for record in records:
            seen.append(record)
            for rule in watch(seen):
                if rule.name not in said:
                    progress.console.print(f"step {record.step:,}: {rule}", style="yellow")
                    said.add(rule.name)
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
                    progress.console.print(f"step {record.step:,}: validation {measures}{best}")
                case RescueRecord():
                    progress.console.print(f"step {record.step:,} skipped: {record.reason}", style="yellow")
                case EndRecord():
                    progress.console.print(f"{record.reason} after {record.seconds / 60:,.1f} min")
            if peers.any(bool(requests)):  # all processes stop after the same step
                records.close()  # pyright: ignore[reportAttributeAccessIssue]
                return True
    return False


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


def _calibrate(checkpoint: Path, tokens: Any) -> None:
    from ctxemb.calibration import calibrate
    from ctxemb.encoder import Encoder
    from ctxemb.examples import example_words

    encoder = Encoder.load(checkpoint)
    with console.status("measuring the space: means and layer weights"):
        calibrate(encoder, tokens, sorted(example_words(encoder.config.text.language)))
    console.print(f"checkpoint: {checkpoint}")


@app.command()
def encode(
    checkpoint: CheckpointPath,
    input: Annotated[Path, typer.Option(help="Text file or table; one sentence a line or row")],
    output: Annotated[Path, typer.Option(help="File to write: .parquet or .npz")],
    word: Annotated[str | None, typer.Option(help="Write only the vectors of this word")] = None,
    text_column: Annotated[str | None, typer.Option(help="Text column of csv, tsv, jsonl or parquet")] = None,
    split: Annotated[bool, typer.Option("--split", help="Split lines into sentences first")] = False,
    readout: Annotated[str | None, typer.Option(help="here, context or sentence")] = None,
    layer: Annotated[str | None, typer.Option(help="0, 1, ..., last, mean or weighted")] = None,
    device: Device = "auto",
    precision: Annotated[
        Literal["float32", "bfloat16"], typer.Option(help="Of matrix products; bfloat16 is faster on some processors")
    ] = "float32",
    threads: Threads = None,
) -> None:
    """Encode a file of sentences: one row a token, with its character span and vector."""
    from ctxemb.export import write_encodings

    _set_threads(threads)
    encoder = _load_encoder(checkpoint, device, readout, layer, precision)
    corpus = open_corpus(input, text_column=text_column)
    with _counter("sentences encoded") as on_sentences:

        def sentences() -> Iterator[str]:
            num_done = 0
            for passage in corpus.passages():
                for sentence in split_sentences(passage, encoder.config.text.language) if split else [passage]:
                    yield sentence
                    num_done += 1
                    on_sentences(num_done)

        num_rows = write_encodings(encoder.encode_stream(sentences()), output, encoder.config.model.width, word)
    console.print(f"{num_rows:,} vectors of {encoder.config.model.width} numbers in {output}")


@app.command()
def compare(
    checkpoint: CheckpointPath,
    sentences: Annotated[list[str], typer.Argument(help="Sentences that hold the word", metavar="SENTENCE...")],
    word: Annotated[str, typer.Option(help="Target word")],
    sense: Annotated[list[str] | None, typer.Option(help="Sense of each sentence, in order; repeat")] = None,
    readout: Annotated[str | None, typer.Option(help="here, context or sentence")] = None,
    layer: Annotated[str | None, typer.Option(help="0, 1, ..., last, mean or weighted")] = None,
    centring: Annotated[str, typer.Option(help="off, 'all words' or 'per word'")] = "off",
    as_json: AsJson = False,
) -> None:
    """Cosines between the uses of a word in several sentences, with the baselines beside them."""
    from ctxemb import comparison
    from ctxemb.calibration import load_statistics

    if centring not in comparison.CENTRINGS:
        raise typer.BadParameter(f"{centring!r} is none of {', '.join(comparison.CENTRINGS)}", param_hint="--centring")
    if sense and len(sense) != len(sentences):
        raise typer.BadParameter(f"{len(sense)} senses for {len(sentences)} sentences", param_hint="--sense")
    encoder = _load_encoder(checkpoint, "cpu", readout, layer)
    statistics = load_statistics(encoder)
    given = [
        comparison.Sentence(text, label)
        for text, label in zip(sentences, sense or [None] * len(sentences), strict=True)
    ]
    uses, problems = comparison.find_uses(encoder, given, word)
    for problem in problems:
        console.print(f"left out: {problem}", style="yellow")
    if len(uses) < 2:
        raise comparison.TargetError(f"{len(uses)} of {len(given)} sentences can be compared; at least 2 are needed")
    mean_LD = comparison.centring_mean(centring, encoder, statistics, word)
    result = comparison.compare(encoder, uses, word, mean_LD, comparison.context_bag(encoder, statistics))
    random = comparison.random_baseline(encoder, centring, statistics)
    summary: dict[str, Any] = {
        "word": word,
        "checkpoint": str(checkpoint),
        "reading": {"readout": encoder.reading.readout, "layer": encoder.reading.layer, "centring": centring},
        "sentences": [
            {"text": use.sentence.text, "sense": use.sentence.sense, "position": use.position} for use in uses
        ],
        "cosines": result.cosines_NN.round(4).tolist(),
        "mean_cosine": round(result.mean_cosine, 4),
        "same_sense_mean": result.pairs.same_mean,
        "cross_sense_mean": result.pairs.cross_mean,
        "gap": result.pairs.gap,
        "auc": result.pairs.auc,
        "mean_cosine_by_layer": [round(mean, 4) for mean in result.layer_means],
        "random_words_mean": round(random.mean, 4),
        "static_control_mean": round(comparison.compare(encoder, uses, word, None, None).layer_means[0], 4),
        "bag_of_context_cosines": None if result.bag_cosines_NN is None else result.bag_cosines_NN.round(4).tolist(),
        "problems": [str(problem) for problem in problems],
    }
    if as_json:
        _print_json(summary)
        return
    table = Table("", *(str(i + 1) for i in range(len(uses))), title=f"cosine between the uses of “{word}”")
    for i, use in enumerate(uses):
        table.add_row(f"{i + 1}. {use.sentence.text}", *(f"{cosine:.2f}" for cosine in result.cosines_NN[i]))
    screen.print(table)
    lines = [
        f"mean {result.mean_cosine:.2f}",
        f"random words {random.mean:.2f}",
        f"static control (layer 0) {summary['static_control_mean']:.2f}",
    ]
    if sense:
        lines.append(f"same sense {result.pairs.same_mean:.2f}, cross sense {result.pairs.cross_mean:.2f}")
    screen.print("; ".join(lines), soft_wrap=True)


@app.command()
def info(checkpoint: CheckpointPath, as_json: AsJson = False) -> None:
    """What a checkpoint is: family, sizes, vocabulary, default reading, metrics."""
    loaded = load_checkpoint(checkpoint)
    summary = {
        **loaded.config.model_dump(mode="json"),
        "num_parameters": sum(p.numel() for p in loaded.model.parameters()),
        "bytes": sum(path.stat().st_size for path in checkpoint.iterdir() if path.is_file()),
        "metrics": loaded.metrics,
    }
    if as_json:
        _print_json(summary)
        return
    table = Table("field", "value", title=str(checkpoint))
    for field, value in summary.items():
        if field != "metrics":
            table.add_row(field, json.dumps(value))
    for part in ("validation", "import"):
        for field, value in loaded.metrics.get(part, {}).items():
            table.add_row(f"{part} {field}", json.dumps(value))
    screen.print(table)


@app.command()
def evaluate(
    checkpoint: CheckpointPath,
    data: Annotated[Path | None, typer.Option(help="Data folder (default: $CTXEMB_DATA or the cache)")] = None,
    save: Annotated[bool, typer.Option("--save", help="Record the rows in the checkpoint's metrics.json")] = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """Perplexity on WikiText-2 (English), and how well every reading separates senses."""
    from ctxemb.atomic import replace_file
    from ctxemb.checkpoint import METRICS
    from ctxemb.corpora import CorpusError
    from ctxemb.evaluation import perplexity, readings
    from ctxemb.evaluation.columns import open_columns
    from ctxemb.evaluation.targets import known_share

    _set_threads(threads)
    encoder = _load_encoder(checkpoint, "auto", None, None)
    language = encoder.config.text.language
    results: dict[str, Any] = {}
    if language == "en":
        try:
            results["wikitext-2:valid"] = dataclasses.asdict(perplexity.corpus_perplexity(encoder))
        except (CorpusError, perplexity.PerplexityError) as error:
            console.print(f"no perplexity: {error}", style="yellow")
    columns, problems = open_columns(language, data)
    for problem in problems:
        console.print(f"a column stays empty: {problem}", style="yellow")
    with console.status("reading") as status:
        scores = list(readings.score_readings(encoder, columns, status.update))
    results["readings"] = readings.as_rows(scores)
    results["best_reading"] = readings.best_reading(scores).reading
    results["floors"] = {column.name: round(column.floor, 4) for column in columns}
    results["known_shares"] = {
        column.name: round(known_share(encoder.tokenizer, column.targets), 4) for column in columns
    }
    if save:
        metrics = load_checkpoint(checkpoint).metrics | {"evaluation": results}
        replace_file(checkpoint / METRICS, json.dumps(metrics, indent=2).encode())
    if as_json:
        _print_json(results)
        return
    headings = ("reading", "example AUC", "gap", "same", "cross", *(column.title for column in columns))
    table = Table(*headings, title=str(checkpoint))
    for score in scores:
        examples = (score.example_auc, score.example_gap, score.example_same, score.example_cross)
        table.add_row(score.reading, *map(_three_digits, (*examples, *score.tests.values())))
    screen.print(table)
    for name, value in results.items():
        if name != "readings":
            screen.print(f"{name}: {value}", soft_wrap=True)


@app.command("table")
def article_table(
    language: Annotated[Literal["en", "zh"], typer.Option(help="Which recipes: LANGUAGE-static, LANGUAGE-contrastive")],
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each of the two")] = 3,
    contexts: Annotated[int, typer.Option(min=1, help="Uses that a word's vector is the mean of, at most")] = 20,
    work: Annotated[Path | None, typer.Option(help="Where trainings are kept (default: the cache folder)")] = None,
    save: Annotated[bool, typer.Option("--save", help="Write checkpoints/table-LANGUAGE.json, for the app")] = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """The article's table: Word2Vec against the contrastive encoder; trains what is not trained yet."""
    from ctxemb.evaluation.build_table import TableConfig, build_table
    from ctxemb.evaluation.table import SHIPPED_TABLES
    from ctxemb.recipes import choose_recipe
    from ctxemb.tokenized import cache_folder

    _set_threads(threads)
    control, contrastive = (choose_recipe(f"{language}-{family}") for family in ("static", "contrastive"))
    corpora = []
    for name in contrastive.corpora:
        with _counter(f"fetching {name}") as on_fetch:
            corpora.append(open_corpus(name, on_progress=lambda n, _: on_fetch(n)))
    config = TableConfig(num_seeds=seeds, num_contexts=contexts)
    with console.status("starting") as status:
        result = build_table(
            control, contrastive, corpora, work or cache_folder() / "table", cache_folder(), config, status.update
        )
    if save:
        result.save(SHIPPED_TABLES / f"table-{language}.json")
    if as_json:
        _print_json(result.as_json())
        return
    table = Table("measure", control.name, contrastive.name, "difference", "aim", "met", "known", title=language)
    for row in result.rows:
        table.add_row(*row.cells())
    screen.print(table)
    for line in (*(f"{row.title}: {row.problem}" for row in result.rows if row.problem), *result.notes):
        screen.print(line, soft_wrap=True)


def _three_digits(value: float | None) -> str:
    return "" if value is None or not np.isfinite(value) else f"{value:.3f}"


@data_app.command("list")
def data_list(as_json: AsJson = False) -> None:
    """Named corpora, and which of them are on this machine."""
    rows = [
        {"name": c.name, "size": c.size, "here": str(c.found or ""), "licence": c.licence, "description": c.description}
        for c in named_corpora()
    ]
    if as_json:
        _print_json(rows)
        return
    table = Table(Column("name", no_wrap=True), "size", "here", "licence", "description")
    for row in rows:
        table.add_row(row["name"], row["size"], "yes" if row["here"] else "no", row["licence"], row["description"])
    screen.print(table)


@data_app.command("get")
def data_get(
    name: Annotated[str, typer.Argument(help="Name from `data list`")],
    max_tokens: Annotated[int | None, typer.Option(min=1, help="enwiki: about this many words")] = None,
) -> None:
    """Fetch a corpus from its public home into the data folder."""
    with _counter(f"fetching {name}") as on_progress:
        path = fetch(name, lambda done, _: on_progress(done), max_tokens=max_tokens)
    console.print(f"{name} is at {path}")


@import_app.command("word2vec")
def import_word2vec(
    file: Annotated[
        Path, typer.Argument(help="word2vec file, text or binary, or GloVe file; also .gz", metavar="FILE")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the checkpoint, new or empty")],
    language: Annotated[Language, typer.Option(help="Language of the words")] = "en",
    lowercase: Annotated[
        bool, typer.Option("--lowercase/--keep-case", help="Read text in lower case; of Bank and bank, the first stays")
    ] = True,
    max_words: Annotated[int | None, typer.Option(min=1, help="Keep only the first so many words")] = None,
    corpus: Annotated[
        str | None, typer.Option(help="Named corpus or file, to measure what centring and the bag of context need")
    ] = None,
) -> None:
    """One vector a word (word2vec, GloVe): a static checkpoint, the same for a word in every context."""
    from ctxemb.encoder import Encoder
    from ctxemb.foreign import import_word_vectors
    from ctxemb.tokenized import cache_folder, tokenize

    text = open_corpus(corpus) if corpus else None  # a wrong name is refused before the file is read
    with _counter("words read") as on_words:
        report = import_word_vectors(file, out, language, lowercase, max_words, on_words)
    console.print(str(report))
    if text is None:
        console.print(f"checkpoint: {out}")
        return
    encoder = Encoder.load(out, "cpu")
    with _counter("passages read") as on_passages:
        tokens = tokenize([text], encoder.tokenizer, encoder.config.text, cache_folder(), on_passages)
    _calibrate(out, tokens)


def _load_encoder(
    checkpoint: Path,
    device: str,
    readout: str | None,
    layer: str | None,
    precision: Literal["float32", "bfloat16"] = "float32",
) -> Any:
    from ctxemb.encoder import Encoder

    encoder = Encoder.load(checkpoint, device, precision)
    if readout is None and layer is None:
        return encoder
    chosen: Any = int(layer) if layer is not None and layer.lstrip("-").isdecimal() else layer or encoder.reading.layer
    reading = encoder.reading_for(readout or encoder.reading.readout, chosen)  # pyright: ignore[reportArgumentType]
    reading.combine(np.zeros((encoder.num_layers + 1, 1, 1)))  # an absent layer is refused before any work is done
    return encoder.with_reading(reading)


def _set_threads(threads: int | None) -> None:
    if threads:
        import torch

        torch.set_num_threads(threads)


@contextmanager
def _counter(description: str, *, visible: bool = True) -> Iterator[Any]:
    """A spinner with a count; the inner call is handed the number done so far, and perhaps a new description."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}: {task.completed:,.0f}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, disable=not visible, transient=True) as progress:
        task = progress.add_task(description, total=None)
        yield lambda done, stage=None: progress.update(task, completed=done, description=stage)


def _print_json(value: Any) -> None:
    """JSON has no NaN: undefined numbers become null."""

    def clean(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: clean(inner) for key, inner in item.items()}
        if isinstance(item, list | tuple):
            return [clean(inner) for inner in item]
        return None if isinstance(item, float) and not np.isfinite(item) else item

    print(json.dumps(clean(value), indent=2, ensure_ascii=False))
