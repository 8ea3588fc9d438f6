"""What somebody uploaded -> a checkpoint folder of ours, or one sentence that says why not.

Three things are taken: a zip file of a checkpoint folder; its files one by one; a PyTorch state_dict with its words.
Here it is made sure that the files are the ones expected, of bearable size, and safe to open with `load_checkpoint`;
what they are worth is for a checkup.
"""

import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from safetensors import SafetensorError, safe_open

from ctxemb.checkpoint import CONFIG, METRICS, TOKENIZER, WEIGHTS, read_config
from ctxemb.foreign.archive import open_archive
from ctxemb.foreign.plain_bilm import import_torch_bilm
from ctxemb.models.transformer_files import read_settings
from ctxemb.quoting import printable, quoted
from ctxemb.text import WordTokenizer

STATISTICS = "statistics.safetensors"  # of ctxemb.calibration, a layer above
NEEDED = (CONFIG, TOKENIZER, WEIGHTS)
MAX_MEMBERS = 100
MAX_TOTAL_BYTES = 2 << 30
MAX_TEXT_BYTES = 16 << 20  # a tokenizer of 500,000 words
MAX_NAMES_SHOWN = 5
MAX_HEADER_BYTES = 1 << 20  # what safetensors declares of its tensors: a few hundred bytes each
# lies beside a checkpoint, and is never read
IGNORED = re.compile(r"(\._.*|\.DS_Store|Thumbs\.db|desktop\.ini|LICENSE|README|.*\.(md|txt|jsonl))", re.IGNORECASE)
# what a browser adds to a name that it has stored before
COPY = re.compile(r"\s*\(\d+\)(?=\.[^.]+$)")
TORCH, WORDS = (".pt", ".pth"), (".txt", ".json")


class ReceivedError(ValueError):
    """Uploaded files that make no checkpoint; the text says which file, what is wrong and what to do."""


def receive_checkpoint(files: Mapping[str, Path], into: Path) -> Path:
    """Turn uploaded files into a checkpoint folder.

    Args:
        files: their names, as the uploader has them, and where they lie. One .zip of a checkpoint folder; or
            model.safetensors (any name with that ending), config.json, tokenizer.json and perhaps metrics.json and
            statistics.safetensors; or a .pt or .pth with a state_dict and its words as .txt or .json.
        into: a private folder, which the caller removes.

    Returns:
        A new folder in `into`.

    Raises:
        ReceivedError: if they make no checkpoint, or not a safe one; nothing is left in `into`.
    """
    folder = Path(tempfile.mkdtemp(dir=into, prefix="checkpoint-"))
    try:
        _take(files, folder)
    except BaseException as error:
        shutil.rmtree(folder)
        if isinstance(error, ValueError):
            raise ReceivedError(_in_their_names(str(error), files, folder)) from error
        raise
    return folder


def _take(files: Mapping[str, Path], folder: Path) -> None:
    suffixes = {name: PurePosixPath(name).suffix.lower() for name in files}
    if ".zip" in suffixes.values():
        if len(files) > 1:
            raise ReceivedError("a zip file has to hold the whole checkpoint; give it alone")
        _take_archive(next(iter(files.values())), folder)
    elif set(TORCH) & set(suffixes.values()):
        states = [name for name, suffix in suffixes.items() if suffix in TORCH]
        words = [name for name, suffix in suffixes.items() if suffix in WORDS]
        if len(states) != 1 or len(words) != 1 or len(files) != 2:
            raise ReceivedError(
                "a .pt file needs the words of its embedding beside it, one a line, as one .txt or .json file, and "
                "nothing else; give these two files"
            )
        _check_total(files)
        _check_text(words[0], files[words[0]].stat().st_size)
        import_torch_bilm(files[states[0]], files[words[0]], folder)
    elif ".safetensors" in suffixes.values():
        _check_total(files)
        for name, path in files.items():
            if place := _place(name, path.stat().st_size, folder):
                shutil.copyfile(path, place)
        _check_folder(folder)
    else:
        shown, needed = ", ".join(map(quoted, [*files][:MAX_NAMES_SHOWN])) or "nothing", ", ".join(NEEDED)
        make = "makes" if len(files) < 2 else "make"
        raise ReceivedError(
            f"{shown} {make} no checkpoint; give a .zip of its folder, or {needed}, or a .pt file with its words"
        )


