"""Cases for `benchmarks.fuzz`: a sound checkpoint, archive or state_dict with something wrong in it.

Every case follows from a seed and its number alone, so that one that failed can be made again.
"""

import io
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch
from torch import nn

from benchmarks.hostile_archives import change_member, change_pickle, pack_archive
from benchmarks.mutations import (
    change_bytes,
    change_header,
    change_json,
    change_tensors,
    change_tokenizer,
    change_words,
)
from ctxemb import Encoder
from ctxemb.calibration import calibrate
from ctxemb.checkpoint import save_checkpoint
from ctxemb.corpora import open_corpus
from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import tokenize

Route = Literal["folder", "loose files", "archive", "state_dict"]
ROUTES: tuple[Route, ...] = ("folder", "loose files", "archive", "state_dict")
TEXT = TextConfig(min_frequency=1)
SENTENCES = ["We sat on the bank of the river .", "the zebra bank", ""]
CHANGES = {
    ".json": (change_bytes, change_json),
    "tokenizer.json": (change_bytes, change_json, change_tokenizer, change_tokenizer),
    ".safetensors": (change_bytes, change_header, change_tensors),
}
STATE_CHANGES = (change_bytes, change_pickle, change_pickle, change_pickle, change_member, change_member, change_words)


@dataclass(frozen=True)
class Case:
    """What is sent, and what was done to it.

    Attributes:
        files: names as the sender has them -> content.
    """

    route: Route
    description: str
    files: dict[str, bytes]


@dataclass(frozen=True)
class Sound:
    """What everything is made from: two checkpoints by their files, and a state_dict with its words."""

    checkpoints: list[dict[str, bytes]]
    state: bytes
    words: bytes


def make_sound(folder: Path) -> Sound:
    """Small untrained models, the same every time."""
    torch.manual_seed(0)
    folder.mkdir(exist_ok=True)
    text = "We sat on the bank of the river . The bank gave us a loan ."
    (folder / "text.txt").write_text(text)
    tokenizer = WordTokenizer.train([text], TEXT)
    corpus = tokenize([open_corpus(folder / "text.txt")], tokenizer, TEXT, folder / "cache")
    sizes = {"vocabulary_size": len(tokenizer), "embedding_size": 4, "hidden_size": 6}
    checkpoints = []
    for model in (BiLM(BiLMConfig.model_validate(sizes)), Contrastive(ContrastiveConfig.model_validate(sizes))):
        path = folder / model.config.family
        save_checkpoint(path, model, tokenizer, TEXT, metrics={"steps": 3, "perplexity": 12.5})
        calibrate(Encoder.load(path, device="cpu"), corpus, ["bank"])
        checkpoints.append({file.name: file.read_bytes() for file in sorted(path.iterdir())})
    words = ["<pad>", "<s>", "</s>", "[UNK]", "the", "bank"]
    lstms = {name: nn.LSTM(4, 6, 2) for name in ("fwd_lstm", "bwd_lstm")}
    student = nn.ModuleDict({"embed": nn.Embedding(6, 4), "out": nn.Linear(6, 6), **lstms})
    state = io.BytesIO()
    torch.save({"state_dict": student.state_dict()}, state)
    return Sound(checkpoints, state.getvalue(), "\n".join(words).encode())


def make_case(sound: Sound, seed: int, number: int) -> Case:
    """Case `number`: a route, a file of it, and one to three things done to it."""
    draw = random.Random(f"{seed}/{number}")
    route = ROUTES[number % len(ROUTES)]
    if route == "state_dict":
        return _state_case(draw, sound)
    files = dict(draw.choice(sound.checkpoints))
    done = []
    # most archives hold sound files, so that what is wrong with the archive itself is reached
    for _ in range(draw.choice((0, 0, 0, 1, 2) if route == "archive" else (1, 1, 2, 3))):
        name = draw.choice(list(files))
        mutate = draw.choice(CHANGES[name] if name in CHANGES else CHANGES[Path(name).suffix])
        files[name] = mutate(draw, files[name])
        done.append(f"{mutate.__name__} in {name}")
    if draw.random() < 0.1:
        done.append(f"without {files.popitem()[0]}")
    if route != "archive":
        return Case(route, ", ".join(done), files)
    content, what = pack_archive(draw, files)
    return Case(route, ", ".join([*done, what]), {"checkpoint.zip": content})


def _state_case(draw: random.Random, sound: Sound) -> Case:
    files = {"state.pt": sound.state, "words.txt": sound.words}
    mutate = draw.choice(STATE_CHANGES)
    name = "words.txt" if mutate is change_words else "state.pt"
    files[name] = mutate(draw, files[name])
    return Case("state_dict", f"{mutate.__name__} in {name}", files)
