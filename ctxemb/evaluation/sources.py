"""The files of public test sets: plain or xz text and members of archives, read in memory, never unpacked to disk."""

import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ctxemb.corpora import CorpusError

MAX_BYTES = 20_000_000
UNREADABLE = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile, UnicodeDecodeError)


def find_file(folder: Path, name: str, home: str) -> Path:
    """The file of that name, or that name with .xz.

    Raises:
        CorpusError: if there is neither; says where to get it.
    """
    for path in (folder / name, folder / f"{name}.xz"):
        if path.is_file():
            return path
    raise CorpusError(f"there is no {name} in {folder}; get it from {home} and put it there")


def has_file(folder: Path, name: str) -> bool:
    """Whether `find_file` finds it."""
    return (folder / name).is_file() or (folder / f"{name}.xz").is_file()


def read_text(path: Path, encoding: str = "utf-8") -> str:
    """The whole text of a plain or .xz file.

    Raises:
        CorpusError: if it is damaged, not in that encoding, or larger than any of these test sets.
    """
    try:
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as stream:
            content = stream.read(MAX_BYTES + 1)
        _check_size(len(content), str(path))
        return content.decode(encoding)
    except UNREADABLE as error:
        raise _unreadable(path, error) from error


def read_members(path: Path, names: Sequence[str] | None = None, encoding: str = "utf-8") -> dict[str, str]:
    """Texts of the members of a tar or zip archive, by their names inside it (without a leading `./`), sorted.

    Args:
        path: a .zip, or a tar archive packed in any way.
        names: the members wanted, or all .txt files.

    Raises:
        CorpusError: if the archive is damaged, lacks a member, or one is larger than any of these test sets.
    """
    try:
        members = _zip_members if path.suffix == ".zip" else _tar_members
        texts = {name: content.decode(encoding) for name, content in members(path, names)}
    except UNREADABLE as error:
        raise _unreadable(path, error) from error
    missing = [name for name in names or [] if name not in texts]
    if missing:
        raise CorpusError(f"{path} holds no {', '.join(missing)}; fetch it again")
    return dict(sorted(texts.items()))


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """(line number from 1, line without its end) of each line that is not blank; only a newline ends a line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line.removesuffix("\r")


def _zip_members(path: Path, names: Sequence[str] | None) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if _wanted(member.filename, names):
                _check_size(member.file_size, f"{path}: {member.filename}")
                yield member.filename, archive.read(member)


def _tar_members(path: Path, names: Sequence[str] | None) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(path) as archive:
        for member in archive:
            # also those that are only skipped: they are unpacked on the way
            _check_size(member.size, f"{path}: {member.name}")
            name = member.name.removeprefix("./")
            stream = archive.extractfile(member) if member.isfile() and _wanted(name, names) else None
            if stream:
                yield name, stream.read()


def _wanted(name: str, names: Sequence[str] | None) -> bool:
    return name.endswith(".txt") if names is None else name in names


def _unreadable(path: Path, error: Exception) -> CorpusError:
    reason = str(error).partition("\n")[0].rstrip(":")  # tarfile goes on to list what it tried
    return CorpusError(f"{path} cannot be read ({reason}); fetch it again")


def _check_size(num_bytes: int, place: str) -> None:
    if num_bytes > MAX_BYTES:
        raise CorpusError(f"{place} is larger than {MAX_BYTES:,} bytes, which no test set is; fetch it again")
