from pathlib import Path

import numpy as np
import pytest
import torch

from ctxemb import Encoder
from ctxemb.checkpoint import save_checkpoint
from ctxemb.evaluation import targets as targets_module
from ctxemb.evaluation.bag_reader import BagReader
from ctxemb.evaluation.public.catalogue import PUBLIC_TESTS, run_test
from ctxemb.evaluation.public.subject import Subject
from ctxemb.evaluation.readings import BAG, CONTROL
from ctxemb.evaluation.targets import Target, encode_targets, encode_words
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.text import TextConfig, WordTokenizer

TARGETS = [Target("the old bank approved the loan", 8, 12), Target("we sat on the zyzzyva of the river", 14, 21)]


@pytest.fixture
def speller(tmp_path: Path) -> Encoder:
    """A BiLM that reads characters: no word is unknown to it."""
    text = TextConfig(min_frequency=1)
    tokenizer = WordTokenizer.from_words(["the", "old", "bank", "approved", "a", "loan", "for", "farmers", "."], text)
    torch.manual_seed(0)
    config = BiLMConfig(
        vocabulary_size=len(tokenizer), input="char", embedding_size=8, hidden_size=8, shared_embeddings=False
    )
    save_checkpoint(tmp_path / "speller", BiLM(config), tokenizer, text)
    return Encoder.load(tmp_path / "speller", device="cpu")


def test_the_own_reading_comes_first_then_each_layer_once_then_the_bag(calibrated):
    encoder = calibrated.with_reading(calibrated.reading_for("context", "mean"))
    reads = {read.reading: read for read in Subject(encoder).read(TARGETS)}
    assert list(reads) == ["context, layer mean", "context, layer 2", "context, layer 1", CONTROL, BAG]
    found = encode_targets(encoder, TARGETS)
    np.testing.assert_array_equal(reads["context, layer mean"].vectors_ND, found.vectors_NLD.mean(axis=1))
    np.testing.assert_array_equal(reads["context, layer 1"].vectors_ND, found.vectors_NLD[:, 1])
    # zyzzyva is unknown; what does not look at the word reads it all the same
    assert {name for name, read in reads.items() if not read.known_N[1]} == {"context, layer mean", CONTROL}
    assert all(read.known_N[0] for read in reads.values())
    bag = encode_targets(BagReader(encoder.tokenizer, Subject(encoder)._bag), TARGETS)
    np.testing.assert_array_equal(reads[BAG].vectors_ND, bag.vectors_NLD[:, 0])


def test_layer_zero_of_the_vocabulary_is_what_the_words_have_in_sentences(calibrated):
    (table, _) = Subject(calibrated).word_tables(["zyzzyva"])
    assert len(table.words) == len(calibrated.tokenizer) - 4  # nothing is added for an unknown word
    (encoding,) = calibrated.encode([TARGETS[0].text])
    for position, word in enumerate(encoding.tokens):
        np.testing.assert_allclose(table.vectors_VD[table.words.index(word)], encoding.layers[0, position], atol=1e-6)


def test_words_alone_are_looked_up_whole(encoder):
    found = encode_words(encoder, ["bank", "old-bank", "Bank"])
    assert found.known_N.tolist() == [True, False, True]  # the parts are known, the whole is not
    np.testing.assert_array_equal(found.vectors_NLD[0], found.vectors_NLD[2])
    with pytest.raises(ValueError, match="no words to encode"):
        encode_words(encoder, [])


def test_an_encoder_of_spellings_knows_every_word_of_a_test(speller, tmp_path):
    (table, *_) = Subject(speller).word_tables(["zyzzyva", "bank"])
    assert table.words[-1] == "zyzzyva"
    assert table.words.count("bank") == 1
    expected = speller.encode([["zyzzyva"]])[0].layers[0, 0]
    np.testing.assert_allclose(table.vectors_VD[-1], expected, atol=1e-6)
    (tmp_path / "simlex999.txt").write_text("bank\tzyzzyva\t1\nbank\tbanks\t9\nplant\tbanks\t2\n")
    row = run_test(PUBLIC_TESTS["simlex-999"], Subject(speller), tmp_path).rows[-1]
    assert (row.reading, row.num_items, row.num_skipped) == (CONTROL, 3, 0)


@pytest.mark.parametrize(("targets", "characters"), [(3, 10_000), (1_000, 50), (2, 10)])
def test_chunks_change_no_vector(encoder, monkeypatch, targets, characters):
    many = [*TARGETS, Target("bank", 0, 4), *TARGETS, Target("the plant", 4, 9), *TARGETS]
    expected = encode_targets(encoder, many)
    monkeypatch.setattr(targets_module, "TARGETS_PER_CHUNK", targets)
    monkeypatch.setattr(targets_module, "CHARACTERS_PER_CHUNK", characters)
    chunks = list(targets_module._chunks(many))
    assert [target for chunk in chunks for target in chunk] == many
    assert len(chunks) > 1
    assert max(map(len, chunks)) <= targets
    found = encode_targets(encoder, many)
    np.testing.assert_allclose(found.vectors_NLD, expected.vectors_NLD, atol=1e-5)
    assert found.known_N.tolist() == expected.known_N.tolist()
