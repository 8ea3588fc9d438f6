"""Trainings in the background: the same runs that the app shows."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from ctxemb.cli.terminal import (
    AsJson,
    Corpora,
    Device,
    MaxTokens,
    RecipeName,
    Settings,
    TextColumnName,
    Threads,
    console,
    print_json,
    screen,
)
from ctxemb.runs import LIVE, Run, RunRequest, RunStore

runs_app = typer.Typer(no_args_is_help=True, help=__doc__)

WAIT_SECONDS = 0.2
NUM_LOG_LINES = 10
Id = Annotated[str, typer.Argument(help="Id out of `runs list`", metavar="ID")]
Root = Annotated[
    Path | None, typer.Option(help="Folder of the runs (default: $CTXEMB_RUNS, else runs/, else the cache folder)")
]


@runs_app.command("list")
def list_runs(root: Root = None, as_json: AsJson = False) -> None:
    """All runs, the newest first; those whose turn it is are started."""
    store = RunStore(root)
    rows = [_summary(run) for run in store.list()]
    for problem in store.problems():
        console.print(f"left out: {problem}", style="yellow")
    if as_json:
        print_json(rows)
        return
    table = Table("id", "name", "state", "step", title=str(store.root))
    for row in rows:
        place = f" ({row['place']})" if row["place"] else ""
        table.add_row(row["id"], row["name"], f"{row['state']}{place}", _steps(row))
    screen.print(table)


@runs_app.command("show")
def show_run(id: Id, root: Root = None, as_json: AsJson = False) -> None:
    """A run: what was asked for, how it is, where its checkpoint is, the end of its log."""
    store = RunStore(root)
    store.advance()
    run = store.get(id)
    reader = run.reader()
    reader.read()
    summary = _summary(run) | {
        "request": run.request.model_dump(),
        **run.about,
        "folder": str(run.folder),
        "checkpoint": str(run.checkpoint) if run.checkpoint else None,
        "last_validation": reader.last_validation,
        "best_validation": reader.best_validation,
        "log": run.log_tail().splitlines()[-NUM_LOG_LINES:],
    }
    if as_json:
        print_json(summary)
        return
    for field, value in summary.items():
        text = "\n  ".join(["", *value]) if field == "log" else value
        screen.print(f"{field}: {text}", soft_wrap=True)


@runs_app.command("start")
def start_run(
    recipe: RecipeName,
    name: Annotated[str | None, typer.Option(help="Shown in lists (default: the recipe's)")] = None,
    corpus: Corpora = None,
    setting: Settings = None,
    max_tokens: MaxTokens = None,
    text_column: TextColumnName = None,
    device: Device = "auto",
    threads: Threads = None,
    root: Root = None,
) -> None:
    """Train in the background, now or when the runs before it have ended; prints the id."""
    request = RunRequest(
        name=name or recipe,
        recipe=recipe,
        corpora=tuple(corpus or ()),
        settings=tuple(setting or ()),
        max_tokens=max_tokens,
        text_column=text_column,
        device=device,
        threads=threads,
    )
    print(RunStore(root).start(request).id)


@runs_app.command("stop")
def stop_run(id: Id, root: Root = None) -> None:
    """Let a run save and end, and wait for that; a queued one leaves the queue."""
    store = RunStore(root)
    run = store.get(id)
    run.stop()
    with console.status("stopping"):
        while run.state in LIVE:
            store.advance()
            time.sleep(WAIT_SECONDS)
    console.print(f"{id} is {run.state}")


@runs_app.command("resume")
def resume_run(id: Id, root: Root = None) -> None:
    """Let a run that was stopped or interrupted go on from what it has saved."""
    run = RunStore(root).get(id)
    run.resume()
    console.print(f"{id} is {run.state}")


@runs_app.command("delete")
def delete_run(id: Id, root: Root = None) -> None:
    """Delete a run that is not training, with its checkpoints."""
    RunStore(root).get(id).delete()
    console.print(f"{id} is deleted")


def _summary(run: Run) -> dict[str, Any]:
    status, reader = run.status(), run.reader()
    reader.read()
    step = reader.last_step or {}
    return {
        "id": run.id,
        "name": run.name,
        "state": status.state,
        "detail": status.detail,
        "place": status.place,
        "step": step.get("step"),
        "total_steps": step.get("total_steps"),
    }


def _steps(row: dict[str, Any]) -> str:
    return f"{row['step']:,} of {row['total_steps']:,}" if row["step"] else row["detail"]
