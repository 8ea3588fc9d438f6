"""English Wikipedia: the extract of 2018 where it lies in the data folder, else the first articles of the public dump.

The dump is the data set wikimedia/wikipedia on the Hugging Face hub, already plain text, in Parquet shards. Only the
row groups that are needed are read over the network (range requests); paragraphs of running text are kept, one a line.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import requests

from ctxemb.corpora import wikitext
from ctxemb.corpora.corpus import CorpusError
from ctxemb.corpora.download import TIMEOUT_SECONDS, Progress, whole_or_nothing
from ctxemb.corpora.held_out import without_listed, without_shared_runs
from ctxemb.corpora.lines import read_lines, zstd
from ctxemb.corpora.wiki_sample import is_running_text

EXTRACT = "text.txt.xz"
DUMP = "20231101"
URL = f"https://huggingface.co/datasets/wikimedia/wikipedia/resolve/main/{DUMP}.en/train-{{shard:05d}}-of-00041.parquet"
NUM_SHARDS = 41
DEFAULT_WORDS = 50_000_000
FETCHED_NAME = re.compile(rf"{DUMP}-(\d+)-words\.txt\.zst")


def find(folder: Path, max_tokens: int | None) -> Path | None:
    """Look for the extract, else for the smallest download with enough words (the largest if no number is given)."""
    extract = folder / "enwiki" / EXTRACT
    if extract.is_file():
        return extract
    fetched = {
        int(match[1]): path
        for path in (folder / "enwiki").glob(f"{DUMP}-*")
        if (match := FETCHED_NAME.fullmatch(path.name)) is not None
    }
    if max_tokens is None:
        return fetched[max(fetched)] if fetched else None
    enough = [num_words for num_words in fetched if num_words >= max_tokens]
    return fetched[min(enough)] if enough else None


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
    num_wanted = max_tokens or DEFAULT_WORDS
    paragraphs = without_shared_runs(running_paragraphs(public_articles()), held_out_passages(folder))
    num_words = 0
    with (
        whole_or_nothing(folder / "enwiki" / f"{DUMP}-{num_wanted}-words.txt.zst") as temporary,
        zstd.open(temporary, "wt", encoding="utf-8") as out,
    ):
        for paragraph in paragraphs:
            out.write(f"{paragraph}\n")
            num_words += len(paragraph.split())
            if on_progress is not None:
                on_progress(min(num_words, num_wanted), num_wanted)
            if num_words >= num_wanted:
                return


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


def public_articles() -> Iterator[str]:
    """Yield the text of one article at a time, in the order of the shards.

    Raises:
        CorpusError: no connection, or something else than the expected Parquet.
    """
    # smart_open comes with gensim: a seekable file over HTTP range requests.
    import smart_open

    for shard in range(NUM_SHARDS):
        url = URL.format(shard=shard)
        try:
            with smart_open.open(url, "rb", transport_params={"timeout": TIMEOUT_SECONDS}) as remote:
                for batch in pq.ParquetFile(remote).iter_batches(batch_size=64, columns=["text"], use_threads=False):
                    yield from batch.column(0).to_pylist()
        except (requests.RequestException, pa.ArrowException, OSError) as error:
            raise CorpusError(f"{url} cannot be read: {error}.") from error
