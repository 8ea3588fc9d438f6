"""The contrastive family learns senses it was never told: words of two topics, in passages of one topic each."""

import dataclasses
import itertools
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from pydantic import ValidationError
from torch import Tensor
from torch.nn import functional as F

from ctxemb.analysis.context_bag import ContextBag
from ctxemb.batching import make_batch
from ctxemb.cli import main
from ctxemb.corpora import CorpusError
from ctxemb.distributed import World
from ctxemb.lexicon import Entry, IdLexicon, clean, held_out_groups
from ctxemb.losses import cosines
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.pairs import PairBatch
from ctxemb.progress import (
    ContrastiveStepRecord,
    ContrastiveValidationRecord,
    Step,
    Validation,
    read_progress,
)
from ctxemb.text import NUM_SPECIAL, TextConfig
from ctxemb.training import ContrastiveLearning, ContrastiveTrainingConfig, TrainingError, train
from ctxemb.training.teacher import PassageTeacher
from ctxemb.training.terms import cloze_term, pair_term, word_term
from ctxemb.training.words import NONE, RANKS_AROUND, WordChoice, WordSampler
from tests.conftest import Tokenized, curve, tokenize_lines

ALONE = World(0, 1, torch.device("cpu"))
SYLLABLES = [f"{a}{b}" for a, b in itertools.product("bdfgkl", "aeiou")]
TOPICS = [[f"{topic}{a}{b}" for a in SYLLABLES[:8] for b in SYLLABLES[:5]] for topic in ("ma", "ne", "pi", "ro")]
NOISE = [f"zu{a}" for a in SYLLABLES]
# words of two senses, a topic each
TARGETS = {"bank": (0, 1), "plant": (2, 3), "spring": (0, 2), "bass": (1, 3), "seal": (0, 3), "mole": (1, 2)}
SIZES = ContrastiveConfig(embedding_size=16, hidden_size=8, attention_heads=2)
SETTINGS = {
    "num_epochs": 1_000,
    "max_steps": 100,
    "learning_rate": 2e-2,
    "embedding_rate": 1.0,
    "warmup_steps": 5,
    "words_per_batch": 6,
    "passages_per_word": 8,
    "min_word_count": 2,
    "max_word_share": 1.0,
    "num_negatives": 8,
    "temperature": 0.3,
    "validation_share": 0.1,
    "validate_every": 50,
    "save_every": 1_000,
    "precision": "float32",
    "weight_type": "float32",
    "passage_weight": 1.0,
    "word_weight": 0.3,
    "cloze_weight": 0.2,
    "sentence_weight": 0.1,
    "uniformity_weight": 0.0,
    "teacher_share": 0.5,
}
SHORT = {"max_steps": 9, "validate_every": 4, "save_every": 3}


def sentence(rng: np.random.Generator, word: str, topic: int) -> str:
    """A word among two words of a topic and six that say nothing."""
    around = [*rng.choice(TOPICS[topic], 2, replace=False), *rng.choice(NOISE, 6, replace=False)]
    return " ".join(rng.permutation([word, *around])).capitalize() + "."


def passage(rng: np.random.Generator) -> str:
    word = list(TARGETS)[rng.integers(len(TARGETS))]
    topic = TARGETS[word][rng.integers(2)]
    return " ".join(sentence(rng, word, topic) for _ in range(rng.integers(3, 5)))


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Tokenized:
    rng = np.random.default_rng(0)
    return tokenize_lines(tmp_path_factory.mktemp("senses"), [passage(rng) for _ in range(300)], TextConfig())


@pytest.fixture
def learning(toy) -> Callable[..., ContrastiveLearning]:
    """`learning(initial_VE=None, lexicon=None, dropout=0.0, **settings)`: the objective on the toy text."""

    def learning(
        initial_VE: np.ndarray | None = None, lexicon: IdLexicon | None = None, dropout: float = 0.0, **settings: object
    ) -> ContrastiveLearning:
        model = SIZES.model_copy(update={"vocabulary_size": len(toy.tokenizer), "dropout": dropout})
        config = ContrastiveTrainingConfig.model_validate(SETTINGS | settings)
        return ContrastiveLearning(model, config, toy.corpus, toy.tokenizer, toy.text, None, initial_VE, lexicon)

    return learning


