"""The files of a Hugging Face folder -> a `Transformer`. They are only ever read.

Nothing is downloaded, no code of a folder is run, and weights come from safetensors alone; their names and shapes are
held against the module's before anything is allocated.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from pydantic import ValidationError
from safetensors import SafetensorError, safe_open
from torch import nn

from ctxemb.models.transformer import Transformer, TransformerConfig, TransformerError, build_reader, check_model_type
from ctxemb.models.word_pieces import TOKENIZER, VOCABULARY, WordPieceError, read_word_pieces

WEIGHTS = "model.safetensors"
MAX_SETTINGS_BYTES = 16 << 20
# files that run code when they are opened
UNSAFE = ("pytorch_model.bin", "tf_model.h5", "flax_model.msgpack")
FLOATS = ("F64", "F32", "F16", "BF16")
# names that the first BERT gave
OLD_NAMES = {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}


def read_settings(path: Path) -> dict[str, Any] | None:
    """The config.json of a Hugging Face folder; None if it is another one, or none at all."""
    try:
        settings = json.loads(path.read_bytes()) if path.stat().st_size <= MAX_SETTINGS_BYTES else None
    except (OSError, ValueError, RecursionError):
        return None
    return settings if isinstance(settings, dict) and "model_type" in settings else None


def needed_files(folder: Path) -> tuple[str, str]:
    """What has to lie beside config.json."""
    has_words_only = (folder / VOCABULARY).is_file() and not (folder / TOKENIZER).is_file()
    return VOCABULARY if has_words_only else TOKENIZER, WEIGHTS


def read_transformer_config(folder: Path, settings: Mapping[str, Any]) -> TransformerConfig:
    """What a folder says of its encoder, its words included; no weights are read.

    Raises:
        TransformerError: if it is none that can be read.
    """
    path = folder / "config.json"
    try:
        check_model_type(settings)  # before its tokenizer is found wrong, which is another model's
        return TransformerConfig.of(settings, read_word_pieces(folder))
    except WordPieceError as error:
        raise TransformerError(str(error)) from error
    except TransformerError as error:
        raise TransformerError(f"{path} {error}") from error
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise TransformerError(f"{path} describes no encoder that can be read: {problems[:400]}") from error


def load_transformer(folder: Path, config: TransformerConfig, max_parameters: int) -> Transformer:
    """The encoder of a folder, in evaluation mode.

    Raises:
        TransformerError: if its weights are missing, are in another format, or are not those of the config.
    """
    path = folder / WEIGHTS
    if not path.is_file():
        unsafe = [name for name in UNSAFE if (folder / name).is_file()]
        reason = f"{' and '.join(unsafe)} could run code and is not read: " if unsafe else ""
        raise TransformerError(
            f"{folder} has no {WEIGHTS}; {reason}save the model again with transformers' save_pretrained, in one piece"
        )
    with torch.device("meta"):
        reader = build_reader(config)
    expected = {name: p.shape for name, p in reader.named_parameters()}
    num_parameters = sum(shape.numel() for shape in expected.values())
    if num_parameters > max_parameters:
        raise TransformerError(
            f"{folder / 'config.json'} declares {num_parameters:,} parameters; the limit is {max_parameters:,}"
        )
    try:
        with safe_open(path, framework="pt") as file:
            stored = _stored_names(list(file.keys()), config.model_type)
            for name, shape in expected.items():
                if name not in stored:
                    raise TransformerError(f"{path} has no tensor {name}, which {config.model_type} needs")
                found = file.get_slice(stored[name])
                if tuple(found.get_shape()) != tuple(shape) or found.get_dtype() not in FLOATS:
                    raise TransformerError(
                        f"{path}: tensor {stored[name]} is {tuple(found.get_shape())} of {found.get_dtype()}, but "
                        f"config.json asks for {tuple(shape)} of {', '.join(FLOATS)}"
                    )
            if surplus := [name for name in stored if name not in expected and _is_within(name, reader)]:
                raise TransformerError(
                    f"{path} has the tensor {stored[surplus[0]]}, for which config.json has no place; the two files "
                    "belong to different models"
                )
            model = Transformer(config).eval().requires_grad_(False)
            for name, parameter in model.reader.named_parameters():
                parameter.copy_(file.get_tensor(stored[name]))
    except (SafetensorError, OSError) as error:
        raise TransformerError(f"{path} cannot be read ({error}); it may be cut short: copy it again") from error
    return model


def _is_within(name: str, reader: nn.Module) -> bool:
    """Whether a tensor that the module does not have would belong into it: no head, and nothing that is computed."""
    parts = {part for part, _ in reader.named_children()}
    return name.split(".")[0] in parts and name not in dict(reader.named_buffers())


def _stored_names(names: list[str], model_type: str) -> dict[str, str]:
    """Name in the module -> name in the file, where a head on top puts a prefix before it."""
    found = {}
    for name in names:
        plain = name.removeprefix(f"{model_type}.")
        for old, new in OLD_NAMES.items():
            plain = plain.replace(old, new)
        found[plain] = name
    return found
