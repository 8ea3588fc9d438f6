"""Whether a checkpoint is sound: for people, and for pipelines by its exit code."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from ctxemb.cli.terminal import AsJson, console, print_json, screen, set_threads

if TYPE_CHECKING:
    from ctxemb.checkup import Checkup

EXIT_CODES = {"sound": 0, "unsound": 1, "unreadable": 2}
COLORS = {"pass": "green", "warn": "yellow", "fail": "red", "not applicable": "dim", "not run": "dim"}


def check(
    path: Annotated[Path, typer.Argument(help="Checkpoint folder, training run, or .zip of a checkpoint")],
    against: Annotated[Path | None, typer.Option(help="A checkpoint whose numbers stand beside")] = None,
    as_json: AsJson = False,
    threads: Annotated[int, typer.Option(min=1, help="CPU threads; more make a busy machine slower")] = 1,
) -> None:
    """Put a checkpoint through a battery of checks. Exit code 0: sound, 1: unsound, 2: it cannot be read."""
    from threadpoolctl import threadpool_limits

    from ctxemb.checkup import as_json as to_json

    set_threads(threads)
    with threadpool_limits(threads):
        reference = _run(against) if against else None
        if reference and reference.verdict == "unreadable":
            raise typer.BadParameter(reference.results[0].finding.found, param_hint="--against")
        checkup = _run(path)
    if as_json:
        print_json(to_json(checkup, reference))
    else:
        _print(checkup, reference)
    raise typer.Exit(EXIT_CODES[checkup.verdict])


def _run(path: Path) -> "Checkup":
    from ctxemb.checkup import check_path

    with console.status(f"checking {path}") as status:
        return check_path(path, lambda done, question: status.update(f"{done:.0%}  {question}"))


def _print(checkup: "Checkup", reference: "Checkup | None") -> None:
    from ctxemb.checkup import summary

    table = Table("check", "verdict", "number", "limit", title=checkup.name)
    if reference:
        table.add_column(reference.name)
    not_run = checkup.of("not run")
    for result in checkup.results:
        if result.verdict == "not run":
            continue
        finding = result.finding
        verdict = Text(result.verdict, style=COLORS[result.verdict])
        limit = Text(finding.found, style="dim") if result.verdict == "not applicable" else Text(finding.limit)
        beside = [Text(reference.result(result.name).finding.shown)] if reference else []
        table.add_row(result.name, verdict, Text(finding.shown), limit, *beside)
    screen.print(table)
    for result in [*checkup.of("fail"), *checkup.of("warn")]:
        verdict = Text(f"{result.verdict}: {result.name}. ", style=COLORS[result.verdict])
        screen.print(verdict + Text(result.finding.found), soft_wrap=True)
        if result.finding.advice:
            screen.print(f"      {result.finding.advice}", soft_wrap=True)
    if not_run:
        screen.print(f"not run: {', '.join(result.name for result in not_run)}", soft_wrap=True)
    screen.print(f"{summary(checkup)} {checkup.seconds:.1f} s", soft_wrap=True)
