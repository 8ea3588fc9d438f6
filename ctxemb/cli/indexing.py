"""Build a vector store, and look into it."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

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

StorePlace = Annotated[str, typer.Option("--store", help="Folder of the store, or an address such as s3://bucket/name")]


def index(
    checkpoint: CheckpointPath,
    corpus: Annotated[str, typer.Option(help="Named corpus or file")],
    store: StorePlace,
    words: Annotated[
        Path | None, typer.Option(help="Text file, a word a line: only these (default: all content words)")
    ] = None,
    max_per_word: Annotated[int, typer.Option(min=0, help="Of each word, a random sample of so many; 0: all")] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Of that sample")] = 0,
    vector_type: Annotated[
        Literal["float32", "float16"], typer.Option("--vectors", help="Numbers kept; float16 takes half the disk")
    ] = "float32",
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Read at most this many words")] = None,
    text_column: TextColumnName = None,
    readout: ReadoutName = None,
    layer: LayerName = None,
    device: Device = "auto",
    threads: Threads = None,
) -> None:
    """Encode the uses of a corpus's words into a store. Under torchrun, every process takes its share."""
    from ctxemb.distributed import world
    from ctxemb.store import SelectionConfig, index_corpus
    from ctxemb.tokenized import cache_folder

    set_threads(threads)
    listed = None if words is None else tuple(dict.fromkeys(open_corpus(words).passages()))
    selection = SelectionConfig(words=listed, max_per_word=max_per_word or None, seed=seed)
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with world(device) as peers:
        with counter(f"fetching {corpus}", visible=peers.is_first) as on_fetch:
            text = open_corpus(
                corpus, text_column=text_column, max_tokens=max_tokens, on_progress=lambda n, _: on_fetch(n)
            )
        encoder = load_encoder(checkpoint, str(peers.device), readout, layer)
        with Progress(*columns, TimeElapsedColumn(), console=console, disable=not peers.is_first) as progress:
            task = progress.add_task("starting", total=1.0)
            report = index_corpus(
                encoder,
                text,
                store,
                cache_folder(),
                selection,
                vector_type,
                peers,
                lambda share, stage: progress.update(task, completed=share, description=stage),
            )
        if peers.is_first:
            for word in report.unknown_words:
                console.print(f"left out: “{word}” is not in the checkpoint's vocabulary", style="yellow")
            console.print(f"{report.num_contexts:,} contexts of {report.source} are in {store}")


def neighbours(
    checkpoint: CheckpointPath,
    sentence: Annotated[str, typer.Argument(help="Sentence that holds the word", metavar="SENTENCE")],
    word: Annotated[str, typer.Option(help="Target word")],
    store: StorePlace,
    k: Annotated[int, typer.Option("-k", min=1, max=1_000, help="How many")] = 10,
    among: Annotated[
        Literal["any word", "same word", "other words"], typer.Option(help="Whose uses are looked through")
    ] = "any word",
    as_json: AsJson = False,
) -> None:
    """The contexts in a store that a use of a word is closest to."""
    from ctxemb.comparison import Sentence
    from ctxemb.store import VectorStore, ask

    opened = VectorStore.open(store)
    encoder = load_encoder(checkpoint, "cpu", None, None).with_reading(opened.about.reading)
    answer = ask(opened, encoder, Sentence(sentence), word, k, among=among, keep=False)
    found = answer.neighbours
    rows: list[dict[str, Any]] = [
        {
            "cosine": round(hit.cosine, 4),
            "word": hit.context.word,
            "sentence": hit.context.sentence,
            "start": hit.context.start,
            "end": hit.context.end,
            "source": hit.context.source,
            "sense": hit.context.sense,
        }
        for hit in found.hits
    ]
    if as_json:
        print_json({"num_searched": found.num_searched, "is_exact": found.is_exact, "neighbours": rows})
        return
    table = Table("cosine", "word", "sentence", "source", "sense", title=f"closest to “{word}” in: {sentence}")
    for row in rows:
        values = (f"{row['cosine']:.2f}", row["word"], row["sentence"], row["source"], row["sense"] or "")
        table.add_row(*values)
    screen.print(table)
    how = "each compared" if found.is_exact else "through an index: a few of the nearest may be missing"
    screen.print(f"{found.num_searched:,} contexts searched, {how}", soft_wrap=True)
