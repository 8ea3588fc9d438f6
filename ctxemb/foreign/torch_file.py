"""A file of `torch.save` -> plain tensors, without running what is in it.

Such a file is a zip archive of a pickle and of the tensors' numbers. Before torch opens it, the archive is checked, and
the pickle is walked through without being run: torch's safe reader (`weights_only`) allows more than a state_dict
needs, e.g. an array of any size out of twenty bytes. Afterwards nothing is taken on trust but what a tensor owns.
"""

import pickletools
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from ctxemb.checkpoint import MAX_PARAMETERS
from ctxemb.foreign.archive import Archive, open_archive
from ctxemb.quoting import printable, quoted

MAX_FILE_BYTES = 1 << 33  # an optimiser's two moments may lie beside the weights
MAX_MEMBERS = 10_000
MAX_PICKLE_BYTES = 1 << 20  # of 7,000 tensors; it is walked through step by step
STORAGES = ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
ALLOWED = {"collections OrderedDict", "torch._utils _rebuild_tensor_v2", "torch._utils _rebuild_parameter"} | {
    f"torch {name}Storage" for name in STORAGES
}
# the other ways of a pickle to name code; torch's reader knows none of them
INDIRECT = {"STACK_GLOBAL", "INST", "OBJ", "EXT1", "EXT2", "EXT4", "NEWOBJ", "NEWOBJ_EX"}
WRAPPERS = ("state_dict", "model_state_dict", "model")
SAVE = "save module.state_dict()"


class TorchFileError(ValueError):
    """A file of torch.save that cannot be used; the text says what is wrong and what to do."""


def read_state_dict(path: Path) -> dict[str, Tensor]:
    """The named weights of a module, as views of the file; a dictionary around them is taken off.

    Raises:
        TorchFileError: if it is none, holds something other than weights, or a weight is not dense and finite.
        ArchiveError: if the file is damaged or a bomb.
    """
    _check_file(path)
    try:
        # mapped, so that of a file with an optimiser in it only the weights are ever read
        content = torch.load(str(path), map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:  # a damaged pickle raises whatever its steps raise
        raise TorchFileError(f"{path} cannot be read by torch ({printable(error)}); {SAVE} again") from error
    for name in WRAPPERS:
        if isinstance(content, dict) and isinstance(content.get(name), dict):
            content = content[name]
    if not isinstance(content, dict) or not content:
        what = "nothing" if isinstance(content, dict) else f"a {type(content).__name__}"
        raise TorchFileError(f"{path} holds {what}, not the named weights of a module; {SAVE}")
    for name, value in content.items():
        if problem := _problem(name, value):
            raise TorchFileError(f"{path}: {quoted(str(name))} {problem}; {SAVE} of the trained module")
    _check_size(path, content)
    for name, tensor in content.items():
        if not torch.isfinite(tensor).all():
            raise TorchFileError(f"{path}: {quoted(name)} holds NaN or infinite numbers; give an earlier checkpoint")
    return {name: tensor.detach() for name, tensor in content.items()}


def _check_file(path: Path) -> None:
    if not path.is_file():
        raise TorchFileError(f"there is no file {path}; give a file of torch.save")
    num_bytes = path.stat().st_size
    if num_bytes > MAX_FILE_BYTES:
        raise TorchFileError(f"{path} has {num_bytes:,} bytes; at most {MAX_FILE_BYTES:,} are read: {SAVE} alone")
    with path.open("rb") as file:
        if file.read(4) != b"PK\3\4":
            raise TorchFileError(f"{path} is no file of torch.save as it writes them since version 1.6; {SAVE} again")
    with open_archive(path, MAX_MEMBERS, MAX_FILE_BYTES) as archive:
        names = [member.filename.partition("/")[2] for member in archive.members]
        if "constants.pkl" in names or any(name.startswith("code/") for name in names):
            raise TorchFileError(f"{path} is a program (TorchScript); {SAVE} instead")
        if names.count("data.pkl") != 1:
            raise TorchFileError(f"{path} is a zip file, but not one of torch.save; {SAVE} again")
        for member, name in zip(archive.members, names, strict=True):
            _check_member(archive, member, name)


def _check_member(archive: Archive, member: zipfile.ZipInfo, name: str) -> None:
    path = archive.path
    if member.compress_type != zipfile.ZIP_STORED:
        raise TorchFileError(f"{path}, {quoted(member.filename)}: is compressed, as torch never does it; {SAVE} again")
    if name == "data.pkl":
        _check_pickle(path, archive.read(member, MAX_PICKLE_BYTES))
    elif name == "byteorder" and archive.read(member, 100) != sys.byteorder.encode():
        raise TorchFileError(f"{path} was written on a machine with another byte order; {SAVE} on this one")
    else:
        for _ in archive.chunks(member):  # checks its sum, which torch does not
            pass


def _check_pickle(path: Path, content: bytes) -> None:
    try:
        for operation, argument, _ in pickletools.genops(content):
            if operation.name in INDIRECT or (operation.name == "GLOBAL" and argument not in ALLOWED):
                named = str(argument).replace(" ", ".") if operation.name == "GLOBAL" else operation.name
                raise TorchFileError(
                    f"{path} asks for {quoted(named)}, which weights do not need and which is not run; {SAVE} alone, "
                    "without the module, the optimiser or other objects"
                )
    except TorchFileError:
        raise
    except ValueError as error:
        raise TorchFileError(f"{path}: its list of weights is damaged ({printable(error)}); copy it again") from error


def _problem(name: Any, value: Any) -> str | None:
    if not isinstance(name, str):
        return "is no name of a weight"
    if type(value) not in (Tensor, nn.Parameter):
        return f"is a {type(value).__name__}, not a tensor"
    if value.layout != torch.strided or value.device.type != "cpu" or not value.is_floating_point():
        return f"is a tensor of another kind ({value.dtype}, {value.layout}), not of dense floating-point numbers"
    if not value.numel():
        return f"is empty, {tuple(value.shape)}"
    if value.numel() * value.element_size() > value.untyped_storage().nbytes():
        return f"declares {value.numel():,} numbers, {tuple(value.shape)}, more than are stored"
    return None


def _check_size(path: Path, tensors: Mapping[str, Tensor]) -> None:
    num_parameters = sum(tensor.numel() for tensor in tensors.values())
    if num_parameters > MAX_PARAMETERS:
        raise TorchFileError(f"{path} holds {num_parameters:,} numbers; the limit is {MAX_PARAMETERS:,}: {SAVE} alone")
