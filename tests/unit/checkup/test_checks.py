"""Each check on a model that it is there to catch, beside the same model without the fault; numbers by hand."""

import dataclasses
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from ctxemb import Encoder
from ctxemb.batching import Batch, make_batch
from ctxemb.calibration import CorpusUse
from ctxemb.checkpoint import METRICS, save_checkpoint
from ctxemb.checkup import Cosines, Losses
from ctxemb.checkup.leak import check_leak
from ctxemb.checkup.learning import check_perplexity, check_trained, info_nce_of_pairs, sentence_losses
from ctxemb.checkup.opening import check_statistics
from ctxemb.checkup.passages import NUM_PAIRS, find_pairs
from ctxemb.checkup.practice import check_coverage, check_speed
from ctxemb.checkup.reading import check_batches, check_boundaries, check_determinism, check_layer_zero
from ctxemb.checkup.space import check_collapse, check_senses, check_spectrum
from ctxemb.checkup.subject import Subject, largest_difference
from ctxemb.checkup.weights import check_rows, check_values
from ctxemb.comparison import example_uses
from ctxemb.corpora import NAMED
from ctxemb.encoder import Encoding
from ctxemb.examples import example_words, load_examples
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.models.static import Static
from ctxemb.text import BOS, EOS, TextConfig, WordTokenizer
from tests.unit.checkup.conftest import SHIPPED


def with_model(encoder: Encoder, kind: type[BiLM]) -> Subject:
    """The encoder's weights in another module."""
    model = kind(encoder.config.model)  # type: ignore[arg-type]
    model.load_state_dict(encoder.model.state_dict())
    checkpoint = dataclasses.replace(encoder.checkpoint, model=model.eval())
    return Subject(encoder.checkpoint.path, dataclasses.replace(encoder, checkpoint=checkpoint))


def with_metrics(encoder: Encoder, metrics: Any) -> Subject:
    checkpoint = dataclasses.replace(encoder.checkpoint, metrics=metrics)
    return Subject(encoder.checkpoint.path, dataclasses.replace(encoder, checkpoint=checkpoint))


class Peeking(BiLM):
    """Its backward predictions know the word."""

    def predictions(self, batch: Batch) -> Tensor:
        log_p = super().predictions(batch)
        hint = 2.0 * F.one_hot(batch.ids_BT, log_p.shape[-1])
        return torch.stack([log_p[0], (log_p[1] + hint).log_softmax(dim=-1)])


class PeekingContext(BiLM):
    """Its `context` is the state that has read the word."""

    def layers(self, batch: Batch, readout: Any = "here") -> Tensor:
        return super().layers(batch, "here")


class Noisy(BiLM):
    """Dropout was left on."""

    def layers(self, batch: Batch, readout: Any = "here") -> Tensor:
        return F.dropout(super().layers(batch, readout), 0.3, training=True)


class ReadsPadding(BiLM):
    """Reverses the whole row, so that the padding comes first."""

    def layers(self, batch: Batch, readout: Any = "here") -> Tensor:
        lengths_B = torch.full_like(batch.lengths_B, batch.ids_BT.shape[1])
        return super().layers(Batch(batch.ids_BT, lengths_B, batch.words), readout)


class Positional(BiLM):
    """Its layer 0 depends on the place."""

    def layers(self, batch: Batch, readout: Any = "here") -> Tensor:
        layers_LBTD = super().layers(batch, readout)
        layers_LBTD[0, ..., 0] += torch.arange(layers_LBTD.shape[2]) / 10
        return layers_LBTD


class Deaf(BiLM):
    """Its upper layers pass the embedding on."""

    def layers(self, batch: Batch, readout: Any = "here") -> Tensor:
        layers_LBTD = super().layers(batch, readout)
        return layers_LBTD[:1].expand_as(layers_LBTD).clone()


FAKES = [
    (Peeking, check_leak, r"the backward prediction changes by 2 .* it sees the word"),
    (PeekingContext, check_leak, r"the `context` vector changes by 0\.\d+ .* it sees the word"),
    (Noisy, check_determinism, "read twice have different vectors"),
    (ReadsPadding, check_batches, "have other vectors together than alone"),
    (Positional, check_layer_zero, r"At layer 0 two uses of a word have cosines down to -?0\.\d+"),
    (Deaf, check_layer_zero, "At layer 1, 2 a word has the same vector in every sentence"),
]


