"""Building a store: interrupted, refused, shared, and with a disk that runs full."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.corpora import CorpusError, open_corpus
from ctxemb.store import SelectionConfig, StoreError, VectorStore, build, index_corpus, writer
from ctxemb.store.tables import connect, contexts_schema, open_table, vector_column
from ctxemb.store.writer import sole_writer
from tests.unit.store.conftest import WANTED, Indexed
from tests.unit.store.test_vectors import query_vector

ROOT = Path(__file__).parents[3]


def content(folder: Path) -> list[tuple]:
    """Every row, in an order of its own."""
    table = open_table(str(folder), "contexts")
    assert table is not None
    rows = table.to_arrow().to_pylist()
    return sorted((r["source"], r["chunk"], r["sentence"], r["start"], r["word"], tuple(r["vector"])) for r in rows)


def test_a_store_is_what_encoding_the_corpus_gives(indexed: Indexed):
    rows = content(indexed.folder)
    words = [word for sentence in indexed.sentences() for word in sentence.split()]
    assert len(rows) == sum(words.count(word) for word in ("bank", "plant", "river"))
    assert {row[1] for row in rows} == {0, 1, 2}


def test_indexing_again_adds_nothing(encoder, indexed, tmp_path):
    folder = indexed.copy(tmp_path / "store")
    before = content(folder)
    report = index_corpus(encoder, indexed.corpus, folder, indexed.cache, WANTED)
    assert (report.num_added, report.num_contexts) == (0, len(before))
    assert content(folder) == before


INDEX = """
import sys, torch
torch.set_num_threads(1)
from pathlib import Path
from ctxemb import Encoder
from ctxemb.corpora import open_corpus
from ctxemb.distributed import world
from ctxemb.store import build, index_corpus, writer
from tests.unit.store.conftest import WANTED

checkpoint, text, store, cache = sys.argv[1:5]
build.PASSAGES_PER_CHUNK, build.ROWS_PER_COMMIT = 50, 1
say = lambda share, stage: print(stage, flush=True)
with world("cpu") as peers:
    report = index_corpus(Encoder.load(checkpoint, "cpu"), open_corpus(text), store, Path(cache), WANTED, peers=peers,
                          on_progress=say)
    print("added", report.num_added, flush=True)
"""


def command(indexed: Indexed, folder: Path, *before: str) -> list[str]:
    script = folder.parent / "index.py"
    script.write_text(INDEX)
    text = indexed.corpus.files[0]
    return [sys.executable, *before, *map(str, (script, indexed.encoder.checkpoint.path, text, folder, indexed.cache))]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}


def test_killed_in_the_middle_it_goes_on_without_duplicates(encoder, indexed, tmp_path, monkeypatch):
    folder = tmp_path / "store"
    process = subprocess.Popen(command(indexed, folder), env=environment(), stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip().endswith(("25%", "33%", "42%")):
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    store = VectorStore.open(folder)
    assert 0 < len(store) < len(content(indexed.folder))
    assert not store.sources()[0].is_complete
    assert store.nearest(query_vector(indexed), 3).hits
    with pytest.raises(StoreError, match="no word vectors yet"):
        store.similar_words("bank")
    monkeypatch.setattr(build, "PASSAGES_PER_CHUNK", 50)
    report = index_corpus(encoder, indexed.corpus, folder, indexed.cache, WANTED)
    whole = content(indexed.folder)
    assert 0 < report.num_added < report.num_contexts == len(whole)
    assert sorted(row[2:5] for row in content(folder)) == sorted(row[2:5] for row in whole)
    assert len(store) == len(whole)  # a store that was opened before sees what came after
    assert store.sources()[0].is_complete


def test_two_processes_under_torchrun_make_the_store_of_one(indexed, tmp_path):
    folder = tmp_path / "store"
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    done = subprocess.run(command(indexed, folder, *torchrun), env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    added = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("added")]
    assert len(added) == 2
    assert min(added) > 0
    assert sum(added) == len(content(indexed.folder))
    ours, alone = ([row[2:5] for row in content(place)] for place in (folder, indexed.folder))
    assert sorted(ours) == sorted(alone)
    assert VectorStore.open(folder).sources()[0].is_complete


def test_a_second_writer_is_refused_while_readers_go_on(encoder, indexed, tmp_path):
    folder = indexed.copy(tmp_path / "store")
    holder = f"""
