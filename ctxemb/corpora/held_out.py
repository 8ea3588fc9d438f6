"""Keeps the WikiText-2 validation and test text out of `enwiki`, so that perplexity on it means something.

The rule: a paragraph goes if it shares RUN_WORDS consecutive words (lower-cased, punctuation aside) with a paragraph
of the validation or test split. A fresh download is checked by that rule. For the extract of 2018 the answer is kept:
`enwiki_held_out.txt` lists 465 of its 492,591 paragraphs (8 bytes of blake2b, in hex), those that share 12 words or
three runs of 8, or belong to the article *Nero*, which is in the test split. Most are boilerplate on American towns.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib import resources

LIST = "enwiki_held_out.txt"
RUN_WORDS = 12
# WikiText's <unk> stays one word, so that no run reaches across it.
WORD = re.compile(r"<unk>|[^\W_]+")


def paragraph_hash(paragraph: str) -> str:
    """Give the entry of the list for a paragraph."""
    return hashlib.blake2b(paragraph.strip().encode(), digest_size=8).hexdigest()


def without_listed(paragraphs: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs of the extract of 2018 that are not on the list."""
    listed = set(resources.files("ctxemb.corpora").joinpath(LIST).read_text(encoding="ascii").split())
    return (paragraph for paragraph in paragraphs if paragraph_hash(paragraph) not in listed)


def without_shared_runs(paragraphs: Iterable[str], held_out: Iterable[str]) -> Iterator[str]:
    """Yield the paragraphs that share no run of RUN_WORDS words with any held-out passage."""
    forbidden = {run for passage in held_out for run in word_runs(passage) if "<unk>" not in run}
    return (paragraph for paragraph in paragraphs if forbidden.isdisjoint(word_runs(paragraph)))


def word_runs(text: str) -> Iterator[str]:
    """Yield every run of RUN_WORDS words, lower-cased."""
    words = WORD.findall(text.lower())
    return (" ".join(words[i : i + RUN_WORDS]) for i in range(len(words) - RUN_WORDS + 1))
