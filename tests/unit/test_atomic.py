import stat
import sys

import pytest

from ctxemb.atomic import replace_file, whole_or_nothing


def test_a_failed_write_keeps_the_old_file_and_leaves_no_other(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with whole_or_nothing(path) as draft:
            draft.write_text("half of the n")
            assert path.read_text() == "old"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]
    with whole_or_nothing(path) as draft:
        draft.write_text("new")
    assert path.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


def test_the_folder_is_made_and_others_may_read_the_file(tmp_path):
    path = tmp_path / "new" / "folder" / "a.bin"
    replace_file(path, b"\0\r\n")
    assert path.read_bytes() == b"\0\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_a_draft_that_cannot_be_moved_is_removed(tmp_path):
    (tmp_path / "a.txt").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_file(tmp_path / "a.txt", b"new")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits and modes are a matter of Unix")
@pytest.mark.parametrize("num_bytes", [3, 300_000])
def test_replacing_a_file_is_all_or_nothing(tmp_path, num_bytes, full_disk):
    path = tmp_path / "state"
    replace_file(path, b"old")
    with full_disk(num_bytes), pytest.raises(OSError, match="File too large"):
        replace_file(path, bytes(num_bytes + 1))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"old"]
