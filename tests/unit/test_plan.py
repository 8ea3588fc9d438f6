import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxemb.corpora import named_corpora, open_corpus
from ctxemb.models.families import build_model
from ctxemb.plan import PlanError, keep_upload, make_plan
from ctxemb.plan.sample import _growth, open_samples, said_words
from ctxemb.plan.uploads import UPLOADS
from ctxemb.progress import StepRecord, read_progress
from ctxemb.recipes import choose_recipe, prepare, with_settings
from ctxemb.runs import RunRequest
from ctxemb.runs.report import REQUEST
from ctxemb.text import TextConfig

# what `tiny_run` is trained with, as changes to the recipe `quick`
TINY = (
    *("text.max_vocabulary=null", "model.embedding_size=16", "model.hidden_size=24", "model.num_layers=2"),
    *("model.cutoffs=[16]", "training.batch_tokens=200", "training.num_epochs=12", "training.validate_every=50"),
    "training.precision=float32",
)


@pytest.fixture
def request_text(tmp_path: Path) -> Callable[..., RunRequest]:
    """`request_text("a line\\n")`: the recipe `quick` on a text."""

    def request_text(text: str, *settings: str) -> RunRequest:
        path = tmp_path / "own.txt"
        path.write_text(text, encoding="utf-8")
        return RunRequest(name="own", recipe="quick", corpora=(str(path),), settings=settings)

    return request_text


def test_sizes_of_a_whole_text_are_those_of_its_training(tiny_run: Path, tmp_path: Path) -> None:
    path = tiny_run.parent / "text.txt"
    plan = make_plan(RunRequest(name="tiny", recipe="quick", corpora=(str(path),), settings=TINY))
    recipe = with_settings(choose_recipe("quick"), TINY)
    material = prepare(recipe, [open_corpus(path)], tmp_path / "cache")
    model = build_model(recipe.model.model_copy(update={"vocabulary_size": len(material.tokenizer)}))
    assert plan.is_whole
    assert plan.num_words == material.corpus.report.num_tokens
    assert plan.vocabulary_size == len(material.tokenizer)
    assert plan.num_parameters == sum(parameter.numel() for parameter in model.parameters())
    steps = [record for record in read_progress(tiny_run / "progress.jsonl") if isinstance(record, StepRecord)]
    assert plan.num_steps == pytest.approx(steps[-1].total_steps, rel=0.05)
    assert plan.seconds is not None
    assert plan.seconds > 5


def test_twice_the_steps_take_longer_and_a_larger_model_more_memory(tiny_run: Path) -> None:
    corpora = (str(tiny_run.parent / "text.txt"),)

    def plan(*settings: str):
        return make_plan(RunRequest(name="tiny", recipe="quick", corpora=corpora, settings=(*TINY, *settings)))

    few, many = plan("training.max_steps=10"), plan("training.num_epochs=4000")
    assert few.num_steps == 10
    assert (few.seconds or 0) < (many.seconds or 0)
    large = plan("model.hidden_size=512", "training.max_steps=10")
    assert large.memory_bytes > few.memory_bytes
    assert large.num_parameters > few.num_parameters


def test_a_sample_says_how_large_the_whole_is(monkeypatch: pytest.MonkeyPatch) -> None:
    config = TextConfig()
    monkeypatch.setattr("ctxemb.plan.sample.SAMPLE_WORDS", 20_000)
    part = open_samples(["lab"], None, 60_000)
    monkeypatch.setattr("ctxemb.plan.sample.SAMPLE_WORDS", 10**9)
    whole = open_samples(["lab"], None, 60_000)
    assert not part.is_whole
    assert whole.is_whole
    assert part.share == pytest.approx(1 / 3, rel=0.05)
    assert part.train_tokenizer(config)[1] == pytest.approx(whole.train_tokenizer(config)[1], rel=0.25)


