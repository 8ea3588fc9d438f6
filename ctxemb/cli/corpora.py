"""Named corpora: what there is, and fetching it."""

from typing import Annotated

import typer
from rich.table import Column, Table

from ctxemb.cli.terminal import AsJson, console, counter, print_json, screen
from ctxemb.corpora import fetch, named_corpora

data_app = typer.Typer(no_args_is_help=True, help=__doc__)


@data_app.command("list")
def data_list(as_json: AsJson = False) -> None:
    """Named corpora, and which of them are on this machine."""
    rows = [
        {"name": c.name, "size": c.size, "here": str(c.found or ""), "licence": c.licence, "description": c.description}
        for c in named_corpora()
    ]
    if as_json:
        print_json(rows)
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
    with counter(f"fetching {name}") as on_progress:
        path = fetch(name, lambda done, _: on_progress(done), max_tokens=max_tokens)
    console.print(f"{name} is at {path}")
