import dataclasses
import itertools
import re
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.calibration import load_statistics
from ctxemb.checkpoint import save_checkpoint
from ctxemb.comparison import (
    CENTRINGS,
    Comparison,
    Sentence,
    TargetError,
    Use,
    centring_mean,
    compare,
    context_bag,
    find_use,
    find_uses,
    influence,
    pairs_table,
    random_baseline,
    random_baselines,
)
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.models.static import Static, StaticConfig
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus, tokenize

MONEY = ["the new bank approved the loan for the teacher .", "the large bank approved the loan for the singer ."]
RIVER = [
    "we sat on the quiet bank of the river with the student .",
    "we sat on the small bank of the river with the farmer .",
]
SENTENCES = [Sentence(text, "money") for text in MONEY] + [Sentence(text, "river") for text in RIVER]


def uses_of(encoder: Encoder, sentences: Sequence[Sentence] = SENTENCES, word: str = "bank") -> list[Use]:
    uses, problems = find_uses(encoder, sentences, word)
    assert problems == []
    return uses


def compared_uses(encoder: Encoder, uses: list[Use]) -> Comparison:
    return compare(encoder, uses, "bank", None, context_bag(encoder, load_statistics(encoder)))


def compared(encoder: Encoder, mean_LD: np.ndarray | None = None) -> Comparison:
    return compare(encoder, uses_of(encoder), "bank", mean_LD, None)


def vectors_of(encoder: Encoder, texts: Sequence[str] = (*MONEY, *RIVER)) -> np.ndarray:
    """(L + 1, N, D) of the first "bank" of each text."""
    return np.stack([e.layers[:, e.positions("bank")[0]] for e in encoder.encode(texts)], axis=1)


# finding the word


@pytest.mark.parametrize(
    ("sentence", "word", "message"),
    [
        (Sentence("the river ."), "bank", "“bank” does not occur in “the river .”; use the word in exactly this form"),
        (Sentence("the banks ."), "bank", "“bank” does not occur in “the banks .”"),
        (Sentence("the old zyzzyva ."), "zyzzyva", "“zyzzyva” is not in this checkpoint's vocabulary"),
        (Sentence("the <pad> ."), "<pad>", "“<pad>” is not in this checkpoint's vocabulary"),
        (Sentence("bank by bank", occurrence=3), "bank", "“bank” occurs 2 times in “bank by bank”, not 3; choose one"),
        (Sentence("bank by bank", occurrence=0), "bank", "“bank” occurs 2 times in “bank by bank”, not 0"),
        (Sentence(""), "bank", "a sentence without any word cannot be compared"),
        (Sentence(" \0\t\u200b"), "bank", "a sentence without any word cannot be compared"),
        (Sentence("x" * 10_000), "bank", "“bank” does not occur in “" + "x" * 77 + "...”"),
    ],
)
def test_a_target_that_cannot_be_compared_is_named(encoder, sentence, word, message):
    with pytest.raises(TargetError, match=re.escape(message)):
        find_use(sentence, encoder.encode([sentence.text])[0], word)


def test_the_occurrence_that_was_chosen_is_found(encoder):
    text = "the Bank saw the BANK beside the bank ."
    for occurrence, position in ((1, 1), (2, 4), (3, 7)):
        use = find_use(Sentence(text, occurrence=occurrence), encoder.encode([text])[0], "bank")
        assert (use.position, use.num_occurrences) == (position, 3)


def test_sentences_that_cannot_be_compared_are_reported_and_the_others_kept(encoder):
    texts = [MONEY[0], "", "the river .", RIVER[0], "the bank"]
    uses, problems = find_uses(encoder, [Sentence(text) for text in texts], " bank ")
    assert [use.sentence.text for use in uses] == [MONEY[0], RIVER[0], "the bank"]
    assert [str(problem).split(";")[0] for problem in problems] == [
        "a sentence without any word cannot be compared",
        "“bank” does not occur in “the river .”",
    ]