@pytest.mark.parametrize(("kind", "check", "found"), FAKES, ids=[f"{fake[0].__name__}" for fake in FAKES])
def test_a_model_with_the_fault_fails_and_one_without_passes(kind, check, found, untrained) -> None:
    torch.manual_seed(0)
    sound, faulty = (check(with_model(untrained, each)) for each in (BiLM, kind))
    assert (sound.verdict, sound.advice) == ("pass", "")
    assert faulty.verdict == "fail"
    assert faulty.advice
    assert re.search(found, faulty.found), faulty.found


def test_a_boundary_token_among_the_vectors_is_found(untrained: Encoder) -> None:
    class Loose(Encoder):
        def encode(self, sentences: Any, batch_tokens: int = 2_048) -> list[Encoding]:
            found = super().encode(sentences, batch_tokens)
            one = found[-1]
            longer = np.concatenate([one.layers, one.layers[:, :1]], axis=1)
            return [*found[:-1], dataclasses.replace(one, layers=longer)]

    assert check_boundaries(Subject(Path(), untrained)).verdict == "pass"
    loose = Loose(untrained.checkpoint, untrained.reading, untrained.device)
    finding = check_boundaries(Subject(Path(), loose))
    assert finding.verdict == "fail"
    assert finding.number == 1


def test_what_a_new_model_has_as_zero_is_no_fault(untrained: Encoder) -> None:
    zeros = [name for name, p in untrained.model.named_parameters() if not p.any()]
    assert any("cluster_weight" in name for name in zeros)
    assert check_values(Subject(Path(), untrained)).verdict == "pass"


def test_an_lstm_without_biases_is_no_fault_and_one_without_weights_is(untrained: Encoder) -> None:
    def without(part: str) -> str:
        subject = with_model(untrained, BiLM)
        with torch.no_grad():
            for name, parameter in subject.encoder.model.named_parameters():
                if ".layers." in name and part in name:
                    parameter.zero_()
        return check_values(subject).verdict

    assert without("bias_") == "pass"
    assert without("weight_hh") == "fail"


def test_rows_are_counted_by_hand(untrained: Encoder) -> None:
    vectors_VD = np.random.default_rng(0).normal(size=(1_004, 3)).astype(np.float32)
    vectors_VD[:4] = 0  # special ids are no words

    def finding_of(change: Any) -> Any:
        changed_VD = vectors_VD.copy()
        change(changed_VD)
        checkpoint = dataclasses.replace(untrained.checkpoint, model=Static.from_vectors(changed_VD))
        return check_rows(Subject(Path(), dataclasses.replace(untrained, checkpoint=checkpoint)))

    assert finding_of(lambda v: None).verdict == "pass"
    two_equal = finding_of(lambda v: v.__setitem__(10, v[20]))  # 2 of 1,000 words
    assert (two_equal.verdict, two_equal.shown) == ("warn", "0.2% equal, 0.0% constant")
    many_equal = finding_of(lambda v: v.__setitem__(slice(10, 20), v[30]))  # 11 of 1,000
    assert (many_equal.verdict, many_equal.shown) == ("fail", "1.1% equal, 0.0% constant")
    one_constant = finding_of(lambda v: v.__setitem__(10, 0.5))
    assert (one_constant.verdict, one_constant.shown) == ("warn", "0.0% equal, 0.1% constant")
    many_constant = finding_of(lambda v: v.__setitem__(slice(10, 30), 0))  # equal ones too, but that is not the point
    assert (many_constant.verdict, many_constant.shown) == ("fail", "0.0% equal, 2.0% constant")


def test_the_largest_difference_is_in_units_of_the_largest_number() -> None:
    small = [np.array([0.1, 0.2])], [np.array([0.1, 0.3])]
    assert largest_difference(*small) == pytest.approx(0.1)
    large = [np.zeros(0), np.array([50.0])], [np.zeros(0), np.array([49.0])]
    assert largest_difference(*large) == pytest.approx(1 / 50)
    assert np.isnan(largest_difference([np.array([np.nan])], [np.array([1.0])]))
    assert largest_difference([], []) == 0


