"""Rules for the contrastive encoder: the two ends of its space, one point and a shortcut."""

from ctxemb.progress import ContrastiveValidationRecord
from ctxemb.watch.history import History
from ctxemb.watch.rule import Rule

COLLAPSED_COSINE = 0.95
EARLY_SHARE = 0.05
EARLY_ACCURACY = 0.98


def _collapsed(history: History) -> str | None:
    last = history.looks[-1].record if history.looks else None
    if not isinstance(last, ContrastiveValidationRecord) or not last.random_cosine > COLLAPSED_COSINE:
        return None
    return f"two random uses have a cosine of {last.random_cosine:.2f} on average, so all vectors are becoming one."


def _too_good(history: History) -> str | None:
    last = history.step
    if last is None or last.step > EARLY_SHARE * last.total_steps:
        return None
    # over a few steps: a single batch may be easy
    if not (history.accuracy.is_full and history.accuracy.value > EARLY_ACCURACY):
        return None
    return (
        f"the positive is the nearest for {history.accuracy.value:.1%} of the anchors, within the first "
        f"{EARLY_SHARE:.0%} of the steps."
    )


CONTRASTIVE_RULES = (
    Rule(
        "collapse",
        "Give it more negatives (training.words_per_batch, training.passages_per_word), a lower "
        "training.learning_rate, or some training.uniformity_weight.",
        _collapsed,
    ),
    Rule(
        "too good too early",
        "Look for a shortcut (the word itself or its frequency gives the answer: raise training.passages_per_word) and "
        "for a leak (a passage that says the same sentence twice).",
        _too_good,
    ),
)
