"""Training as a generator: `train(...)` yields a typed record a step; drawing and logging belong to the caller.

This room owns clipping, the rescue from non-finite numbers, exact resume, validation, early stop, saving and the
sharing of work between ranks (DistributedDataParallel under `torchrun`). What is learnt is the objective's business.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Literal, TextIO

import torch
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_

from ctxemb.checkpoint import save_checkpoint
from ctxemb.distributed import World
from ctxemb.progress import (
    AnyValidation,
    EndRecord,
    Progress,
    RescueRecord,
    Step,
    Validation,
    keep_records_until,
    progress_line,
)
from ctxemb.training.folder import PROGRESS, RunState, TrainingError, claim_folder, restore_state, save_state
from ctxemb.training.objective import Differentiated, Objective
from ctxemb.training.optimizer import build_optimizer, set_rate
from ctxemb.training.schedule import compute_type, scheduled_rate

RESCUE_CLIP_NORM = 1.0
FAILURES_BEFORE_RESTORE = 3
MAX_RESTORES = 5

OnValidation = Callable[[Objective[Any], int], None]  # the objective with its model, and the step


def train(
    objective: Objective[Any], out: Path, world: World, on_validation: OnValidation | None = None
) -> Iterator[Progress]:
    """Train an objective's model, or go on with the run in `out` if there is one.

    Close the generator to stop: the state is saved and the next call resumes it, with the same loss curve as
    a run that was never interrupted.

    Args:
        on_validation: called in the first process with the untrained model and after each validation, before anything
            of that step is saved: for every validation of the curve it was called, however often the run was killed.
            It may use the model, and draw no random number.

    Raises:
        TrainingError: if `out` holds another run, the corpus is too small, or the loss stays non-finite.
    """
    return Run(objective, out, world, on_validation).records()


class Run:
    """One training run in one process; `records` drives it."""

    def __init__(
        self, objective: Objective[Any], out: Path, world: World, on_validation: OnValidation | None = None
    ) -> None:
        self.objective, self.out, self.world, self.config = objective, out, world, objective.config
        self.on_validation = on_validation if world.is_first else None
        config = self.config
        self.state = RunState(clip_norm=config.clip_norm)
        self.model = objective.model.to(world.device)
        losses = Differentiated(objective, world.device, compute_type(config.precision, world.device))
        # DDP averages gradients over ranks; it also copies rank 0's weights to the others
        self.losses = DistributedDataParallel(losses) if world.size > 1 else losses
        self.optimizer = build_optimizer(config, objective.parameter_groups())
        self.group_size = world.size * config.accumulate
        self.plan = objective.plan(self.state.epoch)
        self.steps_per_epoch = len(self.plan) // self.group_size
        if self.steps_per_epoch == 0:
            raise TrainingError(
                f"{len(self.plan)} batches are too few for {self.group_size} a step (processes x accumulate); "
                "use more text or smaller batches"
            )
        self.total_steps = config.num_epochs * self.steps_per_epoch
        if config.max_tokens:
            tokens_per_step = objective.tokens_per_epoch / self.steps_per_epoch
            self.total_steps = min(self.total_steps, math.ceil(config.max_tokens / tokens_per_step))
        if config.max_steps:
            self.total_steps = min(self.total_steps, config.max_steps)
        if claim_folder(out, objective, world):
            self.state = restore_state(out, self.model, self.optimizer)
            self.plan = objective.plan(self.state.epoch)
        elif world.is_first:
            (out / PROGRESS).touch()
            self._save_state()
        world.barrier()

    def records(self) -> Iterator[Progress]:
        """Run to the end, yielding a record for every step, validation and rescue."""
        state, config = self.state, self.config
        if self.world.is_first:
            keep_records_until(self.out / PROGRESS, state.step)
        if self.on_validation and state.step == 0:
            self.on_validation(self.objective, 0)
        with (self.out / PROGRESS).open("a", encoding="utf-8") if self.world.is_first else nullcontext() as log:
            started = time.perf_counter() - state.seconds
            reason: Literal["finished", "early stop"] = "finished"
            try:
                while state.step < self.total_steps:
                    if config.early_stop_patience and state.num_validations_without_gain >= config.early_stop_patience:
                        reason = "early stop"
                        break
                    # all records of a step are made before the first is handed out: a stop never loses a validation
                    records = list(self._advance())
                    state.seconds = time.perf_counter() - started
                    if log:
                        log.write("".join(progress_line(record) + "\n" for record in records))
                        log.flush()
                    if state.step % config.save_every == 0 and state.num_failures == 0:
                        self._save_state()
                    yield from records
            except GeneratorExit:
                self._end("stopped", log)
                raise
            end = self._end(reason, log)  # not after an error, when the last saved state is the one to keep
        yield end

    def _end(self, reason: Literal["finished", "early stop", "stopped"], log: TextIO | None) -> EndRecord:
        self._save_state()
        end = EndRecord(self.state.step, reason, self.state.seconds)
        if log:
            log.write(progress_line(end) + "\n")
        return end

    def _advance(self) -> Iterator[Progress]:
        """One optimiser step, and what belongs after it."""
        state = self.state
        group = self.plan[state.position : state.position + self.group_size]
        state.position += self.group_size
        if state.position + self.group_size > len(self.plan):
            state.epoch, state.position = state.epoch + 1, 0
            self.plan = self.objective.plan(state.epoch)
        started = time.perf_counter()
        weight = sum(map(self.objective.weight, group))
        sums, num_tokens, padding_share = self._differentiate(group, weight)
        gradient_norm = clip_grad_norm_(self.model.parameters(), state.clip_norm).item()
        state.step += 1
        losses = [value / weight for name, value in sums.items() if name.startswith("loss")]
        if not (math.isfinite(gradient_norm) and all(map(math.isfinite, losses))):
            yield self._rescue(losses, gradient_norm)
        else:
            rate = self._learning_rate()
            set_rate(self.optimizer, rate)
            self.optimizer.step()
            state.num_failures = 0
            state.num_tokens += num_tokens
            seconds = time.perf_counter() - started
            step = Step(
                step=state.step,
                total_steps=self.total_steps,
                epoch=state.epoch,
                num_tokens=state.num_tokens,
                gradient_norm=gradient_norm,
                learning_rate=rate,
                tokens_per_second=num_tokens / seconds,
                eta_seconds=(state.seconds + seconds) / state.step * (self.total_steps - state.step),
                padding_share=padding_share,
            )
            yield self.objective.step_record(step, sums, weight)
        if state.step % self.config.validate_every == 0 or state.step == self.total_steps:
            yield self._validate()

    def _differentiate(self, group: Sequence[Any], weight: int) -> tuple[dict[str, float], int, float]:
        """Leave the gradient of the group's mean loss in place; sums and tokens of all ranks, own padding share."""
        mine = group[self.world.rank :: self.world.size]
        self.losses.train()
        # what is drawn follows from seed, step and rank alone, so that a resumed run repeats it in every process
        torch.manual_seed(self.config.seed + 1_000_003 * (self.state.step + 1) + self.world.rank)
        self.optimizer.zero_grad(set_to_none=True)
        sums: dict[str, float] = {}
        num_cells = num_tokens = 0
        for index, item in enumerate(mine):
            is_last = index == len(mine) - 1
            sync = nullcontext() if is_last or self.world.size == 1 else self.losses.no_sync()  # pyright: ignore
            with sync:
                losses = self.losses(item)
                # DDP divides by the number of ranks; the loss is the mean over the whole group
                (losses.loss * (self.world.size / weight)).backward()
            num_cells, num_tokens = num_cells + losses.num_cells, num_tokens + losses.num_tokens
            for name, value in losses.sums.items():
                sums[name] = sums.get(name, 0.0) + float(value)
        *totals, total_tokens = self.world.sum([*sums.values(), float(num_tokens)])
        return dict(zip(sums, totals, strict=True)), int(total_tokens), 1 - num_tokens / num_cells

    def _learning_rate(self) -> float:
        return scheduled_rate(self.config, self.state.step, self.total_steps) * self.state.rate_factor

    def _rescue(self, losses: Sequence[float], gradient_norm: float) -> RescueRecord:
        state = self.state
        state.rate_factor *= 0.5
        state.clip_norm = min(state.clip_norm, RESCUE_CLIP_NORM)
        state.num_failures += 1
        is_restored = state.num_failures >= FAILURES_BEFORE_RESTORE
        if is_restored:
            state.num_failures, state.num_restores = 0, state.num_restores + 1
            if state.num_restores > MAX_RESTORES:
                raise TrainingError(
                    f"the loss is still not finite at step {state.step}, after {MAX_RESTORES} returns to the last good "
                    f"state; {self.out / 'last'} holds the last good checkpoint: try a lower learning_rate"
                )
            restore_state(self.out, self.model, self.optimizer)  # the counters go on
        reason = f"loss {' / '.join(f'{loss:.3g}' for loss in losses)}, gradient norm {gradient_norm:.3g}"
        return RescueRecord(state.step, reason, self._learning_rate(), state.clip_norm, is_restored)

    def _validate(self) -> AnyValidation:
        state, config = self.state, self.config
        record = self.objective.validate(Validation(state.step, state.epoch, state.num_tokens, False), self.world)
        is_best = record.loss_nats < state.best_loss_nats
        if is_best:
            state.best_loss_nats, state.num_validations_without_gain = record.loss_nats, 0
        else:
            state.num_validations_without_gain += 1
            if config.schedule == "plateau" and state.num_validations_without_gain % config.plateau_patience == 0:
                state.rate_factor *= 0.5
        record = replace(record, is_best=is_best)
        if self.world.is_first and math.isfinite(record.loss_nats):
            for name in ("last", "best") if is_best else ("last",):
                self._save_checkpoint(self.out / name, record)
        if self.on_validation and math.isfinite(record.loss_nats):
            self.on_validation(self.objective, state.step)
        return record

    def _save_checkpoint(self, folder: Path, record: AnyValidation) -> None:
        objective = self.objective
        metrics = {"validation": asdict(record), "training_seconds": round(self.state.seconds, 1)}
        save_checkpoint(
            folder,
            self.model,
            objective.tokenizer,
            objective.text,
            objective.reading,
            metrics,
            self.config.weight_type,
        )

    def _save_state(self) -> None:
        if self.world.is_first:
            save_state(self.out, self.model, self.optimizer, self.state)
