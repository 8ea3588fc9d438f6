import dataclasses
import json
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.analysis.isotropy import top_energy
from ctxemb.corpora import open_corpus
from ctxemb.evaluation.build_table import TableConfig, build_table, frequent_words, shortened
from ctxemb.evaluation.context_average import context_averages
from ctxemb.evaluation.measures import open_measures, synonym_pairs
from ctxemb.evaluation.table import ArticleTable
from ctxemb.evaluation.table_training import TRAINED, prepare_opponents
from ctxemb.evaluation.words import synonym_hit_rate
from ctxemb.models.reading import Reading
from ctxemb.recipes import Material, prepare, with_settings
from ctxemb.text import NUM_SPECIAL, TextConfig

CONFIG = TableConfig(num_seeds=2, num_contexts=5, min_count=3, num_frequent=30)
ANALOGIES = "loan money river water\nold quiet new green\nfarmer singer teacher zyzzyva\n"


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Word2Vec gives the same vectors again on one thread only."""
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(num_threads)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("table")


@pytest.fixture(scope="module")
def data(home) -> Path:
    """Google's analogies and AG News in their formats; BATS and TREC are not here."""
    (home / "data/word-evals-en").mkdir(parents=True)
    (home / "data/word-evals-en/questions-words.txt").write_text(f": words\n{ANALOGIES}")
    (home / "data/fewshot-en").mkdir()
    rows = ['"1","bank","the loan of the bank"\n', '"2","river","the water of the river"\n'] * 250
    (home / "data/fewshot-en/ag_news_test.csv").write_text("".join(rows))
    return home / "data"


@pytest.fixture(scope="module")
def build(home, data, tiny_recipes):
    """`build(**changes)`: the table, its trainings kept from call to call; `build.seen` is what was done last."""

    def build(**changes) -> ArticleTable:
        build.seen = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CTXEMB_DATA", str(data))
            return build_table(
                tiny_recipes.control,
                tiny_recipes.contrastive,
                [open_corpus(tiny_recipes.path)],
                home / "work",
                home / "cache",
                dataclasses.replace(CONFIG, **changes),
                build.seen.append,
            )

    return build


@pytest.fixture(scope="module")
def table(build) -> ArticleTable:
    return build()


@pytest.fixture(scope="module")
def material(home, table, tiny_recipes) -> Material:
    return prepare(tiny_recipes.contrastive, [open_corpus(tiny_recipes.path)], home / "cache")


def runs(home: Path, recipe: str) -> list[Path]:
    return sorted((home / "work").glob(f"{recipe}-*-seed*"))


def test_every_row_has_a_value_a_seed_or_says_what_is_missing(table):
    assert (table.language, table.seeds, table.corpora) == ("en", (0, 1), ("text.txt",))
    empty = {row.name: row.problem for row in table.rows if not row.control}
    assert list(empty) == ["analogies:bats", "few-shot:trec"]
    assert "BATS_3.0.tar.xz" in empty["analogies:bats"]
    assert "qc.zip" in empty["few-shot:trec"]
    for row in table.rows:
        if row.name not in empty:
            assert len(row.control) == len(row.contrastive) == 2
            assert np.isfinite([*row.control, *row.contrastive]).all()
            assert row.problem == ""
    assert all(row.is_met is None for row in table.rows if row.name in empty)
    assert ArticleTable.from_json(json.loads(json.dumps(table.as_json()))).as_json() == table.as_json()


def test_coverage_is_the_share_of_the_questions_in_the_vocabulary(table):
    coverage = {row.name: row.coverage for row in table.rows}
    assert coverage["analogies:google"] == pytest.approx(2 / 3)  # zyzzyva is no word of the text
    assert coverage["synonyms"] == 1
    assert coverage["energy"] is None


def test_rows_agree_with_what_is_measured_by_hand(table, home, material, tiny_recipes):
    ids = frequent_words(material, CONFIG.min_count)
    words = [material.tokenizer.word(i) for i in ids.tolist()]
    rows = {row.name: row for row in table.rows}
    synonyms = [pair.split(",") for pair in Path(tiny_recipes.contrastive.lexicon.source).read_text().split()[1:]]
    everything = [words[1:] for words in synonyms if words[0] == "synonym"]
    held_out = synonym_pairs(material.lexicon.held_out, material.tokenizer)
    assert {frozenset(pair) for pair in held_out} < {frozenset(pair) for pair in everything}
    for recipe, column in (("tiny-static", "control"), ("tiny-contrastive", "contrastive")):
        folders = runs(home, recipe)
        assert len(folders) == 2
        for seed, folder in enumerate(folders):
            encoder = Encoder.load(folder / "best", device="cpu").with_reading(Reading(readout="here"))
            vectors = (
                encoder.model.word_vectors().numpy()
                if column == "control"
                else context_averages(encoder, material.corpus, CONFIG.num_contexts, seed=0)[0]
            )[ids]
            found = {name: getattr(row, column)[seed] for name, row in rows.items() if row.control}
            assert found["synonyms"] == synonym_hit_rate(vectors, words, everything).hit_rate
            assert found["synonyms:held-out"] == synonym_hit_rate(vectors, words, held_out).hit_rate
            assert found["energy"] == pytest.approx(top_energy(vectors[:30]).squared)
            assert found["energy:plain"] == pytest.approx(top_energy(vectors[:30]).plain)
            assert found["seconds:without-start"] == json.loads((folder / TRAINED).read_text())["seconds"] > 0
    assert rows["energy"].control[0] != rows["energy"].control[1]  # the seeds made different encoders
    assert rows["few-shot:ag-news"].contrastive_mean > 0.95  # the two classes share no content word


