import lzma
import math

import numpy as np
import pytest
import torch

from ctxemb.batching import make_batch
from ctxemb.corpora import CorpusError
from ctxemb.evaluation.perplexity import PerplexityError, corpus_perplexity, sequence_nats
from ctxemb.evaluation.public.catalogue import PUBLIC_TESTS, run_test
from ctxemb.evaluation.public.subject import Subject

LINES = [
    " = Bank = ",
    " The old bank approved the loan . We sat on the bank of the river . ",
    " ",
    " A zyzzyva worked in the plant . ",
]


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The data folder with both parts, the published one and a packed one."""
    folder = tmp_path / "wikitext-2"
    folder.mkdir()
    (folder / "wiki.test.tokens").write_text("\n".join(LINES) + "\n")
    (folder / "valid.txt.xz").write_bytes(lzma.compress("\n".join(LINES[2:]).encode()))
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    return tmp_path


def score(encoder, folder, split=None):
    return run_test(PUBLIC_TESTS["wikitext-2"], Subject(encoder), folder, split)


def naive_perplexity(encoder, texts: list[str], direction: int) -> float:
    with torch.inference_mode():
        nats = [encoder.model(make_batch([encoder.tokenizer.encode(text).ids]))[direction] for text in texts]
    return math.exp(torch.cat(nats).mean().item())


def test_both_protocols_are_what_a_loop_over_sequences_gives(encoder, home):
    found = score(encoder, home)
    assert found.split == "test"
    line = LINES[1].strip()
    cut = line.index("We")
    texts = {
        "a sentence at a time": [line[:cut].strip(), line[cut:], LINES[3].strip()],
        "a line at a time": [line, LINES[3].strip()],
    }
    rows = {(row.reading, row.measure): row for row in found.rows}
    assert len(rows) == 4
    for protocol, sequences in texts.items():
        for direction, name in enumerate(("forward", "backward")):
            row = rows[name, f"perplexity, {protocol}"]
            assert row.value == pytest.approx(naive_perplexity(encoder, sequences, direction), rel=1e-4)
            assert row.low <= row.value <= row.high
            assert row.num_items == len(sequences)
            assert row.baselines == {"all words alike": len(encoder.tokenizer)}
    assert "3 sequences of" in found.notes[0]
    assert "2 sequences of" in found.notes[1]


def test_sentences_agree_with_the_perplexity_of_the_readings(encoder, home):
    found = score(encoder, home, "dev")
    assert (found.split, [row.num_items for row in found.rows]) == ("valid", [1] * 4)
    expected = corpus_perplexity(encoder, "wikitext-2:test")
    forward, backward = (row.value for row in score(encoder, home, "test").rows[:2])
    assert (forward, backward) == pytest.approx((expected.perplexity_forward, expected.perplexity_backward), rel=1e-5)


def test_no_state_goes_from_one_sequence_to_the_next(encoder):
    sequences = [np.array(encoder.tokenizer.encode(text).ids) for text in ("the old bank", "we sat on the bank", "a")]
    nats, num_predictions = sequence_nats(encoder.model, sequences, encoder.device)
    assert num_predictions.tolist() == [4, 6, 2]
    for row, sequence in enumerate(sequences):
        alone, _ = sequence_nats(encoder.model, [sequence], encoder.device)
        np.testing.assert_allclose(nats[:, row], alone[:, 0], rtol=1e-5)


def test_an_encoder_that_predicts_nothing_is_told_so(angled, home):
    with pytest.raises(PerplexityError, match="a static encoder predicts no words"):
        run_test(PUBLIC_TESTS["wikitext-2"], angled(), home)


def test_a_file_without_text_is_named(encoder, tmp_path):
    (tmp_path / "wiki.valid.tokens").write_text(" = Heading = \n \n")
    with pytest.raises(CorpusError, match=r"wiki\.valid\.tokens holds no text"):
        score(encoder, tmp_path)
