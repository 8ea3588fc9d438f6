"""What the probe measures, that it leaves training alone, and that interruptions leave no trace in it."""

import dataclasses
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from ctxemb import Encoder
from ctxemb.analysis.senses import SensePairs
from ctxemb.comparison import Sentence, compare, find_uses
from ctxemb.corpora import open_corpus
from ctxemb.examples import load_examples
from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.probe import ALL_WORDS, Probe, ProbedUse, ProbePoint, choose_uses, open_probe, probe_map, read_probe
from ctxemb.probe.folder import MAX_FRAMES, ProbeFolder
from ctxemb.progress import ValidationRecord, read_progress
from ctxemb.recipes import Material, Recipe, prepare, run
from ctxemb.text import TextConfig
from ctxemb.training import Run, TrainingConfig
from tests.conftest import ALONE, curve, write_two_senses

USES = [
    ProbedUse("bank", "money", "the old bank approved the loan for the farmer ."),
    ProbedUse("bank", "money", "the quiet bank approved the loan for the teacher ."),
    ProbedUse("bank", "river", "we sat on the old bank of the river with the farmer ."),
    ProbedUse("bank", "river", "we sat on the small bank of the river with the doctor ."),
    ProbedUse("plant", "living", "the farmer saw the old plant beside the road ."),
    ProbedUse("plant", "works", "a farmer worked in the old plant near the city ."),
    ProbedUse("plant", "works", "the plant is a plant in the city .", occurrence=2),
]


@pytest.fixture(scope="module")
def material(tmp_path_factory) -> tuple[Recipe, Material]:
    """A recipe of 48 steps, validated every 8, on sentences whose nouns have two senses."""
    folder = tmp_path_factory.mktemp("probed")
    path = folder / "text.txt"
    write_two_senses(path)
    recipe = Recipe(
        name="probed",
        description="seconds on one core",
        corpora=(str(path),),
        text=TextConfig(),
        model=BiLMConfig(embedding_size=12, hidden_size=16, num_layers=1, dropout=0.3, cutoffs=(16,)),
        training=TrainingConfig(
            num_epochs=9,
            max_steps=48,
            batch_tokens=200,
            learning_rate=3e-2,
            warmup_steps=4,
            validate_every=8,
            save_every=5,
            precision="float32",
            weight_type="float32",
        ),
        reading=Reading(readout="context", layer="last"),
    )
    return recipe, prepare(recipe, [open_corpus(path)], folder / "cache")


@pytest.fixture(scope="module")
def probed(material, tmp_path_factory) -> Path:
    """The folder of a finished run with a probe."""
    out = tmp_path_factory.mktemp("runs") / "run"
    for _ in run(*material, out, ALONE, Probe(out, USES)):
        pass
    return out


def looks(out: Path) -> tuple[list[ProbePoint], dict[int, np.ndarray]]:
    folder = ProbeFolder(out)
    return folder.points(), {step: folder.frame(step) for step in folder.frame_steps()}


def assert_same_looks(one: Path, other: Path) -> None:
    (points, frames), (other_points, other_frames) = looks(one), looks(other)
    assert points == other_points
    assert frames.keys() == other_frames.keys()
    for step, frame_ND in frames.items():
        np.testing.assert_array_equal(frame_ND, other_frames[step])


def test_there_is_a_look_for_the_untrained_model_and_for_every_validation(probed):
    steps = [r.step for r in read_progress(probed / "progress.jsonl") if isinstance(r, ValidationRecord)]
    history = read_probe(probed)
    assert [point.step for point in history.points] == [0, *steps] == list(range(0, 49, 8))
    assert (history.words, history.uses) == (["bank", "plant"], USES)


def test_a_look_says_what_the_checkpoint_of_that_validation_says(probed):
    encoder = Encoder.load(probed / "last", device="cpu")
    uses, _ = find_uses(encoder, [Sentence(use.text, use.sense) for use in USES[:4]], "bank")
    mean_LD = np.mean([use.encoding.layers[:, use.position] for use in uses], axis=0)
    last = read_probe(probed).points[-1]
    for centring, mean in (("off", None), ("per word", mean_LD)):
        expected = compare(encoder, uses, "bank", mean, None).pairs
        assert dataclasses.astuple(last.pairs[centring]["bank"]) == pytest.approx(
            dataclasses.astuple(expected), abs=2e-5
        )


