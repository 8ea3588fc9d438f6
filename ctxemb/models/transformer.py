"""A local Hugging Face encoder, read only: BERT and its kin, to hold one's own encoder against.

The module is built and run by the `transformers` library, which is an extra. A word's vector is the mean of its pieces.
Layer 0 is their embedding without position or segment, so that it knows nothing of the context; layers 1 to L are the
hidden states. Boundary tokens stay inside. What is longer than the model can read is read in windows that overlap.

B sentences, T words, P pieces, W windows, C cells (pieces of words), L layers, D numbers per vector.
"""

import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn
from torch.nn import functional as F

from ctxemb.batching import Batch
from ctxemb.models.reading import Readout
from ctxemb.models.windows import Window, plan_windows
from ctxemb.models.word_pieces import WordPieces
from ctxemb.text import NUM_SPECIAL

ModelType = Literal["bert", "distilbert", "electra", "mpnet"]
EXTRA = "requirements-transformers.txt"
MIN_WINDOWS_AT_ONCE = 8  # of a long text, whose windows are not read all at once
NUM_BOUNDARIES = 2
# mpnet counts positions from behind its padding, whose id is fixed
FIRST_POSITION, MPNET_PADDING = {"mpnet": 2}, 1
SIZES = {"width": "hidden_size", "num_layers": "num_hidden_layers", "num_positions": "max_position_embeddings"}
DISTILBERT_SIZES = {"width": "dim", "num_layers": "n_layers"}
# what makes another model of the same parts
REFUSED = ("is_decoder", "is_encoder_decoder", "add_cross_attention", "quantization_config")


class TransformerError(ValueError):
    """A Hugging Face encoder that cannot be read; the text says why and what to do."""


class TransformerConfig(BaseModel):
    """What a Hugging Face folder says of its encoder."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)
    family: ClassVar[Literal["transformer"]] = "transformer"
    readouts: ClassVar[tuple[Readout, ...]] = ("here",)
    reads_spelling: ClassVar[bool] = True

    model_type: ModelType = Field(description="Architecture, by its name in transformers")
    vocabulary_size: int = Field(ge=NUM_SPECIAL + 1, le=2_000_000, description="V, words that corpora are kept in")
    width: int = Field(ge=1, le=16_384, description="D, numbers per vector")
    num_layers: int = Field(ge=1, le=128, description="L, layers above the embedding")
    num_positions: int = Field(ge=8, le=1_000_000, description="Pieces that are read at once, boundaries included")
    settings: dict[str, Any] = Field(repr=False, description="The folder's own config.json")
    pieces: WordPieces = Field(exclude=True, repr=False, description="Its tokenizer")

    @classmethod
    def of(cls, settings: Mapping[str, Any], pieces: WordPieces) -> "TransformerConfig":
        """The config of a folder.

        Raises:
            TransformerError: if the architecture is none that is read, or does not fit the tokenizer.
            ValidationError: if a size is missing or beyond its bounds.
        """
        check_model_type(settings)
        kind = settings["model_type"]
        keys = SIZES | (DISTILBERT_SIZES if kind == "distilbert" else {})
        if missing := [key for key in (*keys.values(), "vocab_size") if type(settings.get(key)) is not int]:
            raise TransformerError(f"gives no number for {', '.join(missing)}")
        if pieces.num_pieces > settings["vocab_size"]:
            raise TransformerError(
                f"has {settings['vocab_size']:,} embeddings for the {pieces.num_pieces:,} pieces of the tokenizer, "
                "which is another model's"
            )
        sizes = {size: settings[key] for size, key in keys.items()}
        sizes["num_positions"] -= FIRST_POSITION.get(kind, 0)
        vocabulary_size = NUM_SPECIAL + len(pieces.words)
        own = {key: value for key, value in settings.items() if key != "auto_map"}  # names code, which is never run
        return cls(model_type=kind, vocabulary_size=vocabulary_size, settings=own, pieces=pieces, **sizes)


@dataclass(frozen=True)
class _Cells:
    """Windows as tensors: where the pieces of the words that they give stand.

    Attributes:
        ids_WP: padded ids with boundary tokens.
        is_piece_WP: False where it is padding.
        cells_C: places in the flattened (W, P) of the pieces of the words that are given, word after word.
        starts: where each word starts among the C.
        rows, places: sentence and position of each of these words.
    """

    ids_WP: Tensor
    is_piece_WP: Tensor
    cells_C: Tensor
    starts: Tensor
    rows: list[int]
    places: list[int]


class Transformer(nn.Module):
    """The library's module and the words around it; see the module's text."""

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.config = config
        self.reader = build_reader(config)

    def layers(self, batch: Batch, readout: Readout = "here") -> Tensor:
        """Vectors of every word at every layer.

        Args:
            batch: B sentences; their words are read where they are given, else the vocabulary's.
            readout: there is one only.

        Returns:
            (L + 1, B, T, D). Layer 0 is the mean embedding of a word's pieces. Cells beyond a sentence's length are 0.
        """
        sentences = self._pieces_of(batch)
        most = self.config.num_positions - NUM_BOUNDARIES
        windows = [
            (row, window) for row, words in enumerate(sentences) for window in plan_windows([*map(len, words)], most)
        ]
        table = self._table()
        layers_LBTD = table.new_zeros(self.config.num_layers + 1, *batch.ids_BT.shape, self.config.width)
        at_once = max(len(sentences), MIN_WINDOWS_AT_ONCE)
        for start in range(0, len(windows), at_once):
            cells = self._cells(sentences, windows[start : start + at_once], table.device)
            found = self.reader(
                input_ids=cells.ids_WP,
                attention_mask=cells.is_piece_WP.long(),
                output_hidden_states=True,
                return_dict=True,
            )
            pieces_C = cells.ids_WP.flatten()[cells.cells_C]
            layers_LBTD[0, cells.rows, cells.places] = self._embed(pieces_C, cells.starts)
            for layer, states_WPD in enumerate(found.hidden_states[1:], 1):
                states_ND = states_WPD.float().flatten(0, 1)
                means_ND = F.embedding_bag(cells.cells_C, states_ND, cells.starts, mode="mean")
                layers_LBTD[layer, cells.rows, cells.places] = means_ND
        return layers_LBTD

    @torch.no_grad()
    def word_vectors(self) -> Tensor:
        """(V, D), layer 0 of every word of the vocabulary; the special ids have that of the unknown piece."""
        words = self.config.pieces.cut(self.config.pieces.words)
        pieces = [[self.config.pieces.unknown]] * NUM_SPECIAL + words
        starts = torch.tensor([0, *map(len, pieces[:-1])]).cumsum(0)
        flat = torch.tensor([piece for word in pieces for piece in word])
        device = self._table().device
        return self._embed(flat.to(device), starts.to(device))

    def _table(self) -> Tensor:
        return self.reader.get_input_embeddings().weight

    def _embed(self, pieces_C: Tensor, starts: Tensor) -> Tensor:
        """Mean embedding of each word's pieces, (words, D), as wide as the hidden states."""
        means = F.embedding_bag(pieces_C, self._table(), starts, mode="mean")
        widened = getattr(self.reader, "embeddings_project", None)  # electra's small models
        return means if widened is None else widened(means).float()

    def _pieces_of(self, batch: Batch) -> list[list[list[int]]]:
        """Pieces of each word of each sentence, none longer than a window."""
        sentences = batch.words
        if sentences is None:
            rows = zip(batch.ids_BT.tolist(), batch.lengths_B.tolist(), strict=True)
            sentences = [[self._word(word_id) for word_id in row[:length]] for row, length in rows]
        distinct = list(dict.fromkeys(word for sentence in sentences for word in sentence))
        most = self.config.num_positions - NUM_BOUNDARIES
        pieces = {word: cut[:most] for word, cut in zip(distinct, self.config.pieces.cut(distinct), strict=True)}
        return [[pieces[word] for word in sentence] for sentence in sentences]

    def _word(self, word_id: int) -> str:
        """The word of an id; the special ids have none, and no pieces of it are found."""
        return self.config.pieces.words[word_id - NUM_SPECIAL] if word_id >= NUM_SPECIAL else ""

    def _cells(
        self, sentences: Sequence[Sequence[list[int]]], windows: Sequence[tuple[int, Window]], device: torch.device
    ) -> _Cells:
        pieces, config = self.config.pieces, self.config
        padding = MPNET_PADDING if config.model_type == "mpnet" else config.settings.get("pad_token_id") or 0
        ids = [
            [pieces.first, *_flat(sentences[row][window.start : window.end]), pieces.last] for row, window in windows
        ]
        num_P = max(map(len, ids))
        ids_WP = torch.tensor([row + [padding] * (num_P - len(row)) for row in ids])
        lengths_W = torch.tensor([*map(len, ids)])
        cells, starts, rows, places = list[int](), list[int](), list[int](), list[int]()
        for number, (row, window) in enumerate(windows):
            cell = number * num_P + 1
            for place in range(window.start, window.end):
                size = len(sentences[row][place])
                if window.first <= place < window.last:
                    starts.append(len(cells))
                    cells.extend(range(cell, cell + size))
                    rows.append(row)
                    places.append(place)
                cell += size
        is_piece_WP = torch.arange(num_P) < lengths_W[:, None]
        return _Cells(
            ids_WP.to(device),
            is_piece_WP.to(device),
            torch.tensor(cells, device=device),
            torch.tensor(starts, device=device),
            rows,
            places,
        )