@pytest.mark.parametrize("word", ["", " \t"])
def test_no_target_word_is_said_so(encoder, word):
    with pytest.raises(TargetError, match="no target word is given"):
        find_uses(encoder, SENTENCES, word)


@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "zyzzyva {} xyzzy",
        "the {} \x00\x07\x1b[31m of\x7f the river",
        "🏦 {} 💶👩‍👩‍👧",
        "дом {} 銀行 τράπεζα ",
        "\u202eبنك {} البنك\u202c",
        "the {} \udce9t\udce9",
        "{} " + "of the river " * 40,
    ],
)
def test_any_text_around_the_word_gives_finite_numbers(calibrated, around):
    sentences = [Sentence(MONEY[0]), Sentence(around.format("bank"))]
    uses = uses_of(calibrated, sentences)
    assert np.isfinite(compared_uses(calibrated, uses).cosines_NN).all()
    assert np.isnan(influence(calibrated, uses[1], None)).sum() == 1


def test_a_sentence_of_10_000_characters_can_be_compared(calibrated):
    uses = uses_of(calibrated, [Sentence("bank " + "of the river " * 770), Sentence(MONEY[0])])
    assert np.isfinite(compared_uses(calibrated, uses).cosines_NN).all()


# the numbers


def test_cosines_and_their_summary_agree_with_a_loop(encoder):
    for reading in (Reading(), Reading(readout="context", layer="mean"), Reading(readout="sentence", layer=1)):
        result = compared(encoder.with_reading(reading))
        vectors = reading.combine(vectors_of(encoder.with_reading(reading)).astype(np.float64))
        expected = [[a @ b / np.linalg.norm(a) / np.linalg.norm(b) for b in vectors] for a in vectors]
        np.testing.assert_allclose(result.cosines_NN, expected, atol=1e-6)
        same, cross = [expected[0][1], expected[2][3]], [expected[i][j] for i in (0, 1) for j in (2, 3)]
        assert result.pairs.same_mean == pytest.approx(np.mean(same), abs=1e-6)
        assert result.pairs.cross_mean == pytest.approx(np.mean(cross), abs=1e-6)
        assert result.mean_cosine == pytest.approx(np.mean(same + cross), abs=1e-6)
        assert (result.pairs.num_same, result.pairs.num_cross) == (2, 4)


def test_every_layer_has_its_summary(encoder):
    result = compared(encoder.with_reading(Reading(layer=1)))
    assert len(result.layer_pairs) == len(result.layer_means) == encoder.num_layers + 1
    assert result.layer_pairs[1] == result.pairs
    assert result.layer_means[1] == result.mean_cosine
    assert result.layer_pairs[2] == compared(encoder.with_reading(Reading(layer=2))).pairs


@pytest.mark.parametrize("readout", BiLMConfig.readouts)
def test_layer_zero_is_a_static_embedding_and_the_others_are_not(encoder, readout):
    result = compared(encoder.with_reading(Reading(readout=readout, layer=0)))
    np.testing.assert_allclose(result.cosines_NN, 1, atol=1e-12)
    assert result.pairs.auc == result.layer_pairs[0].auc == 0.5
    assert result.layer_means[0] == pytest.approx(1, abs=1e-12)
    assert max(result.layer_means[1:]) < 0.999


@pytest.mark.parametrize("readout", ["here", "context"])
def test_training_moves_the_senses_apart(encoder, readout):
    torch.manual_seed(0)
    untrained = dataclasses.replace(encoder.checkpoint, model=BiLM(encoder.config.model).eval())
    before, after = (
        compared(Encoder(checkpoint, Reading(readout=readout), encoder.device)).pairs
        for checkpoint in (untrained, encoder.checkpoint)
    )
    assert before.gap < 0.01
    assert after.gap > 0.04
    assert after.same_mean > 0.99
    assert after.auc == 1


