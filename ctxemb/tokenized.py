"""A corpus as numbers: all token ids in one flat int32 array on disk, with offsets; 100 M tokens cost 400 MB.

Built once per (corpus content, vocabulary, settings) and memory-mapped afterwards. What is dropped or cut
on the way is counted in a report, never silent.
"""

import hashlib
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import platformdirs

from ctxemb.atomic import replace_file
from ctxemb.corpora import Corpus, CorpusError
from ctxemb.text import UNK, Language, TextConfig, WordTokenizer, cutting_rule, is_traditional, split_sentences

PASSAGES_PER_CHUNK = 4_000
# a share of the passages; below it they are quotations and rare names
TRADITIONAL_WORTH_SAYING = 0.01
OnProgress = Callable[[int], None]  # called with the number of passages done


@dataclass(frozen=True)
class TokenizationReport:
    """What became of a corpus: counts of passages, sentences and tokens."""

    num_passages: int
    num_sentences: int
    num_tokens: int
    num_unknown: int
    num_short_sentences: int  # dropped
    num_cut_sentences: int  # shortened to the maximum
    num_cut_tokens: int  # lost by that
    num_traditional_passages: int | None = None  # in traditional characters; None if the text is not Chinese

    @property
    def unknown_share(self) -> float:
        """Share of tokens outside the vocabulary, 0 to 1."""
        return self.num_unknown / max(self.num_tokens, 1)

    def __str__(self) -> str:
        report = (
            f"{self.num_tokens:,} tokens in {self.num_sentences:,} sentences of {self.num_passages:,} passages; "
            f"{self.unknown_share:.1%} out of vocabulary; {self.num_short_sentences:,} short sentences dropped, "
            f"{self.num_cut_sentences:,} long ones cut ({self.num_cut_tokens:,} tokens lost)"
        )
        if (self.num_traditional_passages or 0) > TRADITIONAL_WORTH_SAYING * self.num_passages:
            report += (
                f"; passages in traditional characters: {self.num_traditional_passages:,}; their words count as other "
                "words than the simplified ones, so convert them first (ctxemb.text.to_simplified)"
            )
        return report


