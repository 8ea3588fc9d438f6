import json
import os
import re
import runpy
import shutil
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq
import pytest

from ctxemb import Encoder
from ctxemb.calibration import load_statistics
from ctxemb.checkpoint import load_checkpoint
from ctxemb.cli import main
from ctxemb.comparison import Sentence, compare, context_bag, find_uses, random_baseline
from ctxemb.evaluation.table import ArticleTable
from ctxemb.probe import read_probe
from ctxemb.progress import EndRecord, StepRecord, ValidationRecord, read_progress
from ctxemb.recipes import RECIPES
from tests import published_elmo

ROOT = Path(__file__).parents[2]
MONEY = ["the new bank approved the loan for the teacher .", "the large bank approved the loan for the singer ."]
RIVER = ["we sat on the quiet bank of the river .", "we sat on the small bank of the river with the farmer ."]
# the recipe `quick` on a text of some lines
SMALL = [
    *("--set", "model.embedding_size=8", "--set", "model.hidden_size=8", "--set", "model.cutoffs=[16]"),
    *("--set", "training.batch_tokens=400", "--set", "training.warmup_steps=5", "--set", "training.validate_every=4"),
    *("--set", "training.precision=float32", "--device", "cpu", "--threads", "1"),
]


class Result(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of these tests reaches the user's own folders."""
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """`run("info", path)`: what `python -m ctxemb info path` prints, and its exit code."""

    def run(*arguments: object) -> Result:
        monkeypatch.setattr(sys, "argv", ["ctxemb", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        return Result(int(end.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def refused(run: Callable[..., Result]) -> Callable[..., str]:
    """`refused("info", path)`: the one sentence with which a command ends, in exit code 1."""

    def refused(*arguments: object) -> str:
        result = run(*arguments)
        assert result.code == 1
        assert "Traceback" not in result.err
        (line,) = (line for line in result.err.splitlines() if line.startswith("error: "))
        assert result.err.strip().endswith(line)
        assert result.out == ""
        return line.removeprefix("error: ")

    return refused


@pytest.fixture(scope="module")
def text(tiny_run: Path) -> Path:
    return tiny_run.parent / "text.txt"


@pytest.fixture(scope="module")
def folder(calibrated: Encoder) -> Path:
    return calibrated.checkpoint.path


def strict_json(text: str) -> Any:
    """JSON as other programs read it: without NaN and Infinity."""
    return json.loads(text, parse_constant=lambda constant: pytest.fail(f"{constant} is not JSON"))


# train


@pytest.fixture
def trained(run, text, tmp_path) -> Path:
    """The checkpoint of a run of a few seconds."""
    result = run("train", "quick", "--corpus", text, "--out", tmp_path / "run", *SMALL)
    assert result.code == 0, result.err
    assert re.search(r"validation perplexity forward \S+, backward \S+ \(best\)", result.err)
    assert "checkpoint: " in result.err
    return tmp_path / "run" / "best"


def test_from_a_text_file_to_vectors(run, trained, text, tmp_path):
    described = strict_json(run("info", trained, "--json").out)
    assert (described["model"]["hidden_size"], described["model"]["embedding_size"]) == (8, 8)
    assert described["num_parameters"] == sum(p.numel() for p in load_checkpoint(trained).model.parameters())
    assert described["metrics"]["validation"]["is_best"]
    assert load_statistics(Encoder.load(trained, device="cpu")) is not None

    compared = strict_json(run("compare", trained, "--word", "bank", MONEY[0], RIVER[0], "--json").out)
    assert np.shape(compared["cosines"]) == (2, 2)

    assert run("encode", trained, "--input", text, "--output", tmp_path / "out.parquet", "--device", "cpu").code == 0
    table = pq.read_table(tmp_path / "out.parquet")
    assert len(table) == sum(len(line.split()) for line in text.read_text().splitlines())
    assert len(table["vector"][0]) == 16


def test_a_run_looks_at_the_named_words_at_every_validation(run, refused, text, tmp_path):
    command = ["train", "quick", "--corpus", text, *SMALL]
    assert run(*command, "--out", tmp_path / "one", "--probe", "bank").code == 0
    steps = [point.step for point in read_probe(tmp_path / "one").points]
    validated = [r.step for r in read_progress(tmp_path / "one" / "progress.jsonl") if isinstance(r, ValidationRecord)]
    assert steps == [0, *validated]
    assert run(*command, "--out", tmp_path / "none", "--probe", "none").code == 0
    assert read_probe(tmp_path / "none") is None
    assert "“zebra” has no labelled sentences" in refused(*command, "--out", tmp_path / "wrong", "--probe", "zebra")


def test_event_files_are_written_beside_a_run(run, text, tmp_path):
    pytest.importorskip("tensorboard", reason="the optional package tensorboard is not here")
    result = run(
        "train", "quick", "--corpus", text, *SMALL, "--out", tmp_path / "run", "--tensorboard", tmp_path / "ev"
    )
    assert result.code == 0, result.err
    assert list((tmp_path / "ev").glob("events.out.tfevents.*"))


def test_a_run_that_is_done_is_left_as_it_is(run, trained, text, tmp_path):
    before = (tmp_path / "run/progress.jsonl").read_text()
    assert run("train", "quick", "--corpus", text, "--out", tmp_path / "run", *SMALL).code == 0
    steps = [line for line in before.splitlines() if '"end"' not in line]
    assert [line for line in (tmp_path / "run/progress.jsonl").read_text().splitlines() if '"end"' not in line] == steps


def test_other_settings_do_not_resume_a_run(refused, trained, text, tmp_path):
    message = refused("train", "quick", "--corpus", text, "--out", tmp_path / "run", *SMALL, "--set", "training.seed=1")
    assert "holds a run with other settings (training.seed)" in message


def test_ctrl_c_leaves_a_run_that_the_same_command_resumes(run, text, tmp_path):
    longer = ["--set", "training.num_epochs=30", "--set", "training.validate_every=20"]
    command = ["train", "quick", "--corpus", text, "--out", tmp_path / "run", *SMALL, *longer]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, "-m", "ctxemb", *command], env=environment, stderr=subprocess.PIPE, text=True
    )
    seen = []
    for line in process.stderr:
        seen.append(line)
        if "validation perplexity" in line:
            process.send_signal(signal.SIGINT)
            break
    _, rest = process.communicate()
    assert process.returncode == 130, "".join(seen) + rest
    assert f"stopped; the same command resumes {tmp_path / 'run'}" in rest
    assert "Traceback" not in rest
    stopped_at = read_progress(tmp_path / "run/progress.jsonl")[-1]
    assert stopped_at == EndRecord(stopped_at.step, "stopped", stopped_at.seconds)

    resumed = run(*command)
    assert resumed.code == 0, resumed.err
    records = read_progress(tmp_path / "run/progress.jsonl")
    steps = [record for record in records if isinstance(record, StepRecord)]
    assert [step.step for step in steps] == list(range(1, steps[-1].total_steps + 1))
    assert stopped_at.step < steps[-1].total_steps
    assert records[-1].reason == "finished"


@pytest.mark.parametrize("place", ["ctxemb.recipes.prepare", "ctxemb.calibration.calibrate"])
def test_ctrl_c_before_and_after_the_steps_is_no_traceback(run, text, tmp_path, monkeypatch, place):
    def interrupt(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(place, interrupt)
    result = run("train", "quick", "--corpus", text, "--out", tmp_path / "run", *SMALL)
    assert (result.code, result.out) == (130, "")
    assert "Traceback" not in result.err
    monkeypatch.undo()


def test_signals_are_handled_as_before_once_a_run_is_done(run, trained):
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_wrong_recipe_lists_those_there_are(refused, tmp_path):
    message = refused("train", "huge", "--out", tmp_path / "run")
    assert message.startswith("there is no recipe 'huge'; there are: en-bilm: ")
    for name in ("cpu-small", "gpu-base", "quick"):
        assert f"; {name}: " in message
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("training.speed=3", "'training.speed=3' is no setting; write part.name=value"),
        ("learning_rate=3", "'learning_rate=3' is no setting"),
        ("training.learning_rate", "'training.learning_rate' is no setting"),
        ("name=big", "'name=big' is no setting"),
        ("training.learning_rate=NaN", "training.learning_rate: Input should be"),
        ("training.learning_rate=fast", "training.learning_rate: Input should be a valid number"),
        ("training.schedule=zigzag", "training.schedule: Input should be 'constant', 'cosine' or 'plateau'"),
        ("model.hidden_size=1000000000", "model.hidden_size: Input should be less than or equal to 4096"),
        ("model.cutoffs=[9,3]", "model: Value error, cutoffs (9, 3) are not positive and ascending"),
        ("text.language=fr", "text.language: Input should be 'en'"),
    ],
)
def test_a_setting_that_cannot_be_is_named(refused, tmp_path, setting, message):
    assert refused("train", "quick", "--out", tmp_path / "run", "--set", setting).startswith(message)
    assert not (tmp_path / "run").exists()


def write_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("text.txt", "the old bank approved the loan .\n" * 100)


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        ("empty.txt", b"", [], "empty.txt holds no text"),
        ("blank.txt", b" \n\t\n\n", [], "blank.txt holds no text"),
        ("short.txt", b"too short\n" * 20, [], "nothing of short.txt is left: 20 sentences, none with at least 5"),
        ("rare.txt", b"every word is here but once\n", [], "the vocabulary is empty: no word occurs 3 times"),
        ("one.txt", b"the old bank approved the loan . " * 9, [], "the corpus has a single passage"),
        (
            "no.csv",
            b"id,note\n1,word\n",
            ["--text-column", "text"],
            "has no column 'text'; its columns are 'id', 'note'",
        ),
        ("two.csv", b"one,two\na word,a word\n", [], "which column holds the text? Name one of 'one', 'two'"),
        ("nul.txt", b"a line\nthe \0 bank\n", [], "nul.txt, line 2: holds a NUL character"),
        (
            "mixed.txt",
            b"the old bank .\n" * 20_000 + b"caf\xe9",
            [],
            "mixed.txt, line 20001, character 4: not utf-8 text",
        ),
        ("words.zip", b"PK\x03\x04", [], "words.zip is an archive; unpack it"),
        ("zip.txt", b"PK\x03\x04 text", [], "zip.txt holds a zip archive"),
        ("cut.txt.gz", b"\x1f\x8b\x08\x00", [], "cut.txt.gz cannot be read"),
        ("[/b]{x}.txt", b"", [], "[/b]{x}.txt holds no text"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_named(refused, tmp_path, name, content, options, message):
    path = tmp_path / name.replace("/", "\u2215")
    path.write_bytes(content)
    said = refused("train", "quick", "--corpus", path, "--out", tmp_path / "run", *SMALL, *options)
    assert message.replace("/", "\u2215") in said
    assert not (tmp_path / "run").exists() or not any((tmp_path / "run").iterdir())


@pytest.mark.parametrize("name", ["nowhere.txt", "folder"])
def test_a_corpus_that_is_no_file_is_named(refused, tmp_path, name):
    (tmp_path / "folder").mkdir()
    message = refused("train", "quick", "--corpus", tmp_path / name, "--out", tmp_path / "run")
    assert str(tmp_path / name) in message


def test_a_folder_with_something_else_in_it_is_not_trained_into(refused, text, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run/letter.txt").write_text("dear")
    message = refused("train", "quick", "--corpus", text, "--out", tmp_path / "run", *SMALL)
    assert message.endswith("is not empty and holds no training run; choose another --out")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["letter.txt"]


# compare


def test_compare_prints_what_the_core_measures(run, folder, calibrated):
    senses = [option for sense in ("money", "money", "river", "river") for option in ("--sense", sense)]
    result = run("compare", folder, "--word", "bank", *MONEY, *RIVER, *senses, "--json")
    assert (result.code, result.err) == (0, "")
    found = strict_json(result.out)
    statistics = load_statistics(calibrated)
    sentences = [Sentence(text, sense) for text, sense in zip((*MONEY, *RIVER), senses[1::2], strict=True)]
    uses, _ = find_uses(calibrated, sentences, "bank")
    expected = compare(calibrated, uses, "bank", None, context_bag(calibrated, statistics))
    np.testing.assert_allclose(found["cosines"], expected.cosines_NN, atol=1e-4)
    np.testing.assert_allclose(found["bag_of_context_cosines"], expected.bag_cosines_NN, atol=1e-4)
    assert found["gap"] == pytest.approx(expected.pairs.gap, abs=1e-4)
    assert found["auc"] == 1
    assert found["mean_cosine"] == pytest.approx(expected.mean_cosine, abs=1e-4)
    assert found["mean_cosine_by_layer"] == pytest.approx(expected.layer_means, abs=1e-4)
    assert found["random_words_mean"] == pytest.approx(random_baseline(calibrated, "off", statistics).mean, abs=1e-4)
    assert found["static_control_mean"] == 1
    assert [row["sense"] for row in found["sentences"]] == ["money", "money", "river", "river"]
    assert [row["position"] for row in found["sentences"]] == [2, 2, 5, 5]


@pytest.mark.parametrize("centring", ["off", "all words", "per word"])
@pytest.mark.parametrize("layer", ["0", "1", "mean"])
def test_compare_gives_valid_json_also_where_nothing_is_left(run, folder, centring, layer):
    result = run("compare", folder, "--word", "bank", *MONEY, "--centring", centring, "--layer", layer, "--json")
    assert result.code == 0, result.err
    found = strict_json(result.out)
    assert found["reading"] == {
        "readout": "here",
        "layer": "mean" if layer == "mean" else int(layer),
        "centring": centring,
    }
    assert found["gap"] is found["auc"] is None  # without senses
    assert (found["mean_cosine"] is None) == (layer == "0" and centring == "per word")
    assert found["static_control_mean"] == 1  # not centred, whatever the rest is


def test_compare_draws_a_table(run, folder):
    result = run("compare", folder, "--word", "bank", MONEY[0], "the [/b] bank [red]of :bank: rivers[/red]", RIVER[0])
    assert (result.code, result.err) == (0, "")
    assert "cosine between the uses of “bank”" in result.out
    assert "1.00" in result.out
    assert "[/b]" in result.out
    assert "[red]" in result.out
    assert ":bank:" in result.out
    assert "static control (layer 0) 1.00" in " ".join(result.out.split())


@pytest.mark.parametrize(
    "text",
    [
        "bank",
        "zyzzyva bank xyzzy",
        "the bank of the bank",
        "the bank \x07\x1b[2J\x7f",
        "🏦 bank 💶",
        "дом bank 銀行",
        "\u202ebank البنك\u202c",
        "the bank \udce9t\udce9",
        "bank " + "of the river " * 770,
    ],
)
def test_any_sentence_can_be_compared(run, folder, text):
    for options in ([], ["--json"]):
        result = run("compare", folder, "--word", "bank", MONEY[0], text, *options)
        assert result.code == 0, result.err
        assert result.err == ""
    assert np.isfinite(strict_json(result.out)["cosines"]).all()


def test_sentences_that_cannot_be_compared_are_left_out_and_said_so(run, folder):
    texts = [MONEY[0], "", "the river", "the zyzzyva", "\t\x07", RIVER[0]]
    result = run("compare", folder, "--word", "bank", *texts, "--json")
    assert result.code == 0
    found = strict_json(result.out)
    assert [row["text"] for row in found["sentences"]] == [MONEY[0], RIVER[0]]
    assert len(found["problems"]) == result.err.count("left out: ") == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--word", "zyzzyva", "the zyzzyva", "a zyzzyva"], "0 of 2 sentences can be compared; at least 2 are needed"),
        (["--word", "bank", MONEY[0]], "1 of 1 sentences can be compared"),
        (["--word", " ", *MONEY], "no target word is given"),
        (["--word", "bank", *MONEY, "--layer", "9"], "there is no layer 9; this encoder has layers 0 to 2"),
        (["--word", "bank", *MONEY, "--layer", "-1"], "there is no layer -1"),
        (["--word", "bank", *MONEY, "--layer", "weighted"], "layer = weighted needs layer_weights"),
        (["--word", "bank", *MONEY, "--layer", "first"], "layer"),
        (["--word", "bank", *MONEY, "--readout", "above"], "readout: Input should be 'here'"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(refused, folder, arguments, message):
    assert message in refused("compare", folder, *arguments)


@pytest.mark.parametrize("options", [["--centring", "half"], ["--sense", "money"]])
def test_wrong_usage_is_exit_code_2(run, folder, options):
    result = run("compare", folder, "--word", "bank", *MONEY, *options)
    assert result.code == 2
    assert "Traceback" not in result.err


def test_centring_without_statistics_says_what_is_missing(refused, tiny_checkpoint):
    message = refused("compare", tiny_checkpoint, "--word", "bank", *MONEY, "--centring", "all words")
    assert message == "this checkpoint was never calibrated, so it has no mean of all words; use centring off"


# encode


def test_encode_takes_whatever_a_text_holds(run, folder, tmp_path):
    lines = [
        "bank",
        "zyzzyva xyzzy",
        "the \x07\x1b[2J\x7f bank",
        "🏦",
        "дом 銀行",
        "\u202eبنك\u202c",
        "x" * 10_000,
        "of the " * 1_430,
    ]
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join(lines), encoding="utf-8")
    result = run("encode", folder, "--input", path, "--output", tmp_path / "out.npz", "--device", "cpu")
    assert result.code == 0, result.err
    with np.load(tmp_path / "out.npz") as columns:
        assert np.isfinite(columns["vector"]).all()
        assert set(columns["sentence"]) == set(range(len(lines)))
        for row in np.flatnonzero(columns["sentence"] < 6):
            start, end = columns["start"][row], columns["end"][row]
            assert lines[columns["sentence"][row]][start:end] == columns["token"][row]


def test_encode_reads_a_column_and_writes_one_word(run, folder, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('id,text\n1,"We sat on the bank. The Bank, she said."\n2,no river\n')
    output = tmp_path / "out.parquet"
    assert run("encode", folder, "--input", path, "--output", output, "--word", "bank", "--split").code == 0
    table = pq.read_table(output)
    assert table["token"].to_pylist() == ["bank", "Bank"]
    assert table["sentence"].to_pylist() == [0, 1]


def test_encode_writes_the_reading_that_was_asked_for(run, folder, calibrated, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(RIVER[0])
    options = ["--readout", "context", "--layer", "1"]
    assert run("encode", folder, "--input", path, "--output", tmp_path / "out.npz", *options).code == 0
    (expected,) = calibrated.with_reading(calibrated.reading_for("context", 1)).encode([RIVER[0]])
    with np.load(tmp_path / "out.npz") as columns:
        np.testing.assert_allclose(columns["vector"], expected.vectors, atol=1e-6)


def test_encode_computes_in_the_precision_that_was_asked_for(run, folder, tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(RIVER[0])
    vectors = {}
    for precision in ("float32", "bfloat16"):
        output = tmp_path / f"{precision}.npz"
        options = ["--device", "cpu", "--precision", precision]
        assert run("encode", folder, "--input", path, "--output", output, *options).code == 0
        (expected,) = Encoder.load(folder, device="cpu", precision=precision).encode([RIVER[0]])
        with np.load(output) as columns:
            vectors[precision] = columns["vector"]
        np.testing.assert_allclose(vectors[precision], expected.vectors, atol=1e-6)
    assert not np.array_equal(vectors["float32"], vectors["bfloat16"])
    np.testing.assert_allclose(vectors["float32"], vectors["bfloat16"], atol=0.05)


def test_a_precision_that_there_is_not_is_wrong_usage(run, folder, text, tmp_path):
    result = run("encode", folder, "--input", text, "--output", tmp_path / "out.npz", "--precision", "float8")
    assert result.code == 2
    assert "bfloat16" in result.err
    assert not (tmp_path / "out.npz").exists()


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", [], "text.txt holds no text"),
        (b"\x07\n", [], "there is nothing to write to .*: no sentence has a token"),
        (b"the bank\nthe \0\n", [], r"text\.txt, line 2: holds a NUL character"),
        (b"the bank\n", ["--word", "river"], "“river” does not occur"),
        (b"the bank\n", ["--text-column", "text"], "is plain text and has no column 'text'"),
        (b"the bank\n", ["--device", "abacus"], "there is no device 'abacus'"),
        (b"the bank\n", ["--layer", "3"], "there is no layer 3"),
    ],
)
def test_an_encode_that_fails_leaves_no_file(refused, folder, tmp_path, content, options, message):
    path, output = tmp_path / "text.txt", tmp_path / "out" / "vectors.parquet"
    path.write_bytes(content)
    output.parent.mkdir()
    assert re.search(message, refused("encode", folder, "--input", path, "--output", output, *options))
    assert list(output.parent.iterdir()) == []


def test_another_output_format_is_refused(refused, folder, text, tmp_path):
    message = refused("encode", folder, "--input", text, "--output", tmp_path / "out.csv")
    assert message == f"{tmp_path / 'out.csv'} ends in .csv; the output file ends in .parquet or .npz"


# checkpoints that cannot be used


def remove_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def cut_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def change_config(**changes: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / "config.json"
        config = json.loads(path.read_text())
        model = changes.pop("model", {})
        path.write_text(json.dumps(config | changes | {"model": config["model"] | model}))

    return change


def cut_statistics(folder: Path) -> None:
    path = folder / "statistics.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (shutil.rmtree, "there is no checkpoint folder"),
        (remove_weights, "has no model.safetensors; copy the whole folder again"),
        (cut_weights, "model.safetensors cannot be read"),
        (change_config(colour="red"), "config.json is not a config this version can read: colour: Extra inputs"),
        (change_config(model={"hidden_size": 25}), "but config.json asks for"),
        (change_config(model={"vocabulary_size": 9}), "words, but config.json says 9"),
        (change_config(model={"hidden_size": 10**9}), "model.hidden_size: Input should be less than"),
    ],
)
def test_a_damaged_checkpoint_is_one_sentence_for_every_command(refused, folder, text, tmp_path, damage, message):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    damage(copy)
    commands: Sequence[Sequence[object]] = [
        ("info", copy),
        ("compare", copy, "--word", "bank", *MONEY),
        ("encode", copy, "--input", text, "--output", tmp_path / "out.npz"),
        ("evaluate", copy),
    ]
    for command in commands:
        said = refused(*command)
        assert message in said
        assert str(copy) in said
    assert not (tmp_path / "out.npz").exists()


def test_damaged_statistics_are_one_sentence(refused, folder, tmp_path):
    shutil.copytree(folder, tmp_path / "copy")
    cut_statistics(tmp_path / "copy")
    assert "statistics.safetensors cannot be read" in refused("compare", tmp_path / "copy", "--word", "bank", *MONEY)


def test_a_long_message_is_one_line(refused, tmp_path):
    """So that a path in it can be copied and found again."""
    path = tmp_path / ("long name " * 20)
    assert str(path) in refused("info", path)


# evaluate, info, data


def test_evaluate_prints_and_records_every_reading(run, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "data"))
    data = tmp_path / "data"
    (data / "wikitext-2").mkdir(parents=True)
    (data / "wikitext-2/wiki.valid.tokens").write_text(" = Bank = \n \n The old bank approved the loan . \n")
    bank = data / "coarsewsd-20/bank"
    bank.mkdir(parents=True)
    texts = [*MONEY, *RIVER] * 3
    bank.joinpath("train.data.txt").write_text("".join(f"{t.split().index('bank')}\t{t}\n" for t in texts))
    bank.joinpath("train.gold.txt").write_text("0\n0\n1\n1\n" * 3)
    bank.joinpath("classes_map.txt").write_text('{"0": "money", "1": "river"}')
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    metrics = load_checkpoint(copy).metrics
    result = run("evaluate", copy, "--json", "--save")
    assert result.code == 0, result.err
    found = strict_json(result.out)
    assert found["wikitext-2:valid"]["num_sentences"] == 1
    assert found["readings"][0]["reading"] == "static control (layer 0)"
    assert found["readings"][-1]["reading"] == "bag of context"
    assert found["best_reading"] in {row["reading"] for row in found["readings"]}
    assert (found["floors"], found["known_shares"]) == ({"coarsewsd-20:dev": 0.5}, {"coarsewsd-20:dev": 1.0})
    assert load_checkpoint(copy).metrics == metrics | {"evaluation": found}
    table = run("evaluate", copy).out
    assert "static control" in table
    assert "best_reading: " in table


def test_evaluate_without_data_says_what_is_missing(run, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("ctxemb.corpora.wikitext.URL", "http://127.0.0.1:9/wikitext.zip")
    result = run("evaluate", folder, "--json")
    assert result.code == 0, result.err
    assert "no perplexity: " in result.err
    assert f"no CoarseWSD-20 in {tmp_path / 'nothing'}" in result.err
    assert "get it from https://pilehvar.github.io/wic/" in result.err
    found = strict_json(result.out)
    assert found["floors"] == {}
    assert all(row["tests"] == {} for row in found["readings"])


def test_the_table_trains_measures_and_is_kept(run, tiny_recipes, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "nothing"))
    monkeypatch.setattr("ctxemb.evaluation.table.SHIPPED_TABLES", tmp_path / "checkpoints")
    monkeypatch.setitem(RECIPES, "en-static", tiny_recipes.control)
    monkeypatch.setitem(RECIPES, "en-contrastive", tiny_recipes.contrastive)
    command = ("table", "--language", "en", "--seeds", "1", "--contexts", "3", "--work", tmp_path / "work")
    result = run(*command, "--json", "--save")
    assert result.code == 0, result.err
    found = strict_json(result.out)
    assert [row["name"] for row in found["rows"] if row["control"]][:3] == ["synonyms", "synonyms:held-out", "energy"]
    assert (
        ArticleTable.load(tmp_path / "checkpoints/table-en.json").as_json() == ArticleTable.from_json(found).as_json()
    )
    printed = run(*command).out
    assert "few-shot trec, macro F1 of 200 examples: there is no qc.zip in " in printed
    assert "the mean of at most 3 of its uses" in printed
    assert run("table").code == run("table", "--language", "fr").code == 2


def test_info_describes_a_checkpoint(run, folder):
    result = run("info", folder)
    assert (result.code, result.err) == (0, "")
    assert '"bilm"' in result.out
    assert "validation perplexity_forward" in result.out


def test_data_lists_the_named_corpora(run, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    (tmp_path / "wikitext-2").mkdir()
    (tmp_path / "wikitext-2/wiki.valid.tokens").write_text("words")
    rows = {row["name"]: row for row in strict_json(run("data", "list", "--json").out)}
    assert set(rows) >= {"wikitext-2", "wikitext-2:valid", "enwiki", "wordnet-examples", "wiki-sample"}
    assert rows["wikitext-2:valid"]["here"] == str(tmp_path / "wikitext-2/wiki.valid.tokens")
    assert rows["enwiki"]["here"] == ""
    assert all(row["licence"] and row["description"] and row["size"] for row in rows.values())
    assert "wikitext-2:valid" in run("data", "list").out


def test_an_unknown_corpus_lists_the_known_ones(refused):
    assert "the named ones are wikitext-2" in refused("data", "get", "moon")


def test_a_corpus_that_is_here_is_not_fetched(run):
    assert re.search(r"wiki-sample is at .*gensim", " ".join(run("data", "get", "wiki-sample").err.split()))


def test_python_m_ctxemb_is_the_same_program(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["ctxemb", "info", str(folder), "--json"])
    with pytest.raises(SystemExit) as end:
        runpy.run_module("ctxemb", run_name="__main__")
    assert not end.value.code
    assert strict_json(capsys.readouterr().out)["family"] == "bilm"


# import, and what the other commands make of a static checkpoint


@pytest.fixture(scope="module")
def vectors(text, tmp_path_factory) -> Path:
    """A GloVe file of the words of the tiny text."""
    words = sorted(set(text.read_text().split()))
    numbers = np.random.default_rng(0).normal(size=(len(words), 12)).round(4)
    path = tmp_path_factory.mktemp("vectors") / "glove.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, numbers, strict=True)))
    return path


@pytest.fixture
def static(run, vectors, text, tmp_path) -> Path:
    """A static checkpoint that was measured on the tiny text."""
    result = run("import", "word2vec", vectors, "--out", tmp_path / "static", "--corpus", text)
    assert result.code == 0, result.err
    assert f"words of 12 numbers from {vectors.name} (GloVe text); left out: 0 repeated" in result.err
    assert f"checkpoint: {tmp_path / 'static'}" in result.err
    return tmp_path / "static"


def test_an_imported_checkpoint_is_described(run, static, vectors):
    found = strict_json(run("info", static, "--json").out)
    num_words = len(vectors.read_text().splitlines())
    assert (found["family"], found["model"]) == ("static", {"vocabulary_size": num_words + 4, "vector_size": 12})
    assert (found["metrics"]["import"]["file"], found["metrics"]["import"]["num_words"]) == ("glove.txt", num_words)
    assert found["num_parameters"] == (num_words + 4) * 12
    assert found["layer_weights"] == {}
    assert "import num_words" in run("info", static).out


@pytest.mark.parametrize("centring", ["off", "all words"])
@pytest.mark.parametrize("layer", ["last", "0", "mean"])
def test_a_static_vector_is_the_same_in_every_context(run, static, centring, layer):
    options = ["--centring", centring, "--layer", layer, "--readout", "here"]
    found = strict_json(run("compare", static, "--word", "bank", MONEY[0], *RIVER, *options, "--json").out)
    np.testing.assert_allclose(found["cosines"], 1, atol=1e-4)
    assert found["mean_cosine_by_layer"] == [1]
    assert found["static_control_mean"] == 1
    assert found["random_words_mean"] < 0.9
    assert found["bag_of_context_cosines"][0][1] < 0.999


def test_centring_per_word_leaves_nothing_of_a_static_vector(refused, static):
    message = refused("compare", static, "--word", "bank", *MONEY, "--centring", "per word")
    assert message.startswith("a static encoder gives “bank” the same vector in every sentence, so centring per word ")


@pytest.mark.parametrize("readout", ["context", "sentence"])
def test_a_read_out_that_a_family_does_not_have_is_refused(refused, static, text, tmp_path, readout):
    expected = f"{static} is a static encoder, which has no read-out '{readout}'; choose here"
    assert refused("compare", static, "--word", "bank", *MONEY, "--readout", readout) == expected
    output = tmp_path / "out.npz"
    assert refused("encode", static, "--input", text, "--output", output, "--readout", readout) == expected
    assert "layers 0 to 0" in refused("encode", static, "--input", text, "--output", output, "--layer", "1")
    assert not output.exists()


@pytest.mark.parametrize("options", [[], ["--split"], ["--word", "bank", "--layer", "0"], ["--precision", "bfloat16"]])
def test_a_static_checkpoint_encodes_a_file(run, static, text, tmp_path, options):
    output = tmp_path / "out.npz"
    result = run("encode", static, "--input", text, "--output", output, "--device", "cpu", *options)
    assert result.code == 0, result.err
    table = load_checkpoint(static).model.word_vectors().numpy()
    bank = table[load_checkpoint(static).tokenizer.word_id("bank")]
    with np.load(output) as columns:
        assert columns["vector"].shape[1] == 12
        assert not columns["oov"].any()
        for row in np.flatnonzero(columns["token"] == "bank"):
            np.testing.assert_array_equal(columns["vector"][row], bank)


def test_a_static_checkpoint_is_evaluated_as_the_control_and_the_bag(run, static, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "nothing"))
    result = run("evaluate", static, "--json")
    assert result.code == 0, result.err
    assert "no perplexity: a static encoder predicts no words" in result.err
    rows = strict_json(result.out)["readings"]
    assert [row["reading"] for row in rows] == ["static control (layer 0)", "bag of context"]
    assert rows[0]["example_auc"] == 0.5
    assert rows[0]["example_gap"] == pytest.approx(0, abs=1e-6)


def test_without_a_corpus_an_import_is_not_measured(run, vectors, tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "nothing"))
    options = ["--max-words", "9", "--keep-case", "--language", "en"]
    assert run("import", "word2vec", vectors, "--out", tmp_path / "out", *options).code == 0
    loaded = load_checkpoint(tmp_path / "out")
    assert (len(loaded.tokenizer), loaded.config.text.lowercase) == (13, False)
    assert load_statistics(Encoder.load(tmp_path / "out", device="cpu")) is None


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"", [], "vectors.txt has an empty first line"),
        (b"the 1 2\nbank 1 nan\n", [], "vectors.txt, line 2: holds the number nan"),
        (b"the 1 2\nbank 1 2\n", ["--corpus", "moon"], "There is no file moon and no corpus of that name"),
    ],
)
def test_an_import_that_fails_leaves_nothing(refused, tmp_path, content, options, message):
    path = tmp_path / "vectors.txt"
    path.write_bytes(content)
    assert message in refused("import", "word2vec", path, "--out", tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()


def test_an_import_into_a_folder_with_something_in_it_is_refused(refused, vectors, static):
    before = (static / "config.json").read_bytes()
    message = refused("import", "word2vec", vectors, "--out", static)
    assert message == f"{static} is there already and is no empty folder; choose another --out"
    assert (static / "config.json").read_bytes() == before


# import elmo


@pytest.fixture
def elmo_files(tmp_path: Path) -> list[object]:
    """The two files of a tiny ELMo, as options of the command."""
    chosen = published_elmo.options()
    options, weights = published_elmo.write(tmp_path / "elmo", chosen, published_elmo.random_arrays(chosen))
    return ["--options", options, "--weights", weights]


def test_a_published_elmo_is_imported_measured_and_compares_any_word(run, elmo_files, text, tmp_path, monkeypatch):
    result = run("import", "elmo", *elmo_files, "--out", tmp_path / "out", "--corpus", text)
    assert result.code == 0, result.err
    assert re.search(r"parameters from weights\.hdf5; words of any spelling are read, .* a list of \d+", result.err)
    assert load_statistics(Encoder.load(tmp_path / "out", device="cpu")) is not None
    described = strict_json(run("info", tmp_path / "out", "--json").out)
    assert (described["family"], described["model"]["units"], described["text"]["lowercase"]) == ("elmo", 7, False)
    sentences = ["a zyzzyva sat on the bank .", "we fed the Zyzzyva .", "zyzzyva"]
    found = strict_json(run("compare", tmp_path / "out", "--word", "zyzzyva", *sentences, "--json").out)
    assert np.shape(found["cosines"]) == (3, 3)
    assert found["problems"] == []
    output = tmp_path / "vectors.parquet"
    assert run("encode", tmp_path / "out", "--input", text, "--output", output, "--device", "cpu").code == 0
    assert not any(pq.read_table(output)["oov"].to_pylist())
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "nothing"))
    result = run("evaluate", tmp_path / "out", "--json")
    assert result.code == 0, result.err
    assert "no perplexity: an elmo encoder, whose files leave its output layer out, predicts no words" in result.err
    assert "bag of context" in [row["reading"] for row in strict_json(result.out)["readings"]]