# learning


def test_losses_of_sentences_are_those_of_each_read_alone(untrained: Encoder) -> None:
    sentences = ["The bank approved the loan.", "", "We sat on the bank of the river and watched the water.", "Bank"]
    nats_S2, sizes_S = sentence_losses(untrained, untrained.model, sentences)  # type: ignore[arg-type]
    ids = [untrained.tokenizer.encode(sentence).ids for sentence in sentences if sentence]
    assert sizes_S.tolist() == [len(sentence) + 1 for sentence in ids]
    with torch.inference_mode():
        alone = [[nats.sum().item() for nats in untrained.model(make_batch([sentence]))] for sentence in ids]  # type: ignore[operator]
    np.testing.assert_allclose(nats_S2, alone, rtol=1e-5)


def test_an_untrained_model_has_the_loss_of_a_guess(untrained: Encoder) -> None:
    finding = check_trained(Subject(Path(), untrained))
    assert finding.verdict == "fail"
    assert finding.number == pytest.approx(math.log(len(untrained.tokenizer)), abs=0.05)
    assert isinstance(finding.picture, Losses)
    assert list(finding.picture.own) == ["forward", "backward"]


def test_special_tokens_that_an_import_made_up_do_not_count_as_badly_predicted(untrained: Encoder) -> None:
    subject = with_model(untrained, BiLM)
    model, ids = subject.encoder.model, list(untrained.tokenizer.encode_ids(subject.sentences))
    assert isinstance(model, BiLM)
    with torch.no_grad():
        for lm in (model.forward_lm, model.backward_lm):
            lm.softmax.bias[[BOS, EOS]] = -100.0
    record = {"import": {"special": {"<pad>": "[PAD]", "<bos>": None, "<eos>": None, "<unk>": "[UNK]"}}}
    with_record = check_trained(with_metrics(subject.encoder, record))
    with torch.inference_mode():
        log_p = [model.predictions(make_batch([sentence]))[:, 0] for sentence in ids]
    words = [log_p_2TV[:, range(len(s)), s] for log_p_2TV, s in zip(log_p, ids, strict=True)]
    losses_2 = -torch.cat(words, dim=1).mean(dim=1)
    assert isinstance(with_record.picture, Losses)
    assert list(with_record.picture.own.values()) == pytest.approx(losses_2.tolist(), abs=1e-4)
    without_record = check_trained(subject).number
    assert without_record is not None
    assert without_record > max(losses_2) + 3  # the boundaries count then


def test_info_nce_by_hand(untrained: Encoder) -> None:
    """Two pairs, read at layer 0: the cosines are those of the words."""
    encoder = untrained.with_reading(Reading(layer=0))
    bank, river, loan = (untrained.tokenizer.word_id(word) for word in ("bank", "river", "loan"))
    pairs = [tuple(CorpusUse(np.array([word_id]), 0) for word_id in pair) for pair in ((bank, bank), (river, loan))]
    vectors = {i: np.asarray(untrained.model.word_vectors()[i], dtype=np.float64) for i in (bank, river, loan)}

    def score(a: int, b: int) -> float:
        return math.exp(vectors[a] @ vectors[b] / np.linalg.norm(vectors[a]) / np.linalg.norm(vectors[b]) / 0.1)

    first = -math.log(score(bank, bank) / (score(bank, bank) + score(bank, loan)))
    second = -math.log(score(river, loan) / (score(river, bank) + score(river, loan)))
    assert info_nce_of_pairs(encoder, pairs) == pytest.approx((first + second) / 2, rel=1e-4)  # type: ignore[arg-type]


def test_pairs_are_two_sentences_of_one_passage_with_the_same_word(untrained: Encoder) -> None:
    found = find_pairs(Subject(Path(), untrained))
    assert len(found.pairs) == NUM_PAIRS
    assert "wiki-sample" in found.source
    for first, second in found.pairs:
        assert first.ids[first.position] == second.ids[second.position] >= 300
        assert first.ids.tolist() != second.ids.tolist()


