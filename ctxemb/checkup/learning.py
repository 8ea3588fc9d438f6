"""Whether anything was learnt, and what is recorded of it.

S sentences, N predictions or pairs, D numbers per vector.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from ctxemb.batching import make_batch, plan_batches
from ctxemb.calibration import CorpusUse, use_layers
from ctxemb.checkpoint import METRICS
from ctxemb.checkup.passages import MIN_PAIRS, find_pairs
from ctxemb.checkup.result import Finding, Losses, not_applicable
from ctxemb.checkup.space import MAX_RANDOM_COSINE, mean_random_cosine
from ctxemb.checkup.subject import PredictsWords, Subject
from ctxemb.corpora import NAMED, open_corpus
from ctxemb.encoder import Encoder
from ctxemb.evaluation.perplexity import BATCH_TOKENS, EXAMPLES, made_up_ids, sequence_nats
from ctxemb.examples import load_examples
from ctxemb.losses import info_nce
from ctxemb.models.directions import DIRECTIONS
from ctxemb.models.families import build_model, spell_vocabulary
from ctxemb.models.reading import Reading
from ctxemb.text import BOS, EOS, Language
from ctxemb.tokenized import corpus_sentences

# an untrained model stands within 0.02 nats of ln V, and a minute of training takes a tenth off it
MAX_LOSS_SHARE, HIGH_LOSS_SHARE = 0.95, 0.85
LEAK_PERPLEXITY, LEAK_VOCABULARY = 3.0, 1_000  # no model predicts real text that well without seeing it
TEMPERATURE = 0.1
MIN_GAIN_NATS = 0.1  # below a guess and below random weights; the shipped encoders gain 2 nats, on few pairs 0.3
NUM_RECORDED_SENTENCES = 600
# rounding and other kernels, and on a sample four standard errors: one chance in 15,000
MAX_RECORDED_CHANGE_NATS, NUM_STANDARD_ERRORS = 0.02, 4
ADVICE_UNTRAINED = (
    "Train it, or look whether the weights and the tokenizer belong together: words in the wrong rows look untrained."
)


def check_trained(subject: Subject) -> Finding:
    """Whether it predicts words better than a guess, or tells passages apart better than random weights."""
    if subject.encoder.num_layers == 0:
        return not_applicable("One vector a word: nothing here has learnt to read a context.")
    predictor = subject.predictor
    return _check_contexts(subject) if predictor is None else _check_predictions(subject, predictor)


def check_perplexity(subject: Subject) -> Finding:
    """Whether its perplexity is the one that it was recorded with."""
    predictor = subject.predictor
    if predictor is None:
        return not_applicable("It predicts no words, so it has no perplexity.")
    recorded = _recorded_perplexities(subject.encoder.checkpoint.metrics)
    if not recorded:
        return not_applicable(
            f"Its {METRICS} records no perplexity on a named text; `python -m ctxemb evaluate --save` does."
        )
    for name, perplexities_2 in recorded.items():
        sentences = _sentences_of(name, subject.language)
        if sentences is not None:
            return _compare_with_recorded(subject, predictor, name, sentences, perplexities_2)
    return not_applicable(
        f"It was recorded on {' and '.join(recorded)}, which {'is' if len(recorded) == 1 else 'are'} not on this "
        "machine; `python -m ctxemb data get` fetches it."
    )


def info_nce_of_pairs(encoder: Encoder, pairs: Sequence[tuple[CorpusUse, CorpusUse]]) -> float:
    """How surprising the other use of each pair is among those of all pairs, in nats; a guess has ln N."""
    flat = [use for pair in pairs for use in pair]
    layers_LND = use_layers(encoder, flat, encoder.reading.readout).swapaxes(0, 1)
    vectors_ND = torch.from_numpy(encoder.reading.combine(layers_LND))
    return info_nce(vectors_ND[0::2], vectors_ND[1::2], torch.eye(len(pairs)), temperature=TEMPERATURE).mean().item()


def sentence_losses(
    encoder: Encoder, predictor: PredictsWords, sentences: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Negative log-likelihood of each sentence, (S, 2) forward and backward, in nats, and (S,) predictions in each.

    A sentence predicts its words and its end; those without a word are left out.
    """
    sequences = [ids for ids in encoder.tokenizer.encode_ids(sentences) if len(ids)]
    nats_2S, sizes_S = sequence_nats(predictor, sequences, encoder.device)
    return nats_2S.T, sizes_S


