"""Uploaded files on disk: in a folder that belongs to one visitor, as long as the visit lasts.

A folder has a name that cannot be guessed and is open to this user of the machine only. Streamlit releases it when
other files take its place and when the visit ends; what an app that was killed has left is swept up by the next one.
"""

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Protocol

import streamlit as st

PREFIX = "ctxemb-upload-"
MAX_AGE_SECONDS = 24 * 3600
MAX_FILES = 8


class Received(Protocol):
    """An uploaded file, as streamlit hands it over."""

    name: str
    size: int
    file_id: str

    def getbuffer(self) -> memoryview:
        """Its content."""
        ...


@dataclass(frozen=True)
class Upload:
    """Files of one visitor.

    Attributes:
        folder: theirs alone.
        files: by the names they were uploaded under.
    """

    folder: Path
    files: dict[str, Path]


def keep_upload(files: Sequence[Received], max_bytes: int) -> Upload:
    """Write uploaded files to disk, for this visitor; those of an earlier upload are removed.

    Raises:
        ValueError: if they are too many or too large, or two have one name; nothing is written then.
    """
    names = [file.name for file in files]
    if len(files) > MAX_FILES:
        raise ValueError(f"{len(files)} files are too many; a checkpoint has at most {MAX_FILES}, or is one .zip")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two files are called {twice}; give the files of one checkpoint")
    if (total := sum(file.size for file in files)) > max_bytes:
        raise ValueError(f"the files have {total:,} bytes; at most {max_bytes:,} are taken")
    _sweep_once()
    return _keep(tuple(file.file_id for file in files), files)


def sweep(root: Path, max_age_seconds: float = MAX_AGE_SECONDS) -> None:
    """Remove the folders of visits that ended long ago without being able to say so."""
    for folder in root.glob(f"{PREFIX}*"):
        try:
            state = folder.lstat()
        except FileNotFoundError:  # its own visitor was quicker
            continue
        is_ours = not hasattr(os, "getuid") or state.st_uid == os.getuid()
        if is_ours and not folder.is_symlink() and time.time() - state.st_mtime > max_age_seconds:
            shutil.rmtree(folder, ignore_errors=True)


@st.cache_resource(show_spinner=False)
def _sweep_once() -> bool:
    sweep(Path(tempfile.gettempdir()))
    return True


def _remove(upload: Upload) -> None:
    shutil.rmtree(upload.folder, ignore_errors=True)


@st.cache_resource(scope="session", max_entries=1, on_release=_remove, show_spinner="Taking the files …")
def _keep(ids: tuple[str, ...], _files: Sequence[Received]) -> Upload:
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))  # mode 0700
    files = {}
    for number, file in enumerate(_files):
        # a name from outside never becomes a path, only its ending, which says what it is
        files[file.name] = folder / f"{number}{PurePosixPath(file.name.replace(chr(92), '/')).suffix}"
        files[file.name].write_bytes(file.getbuffer())
    return Upload(folder, files)
