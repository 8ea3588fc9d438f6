"""Perplexity of a checkpoint on a named corpus or on our example sentences, a sentence at a time.

The sentence protocol: no state is carried from one sentence to the next, every sentence also predicts its end, and
words outside the checkpoint's own vocabulary count as one word, `<unk>`. Only numbers of one protocol and one
vocabulary may be compared.

S sequences.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ctxemb.batching import Batch, make_batch, plan_batches
from ctxemb.corpora import open_corpus
from ctxemb.distributed import World
from ctxemb.encoder import Encoder
from ctxemb.examples import load_examples
from ctxemb.models.bilm import BiLM
from ctxemb.text import PAD, SPECIAL_TOKENS, UNK
from ctxemb.tokenized import cache_folder, tokenize
from ctxemb.training import evaluate

BATCH_TOKENS = 4_000
EXAMPLES = "examples"
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


def language_model(encoder: Encoder) -> BiLM:
    """The encoder's module, if it predicts words.

    Raises:
        PerplexityError: if it does not, or if it cannot predict a special token that every text holds.
    """
    if isinstance(encoder.model, BiLM):
        if missing := [SPECIAL_TOKENS[i] for i in made_up_ids(encoder.checkpoint.metrics) if i != PAD]:
            raise PerplexityError(
                f"{encoder.checkpoint.path} was imported without {', '.join(missing)} and never predicts "
                f"{'it' if len(missing) == 1 else 'them'}, so that its perplexity has no bound; import one whose words "
                "include them"
            )
        return encoder.model
    family = encoder.config.family
    what = "an elmo encoder, whose files leave its output layer out," if family == "elmo" else f"a {family} encoder"
    raise PerplexityError(f"{what} predicts no words; evaluate a bilm for that")


def made_up_ids(metrics: Mapping[str, Any]) -> list[int]:
    """Special ids that the record of an import says the file had no row for; the record may hold anything."""
    record = metrics.get("import") if isinstance(metrics, dict) else None
    special = record.get("special") if isinstance(record, dict) else None
    if not isinstance(special, dict):
        return []
    return [word_id for word_id, token in enumerate(SPECIAL_TOKENS) if special.get(token, token) is None]


def corpus_perplexity(encoder: Encoder, corpus_name: str = "wikitext-2:valid", cache: Path | None = None) -> Perplexity:
    """Measure both directions on all sentences of a corpus.

    Raises:
        PerplexityError: if the checkpoint is no language model.
        CorpusError: if the corpus cannot be had.
    """
    model = language_model(encoder)
    text = encoder.config.text.model_copy(update=WHOLE_SENTENCES)
    corpus = tokenize([open_corpus(corpus_name)], encoder.tokenizer, text, cache or cache_folder())
    world = World(0, 1, encoder.device)
    forward, backward = evaluate(model, corpus, np.arange(len(corpus)), batch_tokens=BATCH_TOKENS, world=world)
    return Perplexity(
        corpus=corpus_name,
        perplexity_forward=math.exp(forward),
        perplexity_backward=math.exp(backward),
        num_tokens=corpus.report.num_tokens,
        num_sentences=len(corpus),
        unknown_share=corpus.report.unknown_share,
    )


def examples_perplexity(encoder: Encoder) -> Perplexity:
    """Measure both directions on our example sentences, which are on every machine.

    Raises:
        PerplexityError: if the checkpoint is no language model.
    """
    model = language_model(encoder)
    sequences = list(encoder.tokenizer.encode_ids(load_examples(encoder.config.text.language).sentence.tolist()))
    nats_2S, num_predictions_S = sequence_nats(model, sequences, encoder.device)
    forward, backward = nats_2S.sum(axis=1) / num_predictions_S.sum()
    ids = np.concatenate(sequences)
    return Perplexity(
        corpus=EXAMPLES,
        perplexity_forward=math.exp(forward),
        perplexity_backward=math.exp(backward),
        num_tokens=len(ids),
        num_sentences=len(sequences),
        unknown_share=float(np.mean(ids == UNK)),
    )


@torch.inference_mode()
def sequence_nats(
    predict: Callable[[Batch], tuple[Tensor, Tensor]], sequences: Sequence[np.ndarray], device: torch.device
) -> tuple[np.ndarray, np.ndarray]:
    """How surprising each sequence is: (2, S) nats, forward and backward, and the (S,) number of predictions.

    Args:
        predict: negative log-likelihoods of both directions, sequence after sequence, as a `BiLM` gives them.
        sequences: S arrays of ids, none empty.
        device: where it computes.
    """
    lengths_S = np.array([len(ids) for ids in sequences])
    nats_2S = np.zeros((2, len(sequences)))
    for rows in plan_batches(lengths_S, BATCH_TOKENS):
        batch = make_batch([sequences[row] for row in rows]).to(device)
        starts = np.append(0, np.cumsum(lengths_S[rows] + 1)[:-1])
        for nats_S, nats_N in zip(nats_2S, predict(batch), strict=True):
            nats_S[rows] = np.add.reduceat(nats_N.double().cpu().numpy(), starts)
    return nats_2S, lengths_S + 1
