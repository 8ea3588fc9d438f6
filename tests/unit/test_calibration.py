import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.calibration import (
    PASSAGES_PER_WORD,
    STATISTICS,
    USES_PER_WORD,
    CorpusUse,
    WordIndex,
    calibrate,
    learn_layer_weights,
    load_statistics,
    passages_of_words,
)
from ctxemb.checkpoint import CheckpointError, read_config, read_state, write_state
from ctxemb.models.bilm import BiLMConfig
from ctxemb.text import NUM_SPECIAL, UNK
from ctxemb.tokenized import TokenizationReport, TokenizedCorpus


def make_corpus(sentences: Sequence[Sequence[int]], passages: Sequence[int]) -> TokenizedCorpus:
    lengths = [len(sentence) for sentence in sentences]
    report = TokenizationReport(len(set(passages)), len(sentences), sum(lengths), 0, 0, 0, 0)
    return TokenizedCorpus(
        ids=np.concatenate([np.array(sentence, dtype=np.int32) for sentence in sentences]),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        passages=np.array(passages, dtype=np.int32),
        report=report,
    )


@pytest.fixture(scope="module")
def random_corpus() -> TokenizedCorpus:
    """300 sentences in 60 passages over ids 4-33; 33 is the last id, 20 never occurs."""
    rng = np.random.default_rng(0)
    words = np.setdiff1d(np.arange(NUM_SPECIAL, 34), [20])
    sentences = [rng.choice(words, size=size) for size in rng.integers(1, 15, size=300)]
    return make_corpus([*sentences, [33]], [*sorted(rng.integers(60, size=300)), 60])


@pytest.fixture
def copy(calibrated, tmp_path) -> Encoder:
    """The calibrated checkpoint in a folder of its own."""
    shutil.copytree(calibrated.checkpoint.path, tmp_path / "copy")
    return Encoder.load(tmp_path / "copy", device="cpu")


def places_by_search(corpus: TokenizedCorpus, word_id: int) -> Iterator[tuple[int, int]]:
    for sentence in range(len(corpus)):
        for position, other in enumerate(corpus[sentence]):
            if other == word_id:
                yield sentence, position


# where words stand


def test_the_index_agrees_with_a_search(random_corpus):
    index = WordIndex(random_corpus)
    for word_id in (0, UNK, 4, 20, 21, 33, 34, 10_000):
        sentences, positions = index.places(word_id)
        assert list(zip(sentences, positions, strict=True)) == list(places_by_search(random_corpus, word_id))


def test_few_uses_are_all_taken_and_many_are_sampled(random_corpus):
    index = WordIndex(random_corpus)
    everything = list(places_by_search(random_corpus, 5))
    assert len(everything) > 20
    for limit in (len(everything), 20, 1, 0):
        uses = index.uses(5, limit)
        assert len(uses) == limit
        assert all(use.ids[use.position] == 5 for use in uses)
    assert [(use.ids.tolist(), use.position) for use in index.uses(5)] == [
        (random_corpus[sentence].tolist(), position) for sentence, position in everything
    ]

    def sample(seed: int) -> list[tuple]:
        return [(use.ids.tolist(), use.position) for use in index.uses(5, limit=10, seed=seed)]

    assert sample(0) == sample(0) != sample(1)
    assert index.uses(20) == index.uses(10_000) == []


