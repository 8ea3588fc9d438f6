"""Save and load one folder: config.json, tokenizer.json, model.safetensors, metrics.json.

Files from outside are hostile: weights are safetensors (no code runs on load), and every declared size is
checked against the config before a tensor is allocated. Each file is replaced in one move, so that a process
killed at any moment leaves a loadable folder. The folder of a Hugging Face encoder is loaded too, and never written to.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as to_safetensors
from torch import Tensor, nn

from ctxemb.atomic import replace_file
from ctxemb.models.families import CONFIGS, Family, Model, ModelConfig, build_model, spell_vocabulary
from ctxemb.models.reading import Reading, Readout
from ctxemb.models.transformer import Transformer, TransformerConfig, TransformerError
from ctxemb.models.transformer_files import load_transformer, needed_files, read_settings, read_transformer_config
from ctxemb.quoting import printable
from ctxemb.text import TextConfig, WordTokenizer

CONFIG, TOKENIZER, WEIGHTS, METRICS = "config.json", "tokenizer.json", "model.safetensors", "metrics.json"
MAX_TEXT_FILE_BYTES = 64 * 2**20
MAX_PARAMETERS = 2_000_000_000
MAX_PROBLEMS_SHOWN = 5

WeightType = Literal["float32", "float16"]
FLOATING = ("F64", "F32", "F16", "BF16")
_DTYPES = {"float32": torch.float32, "float16": torch.float16}


class CheckpointError(ValueError):
    """A checkpoint folder that cannot be used; the text says which file, what is wrong and what to do."""


class CheckpointConfig(BaseModel):
    """What config.json holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format_version: Literal[1] = 1
    family: Family = Field(default="bilm", description="Kind of encoder")
    model: ModelConfig
    text: TextConfig
    reading: Reading = Field(default=Reading(), description="What `Encoding.vectors` holds, unless asked otherwise")
    layer_weights: dict[Readout, tuple[float, ...]] = Field(
        default={}, description="Learnt weights for layer = weighted"
    )

    @field_validator("model", mode="before")
    @classmethod
    def _of_family(cls, model: Any, info: ValidationInfo) -> Any:
        """The family says which config this is; without it, one family's defaults would pass for another's."""
        family = info.data.get("family")  # absent if it was invalid
        if family == "transformer" and not isinstance(model, TransformerConfig):
            raise ValueError("a transformer is opened from the folder that transformers' save_pretrained wrote")
        return CONFIGS[family].model_validate(model) if family in CONFIGS else model


@dataclass(frozen=True)
class Checkpoint:
    """A loaded checkpoint; the module is in evaluation mode, in float32, on the CPU."""

    path: Path
    config: CheckpointConfig
    tokenizer: WordTokenizer
    model: Model
    metrics: dict[str, Any]


def check_writable(folder: Path) -> None:
    """Refuse to write into a folder that is not ours.

    Raises:
        CheckpointError: if it is a Hugging Face encoder, which is opened read-only.
    """
    if read_settings(folder / CONFIG) is not None:
        raise CheckpointError(f"{folder} is a Hugging Face encoder and is opened read-only; nothing is saved in it")


