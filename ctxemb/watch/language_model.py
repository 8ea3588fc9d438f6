"""Rules for the BiLM: its loss has a scale of its own, ln V before anything is learnt."""

import math

from ctxemb.progress import StepRecord, ValidationRecord
from ctxemb.watch.history import History
from ctxemb.watch.rule import Rule

UNTRAINED_TOLERANCE_NATS = 0.3  # runs of 8,000 to 28,000 words start within 0.02
HIGH_NATS, HIGH_EPOCHS = 8.0, 3
LEAK_PERPLEXITY = 3.0  # published models of thousands of times the size stay above it on real text
LEAK_VOCABULARY = 1_000  # a text of fewer words may be as regular as that


def _untrained_off(history: History) -> str | None:
    first, size = history.first, history.vocabulary_size
    if first is None or size is None:
        return None
    losses = {"forward": first.loss_forward_nats, "backward": first.loss_backward_nats}
    off = {way: loss for way, loss in losses.items() if abs(loss - math.log(size)) > UNTRAINED_TOLERANCE_NATS}
    if not off:
        return None
    found = " and ".join(f"{loss:.2f} nats {way}" for way, loss in off.items())
    meaning = (
        "it knows words before it has learnt any"
        if min(off.values()) < math.log(size)
        else "it is worse than a guess over all words"
    )
    return f"the loss of the untrained model is {found}, and ln({size:,}) is {math.log(size):.2f}: {meaning}."


def _still_high(history: History) -> str | None:
    step = history.step
    if not isinstance(step, StepRecord) or step.epoch < HIGH_EPOCHS or not history.loss.is_full:
        return None
    if not history.loss.value > HIGH_NATS:
        return None
    return f"after {step.epoch} passes over the text, the loss is still {history.loss.value:.2f} nats."


def _too_low(history: History) -> str | None:
    if history.vocabulary_size is None or history.vocabulary_size < LEAK_VOCABULARY or not history.looks:
        return None
    last = history.looks[-1].record
    if not isinstance(last, ValidationRecord):
        return None
    lowest = min(last.perplexity_forward, last.perplexity_backward)
    if not lowest < LEAK_PERPLEXITY:
        return None
    return (
        f"the validation perplexity is {lowest:.2f}: no model predicts the words of a real text that well without "
        "seeing them."
    )


LANGUAGE_MODEL_RULES = (
    Rule(
        "untrained loss off",
        "Too low is a leak: a direction reads the word that it predicts. Too high is a wrong vocabulary or start: "
        "delete the run's folder and its text cache, and start anew.",
        _untrained_off,
    ),
    Rule(
        "loss still high",
        "Raise training.learning_rate (1e-3 to 5e-3 is usual), give it more model.hidden_size, or look at the text: "
        "many rare words or mixed languages cannot be predicted (text.min_frequency, text.max_vocabulary).",
        _still_high,
    ),
    Rule(
        "implausibly low",
        "Look for sentences that stand in the text again and again (they are in the held-out part too), or for a text "
        "that was made by rules; in a changed model, for a direction that reads ahead.",
        _too_low,
    ),
)
