"""Named corpora and the user's files -> passages; where data lives, and how it is fetched.

What it leaves out: sentences and tokens, which are made from passages in `ctxemb.text`.

    corpus.py       Corpus: a name, a fingerprint, a stream of passages
    named.py        the table of named corpora; finding, fetching and opening them
    wikitext.py, enwiki.py, wordnet.py, wiki_sample.py, zhwiki.py, people_daily.py    one corpus each
    lab/            a synthetic one, out of a grammar of ours
    wikipedia.py    the public dump that enwiki and zhwiki are fetched from
    held_out.py     keeps the WikiText-2 validation and test text out of enwiki
    files.py, tables.py, lines.py    a user's file: its kind, its text column, its lines
    download.py     the data folder, and files that arrive whole or not at all
"""

import os
from pathlib import Path

from ctxemb.corpora.corpus import Corpus, CorpusError
from ctxemb.corpora.download import Progress, data_folder
from ctxemb.corpora.files import open_file
from ctxemb.corpora.named import NAMED, NamedCorpus, fetch, named_corpora, open_named

__all__ = [
    "Corpus",
    "CorpusError",
    "NamedCorpus",
    "Progress",
    "data_folder",
    "fetch",
    "named_corpora",
    "open_corpus",
]


def open_corpus(
    name_or_path: str | os.PathLike[str],
    *,
    text_column: str | None = None,
    encoding: str | None = None,
    max_tokens: int | None = None,
    on_progress: Progress | None = None,
) -> Corpus:
    """Open a named corpus, fetching it if it is not in the data folder, or a file of your own.

    Args:
        name_or_path: a name out of `named_corpora()` (a string), or the path of a text file or table.
        text_column: the column of a table that holds the text; default `text`, `sentence`, or the only one with text.
        encoding: of a text file; detected if None.
        max_tokens: stop after the passage that reaches this many words (Chinese: 1.7 characters each).
        on_progress: called while a named corpus is fetched, with the amount done and in all (or None).

    Raises:
        CorpusError: the corpus cannot be found, fetched or read.
    """
    if max_tokens is not None and max_tokens < 1:
        raise CorpusError(f"max_tokens is {max_tokens}; it has to be at least 1.")
    if name_or_path in NAMED:
        if text_column is not None or encoding is not None:
            raise CorpusError(f"{name_or_path} is a named corpus: it takes no text column and no encoding.")
        return open_named(str(name_or_path), max_tokens, on_progress)
    path = Path(name_or_path)
    if not path.exists():
        raise CorpusError(f"There is no file {path} and no corpus of that name; the named ones are {', '.join(NAMED)}.")
    return open_file(path, text_column, encoding, max_tokens)