def test_without_a_text_of_passages_the_senses_of_our_examples_serve(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxemb.calibration.SAMPLES", {"en": (), "zh": ()})
    subject = Subject(SHIPPED / "zh-contrastive")
    found = find_pairs(subject)
    assert "one sense" in found.source
    senses = load_examples("zh").groupby(["word", "sense"]).ngroups
    assert 30 <= len(found.pairs) <= senses
    assert check_trained(subject).verdict == "pass"


@pytest.mark.parametrize(
    "metrics",
    [
        [],
        {"evaluation": []},
        {"evaluation": {"wikitext-2:valid": 7}},
        {"evaluation": {"examples": {"perplexity_forward": 9.0}}},
        {"evaluation": {"examples": {"perplexity_forward": "9", "perplexity_backward": None}}},
        {"evaluation": {"examples": {"perplexity_forward": float("nan"), "perplexity_backward": 0.0}}},
    ],
)
def test_metrics_that_record_no_perplexity_are_said_so(untrained: Encoder, metrics: Any) -> None:
    finding = check_perplexity(with_metrics(untrained, metrics))
    assert finding.verdict == "not applicable"
    assert "records no perplexity" in finding.found


def test_a_text_that_is_not_here_is_not_fetched(untrained: Encoder) -> None:
    record = {"perplexity_forward": 97.8, "perplexity_backward": 95.0}
    finding = check_perplexity(with_metrics(untrained, {"evaluation": {"wikitext-2:valid": record}}))
    assert finding.verdict == "not applicable"
    assert "wikitext-2:valid, which is not on this machine" in finding.found


def test_on_a_sample_a_perplexity_may_differ_by_its_error_only(
    untrained: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    nats_S2, sizes_S = sentence_losses(untrained, untrained.model, load_examples("en").sentence.tolist())  # type: ignore[arg-type]
    forward, backward = np.exp(nats_S2.sum(axis=0) / sizes_S.sum()).tolist()

    def verdict(factor: float) -> str:
        record = {"perplexity_forward": forward, "perplexity_backward": backward * factor}
        return check_perplexity(with_metrics(untrained, {"evaluation": {"examples": record}})).verdict

    assert [verdict(factor) for factor in (1.0, 1.01, 1.03, 0.97)] == ["pass", "pass", "fail", "fail"]
    monkeypatch.setattr("ctxemb.checkup.learning.NUM_RECORDED_SENTENCES", 50)
    assert [verdict(factor) for factor in (1.0, 1.5, 0.6)] == ["pass", "fail", "fail"]


def test_the_recorded_perplexity_of_the_shipped_bilm_is_found_again() -> None:
    finding = check_perplexity(Subject(SHIPPED / "en-bilm"))
    assert finding.verdict == "pass"
    assert finding.limit.startswith("160.1 / 155.6 recorded")
    assert finding.found.startswith("On all 506 sentences of examples")


def test_a_perplexity_that_is_recorded_on_a_named_text_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    if NAMED["wikitext-2:valid"].found is None:
        pytest.skip("WikiText-2 is not in $CTXEMB_DATA")
    shutil.copytree(SHIPPED / "en-bilm", tmp_path / "copy")
    metrics = json.loads((tmp_path / "copy" / METRICS).read_text())
    del metrics["evaluation"]["examples"]
    (tmp_path / "copy" / METRICS).write_text(json.dumps(metrics))
    finding = check_perplexity(Subject(tmp_path / "copy"))
    assert finding.verdict == "pass"
    assert finding.limit.startswith("97.8 / 95.0 recorded")


# the space


def with_vectors(encoder: Encoder, change: Any) -> Subject:
    """A subject whose sample has other vectors."""
    subject = Subject(Path(), encoder)
    sample = [dataclasses.replace(e, vectors=change(e.vectors)) for e in subject.sample]
    changed = Subject(Path(), encoder)
    changed.__dict__["sample"] = sample
    return changed


def test_collapse_is_the_mean_cosine_of_different_words(untrained: Encoder) -> None:
    rng = np.random.default_rng(0)
    width = untrained.config.model.width

    def around(shift: float) -> Any:
        return lambda vectors_TD: rng.normal(size=(len(vectors_TD), width)) + shift

    # the cosine of two vectors of unit variance with a common mean m in each number is about m^2 / (1 + m^2)
    for shift, verdict in ((0.0, "pass"), (3.0, "warn"), (10.0, "fail")):
        finding = check_collapse(with_vectors(untrained, around(shift)))
        assert finding.number == pytest.approx(shift**2 / (1 + shift**2), abs=0.03)
        assert finding.verdict == verdict
        assert isinstance(finding.picture, Cosines)
        assert sum(finding.picture.shares["random words"]) == pytest.approx(1)


def test_a_space_of_few_directions_is_found(untrained: Encoder) -> None:
    rng = np.random.default_rng(0)
    width = untrained.config.model.width
    lengths_D = np.full(width, 0.01)
    lengths_D[: width // 5] = 1

    def flat(vectors_TD: np.ndarray) -> np.ndarray:
        return rng.normal(size=(len(vectors_TD), width)) * lengths_D

    def ball(vectors_TD: np.ndarray) -> np.ndarray:
        return rng.normal(size=(len(vectors_TD), width))

    assert check_spectrum(with_vectors(untrained, flat)).verdict == "fail"
    finding = check_spectrum(with_vectors(untrained, ball))
    assert finding.verdict == "pass"
    assert finding.number == pytest.approx(6 / 32, abs=0.05)


def test_senses_are_told_apart_as_the_labels_are(untrained: Encoder) -> None:
    rng = np.random.default_rng(0)
    uses = example_uses(untrained, example_words("en"))
    width = untrained.config.model.width

    def subject_with(strength: float) -> Subject:
        subject = Subject(Path(), untrained)
        changed: dict[str, list] = {}
        for word, found in uses.items():
            directions = {sense: rng.normal(size=width) for sense in {use.sentence.sense for use in found}}
            for use in found:
                vectors_TD = rng.normal(size=use.encoding.vectors.shape)
                vectors_TD[use.position] += strength * directions[use.sentence.sense]
                encoding = dataclasses.replace(use.encoding, vectors=vectors_TD)
                changed.setdefault(word, []).append(dataclasses.replace(use, encoding=encoding))
        subject.__dict__["uses"] = changed
        return subject

    told, not_told = check_senses(subject_with(3.0)), check_senses(subject_with(0.0))
    assert (told.verdict, not_told.verdict) == ("pass", "warn")
    assert told.number is not None
    assert told.number > 0.99
    assert not_told.number == pytest.approx(0.5, abs=0.03)
    assert isinstance(told.picture, Cosines)
    assert list(told.picture.shares) == ["random words", "same sense", "cross senses"]


# what does not apply


def test_a_vocabulary_of_a_dozen_words_has_no_space_to_measure(tmp_path: Path) -> None:
    text, words = TextConfig(), ["the", "of", "bank", "river", "a", "was", "in", "loan", "water", "to", "money", "tree"]
    model = BiLM(BiLMConfig(vocabulary_size=16, embedding_size=4, hidden_size=4, cutoffs=())).eval()
    save_checkpoint(tmp_path / "small", model, WordTokenizer.from_words(words, text), text)
    subject = Subject(tmp_path / "small")
    coverage = check_coverage(subject)
    assert coverage.verdict == "fail"
    tokens = [token.casefold() for e in subject.sample for token in e.tokens]
    assert coverage.number == pytest.approx(sum(token not in words for token in tokens) / len(tokens))
    for check in (check_collapse, check_spectrum):
        finding = check(subject)
        assert finding.verdict == "not applicable"
        assert "words of our example sentences; the shape of a space takes 20" in finding.found


def test_an_encoder_without_statistics_is_told_what_it_lacks(untrained: Encoder) -> None:
    finding = check_statistics(Subject(untrained.checkpoint.path, untrained))
    assert finding.verdict == "not applicable"
    assert "statistics.safetensors" in finding.found


def test_speed_is_what_was_read_in_a_second(untrained: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    subject = Subject(Path(), untrained)
    num_tokens = sum(len(e.tokens) for e in subject.sample)
    for seconds, verdict in ((0.5, "pass"), (1_000.0, "warn")):
        clock = iter([10.0, 10.0 + seconds])
        monkeypatch.setattr("ctxemb.checkup.practice.time.perf_counter", lambda clock=clock: next(clock))
        finding = check_speed(subject)
        assert finding.number == pytest.approx(num_tokens / seconds)
        assert finding.verdict == verdict
