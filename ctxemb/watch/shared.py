"""Rules for every family. How much is much is measured in shares of the loss of a guess (`chance`).

In healthy runs of both families, from a minute to two hours long, the mean loss never rose by more than 0.01 of chance,
and two successive steps differed by at most 0.05 of it on average.
"""

import math
from statistics import fmean

from ctxemb.progress import StepRecord
from ctxemb.watch.history import WINDOW_STEPS, History
from ctxemb.watch.rule import Rule

STUCK_SHARE = 0.95
REBOUND_SHARE = 0.04
SWING_SHARE = 0.12
ALTERNATING_LOOKS, ALTERNATING_SHARE = 7, 0.02
RISING_LOOKS, RISE_SHARE = 3, 0.003
FLAT_LOOKS, FLAT_SHARE = 6, 0.002
FLAT_UNTIL = 0.8  # of the steps; a schedule that ends in small rates ends flat


def _stuck(history: History) -> str | None:
    if not (history.is_warm and history.loss.value >= STUCK_SHARE * history.chance_nats):
        return None
    return (
        f"for {WINDOW_STEPS} steps after the warm-up, the loss has been no better than that of a guess "
        f"({history.loss.value:.2f} of {history.chance_nats:.2f} nats)."
    )


def _not_finite(history: History) -> str | None:
    if history.looks and not math.isfinite(history.looks[-1].loss_nats):
        return "the validation loss is not a number; this state is not saved as a checkpoint."
    if history.rescue is None:
        return None
    return f"step {history.rescue.step:,} was skipped ({history.rescue.reason}) and the rate halved."


def _not_finite_again(history: History) -> str | None:
    if not history.num_restores:
        return None
    times = "once" if history.num_restores == 1 else f"{history.num_restores} times"
    return (
        f"{history.num_rescues} steps were skipped and the last good state came back {times}; "
        "after a few more the run gives up."
    )


def _rebound(history: History) -> str | None:
    rise = history.loss.value - history.lowest_nats
    if not rise > REBOUND_SHARE * history.chance_nats:
        return None
    return (
        f"over {WINDOW_STEPS} steps the mean loss is {history.loss.value:.2f} nats, and it has been at "
        f"{history.lowest_nats:.2f}: what was learnt is being lost."
    )


def _oscillation(history: History) -> str | None:
    swing = history.swing
    if swing.is_full and swing.value > SWING_SHARE * history.chance_nats:
        return f"the loss jumps by {swing.value:.2f} nats from one step to the next."
    seen = [look.loss_nats for look in history.last_looks(ALTERNATING_LOOKS)]
    turns = [later - earlier for earlier, later in zip(seen, seen[1:], strict=False)]
    alternates = bool(turns) and all(one * next_one < 0 for one, next_one in zip(turns, turns[1:], strict=False))
    if alternates and fmean(map(abs, turns)) > ALTERNATING_SHARE * history.chance_nats:
        return f"the validation loss goes up and down by {fmean(map(abs, turns)):.2f} nats at each look."
    return None


def _over_fitting(history: History) -> str | None:
    best, looks = history.best, history.last_looks(RISING_LOOKS)
    if best is None or not looks or looks[0].record.step <= best.record.step:
        return None
    last = looks[-1]
    has_risen = all(look.loss_nats - best.loss_nats > RISE_SHARE * history.chance_nats for look in looks)
    if not (has_risen and last.loss_nats >= looks[0].loss_nats and last.training_nats < best.training_nats):
        return None
    return (
        f"the validation loss has risen from {best.loss_nats:.2f} to {last.loss_nats:.2f} nats while the training loss "
        f"fell from {best.training_nats:.2f} to {last.training_nats:.2f}; the best was at step {best.record.step:,}."
    )


def _plateau(history: History) -> str | None:
    seen, step = [look.loss_nats for look in history.last_looks(FLAT_LOOKS)], history.step
    if not seen or step is None or step.step > FLAT_UNTIL * step.total_steps:
        return None
    if not max(seen) - min(seen) < FLAT_SHARE * history.chance_nats:
        return None
    unit = f" (perplexity {math.exp(seen[-1]):,.0f})" if isinstance(step, StepRecord) else ""
    return f"over {FLAT_LOOKS} validations the loss has stayed at {seen[-1]:.2f} nats{unit}."


SHARED_RULES = (
    Rule(
        "stuck at chance",
        "A BiLM wants a higher training.learning_rate or a shorter training.warmup_steps. For a contrastive run look "
        "at training.temperature (0.05 to 0.2 is usual); and passages have to hold a word in two sentences that share "
        "some of what they are about.",
        _stuck,
    ),
    Rule(
        "not a number",
        "The run goes on by itself; if it comes again, start anew with a lower training.learning_rate.",
        _not_finite,
    ),
    Rule(
        "not a number, again and again",
        "Start anew with a training.learning_rate of a third, more training.warmup_steps, or "
        "training.precision=float32.",
        _not_finite_again,
    ),
    Rule(
        "rebound",
        "The rate is too high: start anew with half of training.learning_rate or more training.warmup_steps; "
        "the checkpoint `best` is from before.",
        _rebound,
    ),
    Rule(
        "oscillation",
        "Lower training.learning_rate, or take more sentences a step (training.accumulate, or a larger batch): batches "
        "hold sentences of like length, and short and long ones take turns.",
        _oscillation,
    ),
    Rule(
        "over-fitting",
        "Stop here: the checkpoint `best` is from that step. More text or more model.dropout helps; fewer "
        "training.num_epochs or training.early_stop_patience ends the next run in time.",
        _over_fitting,
    ),
    Rule(
        "plateau",
        "The rest of the run will add little at this rate: stop here, or try training.schedule=plateau, which halves "
        "the rate; a larger model or more text goes lower.",
        _plateau,
    ),
)
