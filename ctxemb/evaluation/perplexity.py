"""Perplexity of a checkpoint on a named corpus, a sentence at a time.

The sentence protocol: no state is carried from one sentence to the next, every sentence also predicts its end, and
words outside the checkpoint's own vocabulary count as one word, `<unk>`. Only numbers of one protocol and one
vocabulary may be compared.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxemb.corpora import open_corpus
from ctxemb.distributed import World
from ctxemb.encoder import Encoder
from ctxemb.models.bilm import BiLM
from ctxemb.tokenized import cache_folder, tokenize
from ctxemb.training import evaluate

WHOLE_SENTENCES = {"min_sentence_tokens": 1, "max_sentence_tokens": 10_000}


class PerplexityError(ValueError):
    """A checkpoint that predicts no words; the text says so."""


@dataclass(frozen=True)
class Perplexity:
    """Perplexity per direction, and how much of the text the vocabulary covers."""

    corpus: str
    perplexity_forward: float
    perplexity_backward: float
    num_tokens: int
    num_sentences: int
    unknown_share: float


def corpus_perplexity(encoder: Encoder, corpus_name: str = "wikitext-2:valid", cache: Path | None = None) -> Perplexity:
    """Measure both directions on all sentences of a corpus.

    Raises:
        PerplexityError: if the checkpoint is no language model.
        CorpusError: if the corpus cannot be had.
    """
    if not isinstance(encoder.model, BiLM):
        raise PerplexityError(f"a {encoder.config.family} encoder predicts no words; evaluate a bilm for that")
    text = encoder.config.text.model_copy(update=WHOLE_SENTENCES)
    corpus = tokenize([open_corpus(corpus_name)], encoder.tokenizer, text, cache or cache_folder())
    world = World(0, 1, encoder.device)
    forward, backward = evaluate(encoder.model, corpus, np.arange(len(corpus)), batch_tokens=4_000, world=world)
    return Perplexity(
        corpus=corpus_name,
        perplexity_forward=math.exp(forward),
        perplexity_backward=math.exp(backward),
        num_tokens=corpus.report.num_tokens,
        num_sentences=len(corpus),
        unknown_share=corpus.report.unknown_share,
    )