def _take_archive(path: Path, folder: Path) -> None:
    with open_archive(path, MAX_MEMBERS, MAX_TOTAL_BYTES) as archive:
        parents = set()
        for member in archive.members:
            inside = PurePosixPath(member.filename)
            if "__MACOSX" in inside.parts or IGNORED.fullmatch(inside.name):
                continue
            parents.add(inside.parent)
            if len(parents) > 1:
                raise ReceivedError(
                    f"{path} holds files in several folders; pack only the folder with {CONFIG}, {TOKENIZER}, {WEIGHTS}"
                )
            if place := _place(member.filename, member.file_size, folder):
                archive.unpack(member, place, MAX_TOTAL_BYTES)
    _check_folder(folder)


def _place(name: str, num_bytes: int, folder: Path) -> Path | None:
    """Where a file of this name belongs, whatever folders the name speaks of; None if it is not needed."""
    last = COPY.sub("", PurePosixPath(name.replace("\\", "/")).name)
    if IGNORED.fullmatch(last):
        return None
    if last in (CONFIG, TOKENIZER, METRICS):
        _check_text(name, num_bytes)
    elif last != STATISTICS:
        if not last.lower().endswith(".safetensors"):
            known = ", ".join((*NEEDED, METRICS, STATISTICS))
            raise ReceivedError(f"{quoted(name)} is no file of a checkpoint; give {known} and nothing else")
        last = WEIGHTS
    if (folder / last).exists():
        raise ReceivedError(f"{quoted(name)} would be {last} a second time; give the files of one checkpoint")
    return folder / last


def _check_text(name: str, num_bytes: int) -> None:
    if num_bytes > MAX_TEXT_BYTES:
        raise ReceivedError(f"{quoted(name)} has {num_bytes:,} bytes; at most {MAX_TEXT_BYTES:,} are read")


def _check_total(files: Mapping[str, Path]) -> None:
    num_bytes = sum(path.stat().st_size for path in files.values())
    if num_bytes > MAX_TOTAL_BYTES:
        raise ReceivedError(f"the files have {num_bytes:,} bytes; at most {MAX_TOTAL_BYTES:,} are read")


def _check_folder(folder: Path) -> None:
    """What `load_checkpoint` leaves to the user's trust in a file of his own."""
    if missing := [name for name in NEEDED if not (folder / name).exists()]:
        raise ReceivedError(f"there is no {' and no '.join(missing)}; give all of {', '.join(NEEDED)}")
    if read_settings(folder / CONFIG) is not None:
        raise ReceivedError(
            f"{CONFIG} is that of a Hugging Face encoder; copy its folder beside the checkpoints of this machine "
            "(CTXEMB_CHECKPOINTS), where it is opened as it is"
        )
    config = read_config(folder)
    tokenizer = _read_json(folder / TOKENIZER)
    ours = json.loads(WordTokenizer.from_words([], config.text).to_json())
    # a step of another kind may take for ever, or answer with ids that the model has not
    for part in sorted(ours.keys() | tokenizer.keys()):
        expected, found = ours.get(part), tokenizer.get(part)
        if part == "model" and isinstance(found, dict):
            expected, found = expected | {"vocab": {}}, found | {"vocab": {}}
        if found != expected:
            raise ReceivedError(
                f"{TOKENIZER}: its {quoted(part)} is not the one that this version writes for these settings; give the "
                "tokenizer that was saved with the model"
            )
    if (folder / METRICS).exists():
        _read_json(folder / METRICS)
    for name in (WEIGHTS, STATISTICS):
        if (folder / name).exists():
            _check_header(folder / name)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else printable(error)
        raise ReceivedError(f"{path.name} is not JSON ({reason}); copy it again") from error
    if not isinstance(content, dict):
        raise ReceivedError(f"{path.name} is no JSON object; copy it again")
    return content


def _check_header(path: Path) -> None:
    """The library checks types, shapes and offsets against the file, but first reads a header of up to 100 MB."""
    with path.open("rb") as file:
        num_bytes = int.from_bytes(file.read(8), "little")
    if num_bytes > MAX_HEADER_BYTES:
        raise ReceivedError(
            f"{path.name} declares a header of {num_bytes:,} bytes; at most {MAX_HEADER_BYTES:,} are read: it is no "
            "safetensors file, or damaged"
        )
    try:
        with safe_open(path, framework="pt"):
            pass
    except (SafetensorError, OSError) as error:
        raise ReceivedError(
            f"{path.name} cannot be read ({printable(error)}); it may be cut short: copy it again"
        ) from error


def _in_their_names(message: str, files: Mapping[str, Path], folder: Path) -> str:
    """A message that names files as the uploader does, not as where they lie."""
    message = message.replace(f"{folder}/", "")
    # the longest first: one path may be the beginning of another
    for name, path in sorted(files.items(), key=lambda item: -len(str(item[1]))):
        message = message.replace(str(path), quoted(name))
    return message
