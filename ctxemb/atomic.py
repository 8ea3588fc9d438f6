"""Files that are whole or not there: written to a draft beside their place, then moved."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_or_nothing(path: Path) -> Iterator[Path]:
    """Give a draft to write to; it becomes `path` on success and vanishes on failure.

    Readers of `path` see the old or the new content, never half, also after a power cut. The folder is made if it is
    not there.

    Raises:
        OSError: if the folder cannot be made or written to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    os.close(number)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o644)  # a temporary file is its owner's alone
        flush_to_disk(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file in one move."""
    with whole_or_nothing(path) as draft:
        draft.write_bytes(content)


def flush_to_disk(path: Path) -> None:
    """Wait until a file's content is on the disk: otherwise its move may outlive a power cut and its content not."""
    number = os.open(path, os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
