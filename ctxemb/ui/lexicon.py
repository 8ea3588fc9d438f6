"""The lexicon that is looked through: where it comes from, and what is left of it; loaded once for all sessions."""

import hashlib
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.analysis.candidates import CandidateConfig
from ctxemb.lexicon import (
    Entry,
    IdLexicon,
    LexiconConfig,
    LexiconReport,
    clean,
    find_lexicons,
    open_entries,
    read_upload,
)
from ctxemb.review import Sample, candidate_averages, candidate_table, no_pairs, pairs_table, report_table
from ctxemb.ui.loading import Model, load_sample
from ctxemb.ui.results import show_metrics

UPLOAD = "a file of yours"
TITLES = {"wordnet": "WordNet", "cilin": "Cilin"}
HOW_TO_GET = {
    "en": "WordNet is not on this machine; `python -m ctxemb data get wordnet-examples` brings it.",
    "zh": "Cilin is not on this machine; see `ctxemb/lexicon/sources.py` for where it is looked for.",
}
MAX_PAIRS = 500_000  # more than Cilin lists; some 75 MB while they are cleaned
MAX_UPLOAD_MEGABYTES = 20
UPLOAD_HELP = """A table with the columns kind,a,b (kind: synonym, antonym or alias), a text with one group of
synonyms a line, or a knowledge graph with the columns entity,alias or entity,relation,entity."""


@dataclass(frozen=True)
class Source:
    """Where pairs come from: `key` is a name, or the digest of a file."""

    key: str
    title: str
    upload: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Review:
    """What is left of a lexicon under some thresholds, and the text in which its words are looked for.

    Attributes:
        key: tells source, thresholds and checkpoint from all others.
        source: key of the source; empty without one.
        lexicon, report: None without a source.
        pairs: from `pairs_table`.
        sample: the text.
    """

    key: tuple[str, LexiconConfig, tuple[str, int]]
    source: str
    lexicon: IdLexicon | None
    report: LexiconReport | None
    pairs: pd.DataFrame = field(repr=False)
    sample: Sample = field(repr=False)


def choose_lexicon(model: Model) -> Source | None:
    """A lexicon of the checkpoint's language that is here, or a file."""
    named = find_lexicons(model.language)
    name = st.segmented_control(
        "Lexicon",
        [*named, UPLOAD],
        default=named[0] if named else UPLOAD,
        format_func=lambda name: TITLES.get(name, UPLOAD),
        required=True,
        key=f"lexicon {model.language}",
        persist_state="session",
    )
    if not named:
        st.caption(HOW_TO_GET[model.language])
    if name != UPLOAD:
        return Source(name, TITLES[name])
    file = st.file_uploader(
        "A table of pairs, groups of synonyms, or a knowledge graph",
        type=["csv", "tsv", "txt"],
        max_upload_size=MAX_UPLOAD_MEGABYTES,
        key="lexicon file",
        help=UPLOAD_HELP,
    )
    if not file:
        return None
    content = file.getvalue()
    return Source(hashlib.sha256(content).hexdigest(), file.name, content)


@st.cache_resource(max_entries=2, show_spinner="Reading the lexicon …")
def _load_entries(key: str, _source: Source) -> list[Entry]:
    if _source.upload is None:
        return list(open_entries(_source.key))
    return read_upload(_source.title, _source.upload)


@st.cache_resource(max_entries=4, show_spinner="Cleaning the lexicon …")
def _load_review(
    key: str, config: LexiconConfig, model_key: tuple[str, int], _source: Source | None, _model: Model
) -> Review:
    sample = load_sample(model_key, _model)
    identity = (key, config, model_key)
    if _source is None:
        return Review(identity, "", None, None, no_pairs(), sample)
    limited = config.model_copy(update={"max_pairs": MAX_PAIRS})
    lexicon, report = clean(_load_entries(key, _source), _model.encoder.tokenizer.word_id, limited, name=_source.title)
    return Review(identity, key, lexicon, report, pairs_table(lexicon, sample.counts_V), sample)


def load_review(source: Source | None, config: LexiconConfig, model: Model) -> Review:
    """The pairs that pass the thresholds and stand in the checkpoint's vocabulary, and what became of the rest.

    Raises:
        ValueError: the lexicon or the text cannot be read, or no pair is left.
    """
    return _load_review(source.key if source else "", config, model.key, source, model)


@st.cache_resource(max_entries=2, show_spinner="Averaging the contexts of every word, once …")
def _load_averages(model_key: tuple[str, int], _model: Model, _sample: Sample) -> np.ndarray:
    return candidate_averages(_model.encoder, _sample)


@st.cache_resource(max_entries=8, show_spinner="Looking for words with similar contexts …")
def load_candidates(
    key: tuple[str, LexiconConfig, tuple[str, int]], config: CandidateConfig, _review: Review, _model: Model
) -> pd.DataFrame:
    """Words with similar contexts in the text.

    Raises:
        ValueError: too few words, or too low a threshold.
    """
    averages_VD = _load_averages(_model.key, _model, _review.sample)
    return candidate_table(averages_VD, _review.sample, _model.encoder.tokenizer, config, _review.lexicon)


def show_counts(report: LexiconReport | None) -> None:
    """How many words and pairs are left."""
    if report is None:
        return
    show_metrics(
        {
            "Words": (f"{report.num_words:,}", "with a synonym or an antonym left"),
            "Groups": (f"{report.num_groups:,}", f"of {report.num_groups_listed:,} listed"),
            "Synonym pairs": (f"{report.num_synonyms:,}", f"of {report.num_synonyms_listed:,} listed"),
            "Antonym pairs": (f"{report.num_antonyms:,}", f"of {report.num_antonyms_listed:,} listed"),
        }
    )


def show_report(report: LexiconReport | None) -> None:
    """What was listed, kept and dropped, and why."""
    if report is None:
        st.info("No lexicon is chosen.")
        return
    st.dataframe(
        report_table(report),
        hide_index=True,
        column_config={
            "what": st.column_config.TextColumn(width=300),
            "number": st.column_config.NumberColumn(format="localized", width=90),
            "examples": st.column_config.TextColumn(width=500),
        },
    )