def test_a_pair_is_two_sentences_of_one_passage(random_corpus):
    index, rng = WordIndex(random_corpus), np.random.default_rng(0)
    starts = {int(offset): sentence for sentence, offset in enumerate(random_corpus.offsets[:-1])}

    def sentence_of(use: CorpusUse) -> int:
        return starts[(use.ids.ctypes.data - random_corpus.ids.ctypes.data) // random_corpus.ids.itemsize]

    for word_id in (5, 12, 33):
        found = Counter(
            random_corpus.passages[s] for s in {sentence for sentence, _ in places_by_search(random_corpus, word_id)}
        )
        possible = {passage for passage, num_sentences in found.items() if num_sentences >= 2}
        passages = []
        for one, other in index.passage_pairs(word_id, 1_000, rng):
            assert one.ids[one.position] == other.ids[other.position] == word_id
            assert sentence_of(one) != sentence_of(other)
            passages.append(random_corpus.passages[sentence_of(one)])
            assert random_corpus.passages[sentence_of(other)] == passages[-1]
        assert sorted(passages) == sorted(possible)
        assert len(index.passage_pairs(word_id, 3, rng)) == 3
    assert index.passage_pairs(20, 10, rng) == []


def test_twice_in_one_sentence_is_no_pair():
    corpus = make_corpus([[5, 6, 5], [7, 8], [5, 9], [5, 6], [6, 7, 5, 5]], [0, 0, 1, 2, 2])
    ((one, other),) = WordIndex(corpus).passage_pairs(5, 10, np.random.default_rng(0))
    assert (one.ids.tolist(), one.position) == ([5, 6], 0)
    assert (other.ids.tolist(), other.position) == ([6, 7, 5, 5], 2)


# what is measured


def test_counts_are_those_of_the_text(calibrated, tiny_corpus):
    statistics = load_statistics(calibrated)
    expected = Counter(word for sentence in range(len(tiny_corpus)) for word in tiny_corpus[sentence].tolist())
    assert dict(enumerate(statistics.counts_V.tolist())) == {
        word: expected[word] for word in range(len(calibrated.tokenizer))
    }


@pytest.mark.parametrize("readout", BiLMConfig.readouts)
def test_the_mean_of_all_words_is_that_of_a_loop(calibrated, tiny_run, readout):
    sentences = (tiny_run.parent / "text.txt").read_text().splitlines()
    encodings = calibrated.with_reading(calibrated.reading_for(readout, "last")).encode(sentences)
    tokens = [encoding.layers[:, position] for encoding in encodings for position in range(len(encoding.tokens))]
    np.testing.assert_allclose(load_statistics(calibrated).means[readout], sum(tokens) / len(tokens), atol=1e-3)


@pytest.mark.parametrize("readout", BiLMConfig.readouts)
@pytest.mark.parametrize("word", ["approved", "water"])
def test_the_mean_of_a_word_is_that_of_a_loop(calibrated, tiny_run, readout, word):
    sentences = [line for line in (tiny_run.parent / "text.txt").read_text().splitlines() if word in line.split()]
    assert len(sentences) == 40 < USES_PER_WORD
    encodings = calibrated.with_reading(calibrated.reading_for(readout, "last")).encode(sentences)
    uses = [encoding.layers[:, position] for encoding in encodings for position in encoding.positions(word)]
    mean_LD = load_statistics(calibrated).word_mean(readout, calibrated.tokenizer.word_id(word))
    np.testing.assert_allclose(mean_LD, sum(uses) / len(uses), atol=1e-3)


def test_the_mean_of_a_frequent_word_is_that_of_a_sample(calibrated, tiny_corpus):
    bank = calibrated.tokenizer.word_id("bank")
    uses = WordIndex(tiny_corpus).uses(bank)
    assert len(uses) == USES_PER_WORD
    layers = calibrated.layers_of_ids([use.ids for use in uses], "here")
    expected = np.mean([layers_LTD[:, use.position] for layers_LTD, use in zip(layers, uses, strict=True)], axis=0)
    np.testing.assert_allclose(load_statistics(calibrated).word_mean("here", bank), expected, atol=1e-3)


def test_words_asked_for_and_the_most_frequent_longer_words_have_a_mean(copy, tiny_corpus, monkeypatch):
    monkeypatch.setattr("ctxemb.calibration.FIRST_CONTENT_WORD", NUM_SPECIAL)  # the vocabulary is that small
    statistics = calibrate(copy, tiny_corpus, ["the", "zyzzyva", "Bank"], num_common_words=5)
    words = [copy.tokenizer.word(int(word_id)) for word_id in statistics.word_ids_W]
    by_frequency = [copy.tokenizer.word(word_id) for word_id in range(NUM_SPECIAL, len(copy.tokenizer))]
    longer = [word for word in by_frequency if word.isalpha() and len(word) >= 4][:5]
    assert words == ["the", "bank", *(word for word in longer if word != "bank")]
    assert statistics.word_mean("here", UNK) is None


def test_what_was_measured_comes_back_from_the_folder(copy, tiny_corpus):
    measured = calibrate(copy, tiny_corpus, ["bank"])
    kept = load_statistics(Encoder.load(copy.checkpoint.path, device="cpu"))
    np.testing.assert_array_equal(kept.counts_V, measured.counts_V)
    np.testing.assert_array_equal(kept.word_ids_W, measured.word_ids_W)
    for readout in BiLMConfig.readouts:  # float16: three decimals
        np.testing.assert_allclose(kept.means[readout], measured.means[readout], atol=1e-3)
        np.testing.assert_allclose(kept.word_means[readout], measured.word_means[readout], atol=1e-3)
        assert kept.means[readout].dtype == kept.word_means[readout].dtype == np.float32


def test_layer_zero_of_a_word_is_left_with_nothing_by_its_mean(calibrated):
    (encoding,) = calibrated.encode(["the old bank approved the loan ."])
    mean_LD = load_statistics(calibrated).word_mean("here", calibrated.tokenizer.word_id("bank"))
    np.testing.assert_array_equal(encoding.layers[0, 2], mean_LD[0])


def test_a_text_without_a_longer_word_can_be_measured_too(copy):
    statistics = calibrate(copy, make_corpus([[UNK, 4, UNK], [4, UNK]], [0, 1]), [])
    assert statistics.word_ids_W.tolist() == []
    kept = load_statistics(copy)
    assert kept.word_mean("here", copy.tokenizer.word_id("bank")) is None
    assert kept.counts_V[[UNK, 4]].tolist() == [3, 2]


# what cannot be used


def test_a_checkpoint_that_was_never_calibrated_has_no_statistics(encoder):
    assert load_statistics(encoder) is None


def test_a_text_of_another_vocabulary_is_refused(copy):
    before = (copy.checkpoint.path / STATISTICS).read_bytes()
    with pytest.raises(CheckpointError, match=r"the corpus has ids up to 999, the checkpoint only \d+ words"):
        calibrate(copy, make_corpus([[4, 999]], [0]), ["bank"])
    assert (copy.checkpoint.path / STATISTICS).read_bytes() == before


@pytest.mark.parametrize("kept_share", [0, 0.001, 0.3, 0.99])
def test_damaged_statistics_are_refused(copy, kept_share):
    path = copy.checkpoint.path / STATISTICS
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept_share)])
    with pytest.raises(CheckpointError, match=r"statistics\.safetensors cannot be read; .*delete"):
        load_statistics(copy)


