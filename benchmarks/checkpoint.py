"""The checkpoint that is timed: the shipped one, else an untrained one, whose speed is the same."""

from pathlib import Path

import torch

from benchmarks.sizes import Sizes
from benchmarks.text import Text, load_text
from ctxemb.checkpoint import save_checkpoint
from ctxemb.models.bilm import BiLM, BiLMConfig

SHIPPED = Path(__file__).parents[1] / "checkpoints" / "en-bilm"


def model_config(sizes: Sizes, text: Text) -> BiLMConfig:
    """The library's defaults at the sizes of the benchmark."""
    return BiLMConfig(
        vocabulary_size=len(text.tokenizer),
        embedding_size=sizes.embedding,
        hidden_size=sizes.hidden,
        num_layers=sizes.num_layers,
        dropout=0,
    )


def untrained_checkpoint(sizes: Sizes, text: Text, folder: Path) -> Path:
    """A checkpoint of the benchmark's sizes."""
    torch.manual_seed(0)
    save_checkpoint(folder, BiLM(model_config(sizes, text)), text.tokenizer, text.config)
    return folder


def shipped_or_untrained(sizes: Sizes, text: Text, folder: Path) -> Path:
    """The one a user has."""
    return SHIPPED if SHIPPED.is_dir() else untrained_checkpoint(sizes, text, folder)


def app_variables(sizes: Sizes, folder: Path) -> dict[str, str]:
    """What the app's environment needs to have a checkpoint: nothing where one is shipped."""
    if SHIPPED.is_dir():
        return {}
    untrained_checkpoint(sizes, load_text(sizes, folder), folder / "checkpoints" / "untrained")
    return {"CTXEMB_CHECKPOINTS": str(folder / "checkpoints")}