def vectors_for(toy: Tokenized, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(len(toy.tokenizer), 16)).astype(np.float32)


def lexicon_of(toy: Tokenized, synonyms: Sequence[tuple[str, str]], antonyms: Sequence[tuple[str, str]] = ()):
    entries = [*(Entry("synonym", pair) for pair in synonyms), *(Entry("antonym", pair) for pair in antonyms)]
    return clean(entries, toy.tokenizer.word_id, name="toy")[0]


def finish(objective: ContrastiveLearning, out: Path) -> list:
    return list(train(objective, out, ALONE))


# learning


def sense_accuracy(model: Contrastive, toy: Tokenized) -> float:
    """Share of uses in new sentences whose nearest other use of the word has the same sense."""
    rng, accuracies = np.random.default_rng(1), []
    for word, topics in TARGETS.items():
        senses_N = torch.arange(40) % 2
        ids = list(toy.tokenizer.encode_ids([sentence(rng, word, topics[sense]) for sense in senses_N.tolist()]))
        positions_N = torch.tensor([row.tolist().index(toy.tokenizer.word_id(word)) for row in ids])
        with torch.no_grad():
            vectors_ND = model.eval().layers(make_batch(ids))[-1][torch.arange(40), positions_N]
        nearest_N = cosines(vectors_ND, vectors_ND).fill_diagonal_(-2).argmax(dim=1)
        accuracies.append((senses_N[nearest_N] == senses_N).float().mean().item())
    return float(np.mean(accuracies))


def test_senses_are_told_apart_after_training_and_not_before(toy, learning, tmp_path):
    objective = learning()
    before = sense_accuracy(objective.model, toy)
    records = finish(objective, tmp_path / "run")
    after = sense_accuracy(objective.model, toy)
    assert before < 0.6
    assert after > 0.9
    steps = [record for record in records if isinstance(record, ContrastiveStepRecord)]
    assert [step.num_anchors for step in steps] == [96] * 100
    assert [step.chance_nats for step in steps] == pytest.approx([math.log(48)] * 100)
    assert steps[0].loss_nats == pytest.approx(steps[0].chance_nats, rel=0.05)
    assert steps[0].accuracy < 0.1
    assert np.mean([step.loss_nats for step in steps[-5:]]) < 0.75 * steps[0].chance_nats
    validations = [record for record in records if isinstance(record, ContrastiveValidationRecord)]
    assert validations[-1].loss_nats < 0.7 * validations[-1].chance_nats
    assert validations[-1].accuracy > 0.4
    assert validations[-1].positive_cosine > validations[-1].random_cosine + 0.5
    assert read_progress(tmp_path / "run" / "progress.jsonl") == records


def test_validation_asked_twice_says_the_same_and_leaves_the_mode(learning):
    objective = learning(dropout=0.5)
    at = Validation(1, 0, 100, False)
    objective.model.train()
    first, second = (objective.validate(at, ALONE) for _ in range(2))
    assert first == second
    assert objective.model.training
    objective.losses(0, ALONE.device)  # what training draws does not move it
    assert objective.validate(at, ALONE) == first


# resuming


@pytest.mark.parametrize("stop_after", [1, 6])
def test_a_resumed_run_has_the_curve_of_an_uninterrupted_one(toy, learning, tmp_path, stop_after):
    def start(out: str):
        lexicon = lexicon_of(toy, [("bank", "mole"), ("plant", "bass")], [("bank", "seal")])
        objective = learning(vectors_for(toy), lexicon, dropout=0.3, **SHORT)
        return objective, train(objective, tmp_path / out, ALONE)

    whole, records = start("whole")
    expected = curve(list(records))
    assert len({row["loss_nats"] for row in expected}) == len(expected)
    _, records = start("stopped")
    list(itertools.islice(records, stop_after))
    records.close()
    resumed, records = start("stopped")
    list(records)
    assert curve(read_progress(tmp_path / "stopped" / "progress.jsonl")) == expected
    weights = dict(whole.model.named_parameters())
    assert all(torch.equal(value, weights[name]) for name, value in resumed.model.named_parameters())