def test_the_start_counts_for_the_contrastive_encoder_only(table, home, tiny_recipes):
    rows = {row.name: row for row in table.rows}
    whole, without = rows["seconds"], rows["seconds:without-start"]
    assert whole.control == without.control
    corpora = [open_corpus(tiny_recipes.path)]
    opponents = prepare_opponents(*tiny_recipes[:2], corpora, home / "work", home / "cache", lambda _: None)
    starts = [a - b for a, b in zip(whole.contrastive, without.contrastive, strict=True)]
    assert starts == pytest.approx([opponents.start_seconds] * 2)


def test_finished_trainings_are_reused_and_a_new_seed_is_trained(build, table, home):
    kept = {folder: (folder / TRAINED).stat().st_mtime_ns for folder in (home / "work").glob("*-seed*")}
    again = build()
    assert again.rows == table.rows
    assert not any("step" in line for line in build.seen)
    more = build(num_seeds=3)
    assert more.seeds == (0, 1, 2)
    assert more.rows[0].control[:2] == table.rows[0].control
    assert {folder: (folder / TRAINED).stat().st_mtime_ns for folder in kept} == kept
    assert len(runs(home, "tiny-contrastive")) == 3


def test_an_interrupted_training_is_resumed(build, table, home):
    folder = runs(home, "tiny-contrastive")[0]
    whole = json.loads((folder / "best/metrics.json").read_text())["validation"]
    (folder / TRAINED).unlink()
    again = build()
    assert not any("step" in line and "seed 0" in line for line in build.seen)  # its last step was done
    assert json.loads((folder / "best/metrics.json").read_text())["validation"] == whole
    assert again.rows[0] == table.rows[0]
    static = runs(home, "tiny-static")[0]
    (static / TRAINED).unlink()  # Word2Vec has no steps to resume
    assert build().rows[0].control == pytest.approx(table.rows[0].control)


def test_shorter_trainings_show_what_time_buys(build, table, home):
    again = build(shares=(0.5,))
    assert again.rows[:8] == table.rows[:8]  # they change nothing else
    assert [(trial.recipe, trial.share) for trial in again.trade_off] == [
        ("tiny-static", 0.5),
        ("tiny-static", 1.0),
        ("tiny-contrastive", 0.5),
        ("tiny-contrastive", 1.0),
    ]
    measured = {row.name for row in table.rows if row.control}
    for trial in again.trade_off:
        assert set(trial.values) == measured
        assert trial.seconds == trial.values["seconds"] > 0
    whole = {row.name: row.contrastive[0] for row in again.rows if row.contrastive}
    assert again.trade_off[-1].values == pytest.approx(whole)
    assert again.trade_off[-2].values["energy"] != pytest.approx(whole["energy"])
    assert table.trade_off == ()


def test_a_shortened_recipe_has_a_share_of_the_steps_and_of_its_start(tiny_recipes):
    contrastive = with_settings(
        tiny_recipes.contrastive, ["training.max_steps=40", "training.warmup_steps=10", "initial.num_epochs=4"]
    )
    shorter = shortened(contrastive, 0.25)
    assert (shorter.training.max_steps, shorter.training.warmup_steps, shorter.initial.num_epochs) == (10, 2, 1)
    assert shorter.training.num_epochs == contrastive.training.num_epochs
    endless = with_settings(contrastive, ["training.max_steps=null", "training.num_epochs=8"])
    assert (shortened(endless, 0.25).training.num_epochs, shortened(endless, 0.25).training.max_steps) == (2, None)
    control = with_settings(tiny_recipes.control, ["training.num_epochs=5"])
    assert [shortened(control, share).training.num_epochs for share in (0.01, 0.5, 1)] == [1, 2, 5]
    assert shortened(control, 1) == control


def test_words_are_ordered_by_frequency_and_cut_at_the_count(material):
    counts = np.bincount(material.corpus.ids)
    ids = frequent_words(material, 40)
    assert (np.diff(counts[ids]) <= 0).all()
    assert set(ids.tolist()) == {i for i in range(NUM_SPECIAL, len(counts)) if counts[i] >= 40}
    with pytest.raises(ValueError, match="0 words occur 100000 times in the text"):
        frequent_words(material, 100_000)


def test_recipes_of_different_vocabularies_are_no_opponents(home, tiny_recipes):
    other = tiny_recipes.control.model_copy(update={"text": TextConfig(min_frequency=9)})
    with pytest.raises(ValueError, match="tiny-static and tiny-contrastive read text differently"):
        prepare_opponents(other, tiny_recipes.contrastive, [], home / "work", home / "cache", print)


def test_without_a_lexicon_the_synonym_rows_say_so(material, tiny_recipes, monkeypatch, tmp_path):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    bare = with_settings(tiny_recipes.contrastive, []).model_copy(update={"lexicon": None})
    measures = open_measures(bare, dataclasses.replace(material, lexicon=None), 10)
    problems = {measure.name: measure.problem for measure in measures if measure.problem}
    assert problems["synonyms"] == problems["synonyms:held-out"] == "the recipe has no lexicon"
    assert all(re.search("get it from https://", text) for name, text in problems.items() if "synonyms" not in name)
    assert [measure.name for measure in measures if measure.of] == [
        "energy",
        "energy:plain",
        "seconds",
        "seconds:without-start",
    ]
