"""The Geometry page's core: what is drawn from a text, what is measured, what corrections do, what is said of it."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctxemb import Encoder
from ctxemb.analysis.isotropy import Spectrum
from ctxemb.analysis.neighbours import leave_one_out_senses
from ctxemb.analysis.senses import SensePairs, macro_recall
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.comparison import TargetError
from ctxemb.corpora import open_corpus
from ctxemb.geometry import (
    BINS,
    USES_PER_WORD,
    Cloud,
    Corrected,
    Corrections,
    GeometryError,
    LabelledUses,
    Senses,
    Shape,
    correction_verdict,
    labelled_uses,
    measure,
    sample_uses,
    shape_verdict,
)
from ctxemb.geometry.corrected import measure_senses
from ctxemb.geometry.sample import NUM_SENTENCES
from ctxemb.models.reading import Reading
from ctxemb.text import TextConfig
from ctxemb.tokenized import TokenizedCorpus, tokenize
from tests.untrained import write_checkpoints

LAST = Reading(layer="last")


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("families")
    write_checkpoints(folder, tmp_path_factory.mktemp("cache"))
    return folder


def examples_of(encoder: Encoder, cache: Path) -> TokenizedCorpus:
    language = encoder.config.text.language
    path = Path(__file__).parents[2] / "ctxemb" / "examples" / f"polysemy_{language}.csv"
    return tokenize([open_corpus(path)], encoder.tokenizer, encoder.config.text, cache)


def a_cloud(vectors_ND: np.ndarray, words_N: np.ndarray, counts_W: np.ndarray | None = None) -> Cloud:
    num_words = int(words_N.max()) + 1
    return Cloud(
        vectors_ND[None].astype(np.float32),
        words_N,
        [f"w{i}" for i in range(num_words)],
        np.arange(num_words) if counts_W is None else counts_W,
    )


def a_shape(isoscore_like: np.ndarray, random_cosine: float = 0.0) -> Shape:
    return Shape(Spectrum(isoscore_like, len(isoscore_like)), -3.0, random_cosine, np.zeros(80))


def corrected(name: str, values: np.ndarray, auc: float, same: float = 0.5) -> Corrected:
    return Corrected(name, a_shape(values), Senses(SensePairs(same, 0.3, auc, 5, 5), 0.8))


# sample


def test_uses_are_those_of_the_text_and_no_word_counts_too_often(
    encoder: Encoder, tiny_corpus: TokenizedCorpus
) -> None:
    cloud = sample_uses(encoder, tiny_corpus)
    assert cloud.layers_LND.shape == (3, len(cloud.words_N), 48)
    uses_W = np.bincount(cloud.words_N)
    assert len(uses_W) == len(cloud.words)
    assert uses_W.min() >= 1
    assert uses_W.max() == USES_PER_WORD
    assert all(word.isalpha() for word in cloud.words)
    counts = np.bincount(tiny_corpus.ids)
    assert [counts[encoder.tokenizer.word_id(word)] for word in cloud.words] == cloud.counts_W.tolist()
    # layer 0 is the word's embedding: every use has its word's own vector
    embeddings = encoder.model.word_vectors().cpu().numpy()
    ids = [encoder.tokenizer.word_id(cloud.words[w]) for w in cloud.words_N]
    np.testing.assert_allclose(
        cosine_matrix(cloud.layers_LND[0]), cosine_matrix(np.tile(embeddings[ids], 1)), atol=1e-5
    )


def test_a_vector_is_that_of_its_sentence(encoder: Encoder, tiny_corpus: TokenizedCorpus) -> None:
    cloud = sample_uses(encoder, tiny_corpus)
    first = cloud.words.index("approved")
    found = cloud.layers_LND[2, cloud.words_N == first]
    word_id = encoder.tokenizer.word_id("approved")
    sentences = [tiny_corpus[i] for i in range(len(tiny_corpus)) if word_id in tiny_corpus[i]]
    layers = encoder.layers_of_ids(sentences, encoder.reading.readout)
    own = np.concatenate([states[2, ids == word_id] for states, ids in zip(layers, sentences, strict=True)])
    distances = np.abs(found[:, None] - own[None]).max(axis=2)
    assert (distances.min(axis=1) < 1e-5).all()


def test_the_seed_decides_what_is_drawn(encoder: Encoder, tiny_corpus: TokenizedCorpus) -> None:
    once, again, other = (sample_uses(encoder, tiny_corpus, seed) for seed in (0, 0, 1))
    assert once.words == again.words != other.words
    np.testing.assert_array_equal(once.layers_LND, again.layers_LND)


def test_halves_share_no_word_and_are_the_whole(encoder: Encoder, tiny_corpus: TokenizedCorpus) -> None:
    cloud = sample_uses(encoder, tiny_corpus)
    halves = [cloud.half(0), cloud.half(1)]
    assert not set(halves[0].words) & set(halves[1].words)
    assert sorted([*halves[0].words, *halves[1].words]) == sorted(cloud.words)
    assert sum(len(half.words_N) for half in halves) == len(cloud.words_N)
    for half in halves:
        assert set(half.words_N) == set(range(len(half.words)))
        for number in (0, len(half.words) - 1):
            whole = cloud.layers_LND[:, cloud.words_N == cloud.words.index(half.words[number])]
            np.testing.assert_array_equal(half.layers_LND[:, half.words_N == number], whole)


@pytest.mark.parametrize("name", ["en-bilm", "en-contrastive", "en-static", "zh-contrastive", "zh-static"])
def test_every_family_in_both_languages(families: Path, tmp_path: Path, name: str) -> None:
    encoder = Encoder.load(families / name, device="cpu")
    corpus = examples_of(encoder, tmp_path)
    cloud = sample_uses(encoder, corpus)
    if name.endswith("static"):
        assert len(cloud.words_N) == len(cloud.words) > 1_000
        assert cloud.layers_LND.shape[0] == 1
    else:
        assert len(cloud.words_N) > len(cloud.words)
        assert len(corpus) > NUM_SENTENCES
    found = measure(cloud, encoder.reading)
    assert found.num_uses == len(cloud.words_N)
    assert len(found.layers) == encoder.num_layers + 1
    if encoder.num_layers:
        assert found.layers[0].own == pytest.approx(1, abs=1e-5)
        assert found.layers[-1].own < 0.999
    assert labelled_uses(encoder).layers_LND.shape[0] == encoder.num_layers + 1


def test_a_text_of_other_words_is_refused(encoder: Encoder, tmp_path: Path, tiny_checkpoint: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text("zyzzyva qwerty uiop the bank\nasdf ghjk 1999 2000 2001\n", encoding="utf-8")
    corpus = tokenize([open_corpus(path)], encoder.tokenizer, TextConfig(), tmp_path / "cache")
    with pytest.raises(GeometryError, match="the sample text has 2 words that this checkpoint knows"):
        sample_uses(encoder, corpus)


def test_labelled_uses_are_the_example_sentences(families: Path) -> None:
    encoder = Encoder.load(families / "en-contrastive", device="cpu")
    uses = labelled_uses(encoder)
    assert uses.layers_LND.shape[1] == len(uses.words_N) == len(uses.senses_N) == 506
    assert len(set(uses.words_N)) == 28
    assert set(uses.senses_N[uses.words_N == "bank"]) == {"money", "river"}


def test_without_a_known_example_word_it_is_said_so(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctxemb.geometry.sample.example_words", lambda _: ["crane"])
    with pytest.raises(TargetError, match="none of the example words"):
        labelled_uses(encoder)


# shape


def test_a_cone_and_a_ball_are_told_apart_by_cosines_not_by_the_spectrum() -> None:
    rng = np.random.default_rng(0)
    ball, words = rng.normal(size=(600, 10)), np.arange(600) // 2
    cone = ball + 5 * np.eye(10)[0]
    of_ball, of_cone = (measure(a_cloud(vectors, words), LAST).shape for vectors in (ball, cone))
    assert abs(of_ball.random_cosine) < 0.02
    assert of_cone.random_cosine > 0.6
    np.testing.assert_allclose(of_cone.spectrum.energies, of_ball.spectrum.energies, rtol=1e-4)
    assert of_cone.uniformity > of_ball.uniformity + 1


def test_shares_of_cosines_are_a_histogram_of_pairs_of_different_words() -> None:
    east, north = np.eye(2)
    shape = measure(a_cloud(np.array([east, east, north, -east]), np.array([0, 0, 1, 2])), LAST).shape
    # pairs of different words: 0, 0, -1, -1, 0
    shares = dict(zip(BINS.round(3), shape.cosine_shares, strict=False))
    assert shares[-1.0] == pytest.approx(2 / 5)
    assert shares[0.0] == pytest.approx(3 / 5)
    assert shape.cosine_shares.sum() == pytest.approx(1)
    assert shape.random_cosine == pytest.approx(-2 / 5)


def test_random_cosine_is_that_of_the_layer_chart() -> None:
    rng = np.random.default_rng(0)
    cloud = a_cloud(rng.normal(size=(50, 4)) + 1, rng.permutation(np.arange(50) // 3))
    found = measure(cloud, LAST)
    assert found.layers[0].random == pytest.approx(found.shape.random_cosine, abs=1e-6)


def test_norms_against_frequency_agree_with_scipy() -> None:
    from scipy.stats import spearmanr

    rng = np.random.default_rng(0)
    words, counts = np.repeat(np.arange(20), 3), rng.integers(1, 9, size=20)
    vectors = rng.normal(size=(60, 4)) * (1 + counts[words][:, None])
    norms = measure(a_cloud(vectors, words, counts), LAST).norms
    expected = np.linalg.norm(vectors, axis=1).reshape(20, 3).mean(axis=1)
    np.testing.assert_allclose(norms.norms_W, expected, rtol=1e-5)
    assert norms.rank_correlation == pytest.approx(spearmanr(expected, counts)[0])
    assert norms.rank_correlation > 0.7


def test_equal_lengths_have_no_rank_correlation() -> None:
    angles = np.linspace(0, 3, 40)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    assert np.isnan(measure(a_cloud(vectors, np.arange(40)), LAST).norms.rank_correlation)


@pytest.mark.parametrize(
    ("vectors", "message"), [(np.ones((30, 4)), "all vectors are equal"), (np.full((30, 4), np.nan), "30 vectors hold")]
)
def test_a_collapsed_or_broken_space_is_one_sentence(vectors: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure(a_cloud(vectors, np.arange(30)), LAST)


# corrections


@pytest.fixture
def in_a_cone() -> tuple[Cloud, LabelledUses]:
    """Two senses of two words along a short axis, under a mean and a long axis that say nothing."""
    rng = np.random.default_rng(0)
    background = rng.normal(size=(400, 8)) * [6, 1, 1, 1, 1, 1, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 9]
    senses = np.tile(np.repeat([0, 1], 12), 2)
    uses = rng.normal(size=(48, 8)) * [6, 0.2, 1, 1, 1, 1, 1, 1] + [0, 0, 0, 0, 0, 0, 0, 9]
    uses[:, 1] += 3 * (senses - 0.5)
    labelled = LabelledUses(
        uses[None].astype(np.float32), np.repeat(["bank", "plant"], 24), np.array(["a", "b"])[senses]
    )
    return a_cloud(background, np.arange(400) // 2), labelled


def test_corrections_show_senses_that_a_cone_and_a_long_axis_had_hidden(
    in_a_cone: tuple[Cloud, LabelledUses],
) -> None:
    cloud, uses = in_a_cone
    corrections = Corrections.fit(cloud.half(1), cloud.half(0), uses, LAST)
    before, centred, without, whitened = (
        corrections.as_read(),
        corrections.centred(),
        corrections.without_top(1),
        corrections.whitened(),
    )
    assert [c.name for c in (before, centred, without, whitened)] == [
        "as read",
        "centred",
        "without the top 1",
        "whitened",
    ]
    assert before.shape.random_cosine > 0.3
    assert all(abs(c.shape.random_cosine) < 0.02 for c in (centred, without, whitened))
    assert before.shape.spectrum.isoscore == pytest.approx(centred.shape.spectrum.isoscore, rel=1e-4)
    assert before.shape.spectrum.isoscore < 0.1
    assert whitened.shape.spectrum.isoscore > 0.9
    assert before.senses.pairs.auc < 0.6 < 0.7 < without.senses.pairs.auc
    assert without.senses.recall > before.senses.recall + 0.1
    assert without.senses.pairs.gap > before.senses.pairs.gap + 0.2
    sweep = corrections.sweep(3)
    assert sweep[0].pairs == centred.senses.pairs
    assert sweep[1] == without.senses
    with pytest.raises(ValueError, match="8 directions cannot be removed"):
        corrections.without_top(8)


def test_labels_and_examples_do_not_decide_the_correction(in_a_cone: tuple[Cloud, LabelledUses]) -> None:
    cloud, uses = in_a_cone
    swapped = LabelledUses(uses.layers_LND[:, :10], uses.words_N[:10], uses.senses_N[::-1][:10])
    first, second = (Corrections.fit(cloud.half(1), cloud.half(0), u, LAST) for u in (uses, swapped))
    np.testing.assert_array_equal(first.axes.axes_DD, second.axes.axes_DD)
    assert first.shrinkage == second.shrinkage
    measured = Corrections.fit(cloud.half(1), cloud.half(1), uses, LAST)
    np.testing.assert_array_equal(first.axes.axes_DD, measured.axes.axes_DD)


def test_senses_agree_with_what_evaluation_says_of_each_word() -> None:
    rng = np.random.default_rng(0)
    words = np.repeat(["bank", "plant", "spring"], [8, 6, 1])
    senses = np.array(["a", "b"])[rng.integers(2, size=15)]
    vectors = rng.normal(size=(15, 5)) + 2 * (senses == "a")[:, None]
    found = measure_senses(vectors, LabelledUses(vectors[None], words, senses))
    recalls = [
        macro_recall(senses[words == word], leave_one_out_senses(vectors[words == word], senses[words == word]))
        for word in ("bank", "plant")
    ]
    assert found.recall == pytest.approx(np.mean(recalls))
    pairs = [(i, j) for i in range(15) for j in range(i) if words[i] == words[j]]
    cosines = cosine_matrix(vectors)
    same = [cosines[i, j] for i, j in pairs if senses[i] == senses[j]]
    cross = [cosines[i, j] for i, j in pairs if senses[i] != senses[j]]
    assert (found.pairs.num_same, found.pairs.num_cross) == (len(same), len(cross))
    assert found.pairs.same_mean == pytest.approx(np.mean(same), abs=1e-6)
    assert found.pairs.auc == pytest.approx(np.mean([s > c for s in same for c in cross]))


def test_equal_vectors_tell_nothing_apart_whatever_their_rounding() -> None:
    vector = np.random.default_rng(0).normal(size=40).astype(np.float32)
    vectors = np.tile(vector, (9, 1))
    vectors[1::2] *= np.float32(1 + 2e-7)
    senses = np.array(list("aaaabbbbb"))
    found = measure_senses(vectors, LabelledUses(vectors[None], np.full(9, "bank"), senses))
    assert found.pairs.auc == 0.5
    assert found.recall == 0.5  # the first is nearest, and for itself the second: all "a"


# verdicts


@pytest.mark.parametrize(
    ("cosine", "said"),
    [
        (0.68, "mean cosine of 0.68: all vectors lie in a narrow cone"),
        (0.43, "0.43: the vectors lie in a cone"),
        (0.18, "0.18: the vectors lie in a wide cone"),
        (0.02, "0.02: no cone, they point in all directions"),
        (-0.01, "0.01: no cone"),
        (np.nan, "no word has a direction"),
    ],
)
def test_verdict_on_the_cone(cosine: float, said: str) -> None:
    assert said in shape_verdict(a_shape(np.ones(20), cosine), 10)


@pytest.mark.parametrize(
    ("values", "k", "said"),
    [
        (np.ones(20), 10, "The 10 main directions hold 50% of the energy, against 50% in a perfect ball (IsoScore 1"),
        (np.ones(20), 10, ": spread almost evenly."),
        (np.r_[3.0, np.ones(3)], 1, "The main direction holds 75% of the energy, against 25% in a perfect ball"),
        (np.r_[9.0, np.ones(19)], 2, ": a few directions dominate."),
        (np.ones(4), 10, "The 4 main directions hold 100% of the energy, against 100%"),
    ],
)  # fmt: skip
def test_verdict_on_the_ball(values: np.ndarray, k: int, said: str) -> None:
    assert said in shape_verdict(a_shape(values), k)


LONG, ROUND = np.r_[9.0, np.ones(19)], np.ones(20)


@pytest.mark.parametrize(
    ("aucs", "said", "unsaid"),
    [
        (
            (0.82, 0.82, 0.75),
            [
                "Roundest is the space whitened: IsoScore",
                "→ 1.00",
                "No correction tells",
                "(AUC 0.82)",
                "(AUC 0.75): a",
            ],
            ["best"],
        ),
        ((0.72, 0.77, 0.70), ["told apart best centred: AUC 0.72 → 0.77", "worse (AUC 0.70)"], ["No correction"]),
        ((0.60, 0.61, 0.70), ["told apart best whitened: AUC 0.60 → 0.70"], ["worse", "about as well"]),
        ((0.60, 0.70, 0.605), ["best centred", "about as well as no correction (AUC 0.60)"], ["worse"]),
        ((0.60, np.nan, 0.6), ["too few uses"], ["AUC"]),
    ],
)
def test_verdict_on_corrections(aucs: tuple[float, ...], said: list[str], unsaid: list[str]) -> None:
    before = corrected("as read", LONG, aucs[0])
    text = correction_verdict(before, [corrected("centred", LONG, aucs[1]), corrected("whitened", ROUND, aucs[2])])
    assert all(part in text for part in said), text
    assert not any(part in text for part in unsaid), text


def test_verdict_on_equal_vectors() -> None:
    before = corrected("as read", LONG, 0.5, same=1.0)
    text = correction_verdict(before, [corrected("whitened", ROUND, 0.5, same=1.0)])
    assert "every use of a word has the same vector here" in text
    chance = correction_verdict(corrected("as read", LONG, 0.5), [corrected("whitened", ROUND, 0.5)])
    assert "No correction tells" in chance


def test_what_the_page_imports_leaves_the_heavy_libraries_alone() -> None:
    heavy = ("sklearn", "scipy", "umap", "lancedb")
    code = f"import sys, ctxemb.geometry, ctxemb.figures.geometry; print([m for m in {heavy} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