def test_a_run_is_resumed_only_with_the_same_vectors_and_lexicon(toy, learning, tmp_path):
    pairs, opposites = [("bank", "mole"), ("plant", "bass")], [("spring", "seal")]
    lexicon = lexicon_of(toy, pairs, opposites)
    finish(learning(vectors_for(toy), lexicon, **SHORT | {"max_steps": 1}), tmp_path)
    other_vectors, other_synonyms = vectors_for(toy, seed=1), lexicon_of(toy, [pairs[0], ("plant", "seal")], opposites)
    other_antonyms = lexicon_of(toy, pairs, [("spring", "mole")])
    for initial_VE, other, changed in (
        (other_vectors, lexicon, r"initial\.sha256"),
        (None, lexicon, r"initial\.sha256"),
        (vectors_for(toy), other_synonyms, r"lexicon\.sha256"),
        (vectors_for(toy), other_antonyms, r"lexicon\.sha256"),
        (vectors_for(toy), None, r"lexicon\.name, .*lexicon\.sha256"),
    ):
        with pytest.raises(TrainingError, match=rf"holds a run with other settings \({changed}\)"):
            train(learning(initial_VE, other, **SHORT | {"max_steps": 1}), tmp_path, ALONE)


# the lexicon


def word_cosine(objective: ContrastiveLearning, toy: Tokenized, pair: tuple[str, str]) -> float:
    """Of the two words on their own, as they join a context."""
    model = objective.model
    ids = torch.tensor([toy.tokenizer.word_id(word) for word in pair])
    return F.cosine_similarity(*model.project_target(model.word_vectors()[ids]).detach(), dim=0).item()


LEARNT = [("bank", "plant"), ("spring", "bass")]  # no two share a topic, so that only the lexicon brings them together
HELD_OUT = ("seal", "mole")
WORDS_FIRST = {"word_weight": 3.0, "passage_weight": 0.3}


def test_synonyms_come_together_and_held_out_ones_do_not(toy, learning, tmp_path):
    lexicon = lexicon_of(toy, [*LEARNT, HELD_OUT])
    held = next(
        split
        for seed in range(9)
        if set((split := held_out_groups(lexicon, 0.3, seed)).held_out.words.values()) == set(HELD_OUT)
    )
    cosine = {}
    for name, known in (("without", None), ("with", held.train)):
        objective = learning(lexicon=known, **WORDS_FIRST)
        finish(objective, tmp_path / name)
        cosine[name] = {pair: word_cosine(objective, toy, pair) for pair in (*LEARNT, HELD_OUT)}
    gains = {pair: cosine["with"][pair] - cosine["without"][pair] for pair in cosine["with"]}
    assert min(gains[pair] for pair in LEARNT) > 0.4
    assert min(cosine["with"][pair] for pair in LEARNT) > 0.9
    assert gains[HELD_OUT] < 0.1


def test_antonyms_go_apart(toy, learning, tmp_path):
    antonym, cosine = ("bank", "spring"), []
    for opposites in ([], [antonym]):
        objective = learning(lexicon=lexicon_of(toy, LEARNT, opposites), **WORDS_FIRST)
        finish(objective, tmp_path / f"antonyms-{len(opposites)}")
        cosine.append(word_cosine(objective, toy, antonym))
        assert min(word_cosine(objective, toy, pair) for pair in LEARNT) > 0.9
    assert cosine[1] < cosine[0] - 0.03


# what is masked: the terms against naive loops


@pytest.fixture(scope="module")
def model() -> Contrastive:
    torch.manual_seed(0)
    model = Contrastive(ContrastiveConfig(vocabulary_size=30, embedding_size=6, hidden_size=3, attention_heads=1))
    torch.nn.init.normal_(model.norm.weight, std=0.7)
    return model.double().requires_grad_(False)


@pytest.fixture(scope="module")
def lexicon() -> IdLexicon:
    """Of the ids 4 .. 29: 4 and 5, 8 and 9 are synonyms, 4 and 6 antonyms."""
    entries = [Entry("synonym", pair) for pair in (("w4", "w5"), ("w8", "w9"))] + [Entry("antonym", ("w4", "w6"))]
    return clean(entries, {f"w{i}": i for i in range(4, 30)}, name="ids")[0]