def test_an_elmo_keeps_texts_in_the_words_that_are_listed(run, elmo_files, tmp_path):
    (tmp_path / "words.txt").write_text("<S>\nthe\nBank\n</S>\nbank\nriver\n")
    options = ["--vocab", tmp_path / "words.txt", "--max-words", 3]
    assert run("import", "elmo", *elmo_files, "--out", tmp_path / "out", *options).code == 0
    tokenizer = load_checkpoint(tmp_path / "out").tokenizer
    assert [tokenizer.word(word_id) for word_id in range(4, len(tokenizer))] == ["the", "Bank", "bank"]
    assert load_statistics(Encoder.load(tmp_path / "out", device="cpu")) is None


def test_an_elmo_is_measured_only_if_that_is_wanted(run, elmo_files, text, tmp_path):
    options = ["--corpus", text, "--no-calibrate"]
    assert run("import", "elmo", *elmo_files, "--out", tmp_path / "out", *options).code == 0
    encoder = Encoder.load(tmp_path / "out", device="cpu")
    assert load_statistics(encoder) is None
    assert encoder.tokenizer.word_id("farmer") > 3  # its words are still those of the text


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"--corpus": "moon"}, "There is no file moon and no corpus of that name"),
        ({"--vocab": "moon"}, "There is no file moon and no corpus of that name"),
        ({"--options": "moon"}, "moon cannot be read"),
        ({"--weights": "moon"}, "moon cannot be read as HDF5 (there is no such file)"),
    ],
)
def test_an_import_of_an_elmo_that_fails_leaves_nothing(refused, elmo_files, text, tmp_path, changed, message):
    given = {**dict(zip(elmo_files[::2], elmo_files[1::2], strict=True)), "--corpus": text, **changed}
    options = [part for pair in given.items() for part in pair]
    assert message in refused("import", "elmo", *options, "--out", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_run_may_read_characters(run, text, tmp_path):
    options = ["--set", "model.input=char", "--set", "model.filters_per_width=4", "--set", "training.max_steps=6"]
    result = run("train", "quick", "--corpus", text, "--out", tmp_path / "run", *SMALL, *options)
    assert result.code == 0, result.err
    encoder = Encoder.load(tmp_path / "run" / "best", device="cpu")
    assert encoder.reads_spelling
    assert load_statistics(encoder) is not None