def test_without_labels_there_is_a_mean_but_no_gap(encoder):
    uses = uses_of(encoder, [Sentence(text) for text in (*MONEY, *RIVER)])
    result = compare(encoder, uses, "bank", None, None)
    assert result.mean_cosine == compared(encoder).mean_cosine
    assert np.isnan([result.pairs.gap, result.pairs.auc, result.pairs.same_mean, result.pairs.cross_mean]).all()


def test_a_single_use_has_no_pair(encoder):
    result = compare(encoder, uses_of(encoder)[:1], "bank", None, None)
    np.testing.assert_allclose(result.cosines_NN, [[1]])
    assert np.isnan([result.mean_cosine, *result.layer_means]).all()


def test_the_bag_of_context_stands_beside_the_model(calibrated):
    bag = context_bag(calibrated, load_statistics(calibrated))
    embedding_VE = calibrated.model.forward_lm.embedding.weight.detach().numpy()
    np.testing.assert_allclose(bag.vectors_VE - bag.vectors_VE[4], embedding_VE - embedding_VE[4], atol=1e-6)
    uses = uses_of(calibrated)
    result = compare(calibrated, uses, "bank", None, bag)
    vectors = np.stack([bag.vector(use.encoding.ids, use.position) for use in uses])
    np.testing.assert_allclose(result.bag_cosines_NN, cosine_matrix(vectors))
    assert result.bag_pairs.auc == 1
    assert compared(calibrated).bag_cosines_NN is None
    assert compared(calibrated).bag_pairs is None
    assert context_bag(calibrated, None) is None


def test_the_table_of_pairs_has_a_row_for_each(encoder):
    result = compared(encoder)
    table = pairs_table(result)
    assert table.columns.tolist() == ["sentence_1", "sentence_2", "sense_1", "sense_2", "cosine"]
    for row, (i, j) in zip(table.itertuples(index=False), itertools.combinations(range(4), 2), strict=True):
        assert tuple(row[:4]) == (SENTENCES[i].text, SENTENCES[j].text, SENTENCES[i].sense, SENTENCES[j].sense)
        assert row.cosine == result.cosines_NN[i, j]


# centring


def test_centring_subtracts_before_the_angle_is_taken(encoder):
    mean_LD = np.random.default_rng(0).normal(size=(3, encoder.config.model.width)).astype(np.float32)
    for reading in (Reading(), Reading(layer="mean"), Reading(layer=1, readout="context")):
        reader = encoder.with_reading(reading)
        centred = vectors_of(reader) - mean_LD[:, None]
        result = compared(reader, mean_LD)
        np.testing.assert_allclose(result.cosines_NN, cosine_matrix(reading.combine(centred)), atol=1e-6)
        assert result.layer_means[2] == pytest.approx(
            cosine_matrix(centred[2])[np.triu_indices(4, k=1)].mean(), abs=1e-6
        )


def test_two_uses_centred_on_their_own_mean_are_opposite(encoder):
    uses = uses_of(encoder)[1:3]
    mean_LD = vectors_of(encoder)[:, 1:3].mean(axis=1)
    result = compare(encoder, uses, "bank", mean_LD, None)
    assert result.mean_cosine == pytest.approx(-1, abs=1e-5)
    assert np.isnan(result.layer_means[0])  # the same embedding twice: nothing is left of it
    assert np.isnan(result.layer_pairs[0].cross_mean)


@pytest.mark.parametrize("readout", BiLMConfig.readouts)
def test_centring_takes_what_the_checkpoint_keeps(calibrated, readout):
    reader, statistics = calibrated.with_reading(Reading(readout=readout)), load_statistics(calibrated)
    assert centring_mean("off", reader, statistics, "bank") is None
    assert centring_mean("all words", reader, statistics, "bank") is statistics.means[readout]
    expected = statistics.word_mean(readout, calibrated.tokenizer.word_id("bank"))
    for word in ("bank", "Bank"):
        np.testing.assert_array_equal(centring_mean("per word", reader, statistics, word), expected)