@dataclass(frozen=True)
class TokenizedCorpus:
    """Sentences as ids.

    Attributes:
        ids: (num_tokens,) int32, all sentences one after the other, without boundary tokens.
        offsets: (S + 1,) int64; sentence s is `ids[offsets[s]:offsets[s + 1]]`.
        passages: (S,) int32, the passage (paragraph, document, row) each sentence comes from.
        report: what was kept, dropped and cut.
    """

    ids: np.ndarray
    offsets: np.ndarray
    passages: np.ndarray
    report: TokenizationReport

    def __len__(self) -> int:
        return len(self.passages)

    def __getitem__(self, sentence: int) -> np.ndarray:
        return self.ids[self.offsets[sentence] : self.offsets[sentence + 1]]

    @cached_property
    def lengths(self) -> np.ndarray:
        """(S,) number of tokens of each sentence."""
        return np.diff(self.offsets)

    def split(self, validation_share: float, max_validation_tokens: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Hold out whole passages at random, so that no passage stands on both sides.

        Returns:
            Indices of the training and of the validation sentences, each ascending. Both hold at least one passage.

        Raises:
            CorpusError: if the corpus has a single passage.
        """
        passages, first_sentence = np.unique(self.passages, return_index=True)
        if len(passages) < 2:
            raise CorpusError("the corpus has a single passage, so none can be held out for validation; use more text")
        tokens_of_passage = np.add.reduceat(self.lengths, first_sentence)
        order = np.random.default_rng(seed).permutation(len(passages))
        budget = min(validation_share * self.report.num_tokens, max_validation_tokens)
        num_held_out = int(np.searchsorted(np.cumsum(tokens_of_passage[order]), budget, side="right"))
        held_out = passages[order[: min(max(num_held_out, 1), len(passages) - 1)]]
        in_validation = np.isin(self.passages, held_out)
        return np.flatnonzero(~in_validation), np.flatnonzero(in_validation)


def cache_folder() -> Path:
    """Where tokenised text is kept: `$CTXEMB_CACHE`, else the user's cache folder."""
    return Path(os.environ.get("CTXEMB_CACHE") or platformdirs.user_cache_path("ctxemb"))


def content_key(*parts: str) -> str:
    """The name under which what follows from these texts is cached: 24 hexadecimal digits."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24]


def corpus_sentences(
    corpora: Iterable[Corpus], language: Language, on_progress: OnProgress | None = None
) -> Iterator[list[list[str]]]:
    """The sentences of several corpora, chunk by chunk: lists of passages, each a list of sentences."""
    passages = itertools.chain.from_iterable(corpus.passages() for corpus in corpora)
    num_done = 0
    while chunk := list(itertools.islice(passages, PASSAGES_PER_CHUNK)):
        yield [split_sentences(passage, language) for passage in chunk]
        num_done += len(chunk)
        if on_progress:
            on_progress(num_done)


def train_tokenizer(
    corpora: Sequence[Corpus], config: TextConfig, cache: Path, on_progress: OnProgress | None = None
) -> WordTokenizer:
    """The vocabulary of a corpus, built once and cached by content.

    Raises:
        CorpusError: if the corpora hold no text.
        ValueError: if no word is frequent enough.
    """
    path = cache / f"vocabulary-{_fingerprint(corpora, config.model_dump_json(), cutting_rule(config.language))}.json"
    if path.exists():
        return WordTokenizer.from_file(path, config)
    chunks = corpus_sentences(corpora, config.language, on_progress)
    sentences = (sentence for chunk in chunks for passage in chunk for sentence in passage)
    if (first := next(sentences, None)) is None:
        raise CorpusError(f"there is no text in {_names(corpora)}")
    tokenizer = WordTokenizer.train(itertools.chain([first], sentences), config)
    replace_file(path, tokenizer.to_json().encode())
    return tokenizer


def tokenize(
    corpora: Sequence[Corpus],
    tokenizer: WordTokenizer,
    config: TextConfig,
    cache: Path,
    on_progress: OnProgress | None = None,
) -> TokenizedCorpus:
    """Turn corpora into ids, once; the second time the files are only opened.

    Raises:
        CorpusError: if no sentence survives the length filter.
    """
    rule = cutting_rule(config.language)
    folder = cache / f"tokens-{_fingerprint(corpora, config.model_dump_json(), rule, tokenizer.to_json())}"
    if not folder.exists():
        cache.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(dir=cache))
        try:
            _write(draft, corpus_sentences(corpora, config.language, on_progress), tokenizer, config, _names(corpora))
            try:
                draft.rename(folder)
            except OSError:
                if not folder.exists():  # else another process (a rank) was faster, with the same result
                    raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return _open(folder)


def _write(
    folder: Path, chunks: Iterator[list[list[str]]], tokenizer: WordTokenizer, config: TextConfig, names: str
) -> None:
    lengths, passages = [], []
    num_passages = num_unknown = num_short = num_cut = num_cut_tokens = num_traditional = 0
    with (folder / "ids.i32").open("wb") as file:
        for chunk in chunks:
            sentences = [sentence for passage in chunk for sentence in passage]
            owners = [num_passages + i for i, passage in enumerate(chunk) for _ in passage]
            num_passages += len(chunk)
            if config.language == "zh":
                num_traditional += sum(is_traditional("".join(passage)) for passage in chunk)
            for ids, owner in zip(tokenizer.encode_ids(sentences), owners, strict=True):
                if len(ids) < config.min_sentence_tokens:
                    num_short += 1
                    continue
                if len(ids) > config.max_sentence_tokens:
                    num_cut += 1
                    num_cut_tokens += len(ids) - config.max_sentence_tokens
                    ids = ids[: config.max_sentence_tokens]
                file.write(ids.tobytes())
                num_unknown += int((ids == UNK).sum())
                lengths.append(len(ids))
                passages.append(owner)
    if not lengths:
        raise CorpusError(
            f"nothing of {names} is left: {num_short} sentences, none with at least "
            f"{config.min_sentence_tokens} tokens (min_sentence_tokens)"
        )
    report = TokenizationReport(
        num_passages,
        len(lengths),
        sum(lengths),
        num_unknown,
        num_short,
        num_cut,
        num_cut_tokens,
        num_traditional if config.language == "zh" else None,
    )
    np.save(folder / "offsets.npy", np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    np.save(folder / "passages.npy", np.array(passages, dtype=np.int32))
    (folder / "report.json").write_text(json.dumps(asdict(report)))


def _open(folder: Path) -> TokenizedCorpus:
    return TokenizedCorpus(
        ids=np.memmap(folder / "ids.i32", dtype=np.int32, mode="r"),
        offsets=np.load(folder / "offsets.npy"),
        passages=np.load(folder / "passages.npy"),
        report=TokenizationReport(**json.loads((folder / "report.json").read_text())),
    )


def _fingerprint(corpora: Sequence[Corpus], *settings: str) -> str:
    return content_key(*(corpus.fingerprint for corpus in corpora), *settings)


def _names(corpora: Sequence[Corpus]) -> str:
    return " + ".join(corpus.name for corpus in corpora) or "no corpus"
