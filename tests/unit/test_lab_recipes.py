"""The lab's recipes, and how their checkpoints are scored on the lab's held-out sentences."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cosine

from ctxemb import Encoder
from ctxemb.calibration import load_statistics
from ctxemb.checkpoint import save_checkpoint
from ctxemb.comparison import TargetError
from ctxemb.corpora import open_corpus
from ctxemb.corpora.lab import held_out_sentences
from ctxemb.evaluation.lab import SCORED, SENTENCES_PER_SENSE, held_out_uses, score_lab
from ctxemb.examples import load_examples
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.recipes import RECIPES, prepare, run, with_settings
from ctxemb.text import TextConfig, WordTokenizer
from tests.conftest import ALONE

CUT_DOWN = (
    "training.max_steps=200",
    "training.learning_rate=0.01",
    "training.warmup_steps=10",
    "training.min_word_count=250",  # of a quarter of the text
    "training.validate_every=100",
)
UNTRAINED = ("training.max_steps=1", "training.learning_rate=1e-9")


def train(settings: tuple[str, ...], folder: Path, cache: Path) -> Encoder:
    recipe = with_settings(RECIPES["lab-contrast"], settings)
    material = prepare(recipe, [open_corpus("lab", max_tokens=100_000)], cache)
    for _ in run(recipe, material, folder, ALONE):
        pass
    return Encoder.load(folder / "best", device="cpu")


def test_training_makes_the_senses_of_held_out_sentences_tell_apart(tmp_path):
    untrained = score_lab(train(CUT_DOWN + UNTRAINED, tmp_path / "untrained", tmp_path)).held_out
    trained = score_lab(train(CUT_DOWN, tmp_path / "trained", tmp_path)).held_out
    # the words around a word are the same topic's also under random vectors
    assert untrained.auc < 0.65
    assert untrained.gap < 0.08
    assert trained.auc > 0.85
    assert trained.gap > 0.25


@pytest.mark.parametrize("name", ["lab-quick", "lab-contrast"])
def test_a_lab_run_is_looked_at_ten_times_or_more(name):
    training = RECIPES[name].training
    assert RECIPES[name].corpora == ("lab",)
    assert training.max_steps // training.validate_every >= 10
    assert training.save_every <= training.max_steps // 10


def naive_pairs(encoder: Encoder, sentences: list[tuple[str, str, str]]) -> tuple[list[float], list[float]]:
    """Cosines of same-sense and of cross-sense pairs of each word, one pair at a time; its kept mean is subtracted."""
    statistics, readout = load_statistics(encoder), encoder.reading.readout
    vectors = []
    for word, _, text in sentences:
        encoding = encoder.encode([text])[0]
        position = [token.casefold() for token in encoding.tokens].index(word)
        mean_LD = statistics.word_mean(readout, encoder.tokenizer.word_id(word))
        vectors.append(encoding.layers[-1, position] - mean_LD[-1])
    same, cross = [], []
    for i, j in combinations(range(len(sentences)), 2):
        if sentences[i][0] == sentences[j][0]:
            pairs = same if sentences[i][1] == sentences[j][1] else cross
            pairs.append(1 - cosine(vectors[i], vectors[j]))
    return same, cross


def test_scores_are_those_of_a_plain_loop_over_pairs(calibrated):
    encoder = calibrated.with_reading(Reading(readout="context"))
    score = score_lab(encoder, "per word")
    known = {"bank", "plant"}
    lab = [(s.word, s.sense, s.text) for s in held_out_sentences(SENTENCES_PER_SENSE, SCORED) if s.word in known]
    examples = load_examples()
    ours = [row for row in zip(examples.word, examples.sense, examples.sentence, strict=True) if row[0] in known]
    assert set(held_out_uses(encoder)) == known
    for found, sentences in ((score.held_out, lab), (score.examples, ours)):
        same, cross = naive_pairs(encoder, sentences)
        assert (found.num_same, found.num_cross) == (len(same), len(cross))
        assert found.same_mean == pytest.approx(np.mean(same), abs=1e-5)
        assert found.cross_mean == pytest.approx(np.mean(cross), abs=1e-5)
        auc = np.mean([(one > other) + 0.5 * (one == other) for one in same for other in cross])
        assert found.auc == pytest.approx(auc, abs=2e-3)


def test_senses_that_the_lab_does_not_have_are_left_out_of_the_examples(tmp_path):
    text = TextConfig(min_frequency=1)
    tokenizer = WordTokenizer.from_words(["cell"], text)
    model = BiLM(BiLMConfig(vocabulary_size=len(tokenizer), embedding_size=8, hidden_size=8, num_layers=1, cutoffs=()))
    save_checkpoint(tmp_path, model.eval(), tokenizer, text, Reading())
    pairs = score_lab(Encoder.load(tmp_path, device="cpu")).examples
    assert (pairs.num_same, pairs.num_cross) == (2 * 28, 64)  # biology and prison, 8 each; not the telephone


def test_a_checkpoint_without_the_words_is_told_so(tmp_path):
    text = TextConfig(min_frequency=1)
    tokenizer = WordTokenizer.from_words(["zyzzyva"], text)
    model = BiLM(BiLMConfig(vocabulary_size=len(tokenizer), embedding_size=8, hidden_size=8, num_layers=1, cutoffs=()))
    save_checkpoint(tmp_path, model.eval(), tokenizer, text, Reading())
    with pytest.raises(TargetError, match="none of the lab's words is in this checkpoint's vocabulary"):
        score_lab(Encoder.load(tmp_path, device="cpu"))