def check_new_folder(folder: Path) -> None:
    """Refuse to write a checkpoint over something else.

    Raises:
        ValueError: if there is something in the folder already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already and is no empty folder; choose another --out")


def save_checkpoint(
    folder: Path,
    model: Model,
    tokenizer: WordTokenizer,
    text: TextConfig,
    reading: Reading | None = None,
    metrics: Mapping[str, Any] | None = None,
    weight_type: WeightType = "float32",
) -> None:
    """Write a checkpoint folder; an existing one is updated file by file, each in one move.

    Raises:
        ValueError: if a weight is not finite, or the model is a transformer; nothing is written then.
    """
    if isinstance(model, Transformer):
        raise ValueError("a transformer is opened read-only; keep the folder that it came from")
    check_writable(folder)
    weights = {name: p.detach().to("cpu", _DTYPES[weight_type]).contiguous() for name, p in model.named_parameters()}
    broken = [name for name, tensor in weights.items() if not torch.isfinite(tensor).all()]
    if broken:
        raise ValueError(f"weights {', '.join(broken)} are not finite as {weight_type}; the checkpoint is not written")
    config = CheckpointConfig(
        family=model.config.family,
        model=model.config,
        text=text,
        reading=reading or Reading(readout=model.config.readouts[0]),
    )
    files = {
        CONFIG: config.model_dump_json(indent=2).encode(),
        TOKENIZER: tokenizer.to_json().encode(),
        WEIGHTS: to_safetensors(weights),
        METRICS: json.dumps(dict(metrics or {}), indent=2).encode(),
    }
    is_update = folder.exists()
    home = folder if is_update else folder.parent
    home.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=home, prefix=f".{folder.name}-"))
    try:
        # all are written before the first is moved: a full disk leaves files that fit together
        for name, content in files.items():
            (draft / name).write_bytes(content)
        if is_update:
            for name in files:
                (draft / name).replace(folder / name)
        else:
            draft.chmod(0o755)
            draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def load_checkpoint(folder: str | Path) -> Checkpoint:
    """Read a checkpoint folder.

    Raises:
        CheckpointError: if a file is missing, unreadable, truncated, or does not fit the others.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise CheckpointError(f"there is no checkpoint folder {folder}; give the folder that holds {CONFIG}")
    if read_settings(folder / CONFIG) is not None:
        return _load_transformer(folder)
    missing = [name for name in (CONFIG, TOKENIZER, WEIGHTS) if not (folder / name).is_file()]
    if missing:
        hint = f"; this is a training run, its checkpoint is {folder / 'best'}" if (folder / "best").is_dir() else ""
        raise CheckpointError(f"{folder} has no {' and no '.join(missing)}{hint or '; copy the whole folder again'}")
    config = read_config(folder)
    _check_size(folder / METRICS)
    tokenizer = read_tokenizer(folder, config)
    if len(tokenizer) != config.model.vocabulary_size:
        raise CheckpointError(
            f"{folder / TOKENIZER} has {len(tokenizer)} words, but {CONFIG} says {config.model.vocabulary_size}; "
            "the two files belong to different checkpoints"
        )
    model = load_weights(folder / WEIGHTS, config.model)
    spell_vocabulary(model, tokenizer)
    return Checkpoint(folder, config, tokenizer, model.eval(), _read_metrics(folder / METRICS))


def read_config(folder: Path) -> CheckpointConfig:
    """The checked contents of config.json, without reading any weights."""
    path = folder / CONFIG
    _check_size(path)
    if (settings := read_settings(path)) is not None:
        return _transformer_config(folder, settings)
    try:
        config = CheckpointConfig.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problems = [f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors()]
        shown = "; ".join(map(printable, problems[:MAX_PROBLEMS_SHOWN]))
        raise CheckpointError(f"{path} is not a config this version can read: {shown}") from error
    with torch.device("meta"):
        num_parameters = sum(p.numel() for p in build_model(config.model).parameters())
    if num_parameters > MAX_PARAMETERS:
        raise CheckpointError(f"{path} declares {num_parameters:,} parameters; the limit is {MAX_PARAMETERS:,}")
    return config


def read_tokenizer(folder: Path, config: CheckpointConfig) -> WordTokenizer:
    """Words and ids of a checkpoint.

    Raises:
        CheckpointError: if the file is none, or not one for the config's language.
    """
    if isinstance(config.model, TransformerConfig):
        return WordTokenizer.from_words(config.model.pieces.words, config.text)
    _check_size(folder / TOKENIZER)
    try:
        return WordTokenizer.from_file(folder / TOKENIZER, config.text)
    except ValueError as error:
        raise CheckpointError(str(error)) from error


