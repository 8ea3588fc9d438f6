"""What holds for every encoder that reads words by their spelling, through `Encoder`."""

from pathlib import Path

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.checkpoint import save_checkpoint
from ctxemb.comparison import Sentence, TargetError, centring_mean, compare, find_uses, influence
from ctxemb.evaluation.targets import Target, encode_targets, known_share
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.elmo import ELMo, ELMoConfig
from ctxemb.models.layers import layer_names
from ctxemb.models.reading import Reading
from ctxemb.store import VectorStore, ask, index_corpus
from ctxemb.text import UNK, TextConfig, WordTokenizer

KNOWN = ["the", "old", "bank", "approved", "a", "loan", "for", "farmers", "."]
SENTENCES = [
    "the floccinaucinihilipilification bank approved a zyzzyva .",
    "zyzzyva",
    "old banks , 日本 banks and naïve <bos> farmers approved a loan for the old Zyzzyvas of the bank .",
    "the old bank",
]
CONFIGS = {
    "elmo": ELMoConfig(character_size=5, filters=((1, 4), (2, 6), (3, 8)), units=12, projection_size=8),
    "bilm": BiLMConfig(
        input="char", embedding_size=7, hidden_size=8, character_size=5, filters_per_width=4, shared_embeddings=False
    ),
}


def write(folder: Path, family: str, lowercase: bool) -> Encoder:
    text = TextConfig(lowercase=lowercase, min_frequency=1)
    tokenizer = WordTokenizer.from_words(KNOWN, text)
    torch.manual_seed(0)
    config = CONFIGS[family].model_copy(update={"vocabulary_size": len(tokenizer)})
    model = ELMo(config) if isinstance(config, ELMoConfig) else BiLM(config)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    save_checkpoint(folder, model, tokenizer, text)
    return Encoder.load(folder, device="cpu")