@pytest.fixture(scope="module")
def sampler(lexicon) -> WordSampler:
    return WordSampler(np.arange(30)[::-1], 5, lexicon)


def random_vectors(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def cosine(one: Tensor, other: Tensor) -> float:
    return (one @ other / one.norm() / other.norm()).item()


def naive_nce(scores: dict[int, float], shares: dict[int, float]) -> float:
    """Cross entropy of some shares and the softmax of some scores, over what is in `scores` only."""
    total = math.log(sum(math.exp(score) for score in scores.values()))
    return sum(share * (total - scores[key]) for key, share in shares.items() if share)


MASKED_RR = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]], dtype=bool)  # its diagonal is ignored
SPREAD_RR = np.array([[0.5, 0.2, 0.3, 0], [0, 1, 0, 0], [0.25, 0, 0.75, 0], [0, 0, 0, 1]], dtype=np.float32)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_pair_term_agrees_with_a_naive_loop(share):
    vectors_RPD = random_vectors(4, 2, 5)
    found = pair_term(vectors_RPD, MASKED_RR, 0.3, SPREAD_RR, share)
    for i in range(4):
        others = [j for j in range(4) if j == i or not MASKED_RR[i, j]]
        shares = {j: share * float(SPREAD_RR[i, j]) + (1 - share) * (i == j) for j in others}
        shares = {j: value / sum(shares.values()) for j, value in shares.items()}
        losses = []
        for side in (0, 1):
            scores = {j: cosine(vectors_RPD[i, side], vectors_RPD[j, 1 - side]) / 0.3 for j in others}
            losses.append(naive_nce(scores, shares))
        there = {j: cosine(vectors_RPD[i, 0], vectors_RPD[j, 1]) for j in others}
        assert found.loss_R[i].item() == pytest.approx(sum(losses) / 2, abs=1e-6)
        assert found.positive_R[i].item() == pytest.approx(there[i])
        assert found.negative_R[i].item() == pytest.approx(np.mean([there[j] for j in others if j != i]))
        assert bool(found.is_first_R[i]) is (max(there, key=there.__getitem__) == i)
        assert found.masked_RR[i].tolist() == [j not in others for j in range(4)]


def test_a_masked_pair_does_not_matter_to_the_other(model):
    vectors_RPD = random_vectors(4, 2, 5).requires_grad_()
    found = pair_term(vectors_RPD, MASKED_RR, 0.3, SPREAD_RR, 0.4)
    (gradient_RPD,) = torch.autograd.grad(found.loss_R[0], vectors_RPD)
    assert not gradient_RPD[1].any()
    assert gradient_RPD[2].any()
    moved_RPD = vectors_RPD.detach().clone()
    moved_RPD[1] = moved_RPD[0]  # as near as can be
    moved = pair_term(moved_RPD, MASKED_RR, 0.3, SPREAD_RR, 0.4)
    for name in ("loss_R", "negative_R", "is_first_R"):
        assert torch.equal(getattr(moved, name)[0], getattr(found, name)[0])
    assert moved.loss_R[2] != found.loss_R[2]


WORDS_R = np.array([4, 7, 8, 10])
CHOICE = WordChoice(
    partners_R=np.array([5, 7, 9, 10]),
    antonyms_R=np.array([6, NONE, NONE, NONE]),
    negatives_M=np.array([5, 7, 9, 12, 20]),
)
SOURCE_R = np.array([0, 3, 2, NONE])
# a synonym, and the partner at the same time; the word itself; a synonym
MASKED = {0: {5}, 1: {7}, 2: {9}}


def measured(model, sampler, vectors: dict[str, Tensor]) -> tuple[Tensor, int]:
    drawn = (vectors["partners"], vectors["antonyms"], vectors["negatives"])
    rest = (WORDS_R, CHOICE, SOURCE_R, sampler, 0.3)
    return word_term(model, vectors["anchors"], vectors["contexts"], drawn, *rest)


@pytest.fixture
def vectors() -> dict[str, Tensor]:
    names = ("anchors", "contexts", "partners", "antonyms", "negatives")
    return {name: random_vectors(4 + (name == "negatives"), 6, seed=i) for i, name in enumerate(names)}