def test_all_words_pools_the_pairs_within_each_word(probed):
    pairs = read_probe(probed).points[-1].pairs["off"]
    bank, plant, pooled = pairs["bank"], pairs["plant"], pairs[ALL_WORDS]
    assert (bank.num_same, bank.num_cross, plant.num_same, plant.num_cross) == (2, 4, 1, 2)
    assert (pooled.num_same, pooled.num_cross) == (3, 6)
    assert pooled.same_mean == pytest.approx((2 * bank.same_mean + plant.same_mean) / 3, abs=2e-5)


def test_training_opens_the_gap_that_was_not_there(probed):
    series = read_probe(probed).series("bank")
    gap_S = series.same_S - series.cross_S
    assert abs(gap_S[0]) < 0.02
    assert gap_S[-1] > 0.05


def test_a_run_with_a_probe_has_exactly_the_curve_of_one_without(material, probed, tmp_path):
    without = list(run(*material, tmp_path / "run", ALONE))
    assert curve(read_progress(probed / "progress.jsonl")) == curve(without)
    assert (probed / "best/model.safetensors").read_bytes() == (tmp_path / "run/best/model.safetensors").read_bytes()
    assert read_probe(tmp_path / "run") is None


@pytest.mark.parametrize("num_records", [1, 9, 27])
def test_a_stopped_and_resumed_run_has_the_looks_of_an_uninterrupted_one(material, probed, tmp_path, num_records):
    out = tmp_path / "run"
    records = run(*material, out, ALONE, Probe(out, USES))
    list(itertools.islice(records, num_records))
    records.close()
    for _ in run(*material, out, ALONE, open_probe(out, material[1].tokenizer, "en", [])):
        pass
    assert_same_looks(out, probed)


@pytest.mark.parametrize("num_records", [3, 26])
def test_a_killed_and_resumed_run_has_them_too(material, probed, tmp_path, num_records, monkeypatch):
    out = tmp_path / "run"
    records = run(*material, out, ALONE, Probe(out, USES))
    list(itertools.islice(records, num_records))
    with monkeypatch.context() as killed:  # nothing is saved any more
        killed.setattr(Run, "_end", lambda *_: None)
        records.close()
    for _ in run(*material, out, ALONE, Probe(out, USES)):
        pass
    assert_same_looks(out, probed)


def test_other_words_than_at_the_start_are_refused(material, probed):
    tokenizer = material[1].tokenizer
    assert open_probe(probed, tokenizer, "en", [], ["plant", "bank"]).uses == USES
    with pytest.raises(ValueError, match=r"run is probed with bank, plant; name the same words, or none"):
        open_probe(probed, tokenizer, "en", [], ["bank"])


def test_the_usual_sentences_are_those_of_example_words_in_the_vocabulary(encoder):
    uses = choose_uses(encoder.tokenizer, "en", [])
    assert {use.word for use in uses} == {"bank", "plant"}
    assert all(use.word in use.text.casefold() for use in uses)
    assert {use.word for use in choose_uses(encoder.tokenizer, "en", [], ["plant"])} == {"plant"}
    with pytest.raises(ValueError, match="“farmer” has no labelled sentences to probe with; there are: bank, "):
        choose_uses(encoder.tokenizer, "en", [], ["farmer"])
    with pytest.raises(ValueError, match="“bat” is not in this run's vocabulary"):
        choose_uses(encoder.tokenizer, "en", [], ["bat"])


@pytest.mark.parametrize("lab", ["lab", "lab:large"])
def test_a_run_on_the_lab_corpus_is_probed_with_sentences_held_out_of_it(encoder, lab):
    uses = choose_uses(encoder.tokenizer, "en", ["wiki-sample", lab])
    assert {use.word for use in uses} == {"bank", "plant"}
    assert not {use.text for use in uses} & set(load_examples("en").sentence)
    assert len({(use.word, use.sense) for use in uses}) == 4


