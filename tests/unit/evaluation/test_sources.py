import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from ctxemb.corpora import CorpusError
from ctxemb.evaluation import sources
from ctxemb.evaluation.sources import find_file, numbered_lines, read_members, read_text


def write_tar(path: Path, members: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:xz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


def write_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def test_a_file_is_found_plain_or_packed(tmp_path):
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress("打球\n".encode()))
    assert read_text(find_file(tmp_path, "a.txt", "https://x")) == "打球\n"
    (tmp_path / "a.txt").write_text("plain", encoding="utf-8")
    assert read_text(find_file(tmp_path, "a.txt", "https://x")) == "plain"
    with pytest.raises(CorpusError, match=f"there is no b.txt in {tmp_path}; get it from https://x and put it there"):
        find_file(tmp_path, "b.txt", "https://x")


@pytest.mark.parametrize(("name", "write"), [("a.tar.xz", write_tar), ("a.zip", write_zip)])
def test_members_are_read_by_name_and_nothing_is_unpacked(tmp_path, name, write):
    path = write(tmp_path / name, {"../up.txt": b"up", "in/b.txt": "bé".encode("latin-1"), "in/c.json": b"{}"})
    assert read_members(path, encoding="latin-1") == {"../up.txt": "up", "in/b.txt": "bé"}
    assert read_members(path, ["in/c.json"]) == {"in/c.json": "{}"}
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(CorpusError, match=r"holds no in/d\.txt; fetch it again"):
        read_members(path, ["in/c.json", "in/d.txt"])
    with pytest.raises(CorpusError, match=r"cannot be read \('utf-8' codec"):
        read_members(path)


def test_a_leading_dot_in_a_tar_is_no_part_of_the_name(tmp_path):
    assert read_members(write_tar(tmp_path / "a.tar.xz", {"./in/b.txt": b"b"}), ["in/b.txt"]) == {"in/b.txt": "b"}


def test_whatever_unpacks_too_far_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MAX_BYTES", 1_000)
    (tmp_path / "a.txt.xz").write_bytes(lzma.compress(b"0" * 1_001))
    members = {"skipped.bin": b"0" * 1_001, "a.txt": b"a"}
    for read in (
        lambda: read_text(tmp_path / "a.txt.xz"),
        lambda: read_members(write_tar(tmp_path / "a.tar.xz", members), ["a.txt"]),
        lambda: read_members(write_zip(tmp_path / "a.zip", members), ["skipped.bin"]),
    ):
        with pytest.raises(CorpusError, match="larger than 1,000 bytes"):
            read()


@pytest.mark.parametrize("name", ["a.txt.xz", "a.tar.xz", "a.zip"])
def test_damaged_files_are_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"no archive")
    with pytest.raises(CorpusError, match=rf"{name} cannot be read .*; fetch it again"):
        read_text(tmp_path / name) if name == "a.txt.xz" else read_members(tmp_path / name)


def test_a_truncated_archive_is_named(tmp_path):
    path = write_tar(tmp_path / "a.tar.xz", {"a.txt": bytes(range(256)) * 100})
    path.write_bytes(path.read_bytes()[:-80])
    with pytest.raises(CorpusError, match=r"a\.tar\.xz cannot be read .*; fetch it again"):
        read_members(path)


def test_only_a_newline_ends_a_line():
    assert list(numbered_lines("a\u2028b\x0bc\r\n\r\n \nd ")) == [(1, "a\u2028b\x0bc"), (4, "d ")]
