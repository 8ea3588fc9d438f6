"""Untrained checkpoints of every family in both languages: they know every word of our example sentences."""

from importlib import resources
from pathlib import Path

import numpy as np
import torch

from ctxemb import Encoder, examples
from ctxemb.calibration import calibrate
from ctxemb.checkpoint import save_checkpoint
from ctxemb.corpora import open_corpus
from ctxemb.examples import example_words, load_examples
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.models.elmo import ELMo, ELMoConfig
from ctxemb.models.families import Model
from ctxemb.models.reading import Reading
from ctxemb.models.static import Static
from ctxemb.text import Language, TextConfig, WordTokenizer
from ctxemb.tokenized import tokenize

LANGUAGES: tuple[Language, ...] = ("en", "zh")


def write_checkpoints(folder: Path, cache: Path) -> None:
    """Write `en-bilm`, `en-contrastive`, `en-elmo`, `en-static` and the same in Chinese into a folder, calibrated."""
    for language in LANGUAGES:
        text = TextConfig(language=language, min_frequency=1)
        tokenizer = WordTokenizer.train(load_examples(language).sentence, text)
        for model in _models(len(tokenizer)):
            path = folder / f"{language}-{model.config.family}"
            reading = Reading(readout=model.config.readouts[0], layer="last")
            save_checkpoint(path, model.eval(), tokenizer, text, reading)
            encoder = Encoder.load(path, device="cpu")
            with resources.as_file(resources.files(examples) / f"polysemy_{language}.csv") as sentences:
                corpus = tokenize([open_corpus(sentences)], tokenizer, text, cache)
            calibrate(encoder, corpus, example_words(language), num_common_words=0)


def _models(num_words: int) -> list[Model]:
    torch.manual_seed(0)
    vectors_VD = np.random.default_rng(0).normal(size=(num_words, 8)).astype(np.float32)
    spelled = {"character_size": 4, "filters": ((1, 4), (2, 4), (3, 8)), "units": 8, "projection_size": 8}
    return [
        BiLM(BiLMConfig(vocabulary_size=num_words, embedding_size=8, hidden_size=8, num_layers=2, cutoffs=())),
        Contrastive(ContrastiveConfig(vocabulary_size=num_words, embedding_size=8, hidden_size=8, attention_heads=2)),
        Static.from_vectors(vectors_VD),
        ELMo(ELMoConfig(vocabulary_size=num_words, **spelled)),
    ]
