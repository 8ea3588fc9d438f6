"""Where data lives on this machine, and how a file gets there: streamed, checked, and whole or not at all."""

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import platformdirs
import requests

from ctxemb import atomic
from ctxemb.corpora.corpus import CorpusError

# Amount done and amount in all (None where unknown): bytes, or words for a corpus that is cut to a number of words.
Progress = Callable[[int, int | None], None]
CHUNK_BYTES = 1 << 16
TIMEOUT_SECONDS = 30.0


def data_folder() -> Path:
    """Give the folder of the named corpora: $CTXEMB_DATA, else `data` in the user's cache folder for ctxemb."""
    return Path(os.environ.get("CTXEMB_DATA") or platformdirs.user_cache_path("ctxemb") / "data").expanduser()


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """Give a temporary file to write to, as `atomic.whole_or_nothing` does.

    Raises:
        CorpusError: the folder cannot be written to.
    """
    with ExitStack() as stack:
        try:
            temporary = stack.enter_context(atomic.whole_or_nothing(path))
        except OSError as error:
            raise CorpusError(
                f"{path.parent} cannot be written to ({error}); set CTXEMB_DATA to a folder of yours."
            ) from error
        yield temporary


def download(url: str, path: Path, max_bytes: int, on_progress: Progress | None = None) -> None:
    """Fetch a file of at most `max_bytes` into `path`.

    Raises:
        CorpusError: no connection, a refusal, a file larger than announced here, or no place to write to.
    """
    try:
        # identity: a proxy must not pack the file a second time.
        with requests.get(url, stream=True, timeout=TIMEOUT_SECONDS, headers={"Accept-Encoding": "identity"}) as reply:
            reply.raise_for_status()
            length = reply.headers.get("Content-Length")
            total = int(length) if length is not None else None
            done = 0
            with whole_or_nothing(path) as temporary, temporary.open("wb") as out:
                for chunk in reply.iter_content(CHUNK_BYTES):
                    done += len(chunk)
                    if done > max_bytes:
                        raise CorpusError(f"{url} sends more than the expected {max_bytes:,} bytes; nothing was kept.")
                    out.write(chunk)
                    if on_progress is not None:
                        on_progress(done, total)
    except (requests.RequestException, OSError) as error:
        raise CorpusError(f"{url} cannot be fetched: {error}.") from error


def check_sha256(content: bytes | Path, expected: str, name: str) -> None:
    """Compare with the checksum of the published file.

    Raises:
        CorpusError: they differ.
    """
    if isinstance(content, Path):
        with content.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    else:
        digest = hashlib.sha256(content).hexdigest()
    if digest != expected:
        raise CorpusError(f"{name} is not the published file: its sha256 is {digest}, not {expected}.")