def test_a_vocabulary_without_any_example_word_is_not_probed(slots, tmp_path):
    assert open_probe(tmp_path / "run", slots.tokenizer, "en", []) is None


# files


def point(step: int, same: float = 0.5) -> ProbePoint:
    return ProbePoint(step, {"off": {ALL_WORDS: SensePairs(same, math.nan, math.nan, 2, 0)}})


def test_files_stay_bounded_and_the_frames_that_stay_are_spread_evenly(tmp_path):
    folder = ProbeFolder(tmp_path)
    for step in range(0, 1_500, 10):
        folder.add(point(step), np.eye(2, 3), USES[:2])
    steps = folder.frame_steps()
    assert len(steps) == MAX_FRAMES
    assert (steps[0], steps[-1]) == (0, 1_490)
    assert np.diff(steps).max() <= 40  # on average 15
    assert len(folder.points()) == 150


def test_a_number_that_is_not_defined_comes_back_as_such(tmp_path):
    folder = ProbeFolder(tmp_path)
    folder.add(point(0, same=0.25), np.eye(2, 3), USES[:2])
    pairs = folder.points()[0].pairs["off"][ALL_WORDS]
    assert (pairs.same_mean, pairs.num_same) == (0.25, 2)
    assert math.isnan(pairs.auc)
    assert "NaN" not in (tmp_path / "probe.jsonl").read_text()


# map


def write_frames(out: Path, frames: list[np.ndarray], uses: list[ProbedUse]) -> None:
    for index, frame_ND in enumerate(frames):
        ProbeFolder(out).add(point(10 * index), frame_ND, uses)


def test_a_map_has_one_plane_for_all_steps(tmp_path):
    """By hand: at the last step the uses lie along the second axis, at the first all at one point."""
    start = np.array([[1.0, 0, 0]] * 4)
    end = np.array([[0, 1.0, 0], [0, 1, 0], [0, -1, 0], [0, -1, 0]])
    write_frames(tmp_path, [start, end], USES[:4])
    found = probe_map(read_probe(tmp_path))
    assert found.steps == [0, 10]
    np.testing.assert_allclose(found.positions_SN2[0], 0, atol=1e-6)
    np.testing.assert_allclose(np.abs(found.positions_SN2[1]), [[1, 0]] * 4, atol=1e-6)
    assert np.sign(found.positions_SN2[1, :, 0]).tolist() in ([1, 1, -1, -1], [-1, -1, 1, 1])
    assert (found.limit, found.variance_share) == pytest.approx((1, 1))


def test_a_map_shows_the_distances_of_the_last_step_and_what_a_word_shares_is_not_in_it(tmp_path):
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(7, 2)) @ np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    frame_ND = plane / np.linalg.norm(plane, axis=1, keepdims=True)
    write_frames(tmp_path, [frame_ND], USES)
    history = read_probe(tmp_path)
    bank = probe_map(history, ["bank"])
    assert len(bank.uses) == 4
    expected = np.linalg.norm(frame_ND[:4, None] - frame_ND[None, :4], axis=-1)
    drawn = np.linalg.norm(bank.positions_SN2[0][:, None] - bank.positions_SN2[0][None], axis=-1)
    np.testing.assert_allclose(drawn, expected, atol=2e-3)  # kept in float16
    both = probe_map(history)
    np.testing.assert_allclose(both.positions_SN2[0][:4].mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(both.positions_SN2[0][4:].mean(axis=0), 0, atol=1e-9)
    assert probe_map(history, ["bat"]) is None


def test_a_map_does_not_flip_between_two_looks(tmp_path):
    rng = np.random.default_rng(1)
    frame_ND = rng.normal(size=(4, 6))
    write_frames(tmp_path, [frame_ND], USES[:4])
    first = probe_map(read_probe(tmp_path)).positions_SN2[0]
    write_frames(tmp_path, [frame_ND, frame_ND + 0.01 * rng.normal(size=(4, 6))], USES[:4])
    again = probe_map(read_probe(tmp_path)).positions_SN2[0]
    np.testing.assert_allclose(again, first, atol=0.1)
