import io
import lzma
from itertools import islice

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctxemb.corpora import CorpusError, enwiki, fetch, held_out, open_corpus, wikipedia, wikitext
from ctxemb.corpora.download import data_folder

SECRET = "the quick brown fox jumps over the lazy dog and then it sleeps until noon"
ARTICLES = [
    "Anarchism is a philosophy that advocates societies of free people.\n\nHistory\n\nA short line.\n"
    " An item of a list that has no end of a sentence\n\nIt was first named so in the   nineteenth century in France.",
    "In this article The QUICK brown fox; jumps over the lazy dog, and then it sleeps until noon.\n\n"
    "The quick brown fox jumps over the lazy dog, and so it wakes.",
    *(f"Article number {i} has one paragraph of ten words here, certainly." for i in range(3_000)),
]
KEPT = [
    "Anarchism is a philosophy that advocates societies of free people.",
    "It was first named so in the nineteenth century in France.",
    "The quick brown fox jumps over the lazy dog, and so it wakes.",
    "Article number 0 has one paragraph of ten words here, certainly.",
]


@pytest.fixture
def public_dump(server, monkeypatch, empty_data_folder):
    """Two shards on our own server; WikiText-2, which is to be left out, is in the data folder."""
    for shard, articles in enumerate((ARTICLES[:2_000], ARTICLES[2_000:])):
        buffer = io.BytesIO()
        table = pa.table({"id": [str(i) for i in range(len(articles))], "text": articles})
        pq.write_table(table, buffer, row_group_size=200, compression="none")
        server.files[f"/{shard}.parquet"] = buffer.getvalue()
    monkeypatch.setattr(wikipedia, "URL", server.url("/{shard}.parquet"))
    monkeypatch.setattr(enwiki, "NUM_SHARDS", 2)
    folder = empty_data_folder / "wikitext-2"
    folder.mkdir(parents=True)
    (folder / "valid.txt").write_text(f" = Foxes = \n {SECRET} . \n")
    (folder / "test.txt").write_text(" Another text . \n")
    return empty_data_folder


def test_the_local_extract_loses_what_is_listed(empty_data_folder, monkeypatch):
    path = empty_data_folder / "enwiki" / "text.txt.xz"
    path.parent.mkdir(parents=True)
    path.write_bytes(lzma.compress(b"Keep this one.\nDrop this one.\n\nKeep that one.\n"))
    (empty_data_folder / "list.txt").write_text(held_out.paragraph_hash("  Drop this one. ") + "\n")
    monkeypatch.setattr(held_out.resources, "files", lambda package: empty_data_folder)
    monkeypatch.setattr(held_out, "LIST", "list.txt")
    assert list(open_corpus("enwiki").passages()) == ["Keep this one.", "Keep that one."]


def test_a_run_of_twelve_words_is_shared_whatever_the_case_and_punctuation():
    words = SECRET.split()
    eleven, twelve = " ".join(words[:11]), "So: " + ", ".join(words[2:14]).upper() + "!"
    assert list(held_out.without_shared_runs([eleven, twelve], [SECRET])) == [eleven]
    unknown = SECRET.replace("fox", "<unk>").replace("dog", "<unk>")
    assert list(held_out.without_shared_runs([unknown], [unknown])) == [unknown]


def test_shared_runs_agree_with_naive_loops():
    passages = [" ".join(str(n * k % 7) for n in range(40)) for k in range(1, 30)]
    held, others = passages[:3], passages[3:]

    def runs(text: str) -> set[tuple[str, ...]]:
        words = text.split()
        return {tuple(words[i : i + 12]) for i in range(len(words) - 11)}

    expected = [text for text in others if not any(runs(text) & runs(h) for h in held)]
    assert list(held_out.without_shared_runs(others, held)) == expected
    assert 0 < len(expected) < len(others)


def test_the_first_articles_are_fetched_once_and_without_the_held_out_text(public_dump, server):
    progress = []
    corpus = open_corpus("enwiki", max_tokens=40, on_progress=lambda done, total: progress.append((done, total)))
    assert list(corpus.passages()) == KEPT
    assert progress[-1] == (40, 40)
    num_requests = len(server.requests)
    assert list(open_corpus("enwiki", max_tokens=25).passages()) == KEPT[:3]
    assert list(open_corpus("enwiki").passages()) == KEPT
    assert len(server.requests) == num_requests
    assert [path.name for path in (public_dump / "enwiki").iterdir()] == ["20231101-40-words.txt.zst"]


def test_more_words_than_were_fetched_are_fetched_anew(public_dump):
    fetch("enwiki", max_tokens=40)
    corpus = open_corpus("enwiki", max_tokens=20_000)
    # Both shards, to the last word needed.
    assert sum(len(passage.split()) for passage in corpus.passages()) >= 20_000
    assert open_corpus("enwiki", max_tokens=40).fingerprint != corpus.fingerprint


def test_only_the_needed_part_is_read_over_the_network(public_dump, server):
    fetch("enwiki", max_tokens=40)
    assert "/1.parquet" not in server.requests
    assert len(server.requests) < 10


def test_a_lost_connection_leaves_nothing_and_says_what_to_do(public_dump, server):
    del server.files["/1.parquet"]
    with pytest.raises(
        CorpusError, match=r"enwiki is not here\. .*1.parquet cannot be read: .*404.* put it at .*text.txt.xz"
    ):
        fetch("enwiki", max_tokens=1_000_000)
    assert list((public_dump / "enwiki").iterdir()) == []
    server.files["/0.parquet"] = b"no parquet"
    with pytest.raises(CorpusError, match=r"0\.parquet cannot be read"):
        fetch("enwiki", max_tokens=1_000_000)


def test_the_real_extract_holds_no_wikitext_test_paragraph():
    if not (data_folder() / "enwiki" / enwiki.EXTRACT).is_file() or wikitext.find(data_folder(), "test") is None:
        pytest.skip("needs enwiki and wikitext-2 in $CTXEMB_DATA")
    passages = list(islice(open_corpus("enwiki").passages(), 40_000))
    assert passages[0].startswith("Anarchism is a political philosophy")
    texts = [text for part in ("valid", "test") for text in open_corpus(f"wikitext-2:{part}").passages()]
    assert list(held_out.without_shared_runs(passages, texts)) == passages
