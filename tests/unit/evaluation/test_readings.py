import dataclasses
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from ctxemb import Encoder
from ctxemb.analysis.senses import labelled_pairs, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.calibration import load_statistics
from ctxemb.checkpoint import update_config
from ctxemb.comparison import CENTRINGS, TargetError, context_bag
from ctxemb.evaluation.coarsewsd import WordTask, load_coarsewsd
from ctxemb.evaluation.columns import Column, open_columns
from ctxemb.evaluation.readings import (
    BAG,
    CONTROL,
    ReadingScore,
    as_rows,
    best_reading,
    from_rows,
    readings_of,
    score_readings,
)
from ctxemb.examples import load_examples
from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.text import WordTokenizer

RECALL, WIC = "coarsewsd-20:dev", "wic:dev"
SENSES = {"0": ("approved", "paid"), "1": ("river", "boat")}


@pytest.fixture(scope="module")
def data(tiny_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Test sets of uses of "bank" from the training text, as their authors give them.

    The sense follows from a word beside it.
    """
    folder = tmp_path_factory.mktemp("data")
    rows = [
        (line.split().index("bank"), line, sense)
        for line in (tiny_run.parent / "text.txt").read_text().splitlines()[:120]
        for sense, words in SENSES.items()
        if " bank " in line and any(word in line.split() for word in words)
    ]
    bank = folder / "coarsewsd-20/bank"
    bank.mkdir(parents=True)
    (bank / "train.data.txt").write_text("".join(f"{index}\t{line}\n" for index, line, _ in rows))
    (bank / "train.gold.txt").write_text("".join(f"{sense}\n" for _, _, sense in rows))
    (bank / "classes_map.txt").write_text(json.dumps({"0": "money", "1": "river"}))
    for part, pairs in {"train": zip(rows[:30], rows[1:31]), "dev": zip(rows[31:50], rows[32:51])}.items():  # noqa: B905
        lines, golds = [], []
        for (index, text, sense), (other_index, other_text, other_sense) in pairs:
            lines.append(f"bank\tN\t{index}-{other_index}\t{text}\t{other_text}\n")
            golds.append("T\n" if sense == other_sense else "F\n")
        (folder / "wic" / part).mkdir(parents=True)
        (folder / "wic" / part / f"{part}.data.txt").write_text("".join(lines))
        (folder / "wic" / part / f"{part}.gold.txt").write_text("".join(golds))
    return folder


@pytest.fixture(scope="module")
def columns(data: Path) -> list[Column]:
    found, problems = open_columns("en", data)
    assert problems == []
    return found


@pytest.fixture(scope="module")
def weighted(calibrated: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    """The calibrated checkpoint, with learnt layer weights for one read-out."""
    folder = tmp_path_factory.mktemp("weighted") / "checkpoint"
    shutil.copytree(calibrated.checkpoint.path, folder)
    update_config(folder, layer_weights={"context": (0.2, 0.5, 0.3)})
    return Encoder.load(folder, device="cpu")


@pytest.fixture(scope="module")
def scores(weighted: Encoder, columns: list[Column]) -> list[ReadingScore]:
    return list(score_readings(weighted, columns))


def score(name: str, auc: float, recall: float | None) -> ReadingScore:
    return ReadingScore(name, auc, 0.1, 0.5, 0.4, {} if recall is None else {RECALL: recall})


def test_every_reading_has_a_row_between_the_static_control_and_the_bag(scores):
    layers = {readout: ["1", "2", "mean"] for readout in BiLMConfig.readouts}
    layers["context"].append("weighted")
    readings = [
        f"{readout}, layer {layer}, centred {centring}"
        for readout in BiLMConfig.readouts
        for layer in layers[readout]
        for centring in CENTRINGS
    ]
    assert [row.reading for row in scores] == [CONTROL, *readings, BAG]


def test_the_static_control_is_at_chance_and_the_readings_above_it(scores):
    control, *readings, bag = scores
    assert (control.example_auc, control.tests[RECALL]) == (0.5, 0.5)
    assert control.example_gap == pytest.approx(0, abs=1e-12)
    assert control.example_same == pytest.approx(1, abs=1e-12)
    assert min(row.tests[RECALL] for row in (*readings, bag)) > 0.9
    # cosine 1 for every pair, so that all that is left is the commoner answer
    assert 0.4 < control.tests[WIC] < 0.6
    assert min(row.tests[WIC] for row in (*readings, bag) if row.tests[WIC] is not None) > 0.7


def test_two_uses_of_a_word_are_too_few_to_centre_on_it(scores):
    assert {row.tests[WIC] for row in scores if row.reading.endswith("per word")} == {None}
    assert all(row.tests[WIC] is not None for row in scores if not row.reading.endswith("per word"))


def test_rows_agree_with_what_is_measured_by_hand(weighted, data, columns, monkeypatch):
    def mean_size(task: WordTask, vectors_SD: np.ndarray) -> float:
        """In the place of recall, which is 1 too often to tell vectors apart."""
        return float(np.abs(vectors_SD).mean())

    monkeypatch.setattr("ctxemb.evaluation.columns.dev_recall", mean_size)
    rows = {row.reading: row for row in score_readings(weighted, columns)}
    statistics = load_statistics(weighted)
    (task,) = load_coarsewsd(data / "coarsewsd-20")
    reading = weighted.reading_for("context", "weighted")
    reader = weighted.with_reading(reading)
    examples = load_examples()
    for centring in CENTRINGS:
        cosines, is_same = [], []
        for word in ("bank", "plant"):  # the example words that this checkpoint knows
            vectors, senses = [], []
            for row in examples[examples.word == word].itertuples():
                (encoding,) = reader.encode([row.sentence])
                layers = encoding.layers[:, encoding.positions(word)[0]]
                if centring != "off":
                    kept = statistics.word_mean("context", weighted.tokenizer.word_id(word))
                    layers = layers - (kept if centring == "per word" else statistics.means["context"])
                vectors.append(reading.combine(layers))
                senses.append(row.sense)
            for part, found in zip(
                labelled_pairs(cosine_matrix(np.stack(vectors)), senses), (cosines, is_same), strict=True
            ):
                found.append(part)
        pairs = sense_pairs(np.concatenate(cosines), np.concatenate(is_same))
        uses = np.stack([e.layers[:, e.positions("bank")[0]] for e in reader.encode(task.texts)], axis=1)
        if centring != "off":
            mean_LD = uses[:, ~task.is_dev].mean(axis=1) if centring == "per word" else statistics.means["context"]
            uses = uses - mean_LD[:, None]
        found = rows[f"context, layer weighted, centred {centring}"]
        assert found.example_auc == pytest.approx(pairs.auc)
        assert found.example_gap == pytest.approx(pairs.gap, abs=1e-6)
        assert (found.example_same, found.example_cross) == pytest.approx((pairs.same_mean, pairs.cross_mean), abs=1e-6)
        assert found.tests[RECALL] == pytest.approx(mean_size(task, reading.combine(uses)))


def test_the_bag_is_read_at_the_targets(weighted, data, columns, monkeypatch):
    monkeypatch.setattr("ctxemb.evaluation.columns.dev_recall", lambda task, vectors: float(np.abs(vectors).mean()))
    *_, row = score_readings(weighted, columns)
    bag = context_bag(weighted, load_statistics(weighted))
    (task,) = load_coarsewsd(data / "coarsewsd-20")
    vectors = [bag.vector(e.ids, e.positions("bank")[0]) for e in weighted.encode(task.texts)]
    assert row.tests[RECALL] == pytest.approx(np.abs(vectors).mean())


def test_without_test_sets_only_the_examples_are_read(scores, weighted):
    rows = list(score_readings(weighted, []))
    assert [dataclasses.replace(row, tests={}) for row in scores] == rows


def test_progress_names_read_out_and_test_set(weighted, columns):
    seen: list[str] = []
    for _ in score_readings(weighted, columns, seen.append):
        pass
    assert seen == [*(f"{readout}: {column.title}" for readout in BiLMConfig.readouts for column in columns), BAG]


def test_the_learnt_mix_is_a_reading_where_it_was_learnt(weighted):
    assert [reading.layer for reading in readings_of(weighted, "here")] == [1, 2, "mean"]
    assert readings_of(weighted, "context")[-1] == Reading(
        readout="context", layer="weighted", layer_weights=(0.2, 0.5, 0.3)
    )


def test_a_checkpoint_that_was_never_calibrated_is_refused(encoder):
    with pytest.raises(TargetError, match="never calibrated"):
        list(score_readings(encoder, []))


def test_a_checkpoint_that_knows_no_example_word_is_refused(calibrated):
    tokenizer = WordTokenizer.train(["xa xb xc xd"] * 3, calibrated.config.text)
    foreign = dataclasses.replace(calibrated.checkpoint, tokenizer=tokenizer)
    with pytest.raises(TargetError, match=re.escape("none of the example words is in this checkpoint's vocabulary")):
        list(score_readings(Encoder(foreign, calibrated.reading, calibrated.device), []))


def test_the_best_reading_is_the_encoders_own_and_chosen_on_the_first_test_set():
    rows = [score("control", 0.5, 0.5), score("one", 0.9, 0.6), score("two", 0.6, 0.8), score(BAG, 0.95, 0.9)]
    assert best_reading(rows).reading == "two"
    assert best_reading([dataclasses.replace(row, tests={}) for row in rows]).reading == "one"
    rows[1] = dataclasses.replace(rows[1], tests={RECALL: np.nan})
    assert best_reading(rows).reading == "one"


def test_rows_for_the_metrics_are_rounded_json():
    rows = as_rows([dataclasses.replace(score("one", 2 / 3, 1 / 3), example_gap=np.nan), score("two", 0.5, None)])
    assert rows[0] == {
        "reading": "one",
        "example_auc": 0.6667,
        "example_gap": None,
        "example_same": 0.5,
        "example_cross": 0.4,
        "tests": {RECALL: 0.3333},
    }
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows


def test_rows_are_read_back(scores):
    back = from_rows(json.loads(json.dumps(as_rows(scores))))
    assert as_rows(back) == as_rows(scores)
    assert np.isnan(from_rows([as_rows([score("one", np.nan, 0.5)])[0]])[0].example_auc)


def test_rows_of_a_checkpoint_evaluated_earlier_are_read_too():
    row = {"reading": "one", "example_auc": 0.9, "example_gap": 0.1, "example_same": 0.5, "example_cross": 0.4}
    assert from_rows([row | {"dev_recall": 0.6}]) == [score("one", 0.9, 0.6)]
