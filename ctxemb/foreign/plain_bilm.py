"""A BiLM as it is usually written in PyTorch, its state_dict and its words -> a checkpoint that says the same.

The states and the probabilities of the next word stay those of the module; its rows are put into our order of ids.
What a state_dict does not say cannot be known: connections past a layer, say, or what the module read before the first
word (here `<bos>` forward, `<eos>` backward).
"""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ctxemb.checkpoint import MAX_TEXT_FILE_BYTES, check_new_folder, save_checkpoint
from ctxemb.foreign.bilm_state import BiLMStateError, sort_state
from ctxemb.foreign.build_bilm import build_bilm
from ctxemb.foreign.torch_file import read_state_dict
from ctxemb.foreign.vocabulary_file import VocabularyError, read_vocabulary
from ctxemb.foreign.word_vectors import count_never_read
from ctxemb.text import NUM_SPECIAL, SPECIAL_TOKENS, Language, TextConfig, WordTokenizer

# names of the ids 0 to 3 elsewhere, without their brackets and in lower case
ALIASES = {
    **dict.fromkeys(("pad", "padding", "blank"), 0),
    **dict.fromkeys(("bos", "s", "sos", "start", "go", "cls"), 1),
    **dict.fromkeys(("eos", "/s", "end", "sep"), 2),
    **dict.fromkeys(("unk", "unknown", "oov"), 3),
}
BRACKETS = re.compile(r"<(.+)>|\[(.+)\]|__(.+)__")
HAN = re.compile(r"[\u4e00-\u9fff]")
MAX_CAPITALS_SHARE = 0.01  # Penn Treebank's words are in lower case, but for its N, which stands for numbers


@dataclass(frozen=True)
class TorchImportReport:
    """What became of a state_dict.

    Attributes:
        num_words: rows that are ordinary words.
        special: names that the file has for `<pad>`, `<bos>`, `<eos>` and `<unk>`; None where a row was made up.
        num_silent_units: units per direction that are always zero, added where an embedding is wider than the LSTMs.
        num_never_read: words that no text is ever cut into, such as `Bank` where text is read in lower case.
    """

    file: str
    num_words: int
    embedding_size: int
    hidden_size: int
    num_layers: int
    num_silent_units: int
    language: Language
    lowercase: bool
    special: dict[str, str | None]
    num_never_read: int

    def __str__(self) -> str:
        missing = [token for token, name in self.special.items() if name is None]
        silent = f" (and {self.num_silent_units:,} silent ones)" if self.num_silent_units else ""
        return (
            f"{self.num_words:,} words of {self.embedding_size:,} numbers, LSTMs of {self.num_layers} x "
            f"{self.hidden_size:,} units{silent} from {self.file}; read as {self.language}, "
            f"{'in lower case' if self.lowercase else 'capitals kept'}; made up, because the words have none: "
            f"{', '.join(missing) or 'nothing'}; {self.num_never_read:,} of the words are in no text ever"
        )


def import_torch_bilm(
    path: Path, vocabulary: Path, out: Path, language: Language | None = None, lowercase: bool | None = None
) -> TorchImportReport:
    """Make a `bilm` checkpoint out of the state_dict of a plain BiLM.

    Args:
        path: a file of `torch.save(module.state_dict(), path)`; see `sort_state` for the names that are understood.
        vocabulary: the words in the order of their ids.
        out: the checkpoint's folder, new or empty.
        language: of the words; None: Chinese if most of them are.
        lowercase: read every text in lower case; None: yes, unless more than one word in a hundred has a capital.

    Raises:
        TorchFileError, ArchiveError: if the file cannot be read safely.
        BiLMStateError: if its weights are none of a plain BiLM, or too large for one.
        VocabularyError: if the words do not fit the embedding.
        ValueError: if there is something in `out` already.
    """
    check_new_folder(out)
    words = read_vocabulary(vocabulary)
    with _named(path):
        states = sort_state(read_state_dict(path))
    sizes = states["forward"].sizes
    num_rows = sizes["vocabulary_size"]
    if len(words) != num_rows:
        raise VocabularyError(
            f"{vocabulary} has {len(words):,} words, but the embedding of {path} has {num_rows:,} rows; give the "
            "vocabulary that it was trained with"
        )
    rows = _rows_of_special(words)
    special_rows = set(rows)
    kept = [row for row in range(len(words)) if row not in special_rows]
    text = _text_config([words[row] for row in kept], language, lowercase)
    tokenizer = _tokenizer(vocabulary, [words[row] for row in kept], text)
    with _named(path):
        model = build_bilm(states, [*rows, *kept])
    report = TorchImportReport(
        file=path.name,
        num_words=len(kept),
        embedding_size=sizes["embedding_size"],
        hidden_size=sizes["hidden_size"],
        num_layers=sizes["num_layers"],
        num_silent_units=model.config.hidden_size - sizes["hidden_size"],
        language=text.language,
        lowercase=text.lowercase,
        special={token: None if row is None else words[row] for token, row in zip(SPECIAL_TOKENS, rows, strict=True)},
        num_never_read=count_never_read(tokenizer, [words[row] for row in kept]),
    )
    save_checkpoint(out, model, tokenizer, text, metrics={"import": dataclasses.asdict(report)})
    return report


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Put the file before what is wrong with its weights."""
    try:
        yield
    except BiLMStateError as error:
        raise BiLMStateError(f"{path}: {error}") from error


def _rows_of_special(words: Sequence[str]) -> list[int | None]:
    """The row of each special id; the first of several names counts, the others are words that no text holds."""
    rows: list[int | None] = [None] * NUM_SPECIAL
    for row, word in enumerate(words):
        match = BRACKETS.fullmatch(word)
        word_id = ALIASES.get(match[match.lastindex or 0].lower()) if match else None
        if word_id is not None and (rows[word_id] is None or word == SPECIAL_TOKENS[word_id]):
            rows[word_id] = row
    return rows


def _text_config(words: Sequence[str], language: Language | None, lowercase: bool | None) -> TextConfig:
    if language is None:
        language = "zh" if 2 * sum(HAN.search(word) is not None for word in words) > len(words) else "en"
    if lowercase is None:
        lowercase = sum(word != word.lower() for word in words) <= MAX_CAPITALS_SHARE * len(words)
    return TextConfig(language=language, lowercase=lowercase, min_frequency=1)


def _tokenizer(path: Path, words: Sequence[str], text: TextConfig) -> WordTokenizer:
    if not words:
        raise VocabularyError(f"{path} holds special tokens only; give the words too")
    tokenizer = WordTokenizer.from_words(words, text)
    num_bytes = len(tokenizer.to_json().encode())
    if num_bytes > MAX_TEXT_FILE_BYTES:
        raise VocabularyError(
            f"{path} makes a tokenizer of {num_bytes:,} bytes; at most {MAX_TEXT_FILE_BYTES:,} are read"
        )
    return tokenizer
