"""Word2Vec on a tokenised corpus: the static control, and the table that a contrastive encoder starts from.

gensim trains; this room hands it the corpus as a file of ids, so that its threads never wait for Python.

Source: skip-gram with negative sampling, Mikolov et al. 2013, arXiv:1310.4546.

V vocabulary, D numbers per vector.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from ctxemb.text import NUM_SPECIAL
from ctxemb.tokenized import TokenizedCorpus

SENTENCES_PER_CHUNK = 10_000


class Word2VecConfig(BaseModel):
    """Size of the vectors, and how they are trained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    vector_size: int = Field(default=100, ge=1, le=4_096, description="D, numbers per word")
    window: int = Field(default=5, ge=1, le=1_000, description="Words on either side that a word has to predict")
    negative: int = Field(default=5, ge=1, le=100, description="Random words that each predicted word is held against")
    num_epochs: int = Field(default=5, ge=1, le=1_000, description="Passes over the text")
    sample: float = Field(
        default=1e-3, ge=0, lt=1, description="Words above this share of the text are skipped at random; 0 skips none"
    )
    skip_gram: bool = Field(default=True, description="A word predicts its context, not the context the word (CBOW)")
    seed: int = Field(default=0, ge=0, lt=2**32, description="Of the first vectors, the windows and the random words")


def train_word2vec(
    corpus: TokenizedCorpus,
    num_words: int,
    config: Word2VecConfig,
    threads: int,
    on_progress: Callable[[int], None] | None = None,
) -> np.ndarray:
    """Train a vector for every word of a corpus.

    `<unk>` is left out of the sentences, as gensim does with words it does not know, for it stands for no one word.

    Args:
        num_words: V, special ids included.
        threads: with one, the same corpus, config and version of gensim always give the same vectors.
        on_progress: called with the number of epochs done.

    Returns:
        (V, D) float32, row i for id i. Zero for the special ids, `<unk>` among them, and for words that the corpus
        does not contain.

    Raises:
        ValueError: if the corpus has ids that are no words of the vocabulary, or no known word at all.
        OSError: if the temporary folder has no room for the corpus (about six bytes a token).
    """
    from gensim.models import Word2Vec  # seconds to import

    counts_V = np.bincount(corpus.ids, minlength=num_words)
    if len(counts_V) > num_words:
        raise ValueError(
            f"the corpus has ids up to {len(counts_V) - 1}, but there are only {num_words} words; "
            "tokenise it with the same vocabulary"
        )
    known = NUM_SPECIAL + np.flatnonzero(counts_V[NUM_SPECIAL:])
    if not len(known):
        raise ValueError("the corpus has no word of the vocabulary, so there is nothing to train; use another text")
    model = Word2Vec(
        vector_size=config.vector_size,
        window=config.window,
        negative=config.negative,
        sample=config.sample,
        sg=int(config.skip_gram),
        seed=config.seed,
        min_count=1,
        workers=threads,
        epochs=config.num_epochs,
    )
    with tempfile.TemporaryDirectory(prefix="ctxemb-word2vec-") as folder:
        path = Path(folder) / "ids.txt"
        num_sentences = _write_ids(path, corpus)
        counts = {_key(word_id): int(counts_V[word_id]) for word_id in known.tolist()}
        model.build_vocab_from_freq(counts, corpus_count=num_sentences)
        model.train(
            corpus_file=str(path),
            total_examples=num_sentences,
            total_words=sum(counts.values()),
            epochs=config.num_epochs,
            callbacks=[_epoch_callback(on_progress or (lambda _: None))],
        )
    vectors_VD = np.zeros((num_words, config.vector_size), dtype=np.float32)
    vectors_VD[[int(str(key)[1:]) for key in model.wv.index_to_key]] = model.wv.vectors
    return vectors_VD


def _key(word_id: int) -> str:
    # a thread starts anywhere in the file, also inside a key: without the letter, the rest of an id is another id
    return f"i{word_id}"


def _write_ids(path: Path, corpus: TokenizedCorpus) -> int:
    """One sentence a line, known words only; the number of lines."""
    num_sentences = 0
    with path.open("w", encoding="ascii") as file:
        for first in range(0, len(corpus), SENTENCES_PER_CHUNK):
            last = min(first + SENTENCES_PER_CHUNK, len(corpus))
            start, *ends = corpus.offsets[first : last + 1].tolist()
            keys = [_key(i) if i >= NUM_SPECIAL else "" for i in corpus.ids[start : ends[-1]].tolist()]
            begin = 0
            for end in ends:
                words = [key for key in keys[begin : end - start] if key]
                begin = end - start
                if words:
                    file.write(" ".join(words) + "\n")
                    num_sentences += 1
    return num_sentences


def _epoch_callback(on_progress: Callable[[int], None]) -> Any:
    from gensim.models.callbacks import CallbackAny2Vec

    class Epochs(CallbackAny2Vec):
        num_done = 0

        def on_epoch_end(self, model: Any) -> None:
            self.num_done += 1
            on_progress(self.num_done)

    return Epochs()