def test_word_term_agrees_with_a_naive_loop(model, sampler, vectors):
    losses = []
    for i in range(3):
        words = {-1: vectors["partners"][i]}
        if CHOICE.antonyms_R[i] != NONE:
            words[-2] = vectors["antonyms"][i]
        words |= {m: vectors["negatives"][m] for m, word in enumerate(CHOICE.negatives_M) if word not in MASKED[i]}
        context_D = vectors["contexts"][SOURCE_R[i]]
        scores = {key: cosine(vectors["anchors"][i], model.norm(context_D + word)) / 0.3 for key, word in words.items()}
        losses.append(naive_nce(scores, {-1: 1.0}))
    loss, num_masked = measured(model, sampler, vectors)
    assert loss.item() == pytest.approx(np.mean(losses), abs=1e-6)
    assert num_masked == 3


def test_masked_words_and_absent_antonyms_do_not_matter(model, sampler, vectors):
    alone = {**vectors, "negatives": vectors["negatives"].clone().requires_grad_()}
    alone["antonyms"] = vectors["antonyms"].clone().requires_grad_()
    loss, _ = measured(model, sampler, alone)
    negatives_MD, antonyms_RD = torch.autograd.grad(loss, [alone["negatives"], alone["antonyms"]])
    assert antonyms_RD.any(dim=1).tolist() == [True, False, False, False]
    assert negatives_MD.any(dim=1).all()  # what one anchor masks repels another
    only_first = dataclasses.replace(CHOICE, negatives_M=np.array([5, 5, 4, 5, 4]))
    arguments = (model, vectors["anchors"][:1], vectors["contexts"][:1])
    results = []
    for negatives_MD in (vectors["negatives"], 100 * random_vectors(5, 6, seed=9)):
        drawn = (vectors["partners"][:1], vectors["antonyms"][:1], negatives_MD)
        results.append(word_term(*arguments, drawn, WORDS_R[:1], only_first, SOURCE_R[:1], sampler, 0.3))
    assert results[0][0] == results[1][0] > 0  # of the antonym alone
    assert results[0][1] == results[1][1] == 5


def test_word_term_without_a_positive_is_nothing(model, sampler, vectors):
    drawn = (vectors["partners"], vectors["antonyms"], vectors["negatives"])
    nothing = np.full(4, NONE)
    anchors_RD = vectors["anchors"].clone().requires_grad_()
    loss, num_masked = word_term(model, anchors_RD, vectors["contexts"], drawn, WORDS_R, CHOICE, nothing, sampler, 0.3)
    assert (loss.item(), num_masked) == (0, 0)
    assert not torch.autograd.grad(loss, anchors_RD)[0].any()


def test_cloze_term_agrees_with_a_naive_loop_and_leaves_out_synonyms(model, sampler):
    words_R = np.array([8, 8, 4, 9, 5, 20])
    vectors_RPD = random_vectors(6, 2, 6)
    targets_RD = random_vectors(30, 6, seed=1)[torch.from_numpy(words_R)].requires_grad_()
    alike = {8: {9}, 9: {8}, 4: {5}, 5: {4}, 20: set()}
    losses = []
    for i, word in enumerate(words_R.tolist()):
        for side in (0, 1):
            scores = {
                other: cosine(vectors_RPD[i, side], model.norm(targets_RD[words_R.tolist().index(other)])) / 0.3
                for other in set(words_R.tolist()) - alike[word]
            }
            losses.append(naive_nce(scores, {word: 1.0}))
    loss = cloze_term(model, vectors_RPD, targets_RD, words_R, sampler, 0.3)
    assert loss.item() == pytest.approx(np.mean(losses), abs=1e-6)
    (gradient_RD,) = torch.autograd.grad(
        cloze_term(model, vectors_RPD[:4], targets_RD[:4], np.array([8, 8, 8, 9]), sampler, 0.3), targets_RD
    )
    assert not gradient_RD.any()  # two words that are synonyms: nothing to tell apart