@pytest.mark.parametrize("name", ["state.safetensors", "best/model.safetensors"])
def test_another_file_in_their_place_is_refused(copy, tiny_run, name):
    shutil.copyfile(tiny_run / name, copy.checkpoint.path / STATISTICS)
    with pytest.raises(CheckpointError, match=r"statistics\.safetensors .*delete"):
        load_statistics(copy)


@pytest.mark.parametrize(
    "changes",
    [
        {"counts": torch.zeros(5, dtype=torch.int64)},
        {"word_ids": torch.tensor(3)},
        {"word_ids": torch.zeros((2, 2), dtype=torch.int64)},
        {"mean.here": torch.zeros(3, 50)},
        {"word_mean.context": None},
        {"more": torch.zeros(1)},
    ],
)
def test_statistics_of_another_checkpoint_are_refused(copy, changes):
    path = copy.checkpoint.path / STATISTICS
    tensors, _ = read_state(path)
    tensors = {name: value for name, value in (tensors | changes).items() if value is not None}
    write_state(path, tensors, {})
    with pytest.raises(CheckpointError, match=r"does not fit this checkpoint; .*delete the file"):
        load_statistics(copy)


# the weights of the layers


class StubEncoder:
    """Of its layers only one knows about passages: there, uses in one passage (ids 10 p, 10 p + 1) are alike."""

    num_layers = 3

    def __init__(self, informative: int | None, num_passages: int) -> None:
        rng = np.random.default_rng(0)
        self.vectors = rng.normal(size=(10 * num_passages, self.num_layers + 1, 24)).astype(np.float32)
        if informative is not None:
            self.vectors[:, informative] += rng.normal(size=(num_passages, 24)).astype(np.float32).repeat(10, axis=0)

    def layers_of_ids(self, sentences: Sequence[np.ndarray], readout: str, words: None) -> list[np.ndarray]:
        return [self.vectors[ids].swapaxes(0, 1) for ids in sentences]


