import dataclasses
import math

import numpy as np
import pytest
import torch

from ctxemb.batching import make_batch
from ctxemb.corpora import CorpusError
from ctxemb.evaluation.perplexity import PerplexityError, corpus_perplexity, examples_perplexity, language_model
from ctxemb.examples import load_examples

LINES = [
    "the old bank approved the loan for the farmer .",
    "a zyzzyva worked in the plant .",
    "the bank",
    "we sat on the bank of the river with the doctor " * 20 + ".",
]


def test_perplexity_is_the_exponential_of_the_mean_over_sentences_one_by_one(encoder, write_corpus, tmp_path):
    (path,) = write_corpus(LINES).files
    result = corpus_perplexity(encoder, str(path), cache=tmp_path / "cache")
    forward, backward = [], []
    for line in LINES:
        with torch.inference_mode():
            forward_N, backward_N = encoder.model(make_batch([encoder.tokenizer.encode(line).ids]))
        forward += forward_N.tolist()
        backward += backward_N.tolist()
    num_words = sum(len(line.split()) for line in LINES)
    assert len(forward) == len(backward) == num_words + len(LINES)  # every sentence also predicts its end
    assert result.perplexity_forward == pytest.approx(math.exp(np.mean(forward)), rel=1e-4)
    assert result.perplexity_backward == pytest.approx(math.exp(np.mean(backward)), rel=1e-4)
    assert result.corpus == str(path)
    assert (result.num_sentences, result.num_tokens) == (4, num_words)  # none too short, none cut
    assert result.unknown_share == pytest.approx(1 / num_words)


def test_the_examples_are_read_one_by_one(encoder):
    result = examples_perplexity(encoder)
    sentences = load_examples("en").sentence
    nats = []
    for sentence in sentences:
        with torch.inference_mode():
            nats.append(torch.stack(encoder.model(make_batch([encoder.tokenizer.encode(sentence).ids]))))
    forward, backward = torch.cat(nats, dim=1).mean(dim=1).exp().tolist()
    assert (result.perplexity_forward, result.perplexity_backward) == pytest.approx((forward, backward), rel=1e-4)
    assert (result.corpus, result.num_sentences) == ("examples", len(sentences))


def test_a_text_like_the_training_text_surprises_less_than_a_shuffled_one(encoder, tiny_run, tmp_path):
    lines = (tiny_run.parent / "text.txt").read_text().splitlines()[:60]
    rng = np.random.default_rng(0)
    results = []
    for name, text in (("plain", lines), ("shuffled", [" ".join(rng.permutation(line.split())) for line in lines])):
        path = tmp_path / f"{name}.txt"
        path.write_text("\n".join(text))
        results.append(corpus_perplexity(encoder, str(path), cache=tmp_path / "cache"))
    plain, shuffled = results
    assert plain.num_tokens == shuffled.num_tokens
    assert 3 * plain.perplexity_forward < shuffled.perplexity_forward
    assert 3 * plain.perplexity_backward < shuffled.perplexity_backward


def test_the_model_stays_in_evaluation_mode(encoder, write_corpus, tmp_path):
    (path,) = write_corpus(LINES).files
    corpus_perplexity(encoder, str(path), cache=tmp_path / "cache")
    assert not encoder.model.training


def test_a_missing_corpus_is_named(encoder, tmp_path):
    with pytest.raises(CorpusError, match="no file nowhere"):
        corpus_perplexity(encoder, "nowhere", cache=tmp_path)


@pytest.mark.parametrize(
    ("missing", "said"), [(("<pad>",), None), (("<pad>", "<bos>", "<eos>"), "without <bos>, <eos> and never predicts")]
)
def test_an_import_that_cannot_predict_the_end_of_a_sentence_has_no_perplexity(encoder, missing, said):
    special = {token: None if token in missing else token.upper() for token in ("<pad>", "<bos>", "<eos>", "<unk>")}
    checkpoint = dataclasses.replace(encoder.checkpoint, metrics={"import": {"special": special}})
    imported = dataclasses.replace(encoder, checkpoint=checkpoint)
    if said is None:
        assert language_model(imported) is encoder.model
    else:
        with pytest.raises(PerplexityError, match=said):
            examples_perplexity(imported)
