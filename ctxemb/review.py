"""A lexicon under review: its pairs, how often a text has their words and where, and candidates for more pairs.

V vocabulary, P pairs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from ctxemb.analysis.candidates import CandidateConfig, candidates
from ctxemb.calibration import CorpusUse, WordIndex, sample_corpus
from ctxemb.corpora import NAMED, Corpus
from ctxemb.encoder import Encoder
from ctxemb.evaluation.context_average import context_averages
from ctxemb.lexicon import Entry, IdLexicon, LexiconReport
from ctxemb.lexicon.ids import contains, key_ids, member_pairs, pair_keys
from ctxemb.models.reading import Reading
from ctxemb.text import NUM_SPECIAL, UNK, WordTokenizer
from ctxemb.tokenized import TokenizedCorpus, cache_folder, tokenize

USES_PER_WORD = 5
PAIR = ["a", "b", "kind"]


@dataclass(frozen=True)
class Sample:
    """A text to look for words in.

    Attributes:
        name: of the corpus.
        description: of it, in words.
        corpus: in the ids of one checkpoint.
        counts_V: (V,) how often each id occurs.
    """

    name: str
    description: str
    corpus: TokenizedCorpus = field(repr=False)
    counts_V: np.ndarray = field(repr=False)

    @cached_property
    def index(self) -> WordIndex:
        """Where each word stands."""
        return WordIndex(self.corpus)


def open_sample(encoder: Encoder) -> Sample:
    """A text of the checkpoint's language that is on this machine: at least our own example sentences.

    Raises:
        CorpusError: if the text cannot be read.
    """
    corpus = sample_corpus(encoder.config.text.language)
    if corpus.name in NAMED:
        return _sample(corpus.name, NAMED[corpus.name].description, corpus, encoder)
    return _sample("our example sentences", "those of the Compare page", corpus, encoder)


def report_table(report: LexiconReport) -> pd.DataFrame:
    """What was listed, kept and dropped, and why: columns `what`, `number`, `examples`."""
    rows: list[tuple[str, int | None, str]] = []
    for what, kept, listed, dropped in (
        ("groups", report.num_groups, report.num_groups_listed, report.dropped_groups),
        ("synonym pairs", report.num_synonyms, report.num_synonyms_listed, report.dropped_synonyms),
        ("antonym pairs", report.num_antonyms, report.num_antonyms_listed, report.dropped_antonyms),
    ):
        if listed:
            rows += [(f"{what} listed", listed, ""), (f"{what} kept", kept, "")]
            rows += [(f"dropped: {d.reason}", d.count, ", ".join(d.examples)) for d in dropped]
    return pd.DataFrame(rows, columns=["what", "number", "examples"])


def pairs_table(lexicon: IdLexicon, counts_V: np.ndarray) -> pd.DataFrame:
    """One row a pair, those first whose rarer word is most frequent in a text.

    Returns:
        Columns `a`, `b`, `kind`, and `count_a`, `count_b`: how often the text has each word.
    """
    alias_keys = np.unique(_alias_keys(lexicon))
    is_alias_P = contains(alias_keys, lexicon.synonym_keys)
    parts = [(lexicon.synonym_keys[~is_alias_P], "synonym"), (lexicon.synonym_keys[is_alias_P], "alias")]
    parts.append((lexicon.antonym_keys, "antonym"))
    ids_a, ids_b = (np.concatenate(ends) for ends in zip(*(key_ids(keys) for keys, _ in parts), strict=True))
    padded_V = np.append(counts_V, np.zeros(max(int(max(ids_a.max(initial=0), ids_b.max(initial=0))) + 1, 0), int))
    table = pd.DataFrame(
        {
            "a": pd.Series([lexicon.words[int(i)] for i in ids_a], dtype=str),
            "b": pd.Series([lexicon.words[int(i)] for i in ids_b], dtype=str),
            "kind": np.repeat([kind for _, kind in parts], [len(keys) for keys, _ in parts]),
            "count_a": padded_V[ids_a],
            "count_b": padded_V[ids_b],
        }
    )
    order = np.argsort(-np.minimum(table.count_a, table.count_b).to_numpy(), kind="stable")
    return table.iloc[order].reset_index(drop=True)


def search_pairs(table: pd.DataFrame, text: str) -> pd.DataFrame:
    """The rows with a word that contains the text; all of them for an empty text."""
    text = text.strip().casefold()
    is_found = [text in a.casefold() or text in b.casefold() for a, b in zip(table.a, table.b, strict=True)]
    return table.loc[is_found]


def no_pairs() -> pd.DataFrame:
    """The table of a lexicon that is not there."""
    return pd.DataFrame({"a": [], "b": [], "kind": [], "count_a": [], "count_b": []}).astype(
        {"a": str, "b": str, "kind": str, "count_a": int, "count_b": int}
    )


def candidate_averages(encoder: Encoder, sample: Sample) -> np.ndarray:
    """Mean context of every word of a text, (V, D).

    Under the `context` read-out where the family has it, so that words are compared by what stands around them.
    """
    readouts = encoder.config.model.readouts
    readout = "context" if "context" in readouts else readouts[0]
    reader = encoder.with_reading(Reading(readout=readout))
    return context_averages(reader, sample.corpus, USES_PER_WORD, seed=0)[0]


def candidate_table(
    averages_VD: np.ndarray,
    sample: Sample,
    tokenizer: WordTokenizer,
    config: CandidateConfig,
    lexicon: IdLexicon | None = None,
) -> pd.DataFrame:
    """Pairs of words with similar contexts, the most similar first; words that are no letters are passed over.

    Returns:
        Columns `a`, `b`, `cosine`, `count_a`, `count_b`, and `listed`: what the lexicon has them as, if it does.

    Raises:
        ValueError: no two words are frequent enough, or the thresholds are too low.
    """
    ids = [i for i in range(NUM_SPECIAL, len(averages_VD)) if sample.counts_V[i] and tokenizer.word(i).isalpha()]
    words = [tokenizer.word(i) for i in ids]
    found = candidates(averages_VD[ids], words, sample.counts_V[ids], config)
    table = pd.DataFrame([asdict(c) for c in found], columns=["a", "b", "cosine", "count_a", "count_b"])
    table["listed"] = _listed(table, dict(zip(words, ids, strict=True)), lexicon)
    return table


def entries_of(pairs: Iterable[tuple[str, str, str]]) -> list[Entry]:
    """Pairs (a, b, kind) as entries of a lexicon."""
    return [Entry(kind, (a, b)) for a, b, kind in pairs]  # pyright: ignore[reportArgumentType] (of KINDS)


def context_words(tokenizer: WordTokenizer, use: CorpusUse) -> tuple[list[str], list[bool]]:
    """The words around and at a use, and which of them the vocabulary has not: those are lost, and shown as “…”."""
    unknown = [int(i) == UNK for i in use.ids]
    return [
        "…" if is_unknown else tokenizer.word(int(i)) for i, is_unknown in zip(use.ids, unknown, strict=True)
    ], unknown


def _sample(name: str, description: str, corpus: Corpus, encoder: Encoder) -> Sample:
    tokens = tokenize([corpus], encoder.tokenizer, encoder.config.text, cache_folder())
    return Sample(name, description, tokens, np.bincount(tokens.ids, minlength=encoder.config.model.vocabulary_size))


def _alias_keys(lexicon: IdLexicon) -> np.ndarray:
    first, second = member_pairs(lexicon.groups.offsets, lexicon.is_alias_G)
    return pair_keys(lexicon.groups.values[first], lexicon.groups.values[second])


def _listed(table: pd.DataFrame, ids: dict[str, int], lexicon: IdLexicon | None) -> Sequence[str]:
    if lexicon is None or table.empty:
        return [""] * len(table)
    ids_a, ids_b = (np.array([ids[word] for word in table[end]]) for end in ("a", "b"))
    kinds = np.where(lexicon.are_synonyms(ids_a, ids_b), "synonym", "")
    return np.where(lexicon.are_antonyms(ids_a, ids_b), "antonym", kinds).tolist()
