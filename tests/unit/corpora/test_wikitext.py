import hashlib
import io
import zipfile
from pathlib import Path

import pytest

from ctxemb.corpora import CorpusError, data_folder, fetch, open_corpus, wikitext
from ctxemb.corpora.lines import open_bytes

TEXT = """ 
 = Homarus gammarus = 

 Homarus is a <unk> , red @-@ tipped , 0 @.@ 7 kg , 1 @,@ 000 eggs . 
 
 = = Description = = 

 = = = Claws = = = 

 The claw = the weapon . 
 = National record 
"""  # noqa: W291, W293
PASSAGES = [
    "Homarus is a <unk> , red-tipped , 0.7 kg , 1,000 eggs .",
    "The claw = the weapon .",
    "= National record",
]


def zipped(parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return buffer.getvalue()


@pytest.fixture
def published(server, monkeypatch) -> dict[str, str]:
    """A small stand-in for the published archive, on our own server, with its checksums."""
    parts = {part: f"{TEXT} The {part} part . \n" for part in ("train", "valid", "test")}
    server.files["/wikitext-2-v1.zip"] = zipped({f"wikitext-2/wiki.{part}.tokens": parts[part] for part in parts})
    monkeypatch.setattr(wikitext, "URL", server.url("/wikitext-2-v1.zip"))
    monkeypatch.setattr(wikitext, "SHA256", {part: hashlib.sha256(parts[part].encode()).hexdigest() for part in parts})
    return parts


def test_headings_go_and_joined_words_come_back(empty_data_folder):
    (empty_data_folder / "wikitext-2").mkdir(parents=True)
    (empty_data_folder / "wikitext-2" / "valid.txt").write_text(TEXT)
    assert list(open_corpus("wikitext-2:valid").passages()) == PASSAGES


def test_it_is_fetched_once_with_all_its_parts(empty_data_folder, published, server):
    progress = []
    corpus = open_corpus("wikitext-2", on_progress=lambda done, total: progress.append((done, total)))
    assert list(corpus.passages()) == [*PASSAGES, "The train part ."]
    assert list(open_corpus("wikitext-2:test").passages())[-1] == "The test part ."
    assert len(server.requests) == 1
    size = len(server.files["/wikitext-2-v1.zip"])
    assert progress[-1] == (size, size)
    assert sorted(path.name for path in empty_data_folder.rglob("*") if path.is_file()) == [
        "wiki.test.tokens",
        "wiki.train.tokens",
        "wiki.valid.tokens",
    ]


def refuse(message: str, folder: Path) -> None:
    with pytest.raises(CorpusError, match=message) as caught:
        fetch("wikitext-2")
    assert "wikitext-2 is not here." in str(caught.value)
    assert f"put it at {folder / 'wikitext-2' / 'wiki.train.tokens'}" in str(caught.value)
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_changed_content_is_refused_and_leaves_nothing(empty_data_folder, published, server):
    changed = {f"wikitext-2/wiki.{part}.tokens": text for part, text in published.items()}
    changed["wikitext-2/wiki.test.tokens"] += "!"
    server.files["/wikitext-2-v1.zip"] = zipped(changed)
    refuse("wiki.test.tokens .* is not the published file: its sha256 is", empty_data_folder)


def test_a_hostile_archive_writes_nowhere(empty_data_folder, published, server):
    server.files["/wikitext-2-v1.zip"] = zipped({"../../evil.txt": "words"})
    refuse("is not the expected archive", empty_data_folder)
    assert list(empty_data_folder.parent.rglob("evil.txt")) == []


def test_no_archive_at_all(empty_data_folder, published, server):
    server.files["/wikitext-2-v1.zip"] = b"<html>moved</html>"
    refuse("is not the expected archive: File is not a zip file", empty_data_folder)
    del server.files["/wikitext-2-v1.zip"]
    refuse("cannot be fetched: 404", empty_data_folder)


def test_a_bomb_is_not_unpacked(empty_data_folder, published, server, monkeypatch):
    monkeypatch.setattr(wikitext, "MAX_BYTES", 100_000)
    server.files["/wikitext-2-v1.zip"] = zipped({"wikitext-2/wiki.train.tokens": "a" * 1_000_000})
    refuse("would unpack to 1,000,000 bytes", empty_data_folder)


def test_an_endless_download_is_cut_off(empty_data_folder, published, server, monkeypatch):
    monkeypatch.setattr(wikitext, "MAX_BYTES", 100)
    refuse("sends more than the expected 100 bytes", empty_data_folder)


def test_a_connection_that_breaks_leaves_nothing(empty_data_folder, published, server):
    server.cut_short = True
    refuse("cannot be fetched", empty_data_folder)


def test_the_real_one_is_the_published_one():
    path = wikitext.find(data_folder(), "valid")
    if path is None:
        pytest.skip("needs wikitext-2 in $CTXEMB_DATA")
    with open_bytes(path) as stream:
        assert hashlib.sha256(stream.read()).hexdigest() == wikitext.SHA256["valid"]
    passages = list(open_corpus("wikitext-2:valid").passages())
    assert len(passages) == 1_841
    assert passages[0].startswith(
        "Homarus gammarus , known as the European lobster or common lobster , is a species of <unk>"
    )
    assert not any("@-@" in passage or passage.startswith("= ") for passage in passages)