def test_what_is_masked_in_a_batch_is_counted(toy, learning, monkeypatch):
    lexicon = lexicon_of(toy, LEARNT)
    objective = learning(vectors_for(toy), lexicon, stable_cosine=-1.0, words_per_batch=36, num_negatives=40)
    drawn = {}
    for source in (objective.pairs, objective.words):

        def note(*arguments, source=source, draw=source.draw, **options):
            drawn[source] = draw(*arguments, **options)
            return drawn[source]

        monkeypatch.setattr(source, "draw", note)
    for item in range(3):
        losses = objective.losses(item, ALONE.device)
        pairs, choice = drawn[objective.pairs], drawn[objective.words]
        num_pairs = len(pairs.words_R)
        expected = sum(
            pairs.passages_R[i] == pairs.passages_R[j]
            or lexicon.are_synonyms(pairs.words_R[i], pairs.words_R[j]).item()
            for i, j in itertools.permutations(range(num_pairs), 2)
        )
        assert expected > 0
        for word, partner in zip(pairs.words_R, choice.partners_R, strict=True):
            for negative in choice.negatives_M:
                expected += negative in (word, partner) or bool(lexicon.are_synonyms(word, negative))
        assert float(losses.sums["num_masked"]) == expected
        record = objective.step_record(a_step(), {k: float(v) for k, v in losses.sums.items()}, objective.weight(item))
        assert (record.num_masked, record.num_anchors) == (expected, 2 * num_pairs)


def a_step():
    return Step(1, 2, 0, 3, 1.0, 1e-3, 1.0, 1.0, 0.0)


# the teacher


def batch_of(toy: Tokenized, words: Sequence[str], passages: Sequence[int]) -> PairBatch:
    ids = np.array([toy.tokenizer.word_id(word) for word in words])
    return PairBatch([], np.zeros(0, np.int64), ids, np.array(passages))


def test_what_the_teacher_says_of_a_batch(toy):
    vectors_VE, counts_V = vectors_for(toy), np.bincount(toy.corpus.ids, minlength=len(toy.tokenizer))
    teacher = PassageTeacher(toy.corpus, vectors_VE, counts_V)
    pairs = batch_of(toy, ["bank"] * 3 + ["bass"] * 3, [5, 9, 5, 7, 30, 31])
    seen = teacher.look(pairs, 3, 0.2)
    np.testing.assert_allclose(seen.targets_RR.sum(axis=1), 1, rtol=1e-6)
    assert not seen.targets_RR[:3, 3:].any()
    assert not seen.targets_RR[3:, :3].any()
    # the same passage twice: equal shares of equal rows
    assert seen.targets_RR[0, 0] == pytest.approx(seen.targets_RR[0, 2])
    np.testing.assert_allclose(seen.targets_RR[0], seen.targets_RR[2], rtol=1e-6)
    assert seen.targets_RR[0, 0] > seen.targets_RR[0, 1] > 0

    bag = ContextBag.build(vectors_VE, counts_V)
    for start in (0, 3):
        rows = []
        for i in range(start, start + 3):
            sentences = [toy.corpus[s] for s in np.flatnonzero(toy.corpus.passages == pairs.passages_R[i])]
            rows.append(torch.from_numpy(bag.mean(np.concatenate([s[s != pairs.words_R[i]] for s in sentences]))))
        found = [[cosine(one, other) for other in rows] for one in rows]
        shares = torch.tensor(found).div(0.2).softmax(dim=1)
        np.testing.assert_allclose(seen.targets_RR[start : start + 3, start : start + 3], shares, rtol=1e-4)
        mean = np.mean([found[i][j] for i, j in itertools.permutations(range(3), 2)])
        np.testing.assert_allclose(seen.alikeness_R[start : start + 3], mean, atol=1e-6)


@pytest.mark.parametrize("temperature", [1e-3, 0.1])
def test_a_passage_of_unknown_words_is_like_itself(toy, temperature):
    silent_VE = np.zeros((len(toy.tokenizer), 16), np.float32)
    teacher = PassageTeacher(toy.corpus, silent_VE, np.bincount(toy.corpus.ids, minlength=len(toy.tokenizer)))
    seen = teacher.look(batch_of(toy, ["bank"] * 2, [5, 9]), 2, temperature)
    np.testing.assert_allclose(seen.targets_RR.sum(axis=1), 1, rtol=1e-6)
    assert seen.alikeness_R.tolist() == [0, 0]