def test_the_mean_of_another_word_is_measured_on_a_sample(calibrated, tiny_run, tiny_corpus):
    statistics = load_statistics(calibrated)
    assert statistics.word_mean("here", calibrated.tokenizer.word_id("boat")) is None
    sentences = [line for line in (tiny_run.parent / "text.txt").read_text().splitlines() if " boat " in line]
    expected = np.mean([e.layers[:, e.positions("boat")[0]] for e in calibrated.encode(sentences)], axis=0)
    asked: list[Encoder] = []

    def sample(encoder: Encoder) -> TokenizedCorpus:
        asked.append(encoder)
        return tiny_corpus

    for known in (statistics, None):
        np.testing.assert_allclose(
            centring_mean("per word", calibrated, known, "boat", sample=sample), expected, atol=1e-5
        )
    assert asked == [calibrated, calibrated]


@pytest.mark.parametrize(("word", "num_uses"), [("boat", 1), ("river", 0)])
def test_too_few_uses_make_no_mean(encoder, write_corpus, tmp_path, word, num_uses):
    corpus = tokenize(
        [write_corpus(["the boat drifted to the bank ."])], encoder.tokenizer, encoder.config.text, tmp_path
    )
    with pytest.raises(TargetError, match=f"the sample text has {num_uses} uses of “{word}”, too few"):
        centring_mean("per word", encoder, None, word, sample=lambda _: corpus)


def test_the_sample_is_a_text_on_every_machine(encoder, write_corpus, tmp_path, monkeypatch):
    corpus = write_corpus(["the boat drifted to the bank .", "a boat saw the city ."])
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path))
    monkeypatch.setattr("ctxemb.calibration.open_corpus", {"wiki-sample": corpus}.__getitem__)
    uses = [e.layers[:, 1] for e in encoder.encode(list(corpus.passages()))]
    np.testing.assert_allclose(centring_mean("per word", encoder, None, "boat"), np.mean(uses, axis=0), atol=1e-5)


def test_centring_that_needs_statistics_says_so_without_them(encoder):
    with pytest.raises(TargetError, match="never calibrated, so it has no mean of all words; use centring off"):
        centring_mean("all words", encoder, None, "bank")
    for centring in ("all words", "per word"):
        with pytest.raises(TargetError, match=r"use (another centring|centring off)"):
            random_baselines(encoder, centring, None)


# random words


@pytest.mark.parametrize("centring", CENTRINGS)
def test_the_baseline_is_measured_at_every_layer(calibrated, centring):
    reader, statistics = calibrated.with_reading(Reading(layer=1)), load_statistics(calibrated)
    chosen, by_layer = random_baselines(reader, centring, statistics)
    assert len(by_layer) == 3
    assert chosen == by_layer[1] == random_baseline(reader, centring, statistics)
    assert all(np.isfinite(pairs.mean) for pairs in by_layer[1:])
    # centred per word, nothing is left of layer 0
    assert np.isnan(by_layer[0].mean) == (centring == "per word")
    assert (by_layer[0].num_pairs == 0) == (centring == "per word")


def test_centring_on_all_words_takes_away_what_random_words_share(calibrated):
    statistics = load_statistics(calibrated)
    raw, centred = (random_baseline(calibrated, centring, statistics).mean for centring in ("off", "all words"))
    assert abs(centred) < abs(raw)


def test_a_checkpoint_that_knows_no_example_word_has_no_baseline(encoder):
    tokenizer = WordTokenizer.train(["xa xb xc xd"] * 3, encoder.config.text)
    foreign = dataclasses.replace(encoder.checkpoint, tokenizer=tokenizer)
    chosen, by_layer = random_baselines(Encoder(foreign, encoder.reading, encoder.device), "off", None)
    assert [pairs.num_pairs for pairs in (chosen, *by_layer)] == [0] * 4
    assert np.isnan([pairs.mean for pairs in (chosen, *by_layer)]).all()


# why