def _check_predictions(subject: Subject, predictor: PredictsWords) -> Finding:
    num_words = len(subject.encoder.tokenizer)
    losses_2 = _mean_losses(subject, predictor)
    if np.isnan(losses_2).any():
        return not_applicable("It predicts none of the words of our example sentences.")
    chance, worst = math.log(num_words), float(losses_2.max())
    shown = f"loss {losses_2[0]:.2f} / {losses_2[1]:.2f}"
    limit = f"at most {HIGH_LOSS_SHARE * chance:.2f} nats; a guess {chance:.2f}"
    picture = Losses(dict(zip(DIRECTIONS, losses_2.tolist(), strict=True)), {"a guess, ln V": chance})
    told = f"On our example sentences the loss is {losses_2[0]:.2f} nats forward and {losses_2[1]:.2f} backward"
    if not worst <= MAX_LOSS_SHARE * chance:
        found = f"{told}, no better than a guess over all {num_words:,} words ({chance:.2f})."
        return Finding("fail", found, worst, shown, limit, ADVICE_UNTRAINED, picture)
    if float(losses_2.min()) < math.log(LEAK_PERPLEXITY) and num_words >= LEAK_VOCABULARY:
        found = f"{told}: no model predicts words that well without seeing them."
        advice = "Look for a direction that reads the word it predicts, or for our example sentences in its training."
        return Finding("fail", found, float(losses_2.min()), shown, limit, advice, picture)
    if worst > HIGH_LOSS_SHARE * chance:
        found = f"{told}, hardly better than a guess ({chance:.2f})."
        return Finding("warn", found, worst, shown, limit, "Train it longer, or on more text.", picture)
    found = f"{told}; a guess has {chance:.2f} (perplexity {math.exp(worst):,.0f} of {num_words:,})."
    return Finding("pass", found, worst, shown, limit, picture=picture)


@torch.inference_mode()
def _mean_losses(subject: Subject, predictor: PredictsWords) -> np.ndarray:
    """(2,) forward and backward, in nats; NaN where there is nothing to predict.

    Special tokens that an import made up have no output row to be predicted by, and do not count.
    """
    encoder = subject.encoder
    made_up = made_up_ids(encoder.checkpoint.metrics)
    sequences = [ids for ids in encoder.tokenizer.encode_ids(subject.sentences) if len(ids)]
    nats_2, counts_2 = np.zeros(2), np.zeros(2)
    for rows in plan_batches(np.array([len(ids) for ids in sequences], dtype=np.int64), BATCH_TOKENS):
        members = [sequences[row] for row in rows]
        targets = [
            np.concatenate([[*ids, EOS] for ids in members]),
            np.concatenate([[*ids[::-1], BOS] for ids in members]),
        ]
        for way, nats_N in enumerate(predictor(make_batch(members).to(encoder.device))):
            counted_N = ~np.isin(targets[way], made_up)
            nats_2[way] += nats_N.double().cpu().numpy()[counted_N].sum()
            counts_2[way] += counted_N.sum()
    return np.where(counts_2 > 0, nats_2 / np.maximum(counts_2, 1), np.nan)


def _check_contexts(subject: Subject) -> Finding:
    """InfoNCE of uses in one passage, read without the word where that is possible: it would give the answer away."""
    if mean_random_cosine(subject) >= MAX_RANDOM_COSINE:
        return not_applicable("All vectors are nearly the same, whatever was learnt.")
    encoder = subject.encoder
    if "context" in encoder.config.model.readouts:
        encoder = encoder.with_reading(Reading(readout="context"))
    found = find_pairs(subject)
    if len(found.pairs) < MIN_PAIRS:
        return not_applicable(f"Only {len(found.pairs)} pairs of uses are to be had with its vocabulary.")
    loss, untrained = (info_nce_of_pairs(each, found.pairs) for each in (encoder, _untrained_twin(encoder)))
    chance = math.log(len(found.pairs))
    most = min(chance, untrained) - MIN_GAIN_NATS
    shown, limit = (
        f"InfoNCE {loss:.2f}",
        f"at most {most:.2f} nats; random weights {untrained:.2f}, a guess {chance:.2f}",
    )
    picture = Losses({"this encoder": loss}, {"random weights": untrained, "a guess, ln N": chance})
    told = (
        f"The other use of a pair is found among {len(found.pairs)} ({found.source}) with an InfoNCE of {loss:.2f} nats"
    )
    if not loss <= most:
        # only an encoder that is trained to do this can be blamed for not doing it
        verdict = "fail" if encoder.config.family == "contrastive" else "warn"
        return Finding(verdict, f"{told}, no better than untrained.", loss, shown, limit, ADVICE_UNTRAINED, picture)
    return Finding("pass", f"{told}.", loss, shown, limit, picture=picture)


