"""The command line: a table of commands, each a few lines around one core call.

Exit codes: 0 done, 1 the input was at fault (one sentence on stderr), 2 wrong usage, 130 interrupted.
"""

import io
import sys

import typer

from ctxemb.cli.checking import check
from ctxemb.cli.comparing import compare
from ctxemb.cli.corpora import data_app
from ctxemb.cli.encoding import encode, info
from ctxemb.cli.evaluating import article_table, evaluate
from ctxemb.cli.importing import import_app
from ctxemb.cli.indexing import index, neighbours
from ctxemb.cli.runs import runs_app
from ctxemb.cli.terminal import console
from ctxemb.cli.training import train
from ctxemb.runs import describe_error

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, add_completion=False, help=__doc__)
for command in (train, encode, compare, check, info, evaluate, index, neighbours):
    app.command()(command)
app.command("table")(article_table)
app.add_typer(data_app, name="data")
app.add_typer(import_app, name="import")
app.add_typer(runs_app, name="runs")


def main() -> None:
    """Run the command line; a user's mistake is one sentence, never a traceback."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # half a character, or one that the terminal's encoding has not
    try:
        app()
    except (ValueError, OSError) as error:
        _fail(describe_error(error))


def _fail(message: str) -> None:
    console.print(f"error: {message}", style="red")
    sys.exit(1)
