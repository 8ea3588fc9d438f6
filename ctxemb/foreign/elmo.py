"""The two files of a published ELMo, options.json and an HDF5 file of weights -> a checkpoint of ours."""

import dataclasses
import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import BaseModel, ValidationError

from ctxemb.checkpoint import MAX_PARAMETERS, MAX_TEXT_FILE_BYTES, check_new_folder, save_checkpoint
from ctxemb.foreign.elmo_weights import FORMAT, ELMoFileError, read_weights
from ctxemb.models.character_cnn import Activation
from ctxemb.models.elmo import ELMo, ELMoConfig
from ctxemb.models.spelling import NUM_CODES
from ctxemb.text import NUM_SPECIAL, SPECIAL_TOKENS, TextConfig, WordTokenizer

MAX_OPTIONS_BYTES = 1 << 20
NO_WORDS = {*SPECIAL_TOKENS, "<S>", "</S>", "<UNK>", "!!!MAXTERMID"}  # of published lists, and our own
THEIR_NAMES = {
    "character_size": "char_cnn.embedding.dim",
    "filters": "char_cnn.filters",
    "highway_layers": "char_cnn.n_highway",
    "max_characters": "char_cnn.max_characters_per_token",
    "units": "lstm.dim",
    "projection_size": "lstm.projection_dim",
    "num_layers": "lstm.n_layers",
    "cell_clip": "lstm.cell_clip",
    "projection_clip": "lstm.proj_clip",
}
MAX_PROBLEMS_SHOWN = 3
PUBLISHED_CHARACTERS = (NUM_CODES, NUM_CODES + 1)  # some count a row for padding, which no file holds


@dataclass(frozen=True)
class ELMoReport:
    """What an ELMo was made from.

    Attributes:
        num_words: words that corpora are kept in, special ones not counted; sentences may hold any others.
    """

    options: str
    weights: str
    num_parameters: int
    num_words: int

    def __str__(self) -> str:
        return (
            f"{self.num_parameters:,} parameters from {self.weights}; words of any spelling are read, and texts are "
            f"kept in a list of {self.num_words:,}"
        )


class _LSTMOptions(BaseModel):
    dim: int
    projection_dim: int
    n_layers: int
    cell_clip: float | None = None
    proj_clip: float | None = None
    use_skip_connections: bool


class _EmbeddingOptions(BaseModel):
    dim: int


class _CharacterOptions(BaseModel):
    embedding: _EmbeddingOptions
    filters: tuple[tuple[int, int], ...]
    n_highway: int = 0
    n_characters: int
    max_characters_per_token: int
    activation: Activation


class _Options(BaseModel):
    """Of an options.json only what decides the network; the rest is about its training."""

    lstm: _LSTMOptions
    char_cnn: _CharacterOptions


def read_options(path: Path) -> ELMoConfig:
    """The config that an options.json describes.

    Raises:
        ELMoFileError: if it is none, or describes no network that can be built.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_OPTIONS_BYTES + 1)
    except OSError as error:
        raise ELMoFileError(f"{path} cannot be read ({error.strerror}); {FORMAT}") from error
    if len(content) > MAX_OPTIONS_BYTES:
        raise ELMoFileError(f"{path} is longer than {MAX_OPTIONS_BYTES:,} bytes, so it is no options file; {FORMAT}")
    try:
        options = _Options.model_validate(json.loads(content))
        config = _as_config(options)
    except ValidationError as error:
        found = {".".join(map(str, e["loc"])): e["msg"] for e in error.errors()[:MAX_PROBLEMS_SHOWN]}
        problems = "; ".join(f"{THEIR_NAMES.get(place, place) or 'options'}: {what}" for place, what in found.items())
        raise ELMoFileError(f"{path} describes no ELMo that can be read: {problems}") from error
    except (ValueError, RecursionError) as error:
        raise ELMoFileError(f"{path} is not JSON ({type(error).__name__}); {FORMAT}") from error
    if (num_characters := options.char_cnn.n_characters) not in PUBLISHED_CHARACTERS:
        raise ELMoFileError(
            f"{path} has {num_characters:,} kinds of characters; words are read as bytes, which are "
            f"{' or '.join(map(str, PUBLISHED_CHARACTERS))} with all marks"
        )
    with torch.device("meta"):
        num_parameters = sum(parameter.numel() for parameter in ELMo(config).parameters())
    if num_parameters > MAX_PARAMETERS:
        raise ELMoFileError(f"{path} declares {num_parameters:,} parameters; the limit is {MAX_PARAMETERS:,}")
    return config


def _as_config(options: _Options) -> ELMoConfig:
    lstm, characters = options.lstm, options.char_cnn
    return ELMoConfig(
        character_size=characters.embedding.dim,
        filters=characters.filters,
        highway_layers=characters.n_highway,
        max_characters=characters.max_characters_per_token,
        activation=characters.activation,
        units=lstm.dim,
        projection_size=lstm.projection_dim,
        num_layers=lstm.n_layers,
        cell_clip=lstm.cell_clip or None,
        projection_clip=lstm.proj_clip or None,
        skip_connections=lstm.use_skip_connections,
    )


def listed_words(lines: Iterable[str], text: TextConfig, max_words: int) -> WordTokenizer:
    """A tokenizer out of a list of words, one a line: the first so many of them, each once, special ones left out.

    Raises:
        ELMoFileError: if there is none, or they are too long to be kept.
    """
    normalize = WordTokenizer.from_words([], text).normalize
    words = dict.fromkeys(word for line in lines if (word := normalize(line.strip())) and word not in NO_WORDS)
    tokenizer = WordTokenizer.from_words(itertools.islice(words, max_words), text)
    if len(tokenizer) == NUM_SPECIAL:
        raise ELMoFileError("the list of words holds none; give a file of one word a line, or none to take a corpus's")
    if (num_bytes := len(tokenizer.to_json().encode())) > MAX_TEXT_FILE_BYTES:
        raise ELMoFileError(
            f"the words make a tokenizer of {num_bytes:,} bytes, and at most {MAX_TEXT_FILE_BYTES:,} are read: keep "
            "fewer with --max-words"
        )
    return tokenizer


def import_elmo(options: Path, weights: Path, out: Path, tokenizer: WordTokenizer, text: TextConfig) -> ELMoReport:
    """Make a checkpoint out of a published ELMo.

    Args:
        options: its options.json.
        weights: its HDF5 file.
        out: the checkpoint's folder, new or empty.
        tokenizer: the words that corpora are kept in; the case of every word should count, as it did in training.
        text: how text becomes words.

    Raises:
        ELMoFileError: if a file is none of a published ELMo, is damaged, or does not fit the other.
        ValueError: if there is something in `out` already.
    """
    check_new_folder(out)
    config = read_options(options).model_copy(update={"vocabulary_size": len(tokenizer)})
    model = read_weights(weights, config)
    report = ELMoReport(
        options=options.name,
        weights=weights.name,
        num_parameters=sum(parameter.numel() for parameter in model.parameters()),
        num_words=config.vocabulary_size - NUM_SPECIAL,
    )
    save_checkpoint(out, model.eval(), tokenizer, text, metrics={"import": dataclasses.asdict(report)})
    return report