@pytest.fixture(scope="module", params=["elmo", "bilm"])
def speller(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return write(tmp_path_factory.mktemp("spelled") / "checkpoint", request.param, lowercase=False)


@pytest.fixture(scope="module", params=["elmo", "bilm"])
def folding(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return write(tmp_path_factory.mktemp("folded") / "checkpoint", request.param, lowercase=True)


def cosine(first: np.ndarray, second: np.ndarray) -> float:
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


@pytest.mark.parametrize("readout", ["here", "context"])
def test_unseen_words_of_any_length_leave_their_neighbours_in_the_batch_alone(speller, readout):
    reader = speller.with_reading(Reading(readout=readout))
    together = reader.encode(SENTENCES)
    for sentence, expected in zip(SENTENCES, together, strict=True):
        (alone,) = reader.encode([sentence])
        np.testing.assert_allclose(alone.layers, expected.layers, atol=1e-5)
        assert alone.layers.shape[:2] == (speller.num_layers + 1, len(alone.tokens))  # no boundary among them
        assert np.isfinite(alone.layers).all()


def test_no_word_is_out_of_vocabulary(speller):
    (encoding,) = speller.encode(SENTENCES[:1])
    assert UNK in encoding.ids
    assert encoding.oov.tolist() == [False] * len(encoding.tokens)
    assert encoding.oov.dtype == bool
    assert speller.knows("zyzzyva")
    assert layer_names(speller.config.model)[0] == "characters"


def test_layer_0_is_the_spelling_and_nothing_else(speller):
    first, _, third, _ = speller.encode(SENTENCES)
    bank, again = first.layers[0, 2], third.layers[0, third.tokens.index("bank")]
    assert cosine(bank, again) == pytest.approx(1.0, abs=1e-6)
    assert np.abs(first.layers[1, 2] - third.layers[1, third.tokens.index("bank")]).max() > 1e-3
    unseen = [first.layers[0, 1], first.layers[0, 6 - 1], third.layers[0, third.tokens.index("banks")]]
    assert max(cosine(unseen[i], unseen[j]) for i, j in ((0, 1), (0, 2), (1, 2))) < 0.999


def test_another_word_nearby_moves_the_vector_though_both_are_unseen(speller):
    one, other = speller.encode(["the zyzzyva bank", "the yttrium bank"])
    assert np.abs(one.layers[-1, 2] - other.layers[-1, 2]).max() > 1e-4


@pytest.mark.parametrize("readout", ["here", "context"])
def test_words_of_the_vocabulary_are_the_same_by_id_and_by_spelling(speller, readout):
    sentence = "farmers approved the old bank ."
    ids = np.array(speller.tokenizer.encode(sentence).ids)
    (by_id,) = speller.layers_of_ids([ids], readout)
    (by_spelling,) = speller.with_reading(Reading(readout=readout)).encode([sentence])
    np.testing.assert_allclose(by_id, by_spelling.layers, atol=1e-6)
    table_VE = speller.model.word_vectors().numpy()
    np.testing.assert_allclose(table_VE[ids], by_id[0][:, : table_VE.shape[1]], atol=1e-6)


def test_what_is_lost_in_ids_is_one_word_and_boundaries_cannot_be_typed(speller):
    lost, again, typed = speller.layers_of_ids([[UNK], [UNK], [2]], "here")
    np.testing.assert_array_equal(lost, again)
    (encoding,) = speller.encode(["<eos>"])
    assert np.abs(encoding.layers[0] - typed[0]).max() > 1e-3


def test_the_form_that_is_looked_up_is_the_one_that_is_read(speller, folding):
    for encoder, is_same in ((speller, False), (folding, True)):
        upper, lower = encoder.encode(["the BANK", "the bank"])
        assert np.array_equal(upper.layers, lower.layers) == is_same
        half = encoder.encode(["a \ud800 b", "a ? b"])  # half a character, which a wrong decoder leaves
        assert np.array_equal(half[0].layers, half[1].layers)


def test_an_unseen_word_is_compared_explained_and_tested_like_any_other(speller):
    texts = ["the old zyzzyva .", "a zyzzyva for farmers .", "Zyzzyva approved a loan ."]
    uses, problems = find_uses(speller, [Sentence(text) for text in texts], "zyzzyva")
    assert (len(uses), problems) == (3, [])
    result = compare(speller, uses[:2], "zyzzyva", None, None)
    assert result.layer_means[0] == pytest.approx(1, abs=1e-6)
    assert -1 < result.cosines_NN[0, 1] < 0.999
    targets = [Target(text, text.lower().index("zyzzyva"), text.lower().index("zyzzyva") + 7) for text in texts]
    found = encode_targets(speller, targets)
    assert found.known_N.tolist() == [True] * 3
    assert known_share(speller, targets) == 1.0
    np.testing.assert_allclose(found.vectors_NLD[1], uses[1].encoding.layers[:, 1], atol=1e-5)
    assert [speller.entry(use.encoding, use.position) for use in uses[1:]] == ["zyzzyva", "Zyzzyva"]
    with pytest.raises(TargetError, match="“zyzzyva” is not in this checkpoint's list of words"):
        centring_mean("per word", speller, None, "zyzzyva")


def test_an_unseen_word_is_asked_about_and_found_again(speller, write_corpus, tmp_path):
    corpus = write_corpus([f"the old bank approved a loan for {number} farmers ." for number in range(9)])
    index_corpus(speller, corpus, tmp_path / "store", tmp_path / "cache")
    store = VectorStore.open(tmp_path / "store")
    asked = [Sentence("the zyzzyva approved a loan ."), Sentence("a yttrium bank ."), Sentence("an old zyzzyva .")]
    for sentence, word in zip(asked, ["zyzzyva", "yttrium", "zyzzyva"], strict=True):
        answer = ask(store, speller, sentence, word, among="same word", asked=True)
    (hit,) = answer.neighbours.hits  # one of the same word, none of the other unseen word
    assert (hit.context.word, hit.context.sentence) == ("zyzzyva", asked[0].text)


def test_why_leaves_out_words_with_their_spelling(speller):
    text = "the zyzzyva bank approved a loan ."
    (use,), _ = find_uses(speller, [Sentence(text)], "bank")
    moved = influence(speller, use, None)
    tokens = use.encoding.tokens
    for t in (1, 4):
        (shorter,) = speller.encode([tokens[:t] + tokens[t + 1 :]])
        after = shorter.vectors[shorter.positions("bank")[0]]
        assert moved[t] == pytest.approx(1 - cosine(use.encoding.vectors[use.position], after), abs=1e-5)