import sys
from ctxemb.store.writer import sole_writer
with sole_writer({str(folder)!r}):
    print("holding", flush=True)
    sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", holder], env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"holding\n"
        with pytest.raises(StoreError, match=f"being written to by process {process.pid} on"):
            index_corpus(encoder, indexed.corpus, folder, indexed.cache, WANTED)
        assert VectorStore.open(folder).nearest(query_vector(indexed), 1).hits
        process.kill()
    with sole_writer(str(folder)):  # a dead writer holds nothing
        pass


def test_another_checkpoint_reading_type_or_selection_is_refused(encoder, indexed, other_encoder, tmp_path):
    folder = indexed.copy(tmp_path / "store")
    before = content(folder)

    def refused(match: str, encoder=encoder, **options) -> None:
        with pytest.raises(StoreError, match=match):
            index_corpus(encoder, indexed.corpus, folder, indexed.cache, **({"selection": WANTED} | options))

    refused("holds vectors of the checkpoint best .*, not of other", encoder=other_encoder)
    refused("read as here, layer last, not as here, layer 1", encoder.with_reading(encoder.reading_for("here", 1)))
    refused("keeps float32 numbers, not float16", vector_type="float16")
    refused("has a source text.txt already, read with", selection=SelectionConfig(words=("bank",)))
    indexed_elsewhere = tmp_path / "text.txt"
    indexed_elsewhere.write_text("the bank of the river was old .\n" * 6)
    with pytest.raises(StoreError, match=r"has a source text.txt already, another text"):
        index_corpus(encoder, open_corpus(indexed_elsewhere), folder, tmp_path / "cache", WANTED)
    assert content(folder) == before


def test_a_full_disk_is_said_and_the_store_stays_as_it_was(encoder, indexed, tmp_path, full_disk, monkeypatch):
    monkeypatch.setattr(build, "PASSAGES_PER_CHUNK", 50)
    monkeypatch.setattr(build, "ROWS_PER_COMMIT", 1)
    folder, plain = tmp_path / "store", writer.StoreWriter.add
    commits = []

    def add(self, tables):
        commits.append(tables)
        if len(commits) < 3:
            plain(self, tables)
            return
        with full_disk(2_000):
            plain(self, tables)

    monkeypatch.setattr(writer.StoreWriter, "add", add)
    with pytest.raises(StoreError, match=r"writing to .* failed .*make room"):
        index_corpus(encoder, indexed.corpus, folder, indexed.cache, WANTED)
    assert len(VectorStore.open(folder)) == sum(len(table) for tables in commits[:2] for table in tables)
    monkeypatch.setattr(writer.StoreWriter, "add", plain)
    index_corpus(encoder, indexed.corpus, folder, indexed.cache, WANTED)
    assert len(VectorStore.open(folder)) == len(content(indexed.folder))


def test_an_unwritable_place_or_nothing_to_index_is_said(encoder, indexed, write_corpus, tmp_path):
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(StoreError, match=r"cannot be written to .*choose another folder"):
        index_corpus(encoder, indexed.corpus, tmp_path / "file" / "store", indexed.cache, WANTED)
    with pytest.raises(CorpusError, match="no text"):
        index_corpus(encoder, write_corpus([""]), tmp_path / "store", tmp_path / "cache")
    corpus = write_corpus(["we sat on the bank of the river ."], "other.txt")
    with pytest.raises(StoreError, match=r"none of the words to index occurs in other\.txt"):
        index_corpus(encoder, corpus, tmp_path / "store", tmp_path / "cache", SelectionConfig(words=("plant",)))
    assert not (tmp_path / "store").exists()


def test_long_sentences_are_cut_and_short_ones_left_out_as_in_training(encoder, write_corpus, tmp_path):
    limits = encoder.config.text
    long = " ".join(["old"] * (limits.max_sentence_tokens - 1) + ["bank", "river", "bank"])
    corpus = write_corpus(["the bank .", long, "we sat on the bank of the river ."])
    index_corpus(encoder, corpus, tmp_path / "store", tmp_path / "cache", WANTED)
    contexts = [*VectorStore.open(tmp_path / "store").contexts("bank")]
    assert [c.sentence for c in contexts] == [" ".join(long.split()[: limits.max_sentence_tokens]), corpus_last(corpus)]