@pytest.fixture(scope="module")
def passages() -> list[list[tuple[CorpusUse, CorpusUse]]]:
    """20 words, each with its own passages."""
    return [
        [
            (CorpusUse(np.array([10 * p]), 0), CorpusUse(np.array([10 * p, 10 * p + 1]), 1))
            for p in range(w * PASSAGES_PER_WORD, (w + 1) * PASSAGES_PER_WORD)
        ]
        for w in range(20)
    ]


@pytest.mark.parametrize("informative", [0, 1, 2, 3])
def test_the_layer_that_tells_passages_apart_gets_the_weight(passages, informative):
    stub = StubEncoder(informative, 20 * PASSAGES_PER_WORD)
    weights = learn_layer_weights(stub, passages, "here")
    assert sum(weights) == pytest.approx(1, abs=1e-3)
    assert weights[informative] > 0.8  # from the 0.25 that every layer starts with


def test_layers_that_know_nothing_get_no_such_weight(passages):
    weights = learn_layer_weights(StubEncoder(None, 20 * PASSAGES_PER_WORD), passages, "here")
    assert sum(weights) == pytest.approx(1, abs=1e-3)
    assert max(weights) < 0.8


def test_words_of_middling_frequency_with_enough_passages_are_chosen():
    rng = np.random.default_rng(0)
    filler = [rng.integers(100, 1_000, size=20) for _ in range(6_000)]  # 120,000 words, so at most 60 uses
    in_passages = [[5, 6, 7]] * 52 + [[8, 9, 7]] * 49  # 7: too frequent, 8 and 9: too rare
    spread = [[10, 7, 7]] * 55  # 10: never twice in a passage
    crowded = [[11, 7]] * 56  # 11: in seven passages only
    passages = [*range(6_000), *(6_000 + i // 2 for i in range(101)), *range(7_000, 7_055)]
    passages += [8_000 + i // 8 for i in range(56)]
    corpus = make_corpus([*filler, *in_passages, *spread, *crowded], passages)
    counts = np.bincount(corpus.ids)
    counts[100:] = 1  # the filler takes no part
    found = passages_of_words(WordIndex(corpus), np.concatenate([counts, [120_000]]))
    assert sorted(pairs[0][0].ids[pairs[0][0].position] for pairs in found) == [5, 6]
    assert {len(pairs) for pairs in found} == {PASSAGES_PER_WORD}


def test_learnt_weights_are_kept_in_the_config(copy):
    """A text of 100,000 tokens: a word has 50 uses in 25 passages, too many for chance and few enough to be chosen."""
    rng = np.random.default_rng(0)
    bank = copy.tokenizer.word_id("bank")
    others = np.setdiff1d(np.arange(NUM_SPECIAL, len(copy.tokenizer)), [bank])
    sentences = rng.choice(others, size=(10_001, 10))
    sentences[:50, 3] = bank
    assert read_config(copy.checkpoint.path).layer_weights == {}
    calibrate(copy, make_corpus(list(sentences), [i // 2 for i in range(10_001)]), ["bank"], num_common_words=0)
    weights = Encoder.load(copy.checkpoint.path, device="cpu").config.layer_weights
    assert set(weights) == set(BiLMConfig.readouts)
    for readout in BiLMConfig.readouts:
        assert len(weights[readout]) == copy.num_layers + 1
        assert sum(weights[readout]) == pytest.approx(1, abs=1e-3)
        assert min(weights[readout]) >= 0
    again = Encoder.load(Path(copy.checkpoint.path), device="cpu")
    reading = again.reading_for("here", "weighted")
    (encoding,) = again.with_reading(reading).encode(["the old bank ."])
    expected = sum(weight * layer for weight, layer in zip(weights["here"], encoding.layers, strict=True))
    np.testing.assert_allclose(encoding.vectors, expected, atol=1e-6)
