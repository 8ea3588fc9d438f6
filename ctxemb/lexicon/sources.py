"""A name or a path -> a stream of entries: the named lexicons, and where they are looked for."""

import os
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from ctxemb.corpora import NAMED, data_folder, fetch
from ctxemb.corpora.tables import csv_rows
from ctxemb.lexicon.cilin import read_antisem, read_cilin
from ctxemb.lexicon.graph import is_graph, read_graph
from ctxemb.lexicon.lexicon import Entry, Lexicon, LexiconError
from ctxemb.lexicon.tables import column_names, read_groups, read_pairs, text_encoding
from ctxemb.lexicon.wordnet import read_wordnet
from ctxemb.text import Language

FOLDER = "zh-lexicon"
CILIN, CILIN_HOME = "cilin_ex.txt", "HIT-CIR Tongyici Cilin (Extended)"
ANTISEM, ANTISEM_HOME = "antisem.txt", "https://github.com/liuhuanyong/ChineseAntiword"


def _wordnet() -> Iterator[Entry]:
    return read_wordnet(fetch("wordnet-examples"))


def _cilin() -> Iterator[Entry]:
    return chain(read_cilin(_there("cilin", CILIN, CILIN_HOME)), read_antisem(_there("cilin", ANTISEM, ANTISEM_HOME)))


def _there(name: str, file: str, home: str) -> Path:
    path = data_folder() / FOLDER / file
    if not path.is_file():
        raise LexiconError(f"{name} is not here; get {file} ({home}) and put it at {path}.")
    return path


NAMED_LEXICONS: dict[str, Callable[[], Iterator[Entry]]] = {"wordnet": _wordnet, "cilin": _cilin}


def find_lexicons(language: Language) -> list[str]:
    """The named lexicons of a language that are on this machine; nothing is fetched."""
    if language == "en":
        return ["wordnet"] if NAMED["wordnet-examples"].found else []
    return ["cilin"] if all((data_folder() / FOLDER / file).is_file() for file in (CILIN, ANTISEM)) else []


def open_entries(name_or_path: str | os.PathLike[str], encoding: str | None = None) -> Iterator[Entry]:
    """Open a lexicon as a stream: `wordnet` (English), `cilin` (Chinese, with antonyms), or a file.

    A file ending in .txt holds a synonym group a line; any other is a table with the columns kind,a,b or a
    knowledge graph with entity,alias or entity,relation,entity.

    Raises:
        LexiconError: there is no such lexicon, or its columns or rows are others.
        CorpusError: the file cannot be read, or WordNet cannot be fetched.
    """
    if name_or_path in NAMED_LEXICONS:
        return NAMED_LEXICONS[str(name_or_path)]()
    path = Path(name_or_path)
    if not path.exists():
        raise LexiconError(
            f"There is no file {path} and no lexicon of that name; the named ones are {', '.join(NAMED_LEXICONS)}."
        )
    found = text_encoding(path, encoding)
    if ".txt" in path.suffixes[-2:]:
        return read_groups(path, found)
    columns = column_names(next(csv_rows(path, found))[1])
    return iter(read_graph(path, encoding=found)) if is_graph(columns) else read_pairs(path, found)


def open_lexicon(name_or_path: str | os.PathLike[str], encoding: str | None = None) -> Lexicon:
    """Read a whole lexicon in words; see `open_entries`, which holds nothing, for one of millions of pairs.

    Raises:
        LexiconError: see `open_entries`.
        CorpusError: see `open_entries`.
    """
    name = str(name_or_path) if name_or_path in NAMED_LEXICONS else Path(name_or_path).name
    return Lexicon.of(name, open_entries(name_or_path, encoding))
