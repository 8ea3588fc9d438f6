"""Archives as an enemy packs them: zip files of a checkpoint, and files of torch.save."""

import io
import os
import random
import stat
import struct
import zipfile
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from benchmarks.mutations import change_bytes

MARKER = "executed"  # the folder that a payload makes where it runs
HOSTILE_NAMES = (
    "../out",
    "../../out",
    "/tmp/ctxemb-out",
    "C:\\out",
    "a\\..\\out",
    "a\0b",
    "a\nb",
    "CONFIG.JSON",
    "x.pkl",
    "x" * 5_000,
)


def pack_archive(draw: random.Random, files: dict[str, bytes]) -> tuple[bytes, str]:
    """Pack files, with hostile members or damage."""
    buffer = io.BytesIO()
    what = draw.choice(("plain", "name", "link", "bomb", "many", "nested", "lies", "lies", "damage", "damage"))
    inside = draw.choice(("", "", "folder/"))
    with zipfile.ZipFile(
        buffer, "w", draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
    ) as file:
        for name, content in files.items():
            file.writestr(inside + name, content)
        if what == "name":
            file.writestr(_member_of(draw.choice(HOSTILE_NAMES)), b"{}")
        elif what == "link":
            kind = draw.choice((stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO))
            file.writestr(_member_of("metrics.json " * draw.randrange(2) + "link", kind), b"/etc/passwd")
        elif what == "bomb":
            file.writestr(draw.choice(("README.md", "bomb.safetensors")), bytes(draw.choice((10, 70)) << 20))
        elif what == "many":
            for number in range(draw.choice((150, 3_000))):
                file.writestr(f"{number}.md", b"", zipfile.ZIP_STORED)
        elif what == "nested":
            file.writestr("inner.zip", buffer.getvalue()[:1_000])
    content = buffer.getvalue()
    if what == "damage":
        content = change_bytes(draw, content)
    if what == "lies":  # somewhere in the list of contents
        start = content.index(b"PK\1\2")
        place = draw.randrange(start, len(content))
        value = draw.choice((b"\0", b"\1", b"\xff", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\0\0\0\x7f"))
        content = content[:place] + value + content[place + len(value) :]
    return content, what


def _member_of(name: str, kind: int = 0) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo("x")
    member.filename, member.external_attr = name, (kind | 0o777) << 16 if kind else 0
    return member


def _repacked(content: bytes, change: Callable[[dict[str, bytes]], None]) -> bytes:
    """The members of an archive changed, under sums that are right again."""
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    change(members)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, inside in members.items():
            file.writestr(name, inside)
    return buffer.getvalue()


class _Payload:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, (MARKER,)


def change_pickle(draw: random.Random, content: bytes) -> bytes:
    """Change the pickle of a torch file: bytes, numbers, calls."""

    def change(members: dict[str, bytes]) -> None:
        name = next(name for name in members if name.endswith("data.pkl"))
        before = members[name]
        number = struct.pack("<i", draw.choice((-1, 0, 2**31 - 1, 10**6, 7)))
        members[name] = draw.choice(
            (
                lambda: change_bytes(draw, before),
                lambda: change_bytes(draw, before),
                lambda: before.replace(b"K" + bytes([draw.choice((4, 6, 24))]), b"J" + number, draw.choice((1, 2, 50))),
                lambda: before.replace(
                    b"FloatStorage", draw.choice((b"LongStorage", b"BoolStorage", b"HalfStorage", b"DoubleStorage"))
                ),
                lambda: before.replace(
                    b"_rebuild_tensor_v2",
                    draw.choice((b"_rebuild_parameter", b"_rebuild_sparse_tensor", b"_rebuild_qtensor")),
                ),
                lambda: before.replace(
                    b"collections\nOrderedDict",
                    draw.choice((b"builtins\nbytearray", b"os\nsystem", b"collections\nCounter")),
                ),
                lambda: _saved(draw.choice((_Payload(), {"a": _Payload()}, {"embed.weight": 1}, [], nn.Linear(2, 2)))),
                lambda: _saved({"state_dict": {"embed.weight": torch.ones(1).expand(10**6, 10**6)}}),
                lambda: b"\x80\x02" + draw.choice((b"(", b"]", b"}", b"0", b"2")) * draw.choice((10, 100_000)) + b".",
                lambda: before[:-1] + b"cos\nmkdir\nX\x08\0\0\0" + MARKER.encode() + b"\x85R.",
            )
        )()

    return _repacked(content, change)


def _saved(content: object) -> bytes:
    buffer = io.BytesIO()
    torch.save(content, buffer)
    with zipfile.ZipFile(buffer) as file:
        return file.read("archive/data.pkl")


def change_member(draw: random.Random, content: bytes) -> bytes:
    """Change, rename, remove or add another member of a torch file."""

    def change(members: dict[str, bytes]) -> None:
        name = draw.choice(list(members))
        match draw.randrange(4):
            case 0:
                members[name] = change_bytes(draw, members[name])
            case 1:
                del members[name]
            case 2:
                members[draw.choice(("archive/code/x.py", "other/data.pkl", "data.pkl", "../out"))] = members[name]
            case _:
                members[name] = members[draw.choice(list(members))]

    return _repacked(content, change)
