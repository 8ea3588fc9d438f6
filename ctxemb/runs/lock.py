"""Locks that end with the process that holds them: whatever kills it, nothing is left to be cleaned up.

A lock can be handed to a child process, and then tells for certain whether that child lives: no process id that
could have been given to another process since, no clock that could have been set.
"""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxemb.runs.errors import RunError

if sys.platform != "win32":
    import fcntl

POLL_SECONDS = 0.01


def take_lock(path: Path, patience_seconds: float = 0.0) -> int | None:
    """Lock a file, which is made if it is not there; the descriptor holds the lock until all its copies are closed.

    Returns:
        The descriptor, or None if another holder has kept the lock for all of that time.

    Raises:
        RunError: on Windows, which has no such locks.
        OSError: if the file cannot be made or opened.
    """
    if sys.platform == "win32":
        raise RunError(
            "training in the background needs Linux or macOS; run `python -m ctxemb train` in a terminal, or use WSL"
        )
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    deadline = time.monotonic() + patience_seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() >= deadline:
                os.close(descriptor)
                return None
        time.sleep(POLL_SECONDS)


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock; asking does not disturb others who ask."""
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextmanager
def locked(path: Path, patience_seconds: float = 10.0) -> Iterator[None]:
    """Hold a lock for a few moments, after those who had it first.

    Raises:
        RunError: if they do not let go of it.
    """
    descriptor = take_lock(path, patience_seconds)
    if descriptor is None:
        raise RunError(f"{path.parent} has been in use by another process for {patience_seconds:.0f} s; try again")
    try:
        yield
    finally:
        os.close(descriptor)
