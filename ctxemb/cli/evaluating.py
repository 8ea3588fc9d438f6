"""Scores of one checkpoint, and the article's table."""

import dataclasses
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.table import Table

from ctxemb.checkpoint import check_writable, load_checkpoint
from ctxemb.cli.terminal import (
    AsJson,
    CheckpointPath,
    LayerName,
    ReadoutName,
    Threads,
    console,
    counter,
    load_encoder,
    print_json,
    screen,
    set_threads,
)
from ctxemb.corpora import open_corpus

TRADE_OFF_SHARES = (0.25, 0.5)


def evaluate(
    checkpoint: CheckpointPath,
    test: Annotated[
        list[str] | None,
        typer.Option(help="Public test set, or all; a wrong name lists them; repeat for several"),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(help="Data folder, or a test set's own folder (default: $CTXEMB_DATA or the cache)"),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Part of sets that are divided (default: test if it is there, else dev or valid)")
    ] = None,
    readout: ReadoutName = None,
    layer: LayerName = None,
    save: Annotated[bool, typer.Option("--save", help="Record the rows in the checkpoint's metrics.json")] = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """All readings of a checkpoint side by side; with --test, its scores on public test sets by name."""
    set_threads(threads)
    if save:
        check_writable(checkpoint)
    encoder = load_encoder(checkpoint, "auto", readout, layer)
    if test:
        _evaluate_tests(encoder, test, data, split, save, as_json)
        return
    if given := [name for name, value in (("--split", split), ("--readout", readout), ("--layer", layer)) if value]:
        raise typer.BadParameter(f"{', '.join(given)}: only with --test; without it every reading is compared")
    _evaluate_readings(encoder, data, save, as_json)


def _evaluate_tests(
    encoder: Any, names: list[str], data: Path | None, split: str | None, save: bool, as_json: bool
) -> None:
    from ctxemb.corpora import CorpusError
    from ctxemb.evaluation.perplexity import PerplexityError
    from ctxemb.evaluation.public.catalogue import choose_tests, run_test
    from ctxemb.evaluation.public.record import record_scores
    from ctxemb.evaluation.public.subject import Subject

    checkpoint = encoder.checkpoint.path
    tests, scores, problems = choose_tests(names, encoder.config.text.language), [], []
    with console.status("reading") as status:
        subject = Subject(encoder, status.update)
        for chosen in tests:
            status.update(chosen.name)
            try:
                scores.append(run_test(chosen, subject, data, split))
            except (CorpusError, PerplexityError) as error:
                if len(tests) == 1:
                    raise
                problems.append(str(error))
                console.print(f"no score: {error}", style="yellow")
    if not scores:
        raise CorpusError(f"none of {', '.join(chosen.name for chosen in tests)} could be scored; see above")
    if save:
        record_scores(checkpoint, scores)
    if as_json:
        print_json({"checkpoint": str(checkpoint), "tests": [s.as_json() for s in scores], "problems": problems})
        return
    for score in scores:
        _print_score(type(score).from_json(score.as_json()), checkpoint)  # the digits that are recorded


def _print_score(score: Any, checkpoint: Path) -> None:
    table = Table(
        "reading",
        "measure",
        "value",
        "95 % interval",
        "of",
        "skipped",
        title=f"{score.name}, {score.split}: {checkpoint}",
    )
    for row in score.rows:
        interval = "" if np.isnan(row.low) else f"{row.low:.3f}–{row.high:.3f}"
        counts = f"{row.num_items:,}", f"{row.num_skipped:,}"
        table.add_row(row.reading, row.measure, _three_digits(row.value), interval, *counts)
    for name, measure, value in score.floors:
        table.add_row(name, measure, _three_digits(value))
    screen.print(table)
    for note in score.notes:
        screen.print(note, soft_wrap=True)


def _evaluate_readings(encoder: Any, data: Path | None, save: bool, as_json: bool) -> None:
    from ctxemb.atomic import replace_file
    from ctxemb.calibration import measure_read_only
    from ctxemb.checkpoint import METRICS
    from ctxemb.corpora import CorpusError
    from ctxemb.evaluation import perplexity, readings
    from ctxemb.evaluation.columns import open_columns
    from ctxemb.evaluation.targets import known_share
    from ctxemb.examples import example_words

    checkpoint, language = encoder.checkpoint.path, encoder.config.text.language
    results: dict[str, Any] = {}
    try:
        results[perplexity.EXAMPLES] = dataclasses.asdict(perplexity.examples_perplexity(encoder))
        if language == "en":
            results["wikitext-2:valid"] = dataclasses.asdict(perplexity.corpus_perplexity(encoder))
    except (CorpusError, perplexity.PerplexityError) as error:
        console.print(f"no perplexity: {error}", style="yellow")
    columns, problems = open_columns(language, data)
    for problem in problems:
        console.print(f"a column stays empty: {problem}", style="yellow")
    with console.status("reading") as status:
        if encoder.is_read_only:
            status.update("measuring the space, once")
            measure_read_only(encoder, sorted(example_words(language)))
        scores = list(readings.score_readings(encoder, columns, status.update))
    results["readings"] = readings.as_rows(scores)
    results["best_reading"] = readings.best_reading(scores).reading
    results["floors"] = {column.name: round(column.floor, 4) for column in columns}
    results["known_shares"] = {column.name: round(known_share(encoder, column.targets), 4) for column in columns}
    if save:
        metrics = load_checkpoint(checkpoint).metrics | {"evaluation": results}
        replace_file(checkpoint / METRICS, json.dumps(metrics, indent=2).encode())
    if as_json:
        print_json(results)
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


def article_table(
    language: Annotated[Literal["en", "zh"], typer.Option(help="Which recipes: LANGUAGE-static, LANGUAGE-contrastive")],
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each of the two")] = 3,
    contexts: Annotated[int, typer.Option(min=1, help="Uses that a word's vector is the mean of, at most")] = 20,
    work: Annotated[Path | None, typer.Option(help="Where trainings are kept (default: the cache folder)")] = None,
    trade_off: Annotated[
        bool,
        typer.Option("--trade-off", help="Also train both at a quarter and half of their length: quality against time"),
    ] = False,
    save: Annotated[bool, typer.Option("--save", help="Write checkpoints/table-LANGUAGE.json, for the app")] = False,
    as_json: AsJson = False,
    threads: Threads = None,
) -> None:
    """The article's table: Word2Vec against the contrastive encoder; trains what is not trained yet."""
    from ctxemb.evaluation.build_table import TableConfig, build_table
    from ctxemb.evaluation.table import SHIPPED_TABLES
    from ctxemb.recipes import choose_recipe
    from ctxemb.tokenized import cache_folder

    set_threads(threads)
    control, contrastive = (choose_recipe(f"{language}-{family}") for family in ("static", "contrastive"))
    corpora = []
    for name in contrastive.corpora:
        with counter(f"fetching {name}") as on_fetch:
            corpora.append(open_corpus(name, on_progress=lambda n, _: on_fetch(n)))
    config = TableConfig(num_seeds=seeds, num_contexts=contexts, shares=TRADE_OFF_SHARES if trade_off else ())
    with console.status("starting") as status:
        result = build_table(
            control, contrastive, corpora, work or cache_folder() / "table", cache_folder(), config, status.update
        )
    if save:
        result.save(SHIPPED_TABLES / f"table-{language}.json")
    if as_json:
        print_json(result.as_json())
        return
    table = Table("measure", control.name, contrastive.name, "difference", "aim", "met", "known", title=language)
    for row in result.rows:
        table.add_row(*row.cells())
    screen.print(table)
    if result.trade_off:
        table = Table("measure", *map(str, result.trade_off), title="quality against time, seed 0")
        for row in result.rows:
            table.add_row(row.title, *(_three_digits(trial.values.get(row.name)) for trial in result.trade_off))
        screen.print(table)
    for line in (*(f"{row.title}: {row.problem}" for row in result.rows if row.problem), *result.notes):
        screen.print(line, soft_wrap=True)


def _three_digits(value: float | None) -> str:
    return "" if value is None or not np.isfinite(value) else f"{value:.3f}"
