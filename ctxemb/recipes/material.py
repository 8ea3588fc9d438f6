"""What a recipe needs before its first step: vocabulary, token ids, initial vectors, lexicon; all cached by content."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from ctxemb.checkpoint import read_state, write_state
from ctxemb.corpora import Corpus
from ctxemb.lexicon import HeldOut, IdLexicon, LexiconReport, clean, held_out_groups, open_entries
from ctxemb.recipes.recipe import LexiconChoice, Recipe
from ctxemb.text import WordTokenizer
from ctxemb.tokenized import TokenizedCorpus, content_key, tokenize, train_tokenizer
from ctxemb.word2vec import Word2VecConfig, train_word2vec


@dataclass(frozen=True)
class InitialVectors:
    """Word2Vec of a recipe's text: (V, E) vectors, and how long they took, when they were trained."""

    vectors_VE: np.ndarray
    seconds: float


@dataclass(frozen=True)
class Material:
    """Inputs of a run.

    Attributes:
        initial: where the embeddings start; None for random ones.
        whole_lexicon: synonyms and antonyms in the tokenizer's ids.
        lexicon: the same, divided into those to learn from and those held out.
        lexicon_report: what of the lexicon was kept and dropped.
    """

    tokenizer: WordTokenizer
    corpus: TokenizedCorpus
    initial: InitialVectors | None = None
    whole_lexicon: IdLexicon | None = None
    lexicon: HeldOut | None = None
    lexicon_report: LexiconReport | None = None


def prepare(
    recipe: Recipe,
    corpora: Sequence[Corpus],
    cache: Path,
    on_progress: Callable[[str, int], None] = lambda stage, done: None,
) -> Material:
    """Read a recipe's text, once.

    Args:
        on_progress: called with what is counted (passages read, passes of Word2Vec) and how many are done.

    Raises:
        CorpusError: if there is no text, or no sentence survives the length filter.
        LexiconError: if the lexicon has no word of the text.
    """
    tokenizer = train_tokenizer(corpora, recipe.text, cache, partial(on_progress, "passages read for the vocabulary"))
    corpus = tokenize(corpora, tokenizer, recipe.text, cache, partial(on_progress, "passages read"))
    whole = divided = report = None
    if recipe.lexicon:
        whole, report = _lexicon(recipe.lexicon, tokenizer, corpus)
        divided = held_out_groups(whole, recipe.lexicon.held_out_share, recipe.lexicon.seed)
    initial = None
    if recipe.initial:
        content = [corpus_part.fingerprint for corpus_part in corpora] + [recipe.text.model_dump_json()]
        initial = initial_vectors(
            recipe.initial, corpus, len(tokenizer), content, cache, partial(on_progress, "passes of Word2Vec")
        )
    return Material(tokenizer, corpus, initial, whole, divided, report)


def initial_vectors(
    config: Word2VecConfig,
    corpus: TokenizedCorpus,
    num_words: int,
    content: Sequence[str],
    cache: Path,
    on_epoch: Callable[[int], None] | None = None,
) -> InitialVectors:
    """Word2Vec of a corpus, trained once on all of torch's threads; `content` names text and vocabulary."""
    path = cache / f"word2vec-{content_key(*content, config.model_dump_json(), str(num_words))}.safetensors"
    if not path.exists():
        started = time.perf_counter()
        vectors_VE = train_word2vec(corpus, num_words, config, torch.get_num_threads(), on_epoch)
        seconds = round(time.perf_counter() - started, 1)
        write_state(path, {"vectors": torch.from_numpy(vectors_VE)}, {"seconds": seconds})
    tensors, state = read_state(path)
    return InitialVectors(tensors["vectors"].numpy(), float(state["seconds"]))


def _lexicon(
    choice: LexiconChoice, tokenizer: WordTokenizer, corpus: TokenizedCorpus
) -> tuple[IdLexicon, LexiconReport]:
    lexicon, report = clean(open_entries(choice.source), tokenizer.word_id, choice.cleaning, choice.source)
    lexicon.counts_in(corpus.ids, "the corpus")  # says so if it has no word of the lexicon
    return lexicon, report
