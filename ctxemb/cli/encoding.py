"""Encode a file; what a checkpoint is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from ctxemb.checkpoint import load_checkpoint
from ctxemb.cli.terminal import (
    AsJson,
    CheckpointPath,
    Device,
    LayerName,
    ReadoutName,
    TextColumnName,
    Threads,
    console,
    counter,
    load_encoder,
    print_json,
    screen,
    set_threads,
)
from ctxemb.corpora import open_corpus
from ctxemb.text import split_sentences


def encode(
    checkpoint: CheckpointPath,
    input: Annotated[Path, typer.Option(help="Text file or table; one sentence a line or row")],
    output: Annotated[Path, typer.Option(help="File to write: .parquet or .npz")],
    word: Annotated[str | None, typer.Option(help="Write only the vectors of this word")] = None,
    text_column: TextColumnName = None,
    split: Annotated[bool, typer.Option("--split", help="Split lines into sentences first")] = False,
    readout: ReadoutName = None,
    layer: LayerName = None,
    device: Device = "auto",
    precision: Annotated[
        Literal["float32", "bfloat16"], typer.Option(help="Of matrix products; bfloat16 is faster on some processors")
    ] = "float32",
    threads: Threads = None,
) -> None:
    """Encode a file of sentences: one row a token, with its character span and vector."""
    from ctxemb.export import write_encodings

    set_threads(threads)
    encoder = load_encoder(checkpoint, device, readout, layer, precision)
    corpus = open_corpus(input, text_column=text_column)
    with counter("sentences encoded") as on_sentences:

        def sentences() -> Iterator[str]:
            num_done = 0
            for passage in corpus.passages():
                for sentence in split_sentences(passage, encoder.config.text.language) if split else [passage]:
                    yield sentence
                    num_done += 1
                    on_sentences(num_done)

        num_rows = write_encodings(encoder.encode_stream(sentences()), output, encoder.config.model.width, word)
    console.print(f"{num_rows:,} vectors of {encoder.config.model.width} numbers in {output}")


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
        print_json(summary)
        return
    table = Table("field", "value", title=str(checkpoint))
    for field, value in summary.items():
        if field != "metrics":
            table.add_row(field, json.dumps(value))
    for part in ("validation", "import"):
        recorded = loaded.metrics.get(part)  # whatever somebody wrote there
        for field, value in recorded.items() if isinstance(recorded, dict) else ():
            table.add_row(f"{part} {field}", json.dumps(value))
    screen.print(table)
