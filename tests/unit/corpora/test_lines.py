import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

import pytest

from ctxemb.corpora import CorpusError, lines, open_corpus
from ctxemb.corpora.lines import zstd

TEXT = "The bank — naïve, 银行, банк — approved.\nWe sat on the bank.\n"
PACKERS = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress, ".bz2": bz2.compress, ".zst": zstd.compress}


def passages(path: Path, content: bytes, **options) -> list[str]:
    path.write_bytes(content)
    return list(open_corpus(path, **options).passages())


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize("name", ["a.txt", "a.TXT", "a", "a.utf8"])
def test_every_packing_gives_the_same_lines(tmp_path, name, packing):
    assert passages(tmp_path / f"{name}{packing}", PACKERS[packing](TEXT.encode())) == TEXT.splitlines()


def test_packed_files_of_several_members_are_read_to_the_end(tmp_path):
    for packing in (".gz", ".xz", ".bz2", ".zst"):
        content = PACKERS[packing](b"one\n") + PACKERS[packing](b"two\n")
        assert passages(tmp_path / f"a.txt{packing}", content) == ["one", "two"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_are_read_and_removed(tmp_path, encoding):
    assert passages(tmp_path / "a.txt", TEXT.encode(encoding)) == TEXT.splitlines()


def test_a_mark_does_not_survive_a_named_encoding(tmp_path):
    assert passages(tmp_path / "a.txt", TEXT.encode("utf-8-sig"), encoding="utf-8") == TEXT.splitlines()


def test_encodings_are_detected(tmp_path):
    french = "Le café était fermé, et la forêt déjà noire. Où êtes-vous allés cet été ?\n" * 20
    assert passages(tmp_path / "fr.txt", french.encode("latin-1"))[0] == french.splitlines()[0]
    chinese = "他在银行工作了很多年，后来去河边的小屋里写作。\n" * 20
    assert passages(tmp_path / "zh.txt", chinese.encode("gb18030"))[0] == chinese.splitlines()[0]


def test_a_character_cut_by_the_sample_is_still_utf8(tmp_path):
    content = b"a" * (lines.SAMPLE_BYTES - 1) + "é\n".encode()
    assert passages(tmp_path / "a.txt", content)[0].endswith("aé")


def test_line_ends_of_every_system(tmp_path):
    assert passages(tmp_path / "a.txt", b"one\r\ntwo\rthree\nfour") == ["one", "two", "three", "four"]


def test_odd_but_legal_characters_pass(tmp_path):
    odd = "emoji 🏦, \u202bעברית\u202c, bell \x07, joined \u200d here"
    assert passages(tmp_path / "a.txt", odd.encode()) == [odd]


def test_bad_bytes_are_named_with_file_line_and_character(tmp_path):
    content = b"good line\n" * 3 + b"caf\xe9 here\n"
    with pytest.raises(CorpusError, match=r"a.txt, line 4, character 4: not utf-8 text; name the file's encoding"):
        passages(tmp_path / "a.txt", content, encoding="utf-8")


def test_a_late_bad_byte_is_not_read_over(tmp_path):
    content = b"good line\n" * 100_000 + b"caf\xe9 here\n"
    with pytest.raises(CorpusError, match="line 100001, character 4: not utf-8"):
        passages(tmp_path / "a.txt", content)


def test_half_a_utf16_character_is_an_error(tmp_path):
    with pytest.raises(CorpusError, match="not utf-16 text"):
        passages(tmp_path / "a.txt", "bank\n".encode("utf-16")[:-1])


def test_nul_is_named_with_its_line(tmp_path):
    with pytest.raises(CorpusError, match=r"a.txt, line 2: holds a NUL character"):
        passages(tmp_path / "a.txt", b"good\nbad\0\n")


@pytest.mark.parametrize("encoding", ["no-such-code", "zlib"])
def test_unknown_encodings_are_refused(tmp_path, encoding):
    with pytest.raises(CorpusError, match=f"Encoding '{encoding}' is unknown"):
        passages(tmp_path / "a.txt", b"words\n", encoding=encoding)


def zip_bytes() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("../../evil.txt", "words")
    return buffer.getvalue()


def tar_bytes() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("evil.txt"))
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.zip", zip_bytes(), "is an archive; unpack it"),
        ("a.tar.gz", gzip.compress(tar_bytes(), mtime=0), "is an archive; unpack it"),
        ("a.tgz", gzip.compress(tar_bytes(), mtime=0), "is an archive; unpack it"),
        ("a.txt", zip_bytes(), "holds a zip archive"),
        ("a.csv", zip_bytes(), "holds a zip archive"),
        ("a.txt.gz", gzip.compress(tar_bytes(), mtime=0), "holds a tar archive"),
        ("a.txt", gzip.compress(b"words", mtime=0), "holds gzip data"),
        ("a.txt.xz", lzma.compress(gzip.compress(b"words", mtime=0)), "holds gzip data"),
        ("a.txt", b"%PDF-1.7 words", "holds a PDF document"),
        ("a.txt.gz", b"not packed at all", "cannot be read: Not a gzipped file"),
        ("a.txt.xz", b"not packed at all", "cannot be read: Input format not supported"),
        ("a.txt.zst", b"not packed at all", "cannot be read: Unable to decompress"),
        ("a.txt.bz2", b"not packed at all", "cannot be read: Invalid data stream"),
    ],
)
def test_archives_and_binaries_are_refused_on_opening(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        open_corpus(path)
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("packing", [".gz", ".xz", ".bz2", ".zst"])
def test_a_truncated_file_fails_after_what_could_be_read(tmp_path, packing):
    path = tmp_path / f"a.txt{packing}"
    words = "".join(f"line {i * 7919 % 100_003} of this text\n" for i in range(100_000)).encode()
    content = PACKERS[packing](words)
    path.write_bytes(content[: len(content) * 3 // 4])
    read = open_corpus(path).passages()
    assert next(read) == "line 0 of this text"
    with pytest.raises(CorpusError, match=r"after line \d+: cannot be read further"):
        list(read)


def test_an_overlong_line_is_cut_at_white_space_and_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE_CHARACTERS", 100)
    words = [f"word{i}" for i in range(200)]
    pieces = passages(tmp_path / "a.txt", (" ".join(words) + "\nnext line\n").encode())
    assert max(map(len, pieces)) <= 100
    assert pieces[-1] == "next line"
    assert " ".join(pieces[:-1]).split() == words
    chinese = "他在银行工作。" * 50
    assert "".join(passages(tmp_path / "zh.txt", chinese.encode())) == chinese


def test_a_bomb_is_refused_without_unpacking_it(tmp_path):
    bomb = gzip.compress(b"a" * 20_000_000, compresslevel=1)
    with pytest.raises(CorpusError, match="line 1: longer than 1,000,000 characters; break it into lines"):
        passages(tmp_path / "a.txt.gz", bomb)
