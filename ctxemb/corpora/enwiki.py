"""English Wikipedia: the extract of 2018 where it lies in the data folder, else the first articles of the public dump.

Of the dump, paragraphs of running text are kept.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxemb.corpora import wikipedia, wikitext
from ctxemb.corpora.download import Progress
from ctxemb.corpora.held_out import without_listed, without_shared_runs
from ctxemb.corpora.lines import read_lines
from ctxemb.corpora.wiki_sample import is_running_text

EXTRACT = "text.txt.xz"
NUM_SHARDS = 41
DEFAULT_WORDS = 50_000_000


def find(folder: Path, max_tokens: int | None) -> Path | None:
    """Look for the extract, else for the smallest download with enough words (the largest if no number is given)."""
    extract = folder / "enwiki" / EXTRACT
    return extract if extract.is_file() else wikipedia.find_fetched(folder / "enwiki", max_tokens)


def read(path: Path) -> Iterator[str]:
    """Yield the paragraphs; what is also in the WikiText-2 validation or test text is left out (see held_out.py)."""
    lines = (line for _, line in read_lines(path, "utf-8"))
    return without_listed(lines) if path.name == EXTRACT else lines


def fetch(folder: Path, max_tokens: int | None, on_progress: Progress | None = None) -> None:
    """Read articles from the public dump until there are `max_tokens` words (default 50 million).

    Needs the WikiText-2 validation and test text, and fetches it first, to leave it out.

    Raises:
        CorpusError: no connection, or no place to write to.
    """
    articles = wikipedia.public_articles("en", NUM_SHARDS)
    paragraphs = without_shared_runs(running_paragraphs(articles), held_out_passages(folder))
    wikipedia.keep_first(folder / "enwiki", paragraphs, max_tokens or DEFAULT_WORDS, on_progress)


def held_out_passages(folder: Path) -> Iterator[str]:
    """Yield the WikiText-2 validation and test text, fetched if it is not there."""
    for part in ("valid", "test"):
        path = wikitext.find(folder, part)
        if path is None:
            wikitext.fetch(folder)
            path = wikitext.find(folder, part)
        assert path is not None
        yield from wikitext.read(path)


def running_paragraphs(articles: Iterable[str]) -> Iterator[str]:
    """Yield each article's paragraphs of running text: no headings, lists, captions or references."""
    for article in articles:
        for line in article.split("\n"):
            if is_running_text(line):
                yield " ".join(line.split())
