"""Two sentences and what each is closest to; words that are used alike, and analogies."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.comparison import Sentence
from ctxemb.examples import example_words, load_examples
from ctxemb.figures.neighbours import Row, neighbours_html, words_html
from ctxemb.figures.style import NEUTRAL_COLOR, SENSE_COLORS, sense_colors
from ctxemb.store import AMONG, ASKED, MAX_ASKED, Among, Answer, Hit, StoreError, WordNeighbours, ask
from ctxemb.store.about import describe
from ctxemb.store.vectors import MIN_CONTEXTS
from ctxemb.text import Language, script_problem
from ctxemb.ui.controls import FIRST_WORDS, MAX_OWN_CHARACTERS, MAX_WORD_CHARACTERS, choose_occurrence
from ctxemb.ui.loading import Model
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.results import format_number, show_metrics
from ctxemb.ui.store import Opened

COLORS = SENSE_COLORS[:2]
SIDES = ("first", "second")
# of the words that pages begin with, sentences that are not among the examples
FIRST_SENTENCES: dict[str, tuple[str, str]] = {
    "bank": (
        "She opened a savings account and deposited the money at the bank .",
        "They moored the little boat at the bank and walked along the river .",
    ),
    "苹果": ("她削了一个又红又甜的苹果给孩子吃。", "苹果发布了新款手机和电脑。"),
}
FIRST_ANALOGY: dict[Language, tuple[str, str, str]] = {"en": ("man", "king", "woman"), "zh": ("男", "父亲", "女")}
COUNTS = (5, 10, 20, 50)
NUM_WORDS = 10
EXACT_HELP = """*exact*: every context was compared. *approximate*: an index chose which contexts to compare, because
there are many; a few of the nearest may be missing."""
ASKED_HELP = f"""Sentences that people type here are added to the store, the last {MAX_ASKED} of them, and can then be
found. Everybody who uses this app sees them if this is on."""


@dataclass(frozen=True)
class Choice:
    """How neighbours are looked for."""

    among: Among
    k: int


@dataclass(frozen=True)
class Side:
    """One of the two sentences: its answer, or why there is none; neither if nothing was typed."""

    answer: Answer | None = None
    problem: str = ""

    @property
    def hits(self) -> Sequence[Hit]:
        """Its neighbours."""
        return self.answer.neighbours.hits if self.answer else ()


def follow_language(model: Model) -> None:
    """A checkpoint of another language begins with a word of its own."""
    before = st.session_state.get("language of neighbours")
    st.session_state["language of neighbours"] = model.language
    if before not in (None, model.language):
        st.session_state["word"] = FIRST_WORDS[model.language]


def choose_example_word(word: str, language: Language) -> None:
    """Words with example sentences; choosing one makes it the target."""
    words = example_words(language)
    key = f"example word {language}"
    st.session_state[key] = word.casefold() if word.casefold() in words else None
    st.pills("Examples", words, key=key, on_change=_take_example, args=(key,), label_visibility="collapsed")


def choose_search() -> Choice:
    """Whose uses are looked through, and how many are shown."""
    among = st.segmented_control(
        "Look among uses of", AMONG, default="same word", required=True, key="among", bind="query-params"
    )
    k = st.segmented_control("Show", COUNTS, default=10, required=True, key="k", bind="query-params")
    return Choice(cast(Among, among), int(k))


def type_sentences(model: Model, word: str) -> list[Sentence | None]:
    """Two sentences side by side; None where nothing is typed."""
    first = suggestions(word, model.language)
    if st.session_state.get("word of neighbours") not in (None, word):
        st.session_state.update(zip(SIDES, first, strict=True))  # another word: sentences of its own
    st.session_state["word of neighbours"] = word
    sentences: list[Sentence | None] = []
    for column, side, text in zip(st.columns(2, gap="large"), SIDES, first, strict=True):
        with column:
            typed = st.text_input(
                f"{side.capitalize()} sentence with “{plain(word)}”",
                text,
                max_chars=MAX_OWN_CHARACTERS,
                key=side,
                bind="query-params",
            ).strip()
            label = f"Which “{plain(word)}” of the {side} sentence?"
            sentences.append(choose_occurrence(model, typed, word, label, f"which {side}"))
    return sentences


def suggestions(word: str, language: Language) -> tuple[str, str]:
    """Two sentences to begin with: of an example word, one of each of two senses."""
    if word.casefold() in FIRST_SENTENCES:
        return FIRST_SENTENCES[word.casefold()]
    examples = load_examples(language)
    texts = examples[examples.word == word.casefold()].groupby("sense", sort=False).sentence.first().tolist()
    return (texts[0], texts[1]) if len(texts) > 1 else ("", "")


def find_both(
    opened: Opened, model: Model, sentences: Sequence[Sentence | None], word: str, choice: Choice, asked: bool
) -> list[Side]:
    """What each use is closest to, or why that cannot be said."""
    return [_find(opened, model, sentence, word, choice, asked) for sentence in sentences]


def _find(opened: Opened, model: Model, sentence: Sentence | None, word: str, choice: Choice, asked: bool) -> Side:
    if sentence is None:
        return Side()
    is_typed = sentence.text not in suggestions(word, model.language)
    try:
        if model.language == "zh" and (problem := script_problem(sentence.text)):
            raise StoreError(problem)
        settings = {"among": choice.among, "asked": asked, "keep": is_typed}
        return Side(ask(opened.store, opened.encoder, sentence, word, choice.k, **settings))
    except ValueError as error:
        return Side(problem=str(error))


def shared_sentences(sides: Sequence[Side]) -> set[str]:
    """Sentences that are in both lists."""
    first, second = ({hit.context.sentence for hit in side.hits} for side in sides)
    return first & second


def show_pair(sides: Sequence[Side]) -> None:
    """How near the two uses are to each other, what they share, and what was looked through."""
    answers = [side.answer for side in sides if side.answer]
    if not answers:
        return
    cosine = np.nan
    if len(answers) > 1:
        vectors_2D = np.stack([answer.use.encoding.vectors[answer.use.position] for answer in answers])
        cosine = float(cosine_matrix(vectors_2D)[0, 1])
    searched = answers[0].neighbours
    num_shown = max(len(side.hits) for side in sides)
    show_metrics(
        {
            "Cosine of the two": (format_number(cosine), "Between the word in the first and in the second sentence"),
            "Shared": (f"{len(shared_sentences(sides))} of {num_shown}", "Sentences that are in both lists"),
            "Searched": (f"{searched.num_searched:,}", "Contexts that fulfil the conditions"),
            "Answer": ("exact" if searched.is_exact else "approximate", EXACT_HELP),
        }
    )


def show_lists(sides: Sequence[Side], word: str) -> None:
    """Both lists side by side, senses in the same colours, and what the two share."""
    shared = shared_sentences(sides)
    colors_of = sense_colors([hit.context.sense for side in sides for hit in side.hits])
    for column, name, side, color in zip(st.columns(2, gap="large"), SIDES, sides, COLORS, strict=True):
        with column:
            st.subheader(f":{'blue' if name == SIDES[0] else 'orange'}[■] {name.capitalize()} sentence")
            if side.problem:
                show_error(side.problem)
            elif side.answer is None:
                st.info(f"Type a sentence with “{plain(word)}” to see what it is closest to.")
            elif not side.hits:
                st.info("Nothing in this store fulfils the conditions: look among other words, or in another store.")
            else:
                st.caption(plain(_senses_in_words(side.hits)))
                st.html(neighbours_html([_row(hit, shared, colors_of) for hit in side.hits], color))
                if side.answer.problem:
                    st.caption(plain(side.answer.problem))
    frame = neighbours_table(sides)
    if len(frame):
        st.download_button(
            "Neighbours as CSV",
            lambda: frame.to_csv(index=False),
            "neighbours.csv",
            "text/csv",
            icon=":material/download:",
            on_click="ignore",
        )


def _senses_in_words(hits: Sequence[Hit]) -> str:
    counts = Counter(hit.context.sense for hit in hits if hit.context.sense)
    known = [f"{count} {sense}" for sense, count in counts.most_common()]
    left = len(hits) - counts.total()
    return "Senses: " + ", ".join([*known, *([f"{left} unlabelled"] if left else [])]) + "."


def _row(hit: Hit, shared: set[str], colors_of: Mapping[str | None, str]) -> Row:
    context = hit.context
    return Row(
        hit.cosine,
        context.sentence,
        context.start,
        context.end,
        note="asked before" if context.source == ASKED else context.source,
        label=context.sense or "",
        color=colors_of[context.sense],
        mark="in both" if context.sentence in shared else "",
    )


def neighbours_table(sides: Sequence[Side]) -> pd.DataFrame:
    """One row a neighbour."""
    return pd.DataFrame(
        {"asked": side.answer.use.sentence.text, "cosine": hit.cosine, **asdict(hit.context)}
        for side in sides
        if side.answer
        for hit in side.hits
    )


def choose_asked() -> bool:
    """Whether the sentences that people have typed are looked through too."""
    return st.toggle("Sentences asked before", key="asked", persist_state="session", help=ASKED_HELP)


def describe_store(opened: Opened, model: Model) -> None:
    """What is looked through, and how its vectors were read."""
    reading = opened.store.about.reading
    whose = "the checkpoint's own" if reading == model.encoder.config.reading else "not the checkpoint's own"
    lines = [f"Reading: {describe(reading)}, no centring; {whose}."]
    for source in opened.sources:
        missing = "" if source.is_complete else ", not all of it yet"
        lines.append(f"{source.num_contexts:,} contexts of {source.name}{missing}.")
    st.caption("  \n".join(map(plain, lines)))


def show_similar_words(opened: Opened, word: str) -> None:
    """Words whose mean vectors are nearest to a word's."""
    asked = st.text_input("Word", word, max_chars=MAX_WORD_CHARACTERS, key=f"similar to {word}", width=180).strip()
    if asked:
        _show_words(lambda: opened.store.similar_words(asked, NUM_WORDS))


def show_analogy(opened: Opened, language: Language) -> None:
    """a is to b as c is to ?"""
    words = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for label, first in zip(("", "is to", "as"), FIRST_ANALOGY[language], strict=True):
            name = label or "a word"
            key = f"analogy {name} {language}"
            words.append(st.text_input(name, first, max_chars=MAX_WORD_CHARACTERS, key=key, width=110).strip())
        st.markdown("is to **…**")
    a, b, c = words
    if a and b and c:
        _show_words(lambda: opened.store.analogy(a, b, c, NUM_WORDS))


def _show_words(find: Callable[[], WordNeighbours]) -> None:
    try:
        found = find()
    except StoreError as error:  # the words to begin with may be missing too
        st.info(plain(str(error)))
        return
    st.html(words_html([(hit.cosine, hit.word, hit.num_contexts) for hit in found.hits], NEUTRAL_COLOR))
    st.caption(
        f"Of {found.num_searched:,} words, each the mean of at least {MIN_CONTEXTS} contexts; all were compared."
    )


def _take_example(key: str) -> None:
    if st.session_state[key]:
        st.session_state["word"] = st.session_state[key]
