"""Chinese Wikipedia in simplified characters: the extract in the data folder, else what the public dump has of them.

Wikipedia's source is written in both scripts. The extract was converted; of the dump, paragraphs in traditional
characters are left out, so that the result does not depend on a converter.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ctxemb.corpora import wikipedia
from ctxemb.corpora.download import Progress
from ctxemb.corpora.lines import read_lines
from ctxemb.corpora.wiki_sample import NO_PROSE
from ctxemb.text import is_traditional

EXTRACT, EXTRACT_REST = "text.txt.xz", "misc.txt.xz"
NUM_SHARDS = 6
DEFAULT_WORDS = 20_000_000
MIN_HAN = 14
HAN = re.compile("[\u4e00-\u9fff]")
SENTENCE_END = re.compile("[。！？][”’」』）)]*$")


def find(folder: Path, max_tokens: int | None) -> Path | None:
    """Look for the extract, else for the smallest download with enough words (the largest if no number is given)."""
    extract = folder / "zhwiki" / EXTRACT
    return extract if extract.is_file() else wikipedia.find_fetched(folder / "zhwiki", max_tokens)


def files(path: Path) -> tuple[Path, ...]:
    """Name all files of the corpus: the extract has a second one."""
    rest = path.with_name(EXTRACT_REST)
    return (path, rest) if path.name == EXTRACT and rest.is_file() else (path,)


def read(path: Path) -> Iterator[str]:
    """Yield the paragraphs."""
    return (line for part in files(path) for _, line in read_lines(part, "utf-8"))


def fetch(folder: Path, max_tokens: int | None, on_progress: Progress | None = None) -> None:
    """Read articles from the public dump until there are about `max_tokens` words (default 20 million).

    Raises:
        CorpusError: no connection, or no place to write to.
    """
    paragraphs = running_paragraphs(wikipedia.public_articles("zh", NUM_SHARDS))
    wikipedia.keep_first(folder / "zhwiki", paragraphs, max_tokens or DEFAULT_WORDS, on_progress)


def running_paragraphs(articles: Iterable[str]) -> Iterator[str]:
    """Yield each article's paragraphs of running text in simplified characters: no headings, lists or captions."""
    for article in articles:
        for line in article.split("\n"):
            if is_running_text(line) and not is_traditional(line):
                yield " ".join(line.split())


def is_running_text(line: str) -> bool:
    """Tell Chinese sentences from headings, list items, captions and table cells."""
    return (
        NO_PROSE.search(line) is None
        and SENTENCE_END.search(line.rstrip()) is not None
        and len(HAN.findall(line)) >= MIN_HAN
    )
