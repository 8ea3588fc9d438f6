"""Learning to predict the next and the previous word: the objective of the BiLM.

S sentences of the corpus, N predictions: words and one boundary a sentence.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from pydantic import Field

from ctxemb.batching import corpus_batch, plan_batches
from ctxemb.distributed import World
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.families import spell_vocabulary
from ctxemb.models.reading import Reading
from ctxemb.progress import Step, StepRecord, Validation, ValidationRecord
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus
from ctxemb.training.objective import Losses, ParameterGroup
from ctxemb.training.schedule import ScheduleConfig


class TrainingConfig(ScheduleConfig):
    """How a BiLM is trained."""

    batch_tokens: int = Field(default=2_000, ge=2, le=10_000_000, description="Cells of a batch, padding included")


class LanguageModelling:
    """Negative log-likelihood of every word in both directions; an item is the indices of a batch's sentences."""

    def __init__(
        self,
        model_config: BiLMConfig,
        config: TrainingConfig,
        corpus: TokenizedCorpus,
        tokenizer: WordTokenizer,
        text: TextConfig,
        reading: Reading | None = None,
    ) -> None:
        self.config, self.corpus, self.tokenizer, self.text, self.reading = config, corpus, tokenizer, text, reading
        torch.manual_seed(config.seed)
        self.model = BiLM(model_config)
        spell_vocabulary(self.model, tokenizer)
        self.training_S, self.validation_S = corpus.split(
            config.validation_share, config.max_validation_tokens, config.seed
        )
        self.tokens_per_epoch = int(corpus.lengths[self.training_S].sum())
        self.data_reports = {"corpus": asdict(corpus.report)}

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Every training sentence once, in batches of similar length."""
        lengths_S = self.corpus.lengths[self.training_S]
        seed = self.config.seed + 1_000_003 * epoch
        return [self.training_S[batch] for batch in plan_batches(lengths_S, self.config.batch_tokens, seed)]

    def weight(self, item: np.ndarray) -> int:
        """N of the batch."""
        return int(self.corpus.lengths[item].sum()) + len(item)

    def losses(self, item: np.ndarray, device: torch.device) -> Losses:
        """The loss is the mean of both directions, which are reported one by one."""
        batch = corpus_batch(self.corpus, item)
        forward_N, backward_N = self.model(batch.to(device))
        forward, backward = forward_N.sum(), backward_N.sum()
        sums = {"loss_forward_nats": forward.detach(), "loss_backward_nats": backward.detach()}
        return Losses((forward + backward) / 2, sums, batch.num_tokens, batch.ids_BT.numel())

    def parameter_groups(self) -> list[ParameterGroup]:
        """All weights, at one rate."""
        return [ParameterGroup(list(self.model.parameters()))]

    def step_record(self, step: Step, sums: Mapping[str, float], weight: int) -> StepRecord:
        """Means per prediction."""
        losses: dict[str, Any] = {name: total / weight for name, total in sums.items()}
        perplexity = math.exp(min(sum(losses.values()) / 2, 700))
        return StepRecord(**vars(step), **losses, perplexity=perplexity)

    def validate(self, at: Validation, world: World) -> ValidationRecord:
        """Loss and perplexity of the held-out sentences."""
        forward, backward = evaluate(self.model, self.corpus, self.validation_S, self.config.batch_tokens, world)
        return ValidationRecord(
            **vars(at),
            loss_forward_nats=forward,
            loss_backward_nats=backward,
            perplexity_forward=math.exp(min(forward, 700)),
            perplexity_backward=math.exp(min(backward, 700)),
        )


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