def corpus_last(corpus) -> str:
    return list(corpus.passages())[-1]


def test_half_the_disk_for_nearly_the_same_cosines(encoder, indexed, tmp_path):
    folder = tmp_path / "half"
    index_corpus(encoder, indexed.corpus, folder, indexed.cache, WANTED, "float16")
    whole, half = VectorStore.open(indexed.folder), VectorStore.open(folder)
    vector_D = query_vector(indexed)
    ours, theirs = ([hit.cosine for hit in s.nearest(vector_D, 20).hits] for s in (half, whole))
    assert ours == pytest.approx(theirs, abs=2e-3)
    assert ours != theirs


def test_an_index_finds_what_comparing_all_finds(indexed, tmp_path):
    """Recall of the index on vectors that lie in clusters, as real ones do."""
    rng = np.random.default_rng(0)
    about = VectorStore.open(indexed.folder).about
    centres = rng.normal(size=(40, about.width))
    vectors_ND = (centres[rng.integers(40, size=8_000)] + 0.7 * rng.normal(size=(8_000, about.width))).astype(
        np.float32
    )
    schema = contexts_schema(about)
    folder = tmp_path / "store"
    with sole_writer(str(folder)):
        target = writer.StoreWriter(str(folder), about)
        target.begin("random", "0", "{}", 1)
        names = [f"word {i % 10}" for i in range(8_000)]
        columns = {
            "word": names,
            "sentence": [f"sentence {i}" for i in range(8_000)],
            "start": [0] * 8_000,
            "end": [4] * 8_000,
            "sense": [None] * 8_000,
            "source": ["random"] * 8_000,
            "chunk": [0] * 8_000,
            "vector": vector_column(vectors_ND, schema.field("vector")),
        }
        target.add([pa.table(columns, schema=schema)])
        target.complete("random", index_from=5_000)
    store = VectorStore.open(folder)
    assert store.has_index
    found = [store.nearest(vectors_ND[i] + 0.1, 10) for i in range(30)]
    cosines = cosine_matrix(np.vstack([vectors_ND[:30] + 0.1, vectors_ND]))[:30, 30:]
    truth = np.argsort(-cosines, axis=1)[:, :10]
    places = [{int(hit.context.sentence.split()[1]) for hit in f.hits} for f in found]
    recall = np.mean([len(ours & set(best.tolist())) / 10 for ours, best in zip(places, truth, strict=True)])
    assert recall >= 0.95
    assert not found[0].is_exact
    assert found[0].num_searched == 8_000
    exact = store.nearest(vectors_ND[0] + 0.1, 10, exact=True)
    assert exact.is_exact
    assert [hit.cosine for hit in exact.hits] == pytest.approx(np.sort(cosines[0])[::-1][:10].tolist(), abs=1e-5)
    assert store.nearest(vectors_ND[0], 10, only_word="word 3").is_exact
    assert connect(str(folder)).open_table("words").count_rows() == 10


def test_the_command_line_indexes_and_answers(indexed, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("bank\nzyzzyva\n")
    checkpoint, store = str(indexed.encoder.checkpoint.path), str(tmp_path / "store")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        variables = environment() | {"CTXEMB_CACHE": str(tmp_path / "cache")}
        arguments = (sys.executable, "-m", "ctxemb", *arguments)
        return subprocess.run(arguments, env=variables, capture_output=True, text=True, cwd=ROOT)

    text = str(indexed.corpus.files[0])
    done = run("index", checkpoint, "--corpus", text, "--store", store, "--words", str(words), "--max-per-word", "40")
    assert done.returncode == 0, done.stderr
    assert "40 contexts of text.txt" in done.stderr
    assert "“zyzzyva” is not in the checkpoint's vocabulary" in done.stderr
    question = (
        "neighbours",
        checkpoint,
        "we sat on the bank of the river .",
        "--word",
        "bank",
        "--store",
        store,
        "--json",
    )
    answer = json.loads(run(*question, "-k", "3").stdout)
    assert answer["num_searched"] == 40
    assert answer["is_exact"] is True
    assert [row["word"] for row in answer["neighbours"]] == ["bank"] * 3
    refused = run("index", checkpoint, "--corpus", text, "--store", store)
    assert refused.returncode == 1
    assert "has a source text.txt already" in refused.stderr
    assert "Traceback" not in refused.stderr
