import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from ctxemb.batching import plan_batches
from ctxemb.checkpoint import load_checkpoint
from ctxemb.distributed import World, choose_device, world
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.progress import StepRecord, ValidationRecord, read_progress
from ctxemb.training import LanguageModelling, TrainingConfig, train

ALONE = World(0, 1, torch.device("cpu"))
MODEL = BiLMConfig(vocabulary_size=28, embedding_size=8, hidden_size=16, num_layers=1, dropout=0, cutoffs=(10, 20))
CONFIG = TrainingConfig(
    batch_tokens=140,
    learning_rate=1e-2,
    warmup_steps=2,
    validate_every=4,
    save_every=3,
    precision="float32",
    weight_type="float32",
)

# What a rank does: train to the end; then again with dropout, stopped after 5 records and resumed.
# Beside it, the sentences it saw, and whatever it opened for writing or moved below its folders.
RANK = """
import itertools, json, os, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from ctxemb import training
from ctxemb.training import language_model
from ctxemb.corpora import open_corpus
from ctxemb.distributed import world
from ctxemb.models.bilm import BiLMConfig
from ctxemb.text import TextConfig
from ctxemb.tokenized import tokenize, train_tokenizer

text, cache, home = map(Path, sys.argv[1:4])
model, config = (json.loads(argument) for argument in sys.argv[4:6])
corpora = [open_corpus(text)]
tokenizer = train_tokenizer(corpora, TextConfig(), cache)
corpus = tokenize(corpora, tokenizer, TextConfig(), cache)
written, seen = [], []

def audit(event, arguments):
    is_writing = event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR) or event in ("os.rename", "os.mkdir")
    if is_writing and str(arguments[0]).startswith(str(home)):
        written.append(str(arguments[0]))

def note(corpus, sentences, plain=language_model.corpus_batch):
    if torch.is_grad_enabled():
        seen.append(sentences.tolist())
    return plain(corpus, sentences)

sys.addaudithook(audit)
language_model.corpus_batch = note
with world("cpu") as me:
    def start(out, **changes):
        settings = BiLMConfig(**model | changes), training.TrainingConfig(**config)
        objective = training.LanguageModelling(*settings, corpus, tokenizer, TextConfig())
        return training.train(objective, home / out, me)

    for _ in start("plain"):
        pass
    seen_plain, written_plain = list(seen), list(written)
    for _ in start("whole", dropout=0.3):
        pass
    records = start("resumed", dropout=0.3)
    list(itertools.islice(records, 5))
    records.close()
    for _ in start("resumed", dropout=0.3):
        pass
    rank = me.rank
(home / f"rank-{rank}.json").write_text(json.dumps({"seen": seen_plain, "written": written_plain}))
"""


@pytest.fixture(scope="module")
def two_ranks(slots, tmp_path_factory) -> Path:
    """A folder with what two processes under torchrun left."""
    home = tmp_path_factory.mktemp("ranks")
    script = home / "rank.py"
    script.write_text(RANK)
    settings = [MODEL.model_dump_json(), CONFIG.model_dump_json()]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*torchrun, script, slots.path, slots.cache, home, *settings], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return home


@pytest.fixture(scope="module")
def one_process(slots, tmp_path_factory) -> Path:
    """The same global batches: one process, two batches a step."""
    out = tmp_path_factory.mktemp("alone") / "run"
    config = CONFIG.model_copy(update={"accumulate": 2})
    objective = LanguageModelling(MODEL, config, slots.corpus, slots.tokenizer, slots.text)
    for _ in train(objective, out, ALONE):
        pass
    return out


def weights(out: Path) -> dict[str, torch.Tensor]:
    return dict(load_checkpoint(out / "last").model.named_parameters())


def test_two_ranks_learn_what_one_process_learns_from_the_same_batches(two_ranks, one_process):
    ours, theirs = (read_progress(out / "progress.jsonl") for out in (two_ranks / "plain", one_process))
    assert [type(record) for record in ours] == [type(record) for record in theirs]
    assert sum(isinstance(record, StepRecord) for record in ours) == 12
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, StepRecord | ValidationRecord):
            assert (one.step, one.num_tokens) == (other.step, other.num_tokens)
            assert one.loss_forward_nats == pytest.approx(other.loss_forward_nats, abs=1e-5)
            assert one.loss_backward_nats == pytest.approx(other.loss_backward_nats, abs=1e-5)
        if isinstance(one, StepRecord):
            assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-4)
    for name, value in weights(two_ranks / "plain").items():
        torch.testing.assert_close(value, weights(one_process)[name], atol=1e-5, rtol=0)


def test_the_ranks_did_learn(two_ranks):
    torch.manual_seed(CONFIG.seed)
    start = dict(BiLM(MODEL).named_parameters())
    moved = [(value - start[name]).abs().max().item() for name, value in weights(two_ranks / "plain").items()]
    assert min(moved) > 1e-2


def test_ranks_see_disjoint_halves_of_each_step_and_together_all_of_it(two_ranks, slots):
    first, second = (json.loads((two_ranks / f"rank-{rank}.json").read_text())["seen"] for rank in range(2))
    training_S, _ = slots.corpus.split(CONFIG.validation_share, CONFIG.max_validation_tokens, CONFIG.seed)
    plan = plan_batches(slots.corpus.lengths[training_S], CONFIG.batch_tokens, CONFIG.seed)
    assert [first, second] == [[training_S[batch].tolist() for batch in plan[rank:24:2]] for rank in range(2)]
    assert not set(np.concatenate(first)) & set(np.concatenate(second))


def test_only_the_first_rank_writes(two_ranks):
    first, second = (json.loads((two_ranks / f"rank-{rank}.json").read_text())["written"] for rank in range(2))
    assert any("progress.jsonl" in path for path in first)
    assert second == []


def test_a_run_of_two_ranks_resumes_exactly_also_with_dropout(two_ranks):
    def losses(out: Path) -> list[tuple]:
        records = read_progress(out / "progress.jsonl")
        return [
            (type(r), r.step, r.loss_forward_nats, r.loss_backward_nats)
            for r in records
            if isinstance(r, StepRecord | ValidationRecord)
        ]

    assert losses(two_ranks / "resumed") == losses(two_ranks / "whole") != losses(two_ranks / "plain")
    whole = weights(two_ranks / "whole")
    assert all(torch.equal(value, whole[name]) for name, value in weights(two_ranks / "resumed").items())


def test_without_torchrun_a_process_stands_alone(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with world("cpu") as me:
        assert me == ALONE
        assert me.is_first
        assert me.sum([1.5, 2]) == [1.5, 2]
        assert [me.any(flag) for flag in (True, False)] == [True, False]
        me.barrier()
    assert not dataclasses.replace(me, rank=1).is_first


def test_auto_takes_a_gpu_if_there_is_one():
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("device", ["abacus", "meta", "", *([] if torch.cuda.is_available() else ["cuda", "cuda:0"])])
def test_a_device_that_is_not_here_is_refused(device):
    with pytest.raises(ValueError, match=f"device '{device}'.*use auto"):
        choose_device(device)
