"""Whether what must not see the word sees it: it is replaced, and nothing may change.

T tokens, L layers above layer 0, D numbers per vector, V vocabulary.
"""

from collections.abc import Iterator

import numpy as np
import torch

from ctxemb.batching import make_batch
from ctxemb.checkup.result import Finding, not_applicable, tiny
from ctxemb.checkup.subject import Subject, largest_difference
from ctxemb.encoder import Encoding
from ctxemb.models.directions import DIRECTIONS
from ctxemb.models.reading import Reading
from ctxemb.text import NUM_SPECIAL

NUM_SENTENCES, NUM_REPLACEMENTS = 3, 2
# rounding of float32; a model that sees the word changes by whole nats, a vector by tenths
MAX_CHANGE_NATS, MAX_CHANGE = 1e-4, 1e-5
ADVICE = (
    "A direction must have read only the words before (or after) the one that it predicts: look for a state that is "
    "one place off, or for a reversal that takes padding along."
)


@torch.inference_mode()
def check_leak(subject: Subject) -> Finding:
    """Whether predictions, or vectors of the context, change when the word at their own position is replaced."""
    has_context = "context" in subject.encoder.config.model.readouts and subject.encoder.num_layers > 0
    if subject.predictor is None and not has_context:
        return not_applicable("Nothing here is meant to leave the word out: no predictions and no read-out `context`.")
    if not (sentences := subject.known_sentences(NUM_SENTENCES)):
        return not_applicable("None of our example sentences has between 6 and 20 words in this tokenizer.")
    leaks: dict[str, tuple[float, float]] = {}  # what changed -> by how much, and how much it may
    if subject.predictor is not None:
        for direction, change in zip(DIRECTIONS, _change_of_predictions(subject, sentences), strict=True):
            leaks[f"{direction} prediction"] = (change, MAX_CHANGE_NATS)
    if has_context:
        leaks["`context` vector"] = (_change_of_vectors(subject, sentences), MAX_CHANGE)
    worst = max(leaks.values(), key=lambda found: found[0] / found[1])[0]
    shown = ", ".join(tiny(change) for change, _ in leaks.values())
    limits = [f"{MAX_CHANGE_NATS:.0e} nats"] if subject.predictor is not None else []
    limit = " and ".join([*limits, f"{MAX_CHANGE:.0e} of a vector"] if has_context else limits)
    tried = f"{len(sentences)} sentences, three places and {NUM_REPLACEMENTS} other words each"
    bad = [what for what, (change, most) in leaks.items() if not change <= most]
    if bad:
        changes = " and ".join(f"the {what} changes by {leaks[what][0]:.2g}" for what in bad)
        found = f"When the word is replaced, {changes} ({tried}): it sees the word."
        return Finding("fail", found, worst, shown, f"at most {limit}", ADVICE)
    found = f"Another word in its place changes nothing in its {', '.join(leaks)} ({tried})."
    return Finding("pass", found, worst, shown, f"at most {limit}")


def _change_of_predictions(subject: Subject, sentences: list[Encoding]) -> tuple[float, float]:
    """Largest change of a log-probability, forward and backward, in nats."""
    predictor, device = subject.predictor, subject.encoder.device
    assert predictor is not None
    changes_2 = np.zeros(2)
    for encoding in sentences:
        before_2TV = predictor.predictions(make_batch([encoding.ids]).to(device))[:, 0]
        # one at a time: each of its places has V numbers in both directions
        for position, replaced in _replacements(subject, encoding):
            after_2TV = predictor.predictions(make_batch([replaced]).to(device))[:, 0]
            change_2 = (before_2TV[:, position] - after_2TV[:, position]).abs().amax(dim=-1).cpu().numpy()
            changes_2 = np.maximum(changes_2, change_2)  # keeps a NaN
    return float(changes_2[0]), float(changes_2[1])


def _change_of_vectors(subject: Subject, sentences: list[Encoding]) -> float:
    """Largest change of a `context` vector at any layer above 0."""
    reader = subject.encoder.with_reading(Reading(readout="context"))
    before, after = [], []
    for encoding in sentences:
        (before_LTD,) = reader.layers_of_ids([encoding.ids], "context")
        for position, replaced in _replacements(subject, encoding):
            (after_LTD,) = reader.layers_of_ids([replaced], "context")
            before.append(before_LTD[1:, position])
            after.append(after_LTD[1:, position])
    return largest_difference(before, after)


def _replacements(subject: Subject, encoding: Encoding) -> Iterator[tuple[int, np.ndarray]]:
    """The first, a middle and the last place of a sentence, and its ids with another word there."""
    rng = np.random.default_rng(0)
    for position in (0, len(encoding.ids) // 2, len(encoding.ids) - 1):
        for word_id in rng.integers(NUM_SPECIAL, len(subject.encoder.tokenizer), NUM_REPLACEMENTS):
            replaced = encoding.ids.copy()
            replaced[position] = word_id
            yield position, replaced
