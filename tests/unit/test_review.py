"""Pairs, counts and candidates of small lexicons and texts, worked out by hand."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ctxemb import Encoder
from ctxemb.analysis.candidates import CandidateConfig
from ctxemb.calibration import CorpusUse
from ctxemb.lexicon import Entry, LexiconConfig, LexiconError, clean
from ctxemb.review import (
    Sample,
    candidate_averages,
    candidate_table,
    context_words,
    entries_of,
    no_pairs,
    open_sample,
    pairs_table,
    report_table,
    search_pairs,
)
from ctxemb.tokenized import TokenizedCorpus
from tests.untrained import write_checkpoints

VOCABULARY = {"cell": 4, "jail": 5, "hot": 6, "cold": 7, "USA": 8, "America": 9}
ENTRIES = [
    Entry("synonym", ("cell", "jail", "gaol")),
    Entry("antonym", ("hot", "cold")),
    Entry("alias", ("USA", "America")),
    Entry("synonym", ("USA", "America")),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("review")
    write_checkpoints(folder, tmp_path_factory.mktemp("cache"))
    return folder


def test_pairs_are_counted_named_and_in_order_of_their_rarer_word() -> None:
    lexicon, _ = clean(ENTRIES, VOCABULARY)
    counts_V = np.array([0, 0, 0, 0, 5, 1, 2, 3])  # of a text that ends before USA
    table = pairs_table(lexicon, counts_V)
    assert table.to_dict("split")["data"] == [
        ["hot", "cold", "antonym", 2, 3],
        ["cell", "jail", "synonym", 5, 1],
        ["USA", "America", "alias", 0, 0],
    ]
    assert list(no_pairs().columns) == list(table.columns)


def test_search_finds_parts_of_either_word_whatever_the_case() -> None:
    table = pd.DataFrame({"a": ["Cell", "热"], "b": ["jail", "冷"]})
    assert search_pairs(table, " CEL ").a.tolist() == ["Cell"]
    assert search_pairs(table, "冷").a.tolist() == ["热"]
    assert len(search_pairs(table, "")) == 2
    assert search_pairs(table, "x").empty


def test_report_says_what_was_kept_and_dropped() -> None:
    _, report = clean(ENTRIES, VOCABULARY, LexiconConfig(), "mine")
    rows = {what: number for what, number, _ in report_table(report).itertuples(index=False)}
    assert rows["synonym pairs listed"] == 5
    assert rows["synonym pairs kept"] == 2
    assert rows["dropped: with a word outside the vocabulary"] == 2
    assert rows["antonym pairs kept"] == 1


def test_chosen_pairs_become_entries() -> None:
    assert entries_of([("hot", "cold", "antonym")]) == [Entry("antonym", ("hot", "cold"))]


@pytest.mark.parametrize("name", ["en-contrastive", "zh-contrastive", "en-static"])
def test_without_a_corpus_the_example_sentences_are_the_sample(
    folder: Path, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path))
    monkeypatch.setattr("ctxemb.calibration.SAMPLES", {"en": ("wikitext-2",), "zh": ("tatoeba-zh",)})
    encoder = Encoder.load(folder / name, device="cpu")
    sample = open_sample(encoder)
    assert sample.name == "our example sentences"
    word_id = encoder.tokenizer.word_id("bank" if name.startswith("en") else "苹果")
    assert sample.counts_V[word_id] >= 16
    use = sample.index.uses(word_id, 1)[0]
    words, unknown = context_words(encoder.tokenizer, use)
    assert words[use.position] in ("bank", "苹果")
    assert not any(unknown)
    averages_VD = candidate_averages(encoder, sample)
    assert averages_VD.shape == (len(encoder.tokenizer), encoder.config.model.width)
    assert averages_VD[word_id].any()


def test_candidates_are_words_with_like_contexts_and_say_what_is_listed(folder: Path) -> None:
    tokenizer = Encoder.load(folder / "en-static", device="cpu").tokenizer
    bank, prison, comma = (tokenizer.word_id(word) for word in ("bank", "prison", ","))
    vectors_VD = np.zeros((len(tokenizer), 3), np.float32)
    vectors_VD[[bank, prison, comma]] = [[1, 0.1, 0], [1, 0, 0], [1, 0, 0.1]]
    corpus = TokenizedCorpus(np.array([bank, prison, comma]), np.array([0, 3]), np.array([0]), None)  # pyright: ignore[reportArgumentType]
    sample = Sample("a text", "of three words", corpus, np.bincount(corpus.ids, minlength=len(tokenizer)))
    lexicon, _ = clean([Entry("synonym", ("bank", "prison"))], tokenizer.word_id)
    config = CandidateConfig(min_count=1, is_centred=False)
    [row] = candidate_table(vectors_VD, sample, tokenizer, config, lexicon).to_dict("records")
    assert {row["a"], row["b"]} == {"bank", "prison"}
    assert row["listed"] == "synonym"
    assert row["cosine"] == pytest.approx(1 / np.sqrt(1.01))
    assert candidate_table(vectors_VD, sample, tokenizer, config).listed.tolist() == [""]
    with pytest.raises(ValueError, match="two are needed"):
        candidate_table(vectors_VD, sample, tokenizer, CandidateConfig(), lexicon)


def test_an_unknown_word_of_a_context_is_shown_as_lost(folder: Path) -> None:
    tokenizer = Encoder.load(folder / "en-static", device="cpu").tokenizer
    assert context_words(tokenizer, CorpusUse(np.array([3, tokenizer.word_id("bank")]), 1)) == (
        ["…", "bank"],
        [True, False],
    )


def test_a_lexicon_without_a_known_word_is_refused() -> None:
    with pytest.raises(LexiconError, match="no pair that can be used"):
        clean([Entry("synonym", ("x", "y"))], VOCABULARY)
