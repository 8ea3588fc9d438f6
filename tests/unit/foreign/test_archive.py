import resource
import stat
import struct
import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from zipfile import ZipInfo

import pytest

from ctxemb.foreign.archive import ArchiveError, open_archive

MANY = 1 << 30


def pack(path: Path, *members: tuple[str | ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


def info(name: str, mode: int = 0, **changes: int) -> ZipInfo:
    """A member with a name and a kind of its own, whatever zipfile makes of them."""
    member = ZipInfo("x")
    member.filename, member.external_attr = name, mode << 16
    for key, value in changes.items():
        setattr(member, key, value)
    return member


def open_all(path: Path, max_members: int = 10, max_bytes: int = MANY) -> dict[str, bytes]:
    with open_archive(path, max_members, max_bytes) as opened:
        return {member.filename: opened.read(member, max_bytes) for member in opened.members}


def patched(path: Path, mark: bytes, offset: int, value: bytes) -> Path:
    """Overwrite bytes behind the last occurrence of a mark."""
    content = bytearray(path.read_bytes())
    start = content.rindex(mark) + offset
    content[start : start + len(value)] = value
    path.write_bytes(content)
    return path


@pytest.fixture
def refused(tmp_path: Path) -> Callable[..., str]:
    def refused(path: Path, **limits: int) -> str:
        with pytest.raises(ArchiveError) as caught:
            open_all(path, **limits)
        message = str(caught.value)
        assert message.isprintable()
        assert len(message) < len(str(path)) + 350
        return message

    return refused


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_honest_archive_comes_back(tmp_path, compression):
    content = {"a/b.txt": b"one" * 100_000, "a/empty": b"", "a/河.txt": b"two"}
    path = pack(tmp_path / "z.zip", ("a/", b""), *content.items(), compression=compression)
    assert open_all(path) == content
    with open_archive(path, 10, MANY) as opened:
        opened.unpack(opened.members[0], tmp_path / "b.txt", MANY)
        with pytest.raises(FileExistsError):
            opened.unpack(opened.members[0], tmp_path / "b.txt", MANY)
        with pytest.raises(ArchiveError, match=r"'a/b.txt': has 300,000 bytes; at most 9 are read"):
            opened.unpack(opened.members[0], tmp_path / "c.txt", 9)
    assert (tmp_path / "b.txt").read_bytes() == content["a/b.txt"]
    assert not (tmp_path / "c.txt").exists()


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "a/../../x",
        "/etc/x",
        "C:x",
        "c:/x",
        "a\\..\\x",
        "\\\\host\\x",
        "a//x",
        "./x",
        "a/./x",
        "..",
        "a/..",
        "/",
        "",
    ],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path, refused, name):
    assert "leads out of the folder" in refused(pack(tmp_path / "z.zip", ("a", b"1"), (info(name), b"2")))


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[31m", "a\x7f", "a\u202eb", "a\u200bb"])
def test_names_with_characters_that_are_not_seen_are_refused_and_written_out(tmp_path, refused, name):
    assert "holds a character that cannot be seen" in refused(pack(tmp_path / "z.zip", (info(name), b"2")))


def test_a_name_that_ends_at_a_nul_is_refused(tmp_path, refused):
    path = pack(tmp_path / "z.zip", ("config.jsonX.exe", b"2"))
    path.write_bytes(path.read_bytes().replace(b"config.jsonX", b"config.json\0"))
    assert "holds a character that cannot be seen" in refused(path)


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFIFO, stat.S_IFSOCK, stat.S_IFDIR])
def test_links_and_devices_are_refused(tmp_path, refused, kind):
    assert "is a link or a device" in refused(pack(tmp_path / "z.zip", (info("a", kind | 0o777), b"/etc/passwd")))


@pytest.mark.parametrize("names", [("a", "a"), ("a/b", "A/B"), ("ﬁle", "file"), ("é", "e\u0301"), ("a", "a/")])
def test_names_that_are_one_on_some_system_are_refused(tmp_path, refused, names):
    members = [(info(name), b"1") for name in names]
    with pytest.warns(UserWarning, match="Duplicate name") if names[0] == names[1] else nullcontext():
        path = pack(tmp_path / "z.zip", *members)
    assert "is there twice" in refused(path)


def test_encryption_and_rare_compression_are_refused(tmp_path, refused):
    path = patched(pack(tmp_path / "z.zip", ("a", b"1")), b"PK\1\2", 8, b"\1")
    assert "'a': is encrypted" in refused(path)
    for compression in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = pack(tmp_path / "z.zip", ("a", b"1"), compression=compression)
        assert "compressed in a way that is not read" in refused(path)


# bombs


def test_too_much_by_what_the_headers_say_is_refused(tmp_path, refused):
    path = pack(tmp_path / "z.zip", ("a", b"1" * 60), ("b", b"2" * 60))
    assert "unpacks to 120 bytes; at most 100 are unpacked" in refused(path, max_bytes=100)
    assert "has 2 members; at most 1 are read" in refused(path, max_members=1)


def test_zeros_packed_a_thousandfold_are_refused_unless_they_are_few(tmp_path, refused):
    few = pack(tmp_path / "few.zip", ("a", bytes(20 << 20)))
    assert open_all(few)["a"] == bytes(20 << 20)
    assert "more than 100 times its size" in refused(pack(tmp_path / "z.zip", ("a", bytes(65 << 20))))


def test_headers_that_lie_are_found_while_unpacking(tmp_path, refused):
    declared_size = 24  # where a list of contents has the unpacked size of a member
    path = pack(tmp_path / "z.zip", ("a", bytes(1 << 20)))
    patched(path, b"PK\1\2", declared_size, struct.pack("<I", 1_000))
    assert "cannot be unpacked (Bad CRC-32" in refused(path)
    patched(path, b"PK\1\2", declared_size, struct.pack("<I", 2 << 20))
    assert "unpacks to another size than the 2,097,152 bytes that it declares" in refused(path)


def test_members_that_share_their_bytes_are_refused(tmp_path, refused):
    """A bomb of one compressed block that every member points to."""
    path = pack(tmp_path / "z.zip", ("a", b"1" * 5_000), ("b", b"2" * 5_000))
    patched(path, b"PK\1\2", 42, struct.pack("<I", 0))
    assert "overlaps with another member" in refused(path)


def test_a_list_of_contents_beyond_all_measure_is_not_read(tmp_path, refused):
    path = pack(tmp_path / "z.zip", *((f"{number:0100}", b"") for number in range(20_000)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert "declares a list of contents of 2,920,000 bytes; at most 1,048,576 are read" in refused(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 20_000  # KiB


@pytest.mark.parametrize("kept_share", [0, 0.3, 0.9, 0.999])
def test_a_truncated_archive_is_refused(tmp_path, refused, kept_share):
    path = pack(tmp_path / "z.zip", ("a", bytes(range(256)) * 9), ("b", b"2" * 5_000))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept_share)])
    assert "cannot be read as a zip file" in refused(path)


def test_members_beyond_the_end_are_refused(tmp_path, refused):
    path = pack(tmp_path / "z.zip", ("a", b"1" * 60))
    assert "is cut short" in refused(patched(path, b"PK\1\2", 20, struct.pack("<I", 1 << 30)))