def test_which_words_are_stable(toy, learning):
    def stable(**settings) -> np.ndarray:
        objective = learning(vectors_for(toy), **settings)
        pairs = objective.pairs.draw(6, 40, np.random.default_rng(0))
        choice = objective.words.draw(pairs.words_R, np.random.default_rng(0))
        _, is_stable_R = objective._ask_teacher(pairs)
        sources_R = objective._sources(pairs.words_R, choice, is_stable_R)
        assert ((sources_R != NONE) == is_stable_R).all()
        # the other context is that of another passage of the same word
        chosen = np.flatnonzero(is_stable_R)
        assert (pairs.words_R[sources_R[chosen]] == pairs.words_R[chosen]).all()
        assert (pairs.passages_R[sources_R[chosen]] != pairs.passages_R[chosen]).all()
        return is_stable_R

    assert stable(stable_cosine=-1.0).all()
    assert not stable(stable_cosine=1.0).any()
    mixed = stable(stable_cosine=0.5)
    assert (mixed.reshape(6, 8) == mixed[::8, None]).all()  # a word is stable or not, in all its passages
    assert (
        not learning(stable_cosine=-1.0)._ask_teacher(learning().pairs.draw(2, 40, np.random.default_rng(0)))[1].any()
    )


# words drawn


@pytest.mark.parametrize("words", [[304], [5_000], [10_003], [304, 5_000]])
def test_random_words_are_of_like_frequency(words):
    counts_V = np.concatenate([np.zeros(NUM_SPECIAL, int), np.arange(10_000)[::-1]])  # the rank of a word is id - 4
    sampler, rng = WordSampler(counts_V, 64, None), np.random.default_rng(0)
    drawn = np.concatenate([sampler.draw(np.array(words), rng).negatives_M for _ in range(50)])
    nearest = np.abs(drawn[:, None] - np.array(words)).min(axis=1)
    assert nearest.max() <= RANKS_AROUND
    assert drawn.min() >= NUM_SPECIAL
    assert drawn.max() < len(counts_V)
    # no single word is favoured, not even at the ends
    assert np.bincount(drawn).max() < 50 * 64 * 8 / (RANKS_AROUND * len(words))