@pytest.mark.parametrize("readout", BiLMConfig.readouts)
def test_influence_is_how_far_the_word_moves_when_another_is_left_out(calibrated, readout):
    reader = calibrated.with_reading(Reading(readout=readout, layer="mean"))
    statistics = load_statistics(calibrated)
    tokens = RIVER[0].split()
    (use,) = uses_of(reader, [Sentence(RIVER[0])])
    for mean_LD in (None, statistics.word_means[readout][0]):
        moved = influence(reader, use, mean_LD)
        assert moved.shape == (len(tokens),)
        assert np.isnan(moved[use.position])
        subtracted = 0 if mean_LD is None else mean_LD.mean(axis=0)
        for left_out in range(len(tokens)):
            if left_out != use.position:
                (shorter,) = reader.encode([tokens[:left_out] + tokens[left_out + 1 :]])
                before, after = use.encoding.vectors[use.position], shorter.vectors[shorter.positions("bank")[0]]
                cosine = cosine_matrix(np.stack([before, after]) - subtracted)[0, 1]
                assert moved[left_out] == pytest.approx(1 - cosine, abs=1e-5)


class SumOfOthers:
    """An encoder whose vector of a word is the sum of the others' embeddings."""

    reading = Reading()

    def __init__(self, embeddings_VE: np.ndarray) -> None:
        self.embeddings_VE = embeddings_VE

    def layers_of_ids(
        self, sentences: Sequence[np.ndarray], readout: str, words: Sequence[Sequence[str]] | None = None
    ) -> list[np.ndarray]:
        embedded = [self.embeddings_VE[ids] for ids in sentences]
        return [(vectors.sum(axis=0) - vectors)[None] for vectors in embedded]


def test_the_word_that_matters_moves_the_vector_most(encoder):
    (use,) = uses_of(encoder, [Sentence("we sat on the bank of the river .")])
    embeddings_VE = np.full((len(encoder.tokenizer), 2), [0.1, 0.0])
    embeddings_VE[encoder.tokenizer.word_id("river")] = [0.0, 1.0]
    stub = SumOfOthers(embeddings_VE)
    (layers,) = stub.layers_of_ids([use.encoding.ids], "here")
    use = dataclasses.replace(use, encoding=dataclasses.replace(use.encoding, layers=layers))
    moved = influence(stub, use, None)
    river = use.encoding.tokens.index("river")
    # [.7, 1] becomes [.7, 0], or [.6, 1]
    assert moved[river] == pytest.approx(1 - 0.7 / np.hypot(0.7, 1))
    others = np.delete(moved, [river, use.position])
    assert others == pytest.approx([1 - (0.42 + 1) / np.hypot(0.7, 1) / np.hypot(0.6, 1)] * 7)


def test_a_word_alone_has_nothing_to_leave_out(encoder):
    (use,) = uses_of(encoder, [Sentence("bank")])
    assert np.isnan(influence(encoder, use, None)).tolist() == [True]


def test_a_vector_of_which_nothing_is_left_has_no_influences(encoder):
    (use,) = uses_of(encoder, SENTENCES[:1])
    assert np.isnan(influence(encoder, use, use.encoding.layers[:, use.position])).all()
    reader = encoder.with_reading(Reading(layer=0))
    np.testing.assert_allclose(np.delete(influence(reader, use, None), use.position), 0, atol=1e-12)


def test_a_chinese_word_is_cut_out_of_a_longer_one(tmp_path):
    text = TextConfig(language="zh", min_frequency=1)
    tokenizer = WordTokenizer.from_words(["审判", "程序", "审判程序", "他", "写", "电脑"], text)
    config = StaticConfig(vocabulary_size=len(tokenizer), vector_size=4)
    save_checkpoint(tmp_path / "static", Static(config), tokenizer, text)
    encoder = Encoder.load(tmp_path / "static", device="cpu")
    uses, problems = find_uses(encoder, [Sentence("他写审判程序。"), Sentence("他写电脑程序。")], "程序")
    assert problems == []
    for use in uses:
        assert use.encoding.tokens[use.position] == "程序"
        assert [use.encoding.text[start:end] for start, end in use.encoding.spans] == use.encoding.tokens
