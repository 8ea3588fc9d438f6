import io
import lzma

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ctxemb.corpora import CorpusError, fetch, open_corpus, wikipedia, zhwiki

SIMPLIFIED = "苹果是一种常见的水果，世界各地都有人种植苹果。"
TRADITIONAL = "蘋果是一種常見的水果，世界各地都有人種植蘋果。"
ARTICLES = [
    f"{SIMPLIFIED}\n\n历史\n\n很短。\n\n这一行是列表里的一项，没有句号，所以它不是正文\n"
    "{| 表格里的文字也不是正文，不应该留下来。",
    f"{TRADITIONAL}\n\n{SIMPLIFIED}（见下文。）",
]


@pytest.fixture
def public_dump(server, monkeypatch, empty_data_folder):
    for shard in range(2):
        buffer = io.BytesIO()
        pq.write_table(pa.table({"text": ARTICLES}), buffer)
        server.files[f"/zh/{shard}.parquet"] = buffer.getvalue()
    monkeypatch.setattr(wikipedia, "URL", server.url("/{language}/{shard}.parquet"))
    monkeypatch.setattr(zhwiki, "NUM_SHARDS", 2)
    return empty_data_folder


@pytest.fixture
def extract(empty_data_folder):
    folder = empty_data_folder / "zhwiki"
    folder.mkdir(parents=True)
    (folder / "text.txt.xz").write_bytes(lzma.compress("第一段。\n第二段。\n".encode()))
    return folder


def test_both_parts_of_the_local_extract_are_read_and_fingerprinted(extract):
    one = open_corpus("zhwiki")
    assert list(one.passages()) == ["第一段。", "第二段。"]
    (extract / "misc.txt.xz").write_bytes(lzma.compress("第三段。\n".encode()))
    both = open_corpus("zhwiki")
    assert list(both.passages()) == ["第一段。", "第二段。", "第三段。"]
    assert one.fingerprint != both.fingerprint


def test_running_text_in_simplified_characters_is_fetched(public_dump, server):
    expected = [SIMPLIFIED, f"{SIMPLIFIED}（见下文。）"] * 2
    assert list(open_corpus("zhwiki").passages()) == expected
    num_requests = len(server.requests)
    assert list(open_corpus("zhwiki", max_tokens=20).passages()) == expected[:2]
    assert len(server.requests) == num_requests


def test_only_as_many_words_are_fetched_as_are_asked_for(public_dump, server):
    progress = []
    path = fetch("zhwiki", lambda done, total: progress.append((done, total)), max_tokens=10)
    assert path == public_dump / "zhwiki" / "20231101-10-words.txt.zst"
    assert list(open_corpus("zhwiki", max_tokens=10).passages()) == [SIMPLIFIED]
    assert progress == [(10, 10)]
    assert "/zh/1.parquet" not in server.requests


def test_a_lost_connection_leaves_nothing_and_says_what_to_do(public_dump, server):
    del server.files["/zh/1.parquet"]
    with pytest.raises(CorpusError, match=r"zhwiki is not here\. .*/zh/1\.parquet cannot be read.* put it at "):
        fetch("zhwiki")
    assert list((public_dump / "zhwiki").iterdir()) == []


def test_tatoeba_is_put_there_by_hand(empty_data_folder):
    with pytest.raises(
        CorpusError, match=r"tatoeba-zh is not here\. .*by hand\. Get it from https://tatoeba.*text\.txt"
    ):
        fetch("tatoeba-zh")
    (empty_data_folder / "zh-tatoeba").mkdir(parents=True)
    (empty_data_folder / "zh-tatoeba" / "text.txt.xz").write_bytes(lzma.compress("我吃苹果。\n".encode()))
    assert list(open_corpus("tatoeba-zh").passages()) == ["我吃苹果。"]