def check_model_type(settings: Mapping[str, Any]) -> None:
    """Refuse what is no encoder of ours to read.

    Raises:
        TransformerError: naming what is read.
    """
    kind = settings.get("model_type")
    if kind not in get_args(ModelType):
        raise TransformerError(
            f"is of model type {str(kind)[:40]!r}; encoders with WordPiece vocabularies are read: "
            f"{', '.join(get_args(ModelType))}"
        )
    bad = [key for key in REFUSED if settings.get(key)]
    if settings.get("position_embedding_type", "absolute") != "absolute":
        bad.append("position_embedding_type")
    if bad:
        raise TransformerError(f"sets {', '.join(bad)}; plain encoders are read: {', '.join(get_args(ModelType))}")


def build_reader(config: TransformerConfig) -> Any:
    """The library's module with untrained weights, without its pooler.

    Raises:
        TransformerError: if the library is not installed, or cannot build a module of these settings.
    """
    try:
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        raise TransformerError(f"reading a Hugging Face encoder needs transformers: pip install -r {EXTRA}") from error
    given_apart = ("model_type", "dtype", "torch_dtype")
    settings = {key: value for key, value in config.settings.items() if key not in given_apart}
    try:
        described = transformers.AutoConfig.for_model(config.model_type, **settings)
        # one way to compute attention, the same on all devices; mpnet has no other
        reader = transformers.AutoModel.from_config(
            described, attn_implementation="eager", dtype=torch.float32, trust_remote_code=False
        )
    except Exception as error:  # settings can be wrong in as many ways as the library has
        reason = " ".join(str(error).split())[:200]
        raise TransformerError(
            f"transformers cannot build the {config.model_type} of config.json ({type(error).__name__}: {reason})"
        ) from error
    if hasattr(reader, "pooler"):
        reader.pooler = None
    return reader


def _flat(words: Sequence[list[int]]) -> Iterator[int]:
    return (piece for word in words for piece in word)
