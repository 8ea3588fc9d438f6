"""A zip archive from outside: its list of contents checked before anything is unpacked, every byte counted then.

Refused are names that lead out of a folder or that two systems read differently, anything but plain files, bombs
(by what the headers say, and again by what comes out), encryption, rare compressions and members that overlap.
What the members mean is for the caller.
"""

import io
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ctxemb.quoting import printable, quoted

MAX_LIST_BYTES = 1 << 20  # of a list of contents: about 10,000 members
BYTES_PER_READ = 1 << 16
LOCAL_HEADER_BYTES = 30
# zeros pack a thousandfold, and an honest file may hold some; a small bomb harms nobody
MAX_RATIO, BYTES_WITHOUT_RATIO = 100, 64 << 20
ENCRYPTED = 0x1 | 0x40 | 0x2000
DRIVE = re.compile(r"[A-Za-z]:")
# what zipfile raises on damaged content; NotImplementedError is a RuntimeError, UnicodeDecodeError a ValueError
DAMAGE = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, OverflowError, OSError, struct.error)


class ArchiveError(ValueError):
    """An archive that is not unpacked; the text says which member, what is wrong and what to do."""


@dataclass(frozen=True)
class Archive:
    """An open archive whose list of contents was checked.

    Attributes:
        members: its files, folders left out, in the order of the list.
    """

    path: Path
    members: list[zipfile.ZipInfo]
    file: zipfile.ZipFile

    def chunks(self, member: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content of a member, piece by piece, never more than its header declares.

        Raises:
            ArchiveError: if it is damaged, or its length is another than declared.
        """
        num_bytes = 0
        try:
            with self.file.open(member) as stream:
                while chunk := stream.read(BYTES_PER_READ):
                    num_bytes += len(chunk)
                    if num_bytes > member.file_size:
                        break
                    yield chunk
        except DAMAGE as error:
            raise ArchiveError(
                f"{self.path}, {quoted(member.filename)}: cannot be unpacked ({printable(error)}); pack it again"
            ) from error
        if num_bytes != member.file_size:
            raise ArchiveError(
                f"{self.path}, {quoted(member.filename)}: unpacks to another size than the {member.file_size:,} bytes "
                "that it declares; pack it again"
            )

    def read(self, member: zipfile.ZipInfo, max_bytes: int) -> bytes:
        """The whole content of a small member.

        Raises:
            ArchiveError: if it is larger, or damaged.
        """
        self._check_size(member, max_bytes)
        return b"".join(self.chunks(member))

    def unpack(self, member: zipfile.ZipInfo, path: Path, max_bytes: int) -> None:
        """Write a member to a new file.

        Raises:
            ArchiveError: if it is larger, or damaged; part of it may have been written.
        """
        self._check_size(member, max_bytes)
        with path.open("xb") as file:
            for chunk in self.chunks(member):
                file.write(chunk)

    def _check_size(self, member: zipfile.ZipInfo, max_bytes: int) -> None:
        if member.file_size > max_bytes:
            raise ArchiveError(
                f"{self.path}, {quoted(member.filename)}: has {member.file_size:,} bytes; at most {max_bytes:,} are "
                "read"
            )


@contextmanager
def open_archive(path: Path, max_members: int, max_bytes: int) -> Iterator[Archive]:
    """Open a zip file and check its list of contents.

    Args:
        max_members: files and folders together.
        max_bytes: of all members together, unpacked.

    Raises:
        ArchiveError: naming the first member that cannot be taken.
    """
    with _ShortReads(path) as raw, _zip_file(path, raw) as file:
        members = file.infolist()
        if len(members) > max_members:
            raise ArchiveError(
                f"{path} has {len(members):,} members; at most {max_members:,} are read: pack only what is needed"
            )
        names: set[str] = set()
        for member in members:
            if problem := _problem(member, names):
                raise ArchiveError(f"{path}, {quoted(member.orig_filename)}: {problem}")
        _check_total(path, members, max_bytes)
        yield Archive(path, [member for member in members if not member.is_dir()], file)


def _zip_file(path: Path, raw: io.FileIO) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(raw)
    except ArchiveError:
        raise
    except DAMAGE as error:
        raise ArchiveError(
            f"{path} cannot be read as a zip file ({printable(error)}); pack or copy it again"
        ) from error


def _problem(member: zipfile.ZipInfo, names: set[str]) -> str | None:
    """Why a member is not taken; its name joins those seen so far."""
    name = member.orig_filename  # `filename` is cut at NUL and has other slashes
    parts = name.removesuffix("/").split("/")
    kind = stat.S_IFMT(member.external_attr >> 16)
    if any(unicodedata.category(character).startswith("C") for character in name):
        return "the name holds a character that cannot be seen; rename the file"
    if not name or "\\" in name or DRIVE.match(name) or {"", ".", ".."} & set(parts):
        return "the name leads out of the folder, or does so on some system; pack the folder again with plain names"
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or (kind == stat.S_IFDIR) > name.endswith("/"):
        return "is a link or a device, not a file; pack the file itself"
    if member.flag_bits & ENCRYPTED:
        return "is encrypted; pack it without a password"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is compressed in a way that is not read; pack it as an ordinary zip (deflate)"
    # for systems that take capitals, or one and the same letter in two encodings, for one name
    folded = unicodedata.normalize("NFKC", "/".join(parts)).casefold()
    if folded in names:
        return "is there twice, perhaps with other capitals; pack each file once"
    names.add(folded)
    return None


def _check_total(path: Path, members: list[zipfile.ZipInfo], max_bytes: int) -> None:
    file_bytes = path.stat().st_size
    num_bytes = sum(member.file_size for member in members)
    if num_bytes > max_bytes:
        raise ArchiveError(
            f"{path} unpacks to {num_bytes:,} bytes; at most {max_bytes:,} are unpacked: give fewer files"
        )
    if num_bytes > BYTES_WITHOUT_RATIO and num_bytes > MAX_RATIO * file_bytes:
        raise ArchiveError(
            f"{path} unpacks to {num_bytes:,} bytes, more than {MAX_RATIO} times its size; give the files unpacked"
        )
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise ArchiveError(
                f"{path}, {quoted(member.filename)}: overlaps with another member; pack the folder again"
            )
        end = member.header_offset + LOCAL_HEADER_BYTES + member.compress_size
    if end > file_bytes:
        raise ArchiveError(f"{path} is cut short; copy it again")


class _ShortReads(io.FileIO):
    """A file that refuses to read much at once, as zipfile does with a list of contents of any declared size."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MAX_LIST_BYTES:
            raise ArchiveError(
                f"{self.name} declares a list of contents of {size:,} bytes; at most {MAX_LIST_BYTES:,} are read: "
                "pack fewer files"
            )
        return super().read(size)
