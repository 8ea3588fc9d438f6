"""Files that other programs wrote, made into checkpoints."""

from pathlib import Path
from typing import Annotated

import typer

from ctxemb.cli.terminal import calibrate_checkpoint, console, counter
from ctxemb.corpora import open_corpus
from ctxemb.text import Language

import_app = typer.Typer(no_args_is_help=True, help=__doc__)


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
    with counter("words read") as on_words:
        report = import_word_vectors(file, out, language, lowercase, max_words, on_words)
    console.print(str(report))
    if text is None:
        console.print(f"checkpoint: {out}")
        return
    encoder = Encoder.load(out, "cpu")
    with counter("passages read") as on_passages:
        tokens = tokenize([text], encoder.tokenizer, encoder.config.text, cache_folder(), on_passages)
    calibrate_checkpoint(out, tokens)
