"""The beginning of each text of a request, and how many words there are in all."""

import itertools
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from ctxemb.corpora import Corpus, CorpusError, named_corpora, open_corpus
from ctxemb.corpora.corpus import count_words
from ctxemb.corpora.named import NamedCorpus
from ctxemb.text import TextConfig, WordTokenizer, split_sentences

SAMPLE_WORDS = 60_000
SURE_COUNT = 3  # a word that is due so often in the sample is in it
SAID_SIZE = re.compile(r"([\d.]+) M words")


@dataclass(frozen=True)
class Sample:
    """The beginning of one text.

    Attributes:
        corpus: its first passages, held in memory.
        num_words: of these.
        num_words_in_all: of the whole text, about; the same if the sample is the whole.
    """

    corpus: Corpus
    num_words: int
    num_words_in_all: int


@dataclass(frozen=True)
class Samples:
    """Samples of all texts that are read together."""

    parts: Sequence[Sample]

    @property
    def corpora(self) -> list[Corpus]:
        """What can be tokenised."""
        return [part.corpus for part in self.parts]

    @property
    def share(self) -> float:
        """How much of the text they are, 0 to 1."""
        return sum(part.num_words for part in self.parts) / sum(part.num_words_in_all for part in self.parts)

    @property
    def is_whole(self) -> bool:
        """Whether they are all of the text."""
        return self.share == 1

    def train_tokenizer(self, config: TextConfig) -> tuple[WordTokenizer, int]:
        """A vocabulary for the sample, and how many entries that of the whole text will have.

        Raises:
            CorpusError: if there is no text.
            ValueError: if no word is frequent enough.
        """
        if self.is_whole:
            tokenizer = WordTokenizer.train(self._sentences(config), config)
            return tokenizer, len(tokenizer)
        due = config.min_frequency * self.share
        free = config.model_copy(update={"max_vocabulary": None, "min_frequency": max(round(due), SURE_COUNT)})
        tokenizer = WordTokenizer.train(self._sentences(free), free)
        size = float(len(tokenizer))
        if due < SURE_COUNT:
            half, quarter = (len(WordTokenizer.train(self._sentences(free, every), free)) for every in (2, 4))
            size *= 2 ** _growth(math.log2(half / quarter), math.log2(size / half), math.log2(SURE_COUNT / due))
        return tokenizer, min(round(size), config.max_vocabulary or round(size))

    def _sentences(self, config: TextConfig, every: int = 1) -> Iterator[str]:
        passages = itertools.chain.from_iterable(corpus.passages() for corpus in self.corpora)
        for passage in itertools.islice(passages, 0, None, every):
            yield from split_sentences(passage, config.language)


def open_samples(names: Sequence[str], text_column: str | None, max_tokens: int | None) -> Samples:
    """The beginnings of named corpora that are on this machine, and of files.

    Raises:
        CorpusError: a corpus is not here, or cannot be read.
    """
    named = {corpus.name: corpus for corpus in named_corpora()}
    limit = SAMPLE_WORDS // max(len(names), 1)
    return Samples([_open(name, named.get(name), text_column, max_tokens, limit) for name in names])


def _open(name: str, named: NamedCorpus | None, text_column: str | None, max_tokens: int | None, limit: int) -> Sample:
    if named and named.found is None:
        raise CorpusError(
            f"{name} is not on this machine; `python -m ctxemb data get {name}` brings it, or choose another text"
        )
    corpus = open_corpus(name, text_column=None if named else text_column, max_tokens=max_tokens)
    passages: list[str] = []
    num_words, stream = 0, corpus.passages()
    for passage in stream:
        passages.append(passage)
        num_words += count_words(passage)
        if num_words >= limit:
            break
    in_all, following = num_words, next(stream, None)
    if following is not None and named:
        in_all = said_words(named)
    elif following is not None:
        num_characters = sum(map(len, passages))
        in_all = num_words * (num_characters + len(following) + sum(map(len, stream))) // num_characters
    if following is not None and max_tokens:
        in_all = min(in_all, max_tokens)
    sample = Corpus(corpus.name, corpus.description, (), {"sample of": corpus.name}, partial(iter, passages))
    return Sample(sample, num_words, max(in_all, num_words))


def _growth(earlier: float, last: float, num_doublings: float) -> float:
    """How often a vocabulary will double when its text does so, after two doublings in which it grew by so much.

    By Heaps's law it would grow alike each time; here the growth falls as it has just fallen, since words run out.
    """
    ratio = min(last / earlier, 1.0) if earlier > 0 else 0.0
    if ratio == 1:
        return last * num_doublings
    return last * ratio * (1 - ratio**num_doublings) / (1 - ratio)


def said_words(corpus: NamedCorpus) -> int:
    """The size that a named corpus says it has."""
    said = SAID_SIZE.match(corpus.size)
    assert said, f"{corpus.name} gives its size as {corpus.size!r}"
    return round(float(said[1]) * 1e6)
