"""WikiText-2 (Merity et al. 2016, arXiv:1609.07843): 600 / 60 / 60 good Wikipedia articles, read as raw text."""

import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ctxemb.corpora.corpus import CorpusError
from ctxemb.corpora.download import Progress, check_sha256, download, whole_or_nothing
from ctxemb.corpora.lines import read_lines

URL = "https://wikitext.smerity.com/wikitext-2-v1.zip"
MAX_BYTES = 20_000_000
# Of the word-level files as published, unpacked.
SHA256 = {
    "train": "9e9fa1ad55b1c2c95b08e37dd8e653f638fac2c6de904b79e813611eefbc985f",
    "valid": "f0737ed31fc1329026e95cb8b98e19c2a182c39c240ab909dc31abf2f8af58e8",
    "test": "d790b833ef8cf03a90db7bf1271b7520b83c45ce07ba3c1a9699df81e239eca0",
}
HEADING = re.compile(r" = .* = \s*")
JOINED = re.compile(r" @([-,.])@ ")


def find(folder: Path, part: str) -> Path | None:
    """Look for one split: train.txt.xz as in our data folder, or the published wiki.train.tokens."""
    names = (f"{part}.txt.xz", f"{part}.txt", f"wiki.{part}.tokens")
    return next((path for name in names if (path := folder / "wikitext-2" / name).is_file()), None)


def read(path: Path) -> Iterator[str]:
    """Yield the paragraphs: no headings, ` @-@ ` joined again, <unk> left as it stands."""
    for _, line in read_lines(path, "utf-8"):
        if HEADING.fullmatch(line) is None:
            yield JOINED.sub(r"\1", line)


def fetch(folder: Path, on_progress: Progress | None = None) -> None:
    """Download the published archive and keep its three text files.

    Raises:
        CorpusError: it cannot be had, or is not the published one.
    """
    with tempfile.TemporaryDirectory() as scratch:
        archive = Path(scratch) / "wikitext-2-v1.zip"
        download(URL, archive, MAX_BYTES, on_progress)
        try:
            with zipfile.ZipFile(archive) as unpacked:
                # Members are read by name, never extracted, so no path inside the archive matters.
                contents = {part: read_member(unpacked, f"wikitext-2/wiki.{part}.tokens") for part in SHA256}
        except (zipfile.BadZipFile, KeyError) as error:
            raise CorpusError(f"{URL} is not the expected archive: {error}.") from error
    for part, content in contents.items():
        check_sha256(content, SHA256[part], f"wiki.{part}.tokens from {URL}")
    for part, content in contents.items():
        with whole_or_nothing(folder / "wikitext-2" / f"wiki.{part}.tokens") as temporary:
            temporary.write_bytes(content)


def read_member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Unpack one member in memory, unless it claims to be larger than the whole corpus."""
    member = archive.getinfo(name)
    if member.file_size > MAX_BYTES:
        raise CorpusError(f"{name} in {URL} would unpack to {member.file_size:,} bytes; that is not WikiText-2.")
    return archive.read(member)