def test_growth_of_a_vocabulary_by_hand() -> None:
    assert _growth(0.5, 0.5, 4) == 2  # Heaps's law: alike each time
    assert _growth(0.8, 0.4, 2) == pytest.approx(0.2 + 0.1)  # half as much each time
    assert _growth(0.5, 0.0, 9) == 0  # closed
    assert _growth(0.2, 0.4, 1) == 0.4  # never faster than it was


def test_every_named_corpus_says_its_size() -> None:
    assert all(said_words(corpus) > 10_000 for corpus in named_corpora())


def test_a_corpus_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="wikitext-2 is not on this machine; `python -m ctxemb data get wikitext-2`"):
        make_plan(RunRequest(name="x", recipe="cpu-small"))


SENTENCES = "\n".join(f"the {w} and the {w} sat by the {w} again" for w in "abcdefghijklmnop" for _ in range(3))


@pytest.mark.parametrize(
    ("text", "settings", "reason"),
    [
        ("", (), "holds no text"),
        ("too short\nthis too\n" * 9, (), "fewer than 10"),
        (SENTENCES, ("text.min_sentence_tokens=30",), "min_sentence_tokens"),
        (SENTENCES.replace("\n", " . "), (), "single passage"),
        ("word " * 500, (), "would hold 1 words"),
        (SENTENCES, ("text.max_vocabulary=5",), "would hold 1 words besides 4 special entries"),
        (SENTENCES, ("text.min_frequency=9000",), "min_frequency"),
        (SENTENCES, ("training.batch_tokens=8",), "batch_tokens is 8, and the longest sentence takes 11 cells"),
        (SENTENCES, ("model.hidden_size=4096", "model.num_layers=8"), "GB of memory, and this machine has 1.0 GB"),
    ],
)
def test_what_cannot_work_is_refused_with_the_reason(
    request_text: Callable[..., RunRequest], monkeypatch: pytest.MonkeyPatch, text: str, settings: tuple, reason: str
) -> None:
    monkeypatch.setattr("ctxemb.plan.plan.machine_bytes", lambda: 1e9)
    with pytest.raises(ValueError, match=reason):
        make_plan(request_text(text, *settings))


def test_too_many_negatives_for_a_small_text(request_text: Callable[..., RunRequest]) -> None:
    request = request_text(SENTENCES, "text.min_frequency=1").model_copy(update={"recipe": "lab-contrast"})
    with pytest.raises(PlanError, match="num_negatives is 64, but the vocabulary has only"):
        make_plan(request)


def test_an_upload_is_kept_once_and_stays_below_the_runs(tmp_path: Path) -> None:
    first, second = (keep_upload(tmp_path, "../../my text.txt", SENTENCES.encode()) for _ in range(2))
    assert first == second
    assert first.read_text() == SENTENCES
    assert first.parent.parent == tmp_path / UPLOADS
    assert keep_upload(tmp_path, "my text.txt", b"other words\n") != first


def test_an_old_upload_is_deleted_unless_a_run_reads_it(tmp_path: Path) -> None:
    read, unread, new = (keep_upload(tmp_path, "text.txt", content) for content in (b"one", b"two", b"three"))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / REQUEST).write_text(json.dumps({"corpora": [str(read)]}))
    for path in (read, unread):
        os.utime(path.parent, (0, 0))
    keep_upload(tmp_path, "text.txt", b"four")
    assert [path.exists() for path in (read, unread, new)] == [True, False, True]


def test_an_upload_that_is_no_text_is_refused_and_not_kept(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("text.txt", "words")
    for name, content, reason in (
        ("a.zip", packed.getvalue(), "a.zip is an archive"),
        ("a.txt", packed.getvalue(), "a.txt holds a zip archive"),
        ("b.txt", b"  \n", "holds no text"),
        ("c.csv", b"a,b\n1,2\n", "c.csv"),
    ):
        with pytest.raises(ValueError, match=reason):
            keep_upload(tmp_path, name, content)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
