"""Synonyms, antonyms and aliases: from files to cleaned arrays of word ids that training can use.

What it leaves out: which words of a batch become positives or negatives is the business of training.

    lexicon.py      Entry and Lexicon: plain words
    cilin.py, wordnet.py, tables.py, graph.py    one kind of source each -> entries, as a stream
    sources.py      a name or a path -> the right one of them
    transfer.py     a lexicon as bytes, as a browser sends and takes it
    packing.py      a stream of entries -> ids of a vocabulary, as early as possible
    cleaning.py     thresholds, contradictions, chains of aliases; report.py says what was dropped and why
    ids.py          IdLexicon: who is whose synonym, in ids
    split.py        synonym groups held out from training
"""

from ctxemb.lexicon.cleaning import LexiconConfig, clean
from ctxemb.lexicon.graph import KnowledgeGraph, read_graph
from ctxemb.lexicon.ids import IdLexicon
from ctxemb.lexicon.lexicon import Entry, Lexicon, LexiconError
from ctxemb.lexicon.report import Dropped, LexiconReport
from ctxemb.lexicon.sources import NAMED_LEXICONS, find_lexicons, open_entries, open_lexicon
from ctxemb.lexicon.split import HeldOut, held_out_groups
from ctxemb.lexicon.tables import read_pairs, write_pairs
from ctxemb.lexicon.transfer import pairs_csv, read_upload

__all__ = [
    "NAMED_LEXICONS",
    "Dropped",
    "Entry",
    "HeldOut",
    "IdLexicon",
    "KnowledgeGraph",
    "Lexicon",
    "LexiconConfig",
    "LexiconError",
    "LexiconReport",
    "clean",
    "find_lexicons",
    "held_out_groups",
    "open_entries",
    "open_lexicon",
    "pairs_csv",
    "read_graph",
    "read_pairs",
    "read_upload",
    "write_pairs",
]
