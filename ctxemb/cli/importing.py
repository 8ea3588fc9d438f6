"""Files that other programs wrote, made into checkpoints."""

from pathlib import Path
from typing import Annotated

import typer

from ctxemb.cli.terminal import calibrate_checkpoint, console, counter
from ctxemb.corpora import open_corpus
from ctxemb.text import NUM_SPECIAL, Language, TextConfig

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


@import_app.command("torch")
def import_torch(
    file: Annotated[Path, typer.Argument(help="File of torch.save(module.state_dict(), ...)", metavar="STATE")],
    vocab: Annotated[Path, typer.Option(help="Its words: one a line, a JSON list, or a JSON object word -> id")],
    out: Annotated[Path, typer.Option(help="Folder of the checkpoint, new or empty")],
    language: Annotated[Language | None, typer.Option(help="Language of the words (default: seen from them)")] = None,
    lowercase: Annotated[
        bool | None, typer.Option("--lowercase/--keep-case", help="Read text in lower case (default: as the words are)")
    ] = None,
) -> None:
    """A plain BiLM (embedding, stacks of LSTMs, output layers): a checkpoint with the same states and predictions."""
    from ctxemb.foreign import import_torch_bilm

    console.print(str(import_torch_bilm(file, vocab, out, language, lowercase)))
    console.print(f"checkpoint: {out}")


@import_app.command("elmo")
def import_elmo(
    options: Annotated[Path, typer.Option(help="options.json of the published model")],
    weights: Annotated[Path, typer.Option(help="Its weights, .hdf5")],
    out: Annotated[Path, typer.Option(help="Folder of the checkpoint, new or empty")],
    corpus: Annotated[
        str | None, typer.Option(help="Named corpus or file, to measure what centring and the bag of context need")
    ] = None,
    vocab: Annotated[
        Path | None,
        typer.Option(help="Words that texts are kept in, one a line (default: the corpus's, else a small text's)"),
    ] = None,
    max_words: Annotated[int, typer.Option(min=1, help="Keep only the first so many of them")] = 50_000,
    language: Annotated[Language, typer.Option(help="Language of the texts")] = "en",
    measure: Annotated[
        bool, typer.Option("--calibrate/--no-calibrate", help="Measure on --corpus: an hour or so at the original size")
    ] = True,
) -> None:
    """A published ELMo: three layers, and words of any spelling."""
    from ctxemb import foreign
    from ctxemb.calibration import sample_corpus
    from ctxemb.foreign.elmo import listed_words, read_options
    from ctxemb.tokenized import cache_folder, tokenize, train_tokenizer

    read_options(options)  # a wrong file is refused before any text is read
    text = TextConfig(language=language, lowercase=False, max_vocabulary=max_words + NUM_SPECIAL)
    read = open_corpus(corpus) if corpus else None
    if vocab:
        tokenizer = listed_words(open_corpus(vocab).passages(), text, max_words)
    else:
        with counter("passages read for the list of words") as on_passages:
            tokenizer = train_tokenizer([read or sample_corpus(language)], text, cache_folder(), on_passages)
    with console.status("reading the weights"):
        report = foreign.import_elmo(options, weights, out, tokenizer, text)
    console.print(str(report))
    if read is None or not measure:
        console.print(f"checkpoint: {out}")
        return
    with counter("passages read") as on_passages:
        tokens = tokenize([read], tokenizer, text, cache_folder(), on_passages)
    calibrate_checkpoint(out, tokens)
