"""Training as a generator: `train(...)` yields a typed record a step; drawing and logging belong to the caller.

This room owns the optimiser, the schedule, clipping, the rescue from non-finite numbers, exact resume and the
sharing of work between ranks (DistributedDataParallel under `torchrun`).

What it writes into `out`: `best/` and `last/` (checkpoints), `state.safetensors` (everything a resumed run
needs, in one file that is replaced in one move), `run.json` and `progress.jsonl`.
"""

import json
import math
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import clip_grad_norm_

from ctxemb.batching import Batch, corpus_batch, plan_batches
from ctxemb.checkpoint import WeightType, read_state, replace_file, save_checkpoint, write_state
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.reading import Reading
from ctxemb.progress import (
    EndRecord,
    Progress,
    RescueRecord,
    StepRecord,
    ValidationRecord,
    keep_records_until,
    progress_line,
)
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus

RESCUE_CLIP_NORM = 1.0
FAILURES_BEFORE_RESTORE = 3
MAX_RESTORES = 5
STATE, RUN, PROGRESS = "state.safetensors", "run.json", "progress.jsonl"


class TrainingError(ValueError):
    """A run that cannot start or go on; the text says why and what to do."""


class TrainingConfig(BaseModel):
    """How a model is trained."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    num_epochs: int = Field(default=1, ge=1, le=10_000, description="Passes over the training sentences")
    max_tokens: int | None = Field(default=None, ge=1, description="Stop after about this many training tokens")
    batch_tokens: int = Field(default=2_000, ge=2, le=10_000_000, description="Cells of a batch, padding included")
    accumulate: int = Field(default=1, ge=1, le=1_024, description="Batches per optimiser step and process")
    learning_rate: float = Field(default=1e-3, gt=0, le=10, description="Adam's step size, at its highest")
    schedule: Literal["constant", "cosine", "plateau"] = Field(default="cosine", description="How the rate changes")
    warmup_steps: int = Field(default=200, ge=0, description="Steps of linear rise from 0 to the rate")
    final_rate_share: float = Field(
        default=0.02, ge=0, le=1, description="Where the cosine ends, as a share of the rate"
    )
    plateau_patience: int = Field(
        default=2, ge=1, description="Validations without gain before `plateau` halves the rate"
    )
    clip_norm: float = Field(default=5.0, gt=0, description="Gradients longer than this are shortened to it")
    validation_share: float = Field(default=0.01, gt=0, lt=1, description="Share of tokens held out for validation")
    max_validation_tokens: int = Field(default=100_000, ge=1, description="Upper bound on held-out tokens")
    validate_every: int = Field(default=1_000, ge=1, description="Steps between validations")
    early_stop_patience: int | None = Field(
        default=None, ge=1, description="Stop after so many validations without gain"
    )
    save_every: int = Field(default=200, ge=1, description="Steps between saved states (lost at most after a kill)")
    precision: Literal["auto", "float32", "bfloat16"] = Field(
        default="auto", description="auto: bfloat16 where the processor computes in it, else float32"
    )
    weight_type: WeightType = Field(default="float16", description="Number type of saved weights")
    seed: int = Field(default=0, ge=0, lt=2**31, description="Decides initial weights, order and dropout")


@dataclass
class RunState:
    """Everything besides tensors that a resumed run needs."""

    step: int = 0
    epoch: int = 0
    position: int = 0  # batches of this epoch that are done
    num_tokens: int = 0
    seconds: float = 0.0
    rate_factor: float = 1.0
    clip_norm: float = math.inf
    best_loss_nats: float = math.inf
    num_validations_without_gain: int = 0
    num_failures: int = 0
    num_restores: int = 0


def train(
    model_config: BiLMConfig,
    config: TrainingConfig,
    corpus: TokenizedCorpus,
    tokenizer: WordTokenizer,
    text: TextConfig,
    out: Path,
    world: World,
    reading: Reading | None = None,
) -> Iterator[Progress]:
    """Train a BiLM, or go on with the run in `out` if there is one.

    `reading` is what the checkpoints will give as a word's default vector.

    Close the generator to stop: the state is saved and the next call resumes it, with the same loss curve as
    a run that was never interrupted.

    Raises:
        TrainingError: if `out` holds another run, the corpus is too small, or the loss stays non-finite.
    """
    return Run(model_config, config, corpus, tokenizer, text, out, world, reading).records()


class Run:
    """One training run in one process; `records` drives it."""

    def __init__(
        self,
        model_config: BiLMConfig,
        config: TrainingConfig,
        corpus: TokenizedCorpus,
        tokenizer: WordTokenizer,
        text: TextConfig,
        out: Path,
        world: World,
        reading: Reading | None = None,
    ) -> None:
        self.config, self.corpus, self.tokenizer, self.text, self.reading = config, corpus, tokenizer, text, reading
        self.out, self.world = out, world
        self.state = RunState(clip_norm=config.clip_norm)
        torch.manual_seed(config.seed)
        self.model = BiLM(model_config).to(world.device)
        # DDP averages gradients over ranks; it also copies rank 0's weights to the others
        self.parallel = DistributedDataParallel(self.model) if world.size > 1 else self.model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=config.learning_rate, fused=True)
        self.autocast = compute_type(config.precision, world.device)
        self.training_S, self.validation_S = corpus.split(
            config.validation_share, config.max_validation_tokens, config.seed
        )
        self.group = world.size * config.accumulate
        self.plan = self._plan_epoch()
        self.steps_per_epoch = len(self.plan) // self.group
        if self.steps_per_epoch == 0:
            raise TrainingError(
                f"{len(self.plan)} batches are too few for {self.group} a step (processes x accumulate); "
                "use more text or a smaller batch_tokens"
            )
        self.total_steps = config.num_epochs * self.steps_per_epoch
        if config.max_tokens:
            tokens_per_step = int(corpus.lengths[self.training_S].sum()) / self.steps_per_epoch
            self.total_steps = min(self.total_steps, math.ceil(config.max_tokens / tokens_per_step))
        self._prepare_folder(model_config)

    def _prepare_folder(self, model_config: BiLMConfig) -> None:
        settings = {"model": model_config.model_dump(mode="json"), "training": self.config.model_dump(mode="json")}
        settings["corpus"] = asdict(self.corpus.report)
        # all ranks look before the first one writes
        has_run, has_state = (self.world.any((self.out / name).exists()) for name in (RUN, STATE))
        if has_run:
            earlier = json.loads((self.out / RUN).read_text(encoding="utf-8"))
            if changed := sorted(_differences(earlier, settings)):
                raise TrainingError(
                    f"{self.out} holds a run with other settings ({', '.join(changed)}); "
                    "use the same settings to resume it, or another --out"
                )
        elif self.world.is_first:
            if self.out.exists() and any(self.out.iterdir()):
                raise TrainingError(f"{self.out} is not empty and holds no training run; choose another --out")
            self.out.mkdir(parents=True, exist_ok=True)
            replace_file(self.out / RUN, json.dumps(settings, indent=2).encode())
        if has_state:
            self._restore(everything=True)
        elif self.world.is_first:
            (self.out / PROGRESS).touch()
            self._save_state()
        self.world.barrier()

    def records(self) -> Iterator[Progress]:
        """Run to the end, yielding a record for every step, validation and rescue."""
        state, config = self.state, self.config
        if self.world.is_first:
            keep_records_until(self.out / PROGRESS, state.step)
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
        group = self.plan[state.position : state.position + self.group]
        state.position += self.group
        if state.position + self.group > len(self.plan):
            state.epoch, state.position = state.epoch + 1, 0
            self.plan = self._plan_epoch()
        started = time.perf_counter()
        num_tokens = int(self.corpus.lengths[np.concatenate(group)].sum())
        losses, gradient_norm, padding_share = self._gradient(group)
        state.step += 1
        if not (math.isfinite(gradient_norm) and all(map(math.isfinite, losses))):
            yield self._rescue(losses, gradient_norm)
        else:
            rate = self._learning_rate()
            for parameters in self.optimizer.param_groups:
                parameters["lr"] = rate
            self.optimizer.step()
            state.num_failures = 0
            state.num_tokens += num_tokens
            seconds = time.perf_counter() - started
            yield StepRecord(
                step=state.step,
                total_steps=self.total_steps,
                epoch=state.epoch,
                num_tokens=state.num_tokens,
                loss_forward_nats=losses[0],
                loss_backward_nats=losses[1],
                perplexity=math.exp(min(sum(losses) / 2, 700)),
                gradient_norm=gradient_norm,
                learning_rate=rate,
                tokens_per_second=num_tokens / seconds,
                eta_seconds=(state.seconds + seconds) / state.step * (self.total_steps - state.step),
                padding_share=padding_share,
            )
        if state.step % self.config.validate_every == 0 or state.step == self.total_steps:
            yield self._validate()

    def _gradient(self, group: list[np.ndarray]) -> tuple[list[float], float, float]:
        """Mean loss per direction over all ranks, the clipped gradient in place, its norm before, padding share."""
        mine = group[self.world.rank :: self.world.size]
        num_predictions = sum(int(self.corpus.lengths[s].sum()) + len(s) for s in group)
        self.parallel.train()
        # dropout follows from seed, step and rank alone, so that a resumed run repeats it in every process
        torch.manual_seed(self.config.seed + 1_000_003 * (self.state.step + 1) + self.world.rank)
        self.optimizer.zero_grad(set_to_none=True)
        sums, cells, words = [0.0, 0.0], 0, 0
        for index, sentences in enumerate(mine):
            batch = corpus_batch(self.corpus, sentences)
            cells, words = cells + batch.ids_BT.numel(), words + batch.num_tokens
            is_last = index == len(mine) - 1
            sync = nullcontext() if is_last or self.world.size == 1 else self.parallel.no_sync()  # pyright: ignore
            with sync:
                forward, backward = self._nll(self.parallel, batch.to(self.world.device))
                # DDP divides by the number of ranks; the loss is the mean over the whole group
                ((forward + backward) * (self.world.size / (2 * num_predictions))).backward()
            sums = [sums[0] + forward.item(), sums[1] + backward.item()]
        norm = clip_grad_norm_(self.model.parameters(), self.state.clip_norm).item()
        total = self.world.sum(sums)
        return [value / num_predictions for value in total], norm, 1 - words / cells

    def _nll(self, model: torch.nn.Module, batch: Batch) -> tuple[Tensor, Tensor]:
        with torch.autocast(self.world.device.type, torch.bfloat16, enabled=self.autocast is torch.bfloat16):
            forward_N, backward_N = model(batch)
        return forward_N.sum(), backward_N.sum()

    def _learning_rate(self) -> float:
        return scheduled_rate(self.config, self.state.step, self.total_steps) * self.state.rate_factor

    def _rescue(self, losses: list[float], gradient_norm: float) -> RescueRecord:
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
            self._restore(everything=False)
        reason = f"loss {losses[0]:.3g} / {losses[1]:.3g}, gradient norm {gradient_norm:.3g}"
        return RescueRecord(state.step, reason, self._learning_rate(), state.clip_norm, is_restored)

    def _validate(self) -> ValidationRecord:
        state = self.state
        forward, backward = evaluate(self.model, self.corpus, self.validation_S, self.config.batch_tokens, self.world)
        loss = (forward + backward) / 2
        is_best = loss < state.best_loss_nats
        if is_best:
            state.best_loss_nats, state.num_validations_without_gain = loss, 0
        else:
            state.num_validations_without_gain += 1
            if (
                self.config.schedule == "plateau"
                and state.num_validations_without_gain % self.config.plateau_patience == 0
            ):
                state.rate_factor *= 0.5
        record = ValidationRecord(
            step=state.step,
            epoch=state.epoch,
            num_tokens=state.num_tokens,
            loss_forward_nats=forward,
            loss_backward_nats=backward,
            perplexity_forward=math.exp(min(forward, 700)),
            perplexity_backward=math.exp(min(backward, 700)),
            is_best=is_best,
        )
        if self.world.is_first and math.isfinite(loss):
            metrics: dict[str, Any] = {"validation": asdict(record), "training_seconds": round(state.seconds, 1)}
            for name in ("last", "best") if is_best else ("last",):
                save_checkpoint(
                    self.out / name,
                    self.model,
                    self.tokenizer,
                    self.text,
                    self.reading,
                    metrics,
                    self.config.weight_type,
                )
        return record

    def _plan_epoch(self) -> list[np.ndarray]:
        lengths_S = self.corpus.lengths[self.training_S]
        seed = self.config.seed + 1_000_003 * self.state.epoch
        return [self.training_S[batch] for batch in plan_batches(lengths_S, self.config.batch_tokens, seed)]

    def _save_state(self) -> None:
        if not self.world.is_first:
            return
        tensors = {f"model.{name}": p.detach() for name, p in self.model.named_parameters()}
        if not all(torch.isfinite(tensor).all() for tensor in tensors.values()):
            raise TrainingError(f"weights are not finite at step {self.state.step}; the last good state is kept")
        for name, parameter in self.model.named_parameters():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                tensors[f"adam.{key}.{name}"] = value
        write_state(self.out / STATE, tensors, asdict(self.state))

    def _restore(self, *, everything: bool) -> None:
        """Weights and optimiser of the last saved state; with `everything` also the counters."""
        tensors, counters = read_state(self.out / STATE)
        with torch.no_grad():
            for name, parameter in self.model.named_parameters():
                parameter.copy_(tensors[f"model.{name}"])
                adam = {
                    key: tensors[f"adam.{key}.{name}"].to(self.world.device)
                    for key in ("step", "exp_avg", "exp_avg_sq")
                    if f"adam.{key}.{name}" in tensors
                }
                self.optimizer.state[parameter] = adam
        if everything:
            self.state = RunState(**counters)
            self.plan = self._plan_epoch()


@torch.inference_mode()
def evaluate(
    model: BiLM, corpus: TokenizedCorpus, sentences_S: np.ndarray, batch_tokens: int, world: World
) -> tuple[float, float]:
    """Mean negative log-likelihood per prediction, forward and backward, in nats, in float32."""
    was_training = model.training
    model.eval()
    batches = plan_batches(corpus.lengths[sentences_S], batch_tokens)
    sums = [0.0, 0.0, 0.0]
    for batch in batches[world.rank :: world.size]:
        forward_N, backward_N = model(corpus_batch(corpus, sentences_S[batch]).to(world.device))
        sums = [sums[0] + forward_N.sum().item(), sums[1] + backward_N.sum().item(), sums[2] + len(forward_N)]
    forward, backward, num_predictions = world.sum(sums)
    model.train(was_training)
    return forward / num_predictions, backward / num_predictions


def scheduled_rate(config: TrainingConfig, step: int, total_steps: int) -> float:
    """The learning rate of a step (the first is 1), before any rescue or plateau has halved it."""
    if step <= config.warmup_steps:
        return config.learning_rate * step / config.warmup_steps
    if config.schedule != "cosine":
        return config.learning_rate
    done = (step - config.warmup_steps) / max(total_steps - config.warmup_steps, 1)
    share = config.final_rate_share + (1 - config.final_rate_share) * 0.5 * (1 + math.cos(math.pi * min(done, 1)))
    return config.learning_rate * share


def compute_type(precision: Literal["auto", "float32", "bfloat16"], device: torch.device) -> torch.dtype:
    """The number type of matrix products; weights and sums stay float32."""
    if precision != "auto":
        return torch.float32 if precision == "float32" else torch.bfloat16
    has_bfloat16 = torch.cuda.is_bf16_supported() if device.type == "cuda" else _cpu_has_bfloat16()
    return torch.bfloat16 if has_bfloat16 else torch.float32


def _cpu_has_bfloat16() -> bool:
    # without the instructions oneDNN emulates bfloat16, several times slower than float32
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())


def _differences(earlier: dict[str, Any], now: dict[str, Any]) -> set[str]:
    return {
        f"{part}.{key}"
        for part in earlier.keys() | now.keys()
        for key in earlier.get(part, {}).keys() | now.get(part, {}).keys()
        if earlier.get(part, {}).get(key) != now.get(part, {}).get(key)
    }