def checkpoint_files(folder: Path) -> tuple[str, ...]:
    """Names of the files that make a checkpoint, config.json first."""
    others = (TOKENIZER, WEIGHTS) if read_settings(folder / CONFIG) is None else needed_files(folder)
    return CONFIG, *others


def update_config(folder: Path, **changes: Any) -> None:
    """Replace fields of a checkpoint's config.json, in one move.

    Raises:
        CheckpointError: if the config is unreadable, or not ours to change.
        ValidationError: if the changed config would be invalid.
    """
    check_writable(folder)
    config = CheckpointConfig.model_validate(read_config(folder).model_dump() | changes)
    replace_file(folder / CONFIG, config.model_dump_json(indent=2).encode())


def _transformer_config(folder: Path, settings: Mapping[str, Any]) -> CheckpointConfig:
    try:
        model = read_transformer_config(folder, settings)
    except TransformerError as error:
        raise CheckpointError(str(error)) from error
    return CheckpointConfig(family="transformer", model=model, text=model.pieces.text)


def _load_transformer(folder: Path) -> Checkpoint:
    config = read_config(folder)
    assert isinstance(config.model, TransformerConfig)
    try:
        model = load_transformer(folder, config.model, MAX_PARAMETERS)
    except TransformerError as error:
        raise CheckpointError(str(error)) from error
    return Checkpoint(folder, config, read_tokenizer(folder, config), model, {})


def load_weights(path: Path, config: ModelConfig) -> Model:
    """Build the module and fill it, after every declared shape was compared with the config's.

    Raises:
        CheckpointError: naming the first tensor that is missing, unexpected or of another shape.
    """
    with torch.device("meta"):
        expected = {name: tuple(p.shape) for name, p in build_model(config).named_parameters()}
    try:
        with safe_open(path, framework="pt") as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            types = {name: file.get_slice(name).get_dtype() for name in found}
            for name in expected | found:
                if expected.get(name) != found.get(name):
                    raise CheckpointError(
                        f"{path}: tensor {name} is {found.get(name, 'missing')}, "
                        f"but {CONFIG} asks for {expected.get(name, 'no such tensor')}"
                    )
                if types[name] not in FLOATING:
                    known = ", ".join(FLOATING)
                    raise CheckpointError(f"{path}: tensor {name} holds {types[name]}; weights are one of {known}")
            model = build_model(config)
            _fill(model, {name: file.get_tensor(name) for name in expected})
    except (SafetensorError, OSError) as error:
        reason = printable(error)
        raise CheckpointError(f"{path} cannot be read ({reason}); it may be cut short: copy it again") from error
    return model


def _fill(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(tensors[name])


def write_state(path: Path, tensors: Mapping[str, Tensor], meta: Mapping[str, Any]) -> None:
    """Write tensors and a JSON record into one file, in one move."""
    content = to_safetensors({name: t.contiguous() for name, t in tensors.items()}, {"state": json.dumps(dict(meta))})
    replace_file(path, content)


def read_state(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The inverse of `write_state`.

    Raises:
        CheckpointError: if the file cannot be read.
    """
    try:
        with safe_open(path, framework="pt") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["state"])  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        reason = printable(error)
        raise CheckpointError(f"{path} cannot be read ({reason}); start the run anew in another folder") from error


def _read_metrics(path: Path) -> dict[str, Any]:
    try:
        metrics = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (ValueError, RecursionError) as error:
        raise CheckpointError(f"{path} is not JSON ({printable(error)}); delete it or copy it again") from error
    if not isinstance(metrics, dict):
        raise CheckpointError(f"{path} is no JSON object; delete it or copy it again")
    return metrics


def _check_size(path: Path) -> None:
    if path.exists() and path.stat().st_size > MAX_TEXT_FILE_BYTES:
        raise CheckpointError(f"{path} has {path.stat().st_size:,} bytes; at most {MAX_TEXT_FILE_BYTES:,} are read")