def test_what_is_drawn_follows_from_the_generator_and_the_lexicon(sampler):
    words_R = np.array([4, 4, 6, 9, 20])
    first, again, other = (sampler.draw(words_R, np.random.default_rng(seed)) for seed in (1, 1, 2))
    for name in ("partners_R", "antonyms_R", "negatives_M"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert first.negatives_M.tolist() != other.negatives_M.tolist()
    assert first.partners_R.tolist() == [5, 5, 6, 8, 20]
    assert first.antonyms_R.tolist() == [6, 6, 4, NONE, NONE]
    assert len(first.negatives_M) == 5


def test_words_are_alike_if_they_are_the_same_or_synonyms(sampler):
    one, other = np.array([4, 5, 8]), np.array([4, 5, 6, 9])
    expected = [[True, True, False, False], [True, True, False, False], [False, False, False, True]]
    assert sampler.are_alike(one[:, None], other[None]).tolist() == expected
    alone = WordSampler(np.arange(30), 5, None)
    assert alone.are_alike(one[:, None], other[None]).sum() == 2


# what is refused


@pytest.mark.parametrize("temperature", [0, -0.1])
def test_a_temperature_has_to_be_positive(temperature, learning):
    with pytest.raises(ValidationError, match=r"temperature\n.*greater than 0"):
        learning(temperature=temperature)
    with pytest.raises(ValueError, match=f"the temperature is {temperature}; it has to be above 0"):
        pair_term(random_vectors(4, 2, 5), MASKED_RR, temperature)


def test_there_are_no_more_negatives_than_words(toy, learning):
    num_words = len(toy.tokenizer) - NUM_SPECIAL
    assert len(learning(num_negatives=num_words).words.draw(np.array([4]), np.random.default_rng(0)).negatives_M)
    with pytest.raises(
        ValueError, match=f"num_negatives is {num_words + 1}, but the vocabulary has only {num_words} words; use fewer"
    ):
        learning(num_negatives=num_words + 1)


def test_passages_of_one_sentence_say_nothing_of_senses(tmp_path):
    rng = np.random.default_rng(0)
    toy = tokenize_lines(tmp_path, [sentence(rng, "bank", 0) for _ in range(60)], TextConfig())
    model = SIZES.model_copy(update={"vocabulary_size": len(toy.tokenizer)})
    with pytest.raises(CorpusError, match="no word stands in two sentences of 8 passages each; use more text"):
        ContrastiveLearning(
            model, ContrastiveTrainingConfig.model_validate(SETTINGS), toy.corpus, toy.tokenizer, toy.text
        )


def test_vectors_of_another_size_are_refused(toy, learning):
    with pytest.raises(ValueError, match=r"the initial word vectors are \(\d+, 8\), but the encoder's embedding is"):
        learning(vectors_for(toy)[:, :8])


# what the command says


def test_the_command_says_once_that_a_run_is_stuck(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("CTXEMB_CACHE", str(tmp_path / "cache"))
    settings = SETTINGS | {"temperature": 10.0, "validate_every": 1_000, "learning_rate": 1e-5, "warmup_steps": 2}
    options = [f"--set=training.{name}={value}" for name, value in settings.items()]
    options += ["--set=model.embedding_size=16", "--set=model.hidden_size=8", "--set=initial.vector_size=16"]
    command = ["train", "quick-contrastive", f"--out={tmp_path / 'run'}", f"--corpus={toy.path}", "--device=cpu"]
    monkeypatch.setattr(sys, "argv", ["ctxemb", *command, "--threads=1", *options])
    with pytest.raises(SystemExit) as end:
        main()
    said = capsys.readouterr().err
    assert not end.value.code, said
    assert said.count("stuck at chance: for 50 steps after the warm-up, the loss has been no better than") == 1
    assert "training.temperature" in said
    assert "collapse: " not in said


# more than one process

RANK = """
import json, sys
from pathlib import Path
import torch
torch.set_num_threads(1)
from ctxemb import training
from ctxemb.corpora import open_corpus
from ctxemb.distributed import world
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.text import TextConfig
from ctxemb.tokenized import tokenize, train_tokenizer

text, cache, out = map(Path, sys.argv[1:4])
model, config = (json.loads(argument) for argument in sys.argv[4:6])
corpora = [open_corpus(text)]
tokenizer = train_tokenizer(corpora, TextConfig(), cache)
corpus = tokenize(corpora, tokenizer, TextConfig(), cache)
with world("cpu") as me:
    settings = ContrastiveConfig(**model), training.ContrastiveTrainingConfig(**config)
    for _ in training.train(training.ContrastiveLearning(*settings, corpus, tokenizer, TextConfig()), out, me):
        pass
"""


def test_two_ranks_learn_what_one_process_learns_from_the_same_batches(toy, learning, tmp_path):
    alone = learning(**SHORT, accumulate=2)
    theirs = finish(alone, tmp_path / "alone")
    script = tmp_path / "rank.py"
    script.write_text(RANK)
    config = alone.config.model_copy(update={"accumulate": 1})
    settings = [alone.model.config.model_dump_json(), config.model_dump_json()]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "OMP_NUM_THREADS": "1"}
    command = [*torchrun, script, toy.path, toy.cache, tmp_path / "ranks", *settings]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    ours = read_progress(tmp_path / "ranks" / "progress.jsonl")
    assert [type(record) for record in ours] == [type(record) for record in theirs]
    for one, other in zip(ours, theirs, strict=True):
        if isinstance(one, ContrastiveStepRecord | ContrastiveValidationRecord):
            assert one.loss_nats == pytest.approx(other.loss_nats, abs=1e-4)
            assert one.accuracy == pytest.approx(other.accuracy, abs=0.03)
        if isinstance(one, ContrastiveStepRecord):
            counts = [(r.step, r.num_tokens, r.num_anchors, r.num_masked) for r in (one, other)]
            assert counts[0] == counts[1]
            assert one.num_anchors == 2 * 96
            assert one.gradient_norm == pytest.approx(other.gradient_norm, rel=1e-3)
