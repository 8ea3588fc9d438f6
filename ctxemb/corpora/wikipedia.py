"""The public Wikipedia dump: the data set wikimedia/wikipedia on the Hugging Face hub, in any language.

It is plain text already, in Parquet shards. Only the row groups that are needed are read over the network (range
requests); what is kept of it is written one paragraph a line.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import requests

from ctxemb.corpora.corpus import CorpusError, count_words
from ctxemb.corpora.download import TIMEOUT_SECONDS, Progress, whole_or_nothing
from ctxemb.corpora.lines import zstd

HOME = "https://huggingface.co/datasets/wikimedia/wikipedia"
DUMP = "20231101"
URL = HOME + "/resolve/main/{dump}.{language}/train-{shard:05d}-of-{num_shards:05d}.parquet"
FETCHED_NAME = re.compile(rf"{DUMP}-(\d+)-words\.txt\.zst")


def find_fetched(folder: Path, max_tokens: int | None) -> Path | None:
    """Look for the smallest download with enough words (the largest if no number is given)."""
    fetched = {
        int(match[1]): path
        for path in folder.glob(f"{DUMP}-*")
        if (match := FETCHED_NAME.fullmatch(path.name)) is not None
    }
    if max_tokens is None:
        return fetched[max(fetched)] if fetched else None
    enough = [num_words for num_words in fetched if num_words >= max_tokens]
    return fetched[min(enough)] if enough else None


def keep_first(folder: Path, paragraphs: Iterable[str], num_wanted: int, on_progress: Progress | None = None) -> None:
    """Write paragraphs to a new file in `folder` until there are `num_wanted` words.

    Raises:
        CorpusError: no connection, or no place to write to.
    """
    num_words = 0
    with (
        whole_or_nothing(folder / f"{DUMP}-{num_wanted}-words.txt.zst") as temporary,
        zstd.open(temporary, "wt", encoding="utf-8") as out,
    ):
        for paragraph in paragraphs:
            out.write(f"{paragraph}\n")
            num_words += count_words(paragraph)
            if on_progress is not None:
                on_progress(min(num_words, num_wanted), num_wanted)
            if num_words >= num_wanted:
                return


def public_articles(language: str, num_shards: int) -> Iterator[str]:
    """Yield the text of one article at a time, in the order of the shards.

    Raises:
        CorpusError: no connection, or something else than the expected Parquet.
    """
    # smart_open comes with gensim: a seekable file over HTTP range requests.
    import smart_open

    for shard in range(num_shards):
        url = URL.format(dump=DUMP, language=language, shard=shard, num_shards=num_shards)
        try:
            with smart_open.open(url, "rb", transport_params={"timeout": TIMEOUT_SECONDS}) as remote:
                for batch in pq.ParquetFile(remote).iter_batches(batch_size=64, columns=["text"], use_threads=False):
                    yield from batch.column(0).to_pylist()
        except (requests.RequestException, pa.ArrowException, OSError) as error:
            raise CorpusError(f"{url} cannot be read: {error}.") from error
