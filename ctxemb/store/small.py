"""The store of a checkpoint without one: our example sentences and a text that is on this machine, built once."""

from pathlib import Path

from ctxemb.background import OnProgress, no_progress
from ctxemb.comparison import Sentence
from ctxemb.corpora import NAMED, Corpus, open_corpus
from ctxemb.encoder import Encoder
from ctxemb.examples import load_examples
from ctxemb.store.about import About
from ctxemb.store.build import index_corpus, index_labelled
from ctxemb.store.selection import SelectionConfig
from ctxemb.store.vectors import VectorStore
from ctxemb.text import Language
from ctxemb.tokenized import cache_folder, content_key

EXAMPLES = "examples"
# the first that is here; none of them has to be
TEXTS: dict[Language, tuple[str, ...]] = {"en": ("wiki-sample",), "zh": ("zhwiki", "people-daily-1998", "tatoeba-zh")}
MAX_TOKENS = 400_000
MAX_TOKENS_SPELLED = 40_000  # encoders that read spellings are ten times as slow
SELECTION = SelectionConfig(max_per_word=50)
VERSION = "1"  # raise it when a small store is made otherwise


def small_store_folder(encoder: Encoder) -> Path:
    """Where the small store of a checkpoint under its reading is, or will be."""
    about = About.of(encoder)
    key = content_key(VERSION, about.identity, about.reading.model_dump_json())
    return cache_folder() / "stores" / f"{about.checkpoint}-{key[:12]}"


def small_store_corpus(encoder: Encoder) -> Corpus | None:
    """The text that goes in beside the examples; None if this machine has none."""
    name = _text_name(encoder.config.text.language)
    max_tokens = MAX_TOKENS_SPELLED if encoder.reads_spelling else MAX_TOKENS
    return None if name is None else open_corpus(name, max_tokens=max_tokens)


def open_small_store(encoder: Encoder) -> VectorStore | None:
    """The small store, if all of it is there; None if it has to be built, or built on.

    Raises:
        StoreError: if what is there cannot be read.
    """
    folder = small_store_folder(encoder)
    if not folder.is_dir():
        return None
    store = VectorStore.open(folder)
    complete = {source.name for source in store.sources() if source.is_complete}
    text = _text_name(encoder.config.text.language)
    return store if {EXAMPLES, *([text] if text else [])} <= complete else None


def build_small_store(checkpoint: str, on_progress: OnProgress = no_progress) -> str:
    """Build the small store of a checkpoint under its own reading, or go on with it; where it is.

    Raises:
        StoreError: if the cache folder cannot be written to, or another process is building it.
    """
    on_progress(0, "opening the checkpoint")
    encoder = Encoder.load(checkpoint, "cpu")
    folder, language = small_store_folder(encoder), encoder.config.text.language
    examples = load_examples(language)
    columns = (examples.word, examples.sentence, examples.sense)
    uses = [(word, Sentence(text, sense)) for word, text, sense in zip(*columns, strict=True)]
    index_labelled(encoder, uses, EXAMPLES, folder)
    if corpus := small_store_corpus(encoder):
        index_corpus(encoder, corpus, folder, cache_folder(), SELECTION, on_progress=on_progress)
    return str(folder)


def _text_name(language: Language) -> str | None:
    return next((name for name in TEXTS[language] if NAMED[name].found), None)
