"""The HDF5 file of a published ELMo -> the module, filled.

Every dataset is looked up by name, and its shape compared with what the options say, before any of its numbers is read;
what points out of the file is refused.

Format: allenai/bilm-tf, which also says what is added at run time.

P projection size, U units, K numbers per character, F filters.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn

from ctxemb.models.elmo import ELMo, ELMoConfig
from ctxemb.models.spelling import NUM_CODES

FORMAT = "give the two files of a published ELMo as they were downloaded"


class ELMoFileError(ValueError):
    """A file that is no published ELMo, or a damaged one; the text says which and where."""


class _Part(NamedTuple):
    """A dataset, the shape it has to have, and the parameters that it fills, each with its share of the numbers."""

    path: str
    shape: tuple[int, ...]
    fills: dict[str, Callable[[np.ndarray], np.ndarray]]


def read_weights(path: Path, config: ELMoConfig) -> ELMo:
    """Build the module that a config describes out of a file of weights.

    Raises:
        ELMoFileError: if it is no such file, is damaged, or belongs to other options.
    """
    import h5py

    try:
        with h5py.File(path, "r", locking=False) as file:
            found = [(part, _find(file, part, path)) for part in _parts(config)]
            model = ELMo(config)  # nothing is allocated before all shapes were compared
            parameters = dict(model.named_parameters())
            for part, dataset in found:
                _fill(parameters, part, dataset[()], path)
    except (OSError, RuntimeError, KeyError) as error:
        what = f"({error})" if path.exists() else "(there is no such file)"
        raise ELMoFileError(f"{path} cannot be read as HDF5 {what}; it may be cut short: copy it again") from error
    return model


def _find(file: Any, part: _Part, path: Path) -> Any:
    """A dataset of the file itself, of the shape it has to have."""
    import h5py

    place = f"{path}: {part.path}"
    node: Any = file
    for name in part.path.split("/"):
        link = node.get(name, getlink=True) if isinstance(node, h5py.Group) else None
        if link is None:
            raise ELMoFileError(f"{place} is missing; the options belong to another file, or this is no ELMo")
        if not isinstance(link, h5py.HardLink):
            raise ELMoFileError(f"{place} points elsewhere ({type(link).__name__}); only what is in the file is read")
        node = node.get(name)
    if not isinstance(node, h5py.Dataset):
        raise ELMoFileError(f"{place} is a {type(node).__name__.lower()}, not a dataset; {FORMAT}")
    if node.is_virtual or node.external:
        raise ELMoFileError(f"{place} has its numbers in another file; only what is in the file itself is read")
    if node.shape != part.shape:
        raise ELMoFileError(f"{place} is {node.shape}, but the options ask for {part.shape}; {FORMAT}")
    if node.dtype.kind != "f" or node.dtype.itemsize > 8:
        raise ELMoFileError(f"{place} holds {node.dtype}, not floating-point numbers; {FORMAT}")
    if node.chunks and any(chunk > size for chunk, size in zip(node.chunks, node.shape, strict=True)):
        raise ELMoFileError(f"{place} is stored in chunks of {node.chunks}, larger than itself; {FORMAT}")
    return node


def _fill(parameters: dict[str, nn.Parameter], part: _Part, stored: np.ndarray, path: Path) -> None:
    with np.errstate(over="ignore"):  # what float32 cannot hold is refused with what is not finite anyway
        values = stored.astype(np.float32)
    if not np.isfinite(values).all():
        raise ELMoFileError(f"{path}: {part.path} has numbers that are not finite; copy the file again")
    with torch.no_grad():
        for name, share in part.fills.items():
            parameters[name].copy_(torch.from_numpy(np.ascontiguousarray(share(values))))


def _parts(config: ELMoConfig) -> Iterator[_Part]:
    """Every dataset that the network needs; TensorFlow multiplies from the right, so matrices are turned."""

    def as_it_is(values: np.ndarray) -> np.ndarray:
        return values

    cnn, K, F = "words.cnn", config.character_size, config.num_filters
    yield _Part("char_embed", (NUM_CODES, K), {f"{cnn}.characters": as_it_is})
    for number, (width, num_filters) in enumerate(config.filters):
        name = f"{cnn}.convolutions.{number}"
        kernel = {f"{name}.weight": lambda kernel_1WKF: kernel_1WKF[0].transpose(2, 1, 0)}
        yield _Part(f"CNN/W_cnn_{number}", (1, width, K, num_filters), kernel)
        yield _Part(f"CNN/b_cnn_{number}", (num_filters,), {f"{name}.bias": as_it_is})
    for number in range(config.highway_layers):
        # their carry gate is ours, the share of what is transformed
        for theirs, ours in (("carry", "gate"), ("transform", "transform")):
            name = f"{cnn}.highways.{number}.{ours}"
            yield _Part(f"CNN_high_{number}/W_{theirs}", (F, F), {f"{name}.weight": np.transpose})
            yield _Part(f"CNN_high_{number}/b_{theirs}", (F,), {f"{name}.bias": as_it_is})
    P, U = config.projection_size, config.units
    if F != P:
        yield _Part("CNN_proj/W_proj", (F, P), {f"{cnn}.projection.weight": np.transpose})
        yield _Part("CNN_proj/b_proj", (P,), {f"{cnn}.projection.bias": as_it_is})
    for number, direction in enumerate(("forward", "backward")):
        for layer in range(config.num_layers):
            theirs = f"RNN_{number}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            ours = f"{direction}_reader.layers.{layer}"
            kernels = {f"{ours}.inputs.weight": lambda w: w[:P].T, f"{ours}.states.weight": lambda w: w[P:].T}
            yield _Part(f"{theirs}/W_0", (2 * P, 4 * U), kernels)
            yield _Part(f"{theirs}/B", (4 * U,), {f"{ours}.inputs.bias": as_it_is})
            yield _Part(f"{theirs}/W_P_0", (U, P), {f"{ours}.projection.weight": np.transpose})
