from pathlib import Path

import pytest

from ctxemb.corpora import CorpusError, data_folder, fetch, named_corpora
from ctxemb.corpora.download import download, whole_or_nothing


def test_the_list_says_what_is_here_and_how_to_get_the_rest(empty_data_folder):
    corpora = {corpus.name: corpus for corpus in named_corpora()}
    assert list(corpora) == [
        "wikitext-2",
        "wikitext-2:valid",
        "wikitext-2:test",
        "enwiki",
        "wordnet-examples",
        "wiki-sample",
        "lab",
        "lab:large",
        "zhwiki",
        "people-daily-1998",
        "tatoeba-zh",
    ]
    assert {name for name, corpus in corpora.items() if corpus.found} == {"wiki-sample", "lab", "lab:large"}
    assert corpora["wiki-sample"].how_to_get == "It comes with gensim 4.4 (pip install gensim)."
    assert corpora["lab"].how_to_get == "It comes with ctxemb."
    assert corpora["enwiki"].how_to_get.endswith(
        f"put it at {empty_data_folder}/enwiki/text.txt.xz (one paragraph a line)."
    )
    (empty_data_folder / "wikitext-2").mkdir(parents=True)
    (empty_data_folder / "wikitext-2" / "wiki.test.tokens").write_text("words")
    assert corpora["wikitext-2:test"].found == empty_data_folder / "wikitext-2" / "wiki.test.tokens"
    assert corpora["wikitext-2"].found is None


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(CorpusError, match="no corpus 'wikitext'; the named ones are wikitext-2, "):
        fetch("wikitext")


def test_the_data_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    monkeypatch.setenv("CTXEMB_DATA", "~/words")
    assert data_folder() == Path.home() / "words"
    monkeypatch.delenv("CTXEMB_DATA")
    assert data_folder().parts[-2:] == ("ctxemb", "data")


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(CorpusError, match=r"file cannot be written to .*; set CTXEMB_DATA to a folder of yours"),
        whole_or_nothing(tmp_path / "file" / "a.txt"),
    ):
        pass


def test_no_connection_is_one_sentence(tmp_path, server):
    url = server.url("/gone")
    server.server_close()
    with pytest.raises(CorpusError, match=r"http://127\.0\.0\.1:.*/gone cannot be fetched"):
        download(url, tmp_path / "a.txt", 1_000)
    assert list(tmp_path.iterdir()) == []
