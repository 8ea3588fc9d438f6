"""Learning which uses of a word belong together: the objective of the contrastive family.

One pass over a batch's sentences serves every loss; negatives are shared by all anchors and encoded once.

- *passage*: two uses of a word in one passage attract; every other use in the batch repels, above all the same word's
  in other passages. A teacher, the bag of context of the whole passage over the initial embeddings, spreads part of
  the target over passages that look alike, because some of those negatives have the same sense.
- *word*: the use's positive is a use of a synonym (from a lexicon), or of the same word in another passage if its
  contexts are alike everywhere; random words of like frequency and antonyms, put into the same context, repel.
- *cloze*: a context attracts its own word among the words of the batch.
- *sentence*: the two sentences of a passage attract, those of other passages repel.

B sentences, R pairs (sentences 2i and 2i + 1), K single words, M random words, D numbers per vector.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from pydantic import Field
from torch import Tensor
from torch.nn import functional as F

from ctxemb.analysis.isotropy import alignment, top_energy, uniformity
from ctxemb.batching import make_batch
from ctxemb.distributed import World
from ctxemb.lexicon import IdLexicon
from ctxemb.losses import uniformity_loss
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.models.reading import Reading
from ctxemb.pairs import PairBatch, PassagePairs
from ctxemb.progress import ContrastiveStepRecord, ContrastiveValidationRecord, Step, Validation
from ctxemb.text import NUM_SPECIAL, TextConfig, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus
from ctxemb.training.objective import Losses, ParameterGroup
from ctxemb.training.schedule import ScheduleConfig
from ctxemb.training.teacher import PassageTeacher
from ctxemb.training.terms import cloze_term, pair_term, word_term
from ctxemb.training.words import NONE, WordChoice, WordSampler

VALIDATION_BATCHES = 8
LENGTH_GROUPS = 3


class ContrastiveTrainingConfig(ScheduleConfig):
    """How a contrastive encoder is trained."""

    words_per_batch: int = Field(default=24, ge=1, le=4_096, description="W, target words of a batch")
    passages_per_word: int = Field(default=12, ge=2, le=512, description="P, passages of each; P - 1 repel")
    max_sentence_tokens: int = Field(default=40, ge=2, le=1_000, description="Sentences are cropped around the target")
    min_sentence_tokens: int = Field(
        default=40, ge=2, le=1_000, description="They are cropped to a random length from here on: short contexts too"
    )
    min_word_count: int = Field(default=60, ge=1, description="Rarer words are no targets")
    max_word_share: float = Field(default=8e-4, gt=0, le=1, description="More frequent words are no targets")
    temperature: float = Field(default=0.1, gt=0, le=10, description="Divides cosines in every loss")
    teacher_share: float = Field(default=0.5, ge=0, le=1, description="Share of the target that the teacher spreads")
    teacher_temperature: float = Field(default=0.1, gt=0, le=10, description="Divides the teacher's cosines")
    passage_weight: float = Field(default=1.0, ge=0, description="Weight of one sense per passage")
    word_weight: float = Field(default=0.3, ge=0, description="Weight of synonyms and stable words against others")
    cloze_weight: float = Field(default=0.2, ge=0, description="Weight of a context against the words of the batch")
    sentence_weight: float = Field(default=0.1, ge=0, description="Weight of sentence vectors")
    uniformity_weight: float = Field(default=0.0, ge=0, description="Weight of spreading words over the sphere")
    num_negatives: int = Field(default=64, ge=1, le=100_000, description="M, random words that repel, shared")
    stable_cosine: float = Field(
        default=0.5, ge=-1, le=1, description="A word whose passages are this alike on average has one sense"
    )
    embedding_rate: float = Field(default=0.1, ge=0, le=10, description="Rate of embeddings, as a share of the rate")


@dataclass(frozen=True)
class Read:
    """What the encoder makes of a batch, in float32.

    Attributes:
        contexts_RPD: (R, 2, D) contexts of the uses, to be joined with their words.
        words_KD: (K, D) single words.
        sentences_RPD: (R, 2, D) sentence vectors.
        num_tokens: words read.
        num_cells: words and padding.
    """

    contexts_RPD: Tensor
    words_KD: Tensor
    sentences_RPD: Tensor
    num_tokens: int
    num_cells: int


class ContrastiveLearning:
    """The objective; an item is the number of a batch, which is drawn when it is needed."""

    def __init__(
        self,
        model_config: ContrastiveConfig,
        config: ContrastiveTrainingConfig,
        corpus: TokenizedCorpus,
        tokenizer: WordTokenizer,
        text: TextConfig,
        reading: Reading | None = None,
        initial_VE: np.ndarray | None = None,
        lexicon: IdLexicon | None = None,
    ) -> None:
        """Prepare pairs and teacher.

        Args:
            initial_VE: (V, E) embeddings to start from, and the teacher's; random ones if None, without a teacher.
            lexicon: synonyms and antonyms in the tokenizer's ids; None to go without.

        Raises:
            CorpusError: if no word stands in enough passages.
            ValueError: if the initial embeddings have another shape, or there are more negatives than words.
        """
        self.config, self.corpus, self.tokenizer, self.text, self.reading = config, corpus, tokenizer, text, reading
        torch.manual_seed(config.seed)
        self.model = Contrastive(model_config)
        self.counts_V = np.bincount(corpus.ids, minlength=model_config.vocabulary_size)
        self.words = WordSampler(self.counts_V, config.num_negatives, lexicon)
        self.teacher: PassageTeacher | None = None
        if initial_VE is not None:
            self.teacher = PassageTeacher(corpus, self.model.start_from(initial_VE, self.counts_V), self.counts_V)
        training_S, validation_S = corpus.split(config.validation_share, config.max_validation_tokens, config.seed)
        favoured = lexicon.word_ids if lexicon is not None and config.word_weight else None
        self.pairs, self.validation_pairs = (
            PassagePairs(corpus, sentences_S, self._is_target, num_passages, min_count, config.max_word_share, favoured)
            for sentences_S, num_passages, min_count in (
                (training_S, config.passages_per_word, config.min_word_count),
                (validation_S, 2, 1),
            )
        )
        self.data_reports: dict[str, dict[str, Any]] = {"corpus": asdict(corpus.report)}
        if lexicon is not None:
            synonyms, antonyms = lexicon.synonym_keys, lexicon.antonym_keys
            self.data_reports["lexicon"] = {
                "name": lexicon.name,
                "num_pairs": len(synonyms),
                "num_antonym_pairs": len(antonyms),
                "sha256": _digest(np.concatenate([synonyms, [NONE], antonyms])),
            }
        if initial_VE is not None:
            self.data_reports["initial"] = {"sha256": _digest(initial_VE)}
        # words read by a batch are known only when it is drawn: an estimate decides when max_tokens is reached
        mean_length = float(np.minimum(corpus.lengths, config.max_sentence_tokens).mean())
        self._pairs_per_batch = min(config.words_per_batch, len(self.pairs.words)) * config.passages_per_word
        self._num_items = max(self.pairs.num_groups // self._pairs_per_batch, 1)
        self.tokens_per_epoch = int(2 * self._pairs_per_batch * self._num_items * mean_length)

    def plan(self, epoch: int) -> range:
        """As many batches as it takes to draw each word and passage once on average."""
        return range(epoch * self._num_items, (epoch + 1) * self._num_items)

    def weight(self, item: int) -> int:
        """R, pairs of a batch."""
        return self._pairs_per_batch

    def losses(self, item: int, device: torch.device) -> Losses:
        """All losses of one batch, each a mean over its anchors, times R."""
        rng = np.random.default_rng((self.config.seed, item))
        config = self.config
        shortest = min(config.min_sentence_tokens, config.max_sentence_tokens)
        pairs = self.pairs.draw(config.words_per_batch, config.max_sentence_tokens, rng, shortest)
        return self._measure(pairs, rng, device)

    def parameter_groups(self) -> list[ParameterGroup]:
        """Tables of one row a word learn at their own rate: each row is seen rarely, and started well."""
        tables = [p for name, p in self.model.named_parameters() if name.startswith(("embedding.", "importance."))]
        rest = [p for name, p in self.model.named_parameters() if not name.startswith(("embedding.", "importance."))]
        return [ParameterGroup(rest), ParameterGroup(tables, self.config.embedding_rate)]

    def step_record(self, step: Step, sums: Mapping[str, float], weight: int) -> ContrastiveStepRecord:
        """Means per pair."""
        means: dict[str, Any] = {name: total / weight for name, total in sums.items()}
        num_masked = round(sums["num_masked"])
        return ContrastiveStepRecord(**vars(step), **means | {"num_masked": num_masked}, num_anchors=2 * weight)

    @torch.inference_mode()
    def validate(self, at: Validation, world: World) -> ContrastiveValidationRecord:
        """The passage loss and the shape of the space on held-out passages; the same batches every time."""
        was_training = self.model.training
        self.model.eval()
        sums, firsts, seconds = np.zeros(5), [], []
        for number in range(VALIDATION_BATCHES):
            rng = np.random.default_rng(number)
            pairs = self.validation_pairs.draw(self.config.words_per_batch * 2, self.config.max_sentence_tokens, rng)
            vectors_RPD = self.model.join(self._read(pairs, np.zeros(0, np.int64), world.device).contexts_RPD)
            seen = pair_term(vectors_RPD, self._no_negatives(pairs), self.config.temperature)
            means = [x.mean().item() for x in (seen.loss_R, seen.positive_R, seen.negative_R, seen.is_first_R)]
            sums += [*means, math.log(len(vectors_RPD))]
            firsts.append(vectors_RPD[:, 0].float().cpu().numpy())
            seconds.append(vectors_RPD[:, 1].float().cpu().numpy())
        self.model.train(was_training)
        first_RD, second_RD = np.concatenate(firsts), np.concatenate(seconds)
        loss, positive, negative, accuracy, chance = (float(x) for x in sums / VALIDATION_BATCHES)
        shuffled_RD = np.roll(first_RD, len(first_RD) // 2, axis=0)
        return ContrastiveValidationRecord(
            **vars(at),
            loss_nats=loss,
            chance_nats=chance,
            accuracy=accuracy,
            positive_cosine=positive,
            negative_cosine=negative,
            random_cosine=float(F.cosine_similarity(torch.tensor(first_RD), torch.tensor(shuffled_RD)).mean()),
            alignment=alignment(first_RD, second_RD),
            uniformity=uniformity(first_RD),
            top10_energy=top_energy(first_RD).squared,
        )

    def _measure(self, pairs: PairBatch, rng: np.random.Generator, device: torch.device) -> Losses:
        choice = self.words.draw(pairs.words_R, rng)
        words = [pairs.words_R, choice.partners_R, np.maximum(choice.antonyms_R, 0), choice.negatives_M]
        words_K = np.concatenate(words)
        read = self._read(pairs, words_K, device)
        # the network may compute in bfloat16; a softmax over cosines / 0.1 has no room for its two digits
        with torch.autocast(device.type, enabled=False):
            return self._losses(read, pairs, choice, words_K, [len(ids) for ids in words])

    def _losses(
        self, read: Read, pairs: PairBatch, choice: WordChoice, words_K: np.ndarray, sizes: list[int]
    ) -> Losses:
        config = self.config
        contexts_RPD, words_KD = read.contexts_RPD, read.words_KD
        targets_RD, *drawn = words_KD.split(sizes)
        vectors_RPD = self.model.join(contexts_RPD)
        here_RPD = self.model.join(contexts_RPD, targets_RD[:, None])

        spread_RR, is_stable_R = self._ask_teacher(pairs)
        masked_RR = self._no_negatives(pairs)
        spread = (masked_RR, config.temperature, spread_RR, config.teacher_share)
        context, here = pair_term(vectors_RPD, *spread), pair_term(here_RPD, *spread)
        sentence = pair_term(read.sentences_RPD, masked_RR, config.temperature)
        word_loss, num_alike = word_term(
            self.model,
            here_RPD[:, 0],
            contexts_RPD[:, 1],
            (drawn[0], drawn[1], drawn[2]),
            pairs.words_R,
            choice,
            self._sources(pairs.words_R, choice, is_stable_R),
            self.words,
            config.temperature,
        )
        cloze_loss = cloze_term(self.model, vectors_RPD, targets_RD, pairs.words_R, self.words, config.temperature)
        loss = (
            config.passage_weight * (context.loss_R.mean() + here.loss_R.mean()) / 2
            + config.word_weight * word_loss
            + config.cloze_weight * cloze_loss
            + config.sentence_weight * sentence.loss_R.mean()
        )
        if config.uniformity_weight:
            loss = loss + config.uniformity_weight * uniformity_loss(self.model.join(words_KD[distinct(words_K)]))
        num_pairs = len(pairs.words_R)
        sums = {
            "loss_nats": context.loss_R.detach().sum(),
            "chance_nats": loss.new_tensor(num_pairs * math.log(num_pairs)),
            "positive_cosine": context.positive_R.sum(),
            "negative_cosine": context.negative_R.sum(),
            "accuracy": context.is_first_R.sum(),
            "num_masked": context.masked_RR.sum() + num_alike,
        }
        return Losses(loss * num_pairs, sums, read.num_tokens, read.num_cells)

    def _read(self, pairs: PairBatch, words_K: np.ndarray, device: torch.device) -> Read:
        """One pass over every sentence, a group of like lengths at a time: padding would cost a third of the time."""
        lengths_B = np.array([len(ids) for ids in pairs.sentences])
        order_B = np.argsort(lengths_B, kind="stable")
        contexts, sentences, num_cells = [], [], 0
        words_KD = torch.zeros(0)
        for group, rows in enumerate(np.array_split(order_B, LENGTH_GROUPS)):
            batch = make_batch([pairs.sentences[row] for row in rows]).to(device)
            contexts_ND, drawn_KD, sentences_ND = self.model(
                batch,
                torch.arange(len(rows), device=device),
                torch.from_numpy(pairs.positions_B[rows]).to(device),
                torch.from_numpy(words_K if group == 0 else words_K[:0]).to(device),
            )
            words_KD = drawn_KD if group == 0 else words_KD
            contexts.append(contexts_ND)
            sentences.append(sentences_ND)
            num_cells += batch.ids_BT.numel()
        back_B = torch.from_numpy(np.argsort(order_B)).to(device)
        contexts_BD, sentences_BD = (torch.cat(parts).float()[back_B] for parts in (contexts, sentences))
        return Read(
            contexts_RPD=contexts_BD.unflatten(0, (-1, 2)),
            words_KD=words_KD.float(),
            sentences_RPD=sentences_BD.unflatten(0, (-1, 2)),
            num_tokens=int(lengths_B.sum()),
            num_cells=num_cells,
        )

    def _no_negatives(self, pairs: PairBatch) -> np.ndarray:
        """(R, R) pairs that are no negatives of each other: of one passage, or of two synonyms."""
        words_R, passages_R = pairs.words_R, pairs.passages_R
        differ_RR = words_R[:, None] != words_R[None]
        alike_RR = self.words.are_alike(words_R[:, None], words_R[None]) & differ_RR
        return alike_RR | (passages_R[:, None] == passages_R[None])

    def _ask_teacher(self, pairs: PairBatch) -> tuple[np.ndarray | None, np.ndarray]:
        """(R, R) targets, or None without a teacher; (R,) whether a word is used alike in all passages of the batch."""
        if self.teacher is None:
            return None, np.zeros(len(pairs.words_R), bool)
        seen = self.teacher.look(pairs, self.config.passages_per_word, self.config.teacher_temperature)
        return seen.targets_RR, seen.alikeness_R >= self.config.stable_cosine

    def _sources(self, words_R: np.ndarray, choice: WordChoice, is_stable_R: np.ndarray) -> np.ndarray:
        """(R,) the pair whose context a use's positive stands in: its own, for a synonym; for a stable word the next
        passage of the same word; -1 for neither.
        """
        own_R = np.arange(len(words_R))
        num_passages = self.config.passages_per_word
        next_R = own_R - own_R % num_passages + (own_R + 1) % num_passages
        return np.where(choice.partners_R != words_R, own_R, np.where(is_stable_R, next_R, NONE))

    def _is_target(self, word_id: int) -> bool:
        return self.tokenizer.word(word_id).isalpha()


def distinct(words_K: np.ndarray) -> np.ndarray:
    """Rows of words that are words, each word once."""
    _, first = np.unique(words_K, return_index=True)
    return first[words_K[first] >= NUM_SPECIAL]


def _digest(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]