def _untrained_twin(encoder: Encoder) -> Encoder:
    """An encoder of the same sizes with random weights, the same each time."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = build_model(encoder.config.model).eval()
    spell_vocabulary(model, encoder.tokenizer)
    checkpoint = dataclasses.replace(encoder.checkpoint, model=model.to(encoder.device))
    return dataclasses.replace(encoder, checkpoint=checkpoint)


def _recorded_perplexities(metrics: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """Forward and backward by the name of a text; the file may hold anything."""
    evaluation = metrics.get("evaluation") if isinstance(metrics, dict) else None
    found = {}
    for name, record in (evaluation if isinstance(evaluation, dict) else {}).items():
        values: list[Any] = [record.get(f"perplexity_{way}") for way in DIRECTIONS] if isinstance(record, dict) else []
        if values and all(isinstance(value, int | float) and 1 <= value < math.inf for value in values):
            found[name] = (float(values[0]), float(values[1]))
    return found


def _sentences_of(name: str, language: Language) -> list[str] | None:
    """The sentences of a text that is on this machine; None if it is not, and nothing is fetched."""
    if name == EXAMPLES:
        return load_examples(language).sentence.tolist()
    if name not in NAMED or NAMED[name].found is None:
        return None
    chunks = corpus_sentences([open_corpus(name)], language)
    return [sentence for chunk in chunks for passage in chunk for sentence in passage]


def _compare_with_recorded(
    subject: Subject,
    predictor: PredictsWords,
    name: str,
    sentences: Sequence[str],
    recorded_2: tuple[float, float],
) -> Finding:
    num_read = min(len(sentences), NUM_RECORDED_SENTENCES)
    rows = np.random.default_rng(0).choice(len(sentences), num_read, replace=False)
    nats_S2, sizes_S = sentence_losses(subject.encoder, predictor, [sentences[int(row)] for row in rows])
    losses_2 = nats_S2.sum(axis=0) / sizes_S.sum()
    # of a ratio of sums over a sample without replacement
    deviations_S2 = nats_S2 - sizes_S[:, None] * losses_2
    errors_2 = np.sqrt(len(sizes_S) * deviations_S2.var(axis=0) * (1 - num_read / len(sentences))) / sizes_S.sum()
    allowed_2 = np.maximum(MAX_RECORDED_CHANGE_NATS, NUM_STANDARD_ERRORS * errors_2)
    changes_2 = np.abs(losses_2 - np.log(recorded_2))
    worst = int(np.argmax(changes_2 / allowed_2))
    number = math.exp(losses_2[worst])
    shown = " / ".join(f"{math.exp(loss):,.1f}" for loss in losses_2)
    expected = " / ".join(f"{value:,.1f}" for value in recorded_2)
    limit = f"{expected} recorded, ± {math.expm1(allowed_2[worst]):.0%}"
    part = f"all {num_read:,}" if num_read == len(sentences) else f"{num_read:,} of the {len(sentences):,}"
    told = f"On {part} sentences of {name} the perplexity is {shown} (forward / backward), and {expected} is recorded"
    if not (changes_2 <= allowed_2).all():
        advice = (
            "The weights, the tokenizer or the record are not those of that measurement: measure anew with "
            "`python -m ctxemb evaluate --save`, and if the number surprises you, look for the right files."
        )
        return Finding("fail", f"{told}.", number, shown, limit, advice)
    return Finding("pass", f"{told}.", number, shown, limit)
