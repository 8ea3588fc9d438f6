"""The text that both sides read: a slice of Wikipedia if it is on this machine, else the sample that gensim ships."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sizes import Sizes
from ctxemb.corpora import Corpus, named_corpora, open_corpus
from ctxemb.text import TextConfig, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus, corpus_sentences, tokenize, train_tokenizer


@dataclass(frozen=True)
class Text:
    """A corpus with a vocabulary of its own, as strings and as ids."""

    source: Corpus
    config: TextConfig
    tokenizer: WordTokenizer
    corpus: TokenizedCorpus

    def sentences(self) -> Iterator[str]:
        """Sentences in lower case, their words set apart by spaces, so that `split()` finds the same words."""
        for chunk in corpus_sentences([self.source], self.config.language):
            for tokens in self.tokenizer.encode_batch([sentence for passage in chunk for sentence in passage]):
                sentence = " ".join(tokens.words).lower()
                is_kept = self.config.min_sentence_tokens <= len(tokens) <= self.config.max_sentence_tokens
                if is_kept and self.tokenizer.encode(sentence).words == sentence.split():
                    yield sentence

    def sentences_of(self, num_words: int) -> Iterator[str]:
        """Sentences cut to one length; shorter ones are left out."""
        for sentence in self.sentences():
            words = sentence.split()
            if len(words) >= num_words:
                yield " ".join(words[:num_words])


def open_source(max_words: int) -> Corpus:
    """The corpus itself, without fetching anything."""
    here = {corpus.name for corpus in named_corpora() if corpus.found}
    return open_corpus("enwiki" if "enwiki" in here else "wiki-sample", max_tokens=max_words)


def load_text(sizes: Sizes, cache: Path) -> Text:
    """Read the corpus; its vocabulary is filled up to the size asked for, also with words seen once."""
    source = open_source(sizes.corpus_words)
    config = TextConfig(max_vocabulary=sizes.vocabulary, min_frequency=1)
    tokenizer = train_tokenizer([source], config, cache)
    return Text(source, config, tokenizer, tokenize([source], tokenizer, config, cache))


def take(sentences: Iterator[str], count: int) -> list[str]:
    """The first sentences, over again where there are not enough."""
    found = list(itertools.islice(sentences, count))
    return list(itertools.islice(itertools.cycle(found), count))
