import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from gensim.models import Word2Vec
from pydantic import ValidationError

from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.text import NUM_SPECIAL, UNK
from ctxemb.tokenized import TokenizationReport, TokenizedCorpus
from ctxemb.word2vec import Word2VecConfig, train_word2vec

ROOT = Path(__file__).parents[2]
SMALL = Word2VecConfig(vector_size=16, window=3, num_epochs=3)
NUM_WORDS = NUM_SPECIAL + 20


def make_corpus(sentences: Sequence[Sequence[int]]) -> TokenizedCorpus:
    ids = np.concatenate([np.array(sentence, dtype=np.int32) for sentence in sentences])
    offsets = np.cumsum([0, *map(len, sentences)])
    report = TokenizationReport(len(sentences), len(sentences), len(ids), int((ids == UNK).sum()), 0, 0, 0)
    return TokenizedCorpus(ids, offsets, np.arange(len(sentences), dtype=np.int32), report)


def topic_sentences(num_sentences: int = 600, seed: int = 0) -> list[list[int]]:
    """Sentences of 8 words, all from ids 4-13 or all from ids 14-23."""
    rng = np.random.default_rng(seed)
    starts = NUM_SPECIAL + 10 * rng.integers(2, size=num_sentences)
    return [(start + rng.integers(10, size=8)).tolist() for start in starts]


@pytest.fixture(scope="module")
def topics() -> TokenizedCorpus:
    return make_corpus(topic_sentences())


def same_topic_share(vectors_VD: np.ndarray) -> float:
    """Share of the 20 words whose nearest word is of their topic."""
    cosines = cosine_matrix(vectors_VD[NUM_SPECIAL:])
    np.fill_diagonal(cosines, -2)
    return float(np.mean(cosines.argmax(axis=1) // 10 == np.arange(20) // 10))


def test_two_topics_are_told_apart_after_training_and_not_before(topics):
    untrained = Word2Vec(vector_size=16, min_count=1, seed=0)
    untrained.build_vocab_from_freq(dict.fromkeys(range(20), 1))
    before = np.concatenate([np.zeros((NUM_SPECIAL, 16)), untrained.wv.vectors])
    config = Word2VecConfig(vector_size=16, window=5, num_epochs=20, sample=0)
    after = train_word2vec(topics, NUM_WORDS, config, threads=1)
    assert same_topic_share(before) < 0.8
    assert same_topic_share(after) == 1


@pytest.mark.parametrize("skip_gram", [True, False])
@pytest.mark.parametrize("sample", [0, 0.05])
def test_it_is_what_gensim_makes_of_the_same_text(tmp_path, skip_gram, sample):
    rng = np.random.default_rng(1)
    # rising counts without a tie, for gensim sorts words by count and gives them their first vectors in that order
    ids = rng.permutation(np.repeat(np.arange(NUM_SPECIAL, NUM_SPECIAL + 12), 10 + np.arange(12)))
    sentences = np.array_split(ids, 25)
    config = SMALL.model_copy(update={"skip_gram": skip_gram, "sample": sample, "seed": 7})
    path = tmp_path / "words.txt"
    path.write_text("\n".join(" ".join(f"word-{i}" for i in sentence) for sentence in sentences) + "\n")
    reference = Word2Vec(
        corpus_file=str(path),
        vector_size=16,
        window=3,
        negative=5,
        sample=sample,
        sg=int(skip_gram),
        epochs=3,
        seed=7,
        workers=1,
        min_count=1,
    )
    vectors_VD = train_word2vec(make_corpus(sentences), NUM_WORDS, config, threads=1)
    for word_id in range(NUM_SPECIAL, NUM_SPECIAL + 12):
        np.testing.assert_allclose(vectors_VD[word_id], reference.wv[f"word-{word_id}"], atol=1e-6)


def test_special_ids_and_words_that_do_not_occur_have_no_vector(topics):
    vectors_VD = train_word2vec(topics, NUM_WORDS + 1, SMALL, threads=1)
    assert vectors_VD.shape == (NUM_WORDS + 1, 16)
    assert vectors_VD.dtype == np.float32
    assert np.flatnonzero(~vectors_VD.any(axis=1)).tolist() == [*range(NUM_SPECIAL), NUM_WORDS]
    assert np.isfinite(vectors_VD).all()


def test_unknown_words_are_as_good_as_absent():
    sentences = topic_sentences(100)
    holed = [[word for i in sentence for word in (UNK, i)] for sentence in sentences]
    with_unknown = make_corpus([[UNK, UNK], *holed, [UNK]])
    expected = train_word2vec(make_corpus(sentences), NUM_WORDS, SMALL, threads=1)
    np.testing.assert_array_equal(train_word2vec(with_unknown, NUM_WORDS, SMALL, threads=1), expected)


def test_one_thread_always_gives_the_same_vectors_also_in_a_process_that_hashes_otherwise(topics):
    first, again = (train_word2vec(topics, NUM_WORDS, SMALL, threads=1) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    script = (
        "import hashlib, test_word2vec as t; from ctxemb.word2vec import train_word2vec;"
        "v = train_word2vec(t.make_corpus(t.topic_sentences()), t.NUM_WORDS, t.SMALL, threads=1);"
        "print(hashlib.sha256(v.tobytes()).hexdigest())"
    )
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(Path(__file__).parent)]),
        "PYTHONHASHSEED": "1234" if os.environ.get("PYTHONHASHSEED") != "1234" else "1",
    }
    other = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == hashlib.sha256(first.tobytes()).hexdigest()


def test_another_seed_gives_other_vectors(topics):
    first, other = (
        train_word2vec(topics, NUM_WORDS, SMALL.model_copy(update={"seed": seed}), threads=1) for seed in (0, 1)
    )
    assert not np.allclose(first[NUM_SPECIAL:], other[NUM_SPECIAL:], atol=1e-3)


def test_several_threads_learn_the_same_topics(topics):
    config = Word2VecConfig(vector_size=16, num_epochs=20, sample=0)
    assert same_topic_share(train_word2vec(topics, NUM_WORDS, config, threads=3)) == 1


def test_more_threads_than_sentences_and_a_vocabulary_of_one_word_are_no_problem():
    vectors_VD = train_word2vec(make_corpus([[4, 4, 4]]), NUM_WORDS, SMALL, threads=4)
    assert np.flatnonzero(vectors_VD.any(axis=1)).tolist() == [4]


def test_every_epoch_is_reported_and_nothing_is_printed(topics, capfd, caplog):
    done = []
    train_word2vec(topics, NUM_WORDS, SMALL, threads=2, on_progress=done.append)
    assert done == [1, 2, 3]
    assert capfd.readouterr() == ("", "")
    assert [record.message for record in caplog.records if record.levelname == "WARNING"] == []


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([[4, NUM_WORDS]], r"the corpus has ids up to 24, but there are only 24 words; tokenise it with the same"),
        ([[UNK, UNK]], "the corpus has no word of the vocabulary, so there is nothing to train"),
    ],
)
def test_a_corpus_without_anything_to_train_is_refused(sentences, message):
    with pytest.raises(ValueError, match=message):
        train_word2vec(make_corpus(sentences), NUM_WORDS, SMALL, threads=1)


@pytest.mark.parametrize(
    "setting", [{"vector_size": 0}, {"window": 0}, {"negative": 0}, {"num_epochs": 0}, {"sample": 1}, {"seed": -1}]
)
def test_a_setting_out_of_range_is_refused(setting):
    with pytest.raises(ValidationError):
        Word2VecConfig.model_validate(setting)
