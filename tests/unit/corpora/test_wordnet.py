import hashlib
import io
import tarfile

import pytest

from ctxemb.corpora import CorpusError, data_folder, open_corpus, wordnet

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
NOUN = '00002684 03 n 02 object 0 001 @ 00001930 n 0000 | a tangible entity; "it was full of rackets and balls"  \n'
VERB = '00001740 29 v 01 breathe 0 000 02 + 02 00 + 08 00 | draw air; "I can breathe!"; "the patient is respiring"  \n'


def tarball(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return buffer.getvalue()


DATABASE = {
    "dict/data.adj": LICENCE,
    "dict/data.adv": LICENCE,
    "dict/data.noun": LICENCE + NOUN,
    "dict/data.verb": LICENCE + VERB,
    "dict/index.noun": LICENCE + "not read",
}
PASSAGES = [
    "A tangible entity. It was full of rackets and balls.",
    "Draw air. I can breathe! The patient is respiring.",
]


@pytest.mark.parametrize(
    ("gloss", "passage"),
    [
        ("an entity that has physical existence  \n", "An entity that has physical existence."),
        ("(of color) discolored; not bright", "(of color) discolored; not bright."),
        ('weak; "much kindness"- George Meredith; "a limp hand" G.K.Chesterton', "Weak. Much kindness. A limp hand."),
        ("a rule; \"do unto them\" (Matthew 7:12)", "A rule. Do unto them."),
        ("followed by `to'; \"able to swim\"", "Followed by 'to'. Able to swim."),
        ('tipped; "on her beam-ends" means heeled over', "Tipped. On her beam-ends means heeled over."),
        ('asking; "is it?"', "Asking. Is it?"),
        ('"only an example"', "Only an example."),
        ("", ""),
    ],
)  # fmt: skip
def test_a_gloss_becomes_sentences(gloss, passage):
    assert wordnet.synset_passage(gloss) == passage


def test_it_is_fetched_checked_and_read_in_order(empty_data_folder, server, monkeypatch):
    content = tarball(DATABASE)
    server.files["/wordnet.tgz"] = content
    monkeypatch.setattr(wordnet, "URL", server.url("/wordnet.tgz"))
    published = {name: DATABASE[f"dict/{name}"].encode() for name in wordnet.DATA_FILES}
    checksums = {name: hashlib.sha256(text).hexdigest() for name, text in published.items()}
    monkeypatch.setattr(wordnet, "DATA_FILES", checksums)
    assert list(open_corpus("wordnet-examples").passages()) == PASSAGES
    assert list(open_corpus("wordnet-examples").passages()) == PASSAGES
    assert len(server.requests) == 1


def test_another_archive_is_refused(empty_data_folder, server, monkeypatch):
    server.files["/wordnet.tgz"] = tarball(DATABASE)
    monkeypatch.setattr(wordnet, "URL", server.url("/wordnet.tgz"))
    with pytest.raises(CorpusError, match=r"wordnet-examples is not here\. .* is not the published file"):
        open_corpus("wordnet-examples")
    assert [path for path in empty_data_folder.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("content", [b"no archive", tarball({"dict/data.noun": NOUN}), tarball(DATABASE)[:-40]])
def test_a_damaged_archive_is_named(empty_data_folder, content):
    path = empty_data_folder / "wordnet-3.1" / wordnet.TARBALL
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"wn3.1.dict.tar.gz is not the WordNet 3.1 database"):
        list(open_corpus("wordnet-examples").passages())


def test_the_real_database():
    if wordnet.find(data_folder()) is None:
        pytest.skip("needs wordnet-examples in $CTXEMB_DATA")
    passages = list(open_corpus("wordnet-examples").passages())
    assert len(passages) == 117_791
    assert "Sloping land (especially the slope beside a body of water). They pulled the canoe up on the bank. He sat on the bank of the river and watched the currents." in passages  # fmt: skip # noqa: E501
    assert not any('"' in passage or "`" in passage for passage in passages)
