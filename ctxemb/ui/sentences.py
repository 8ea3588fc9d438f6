"""The table of sentences: edited, pasted, uploaded, or brought by a link.

State: `tables`, what each word's editor started from and its version; `edited`, what stands in it now. Both outlive
the widget, which forgets its edits when another word or page is shown.
"""

from collections.abc import Callable

import pandas as pd
import streamlit as st

from ctxemb.comparison import Sentence
from ctxemb.examples import example_words
from ctxemb.sentence_list import (
    MAX_CHARACTERS,
    MAX_SENSE_CHARACTERS,
    SentenceListError,
    blank_table,
    example_table,
    from_link,
    join_tables,
    make_table,
    read_file,
    read_pasted,
    read_table,
    to_link,
)
from ctxemb.text import Language
from ctxemb.ui.messages import show_error, show_problems

OWN: dict[Language, str] = {"en": "your own", "zh": "your own (Chinese)"}


def home_of(word: str, language: Language) -> str:
    """Whose table of sentences a word uses: its own if it has examples, one in common for all others."""
    return word.casefold() if word.casefold() in example_words(language) else OWN[language]


def edit_sentences(word: str, language: Language) -> list[Sentence]:
    """The table of sentences, with those of the link if the page was opened by one."""
    home = home_of(word, language)
    tables, edited = (st.session_state.setdefault(name, {}) for name in ("tables", "edited"))
    if "link_is_read" not in st.session_state:
        st.session_state["link_is_read"] = True
        _open_link(home)
    if home not in tables:
        _put_table(home, _start_table(home, language))
    elif _editor_key(home) not in st.session_state:
        _put_table(home, edited[home])  # another word or page was shown meanwhile, and the widget forgot its edits
    edited[home] = st.data_editor(
        tables[home][0],
        key=_editor_key(home),
        num_rows="dynamic",
        hide_index=True,
        column_config={
            "use": st.column_config.CheckboxColumn("use", default=True, width=60, help="Compare this sentence"),
            "sense": st.column_config.TextColumn(width=110, max_chars=MAX_SENSE_CHARACTERS, help="Optional"),
            "sentence": st.column_config.TextColumn(width=640, max_chars=MAX_CHARACTERS),
            "occurrence": st.column_config.NumberColumn(
                "which", default=1, min_value=1, step=1, width=75, help="Which one, if the word occurs more than once"
            ),
        },
    )
    start = _start_table(home, language)
    with st.container(horizontal=True):
        st.button("Use all", icon=":material/done_all:", on_click=_use_all, args=(home,))
        st.button("Start again", icon=":material/restart_alt:", on_click=_put_table, args=(home, start))
    sentences, problems = read_table(edited[home])
    show_problems(problems)
    _write_link(sentences, read_table(start)[0])
    return sorted(sentences, key=_sense_order(sentences))


def paste_sentences(word: str, language: Language) -> None:
    """Several lines at once."""
    pasted = st.text_area(
        "One sentence a line; two columns from a spreadsheet (sense, sentence) work too", key="pasted", height=160
    )
    _offer(read_pasted(pasted), home_of(word, language), "pasted")


def upload_sentences(word: str, language: Language) -> None:
    """A file of sentences."""
    file = st.file_uploader(
        "A text file with one sentence a line, or a table with a column “sentence” and perhaps “sense”",
        type=["txt", "csv", "tsv"],
        max_upload_size=2,
        key="file",
    )
    if file:
        try:
            table = read_file(file.name, file.getvalue())
        except SentenceListError as error:
            show_error(str(error))
        else:
            _offer(table, home_of(word, language), "uploaded")


def keep_sentence(home: str, own: Sentence) -> None:
    """Move the sentence typed on its own into the table."""
    _put_table(home, join_tables(st.session_state["edited"][home], make_table([own.text], [""], [own.occurrence])))
    st.session_state["own"] = ""


def _start_table(home: str, language: Language) -> pd.DataFrame:
    return blank_table() if home == OWN[language] else example_table(home, language)


def _editor_key(home: str) -> str:
    return f"table of {home}, version {st.session_state['tables'][home][1]}"


def _put_table(home: str, table: pd.DataFrame) -> None:
    """Replace what an editor starts from; a new version is a new widget, without the old one's edits."""
    _, version = st.session_state["tables"].get(home, (None, 0))
    st.session_state["tables"][home] = (table, version + 1)
    st.session_state["edited"][home] = table


def _use_all(home: str) -> None:
    _put_table(home, st.session_state["edited"][home].assign(use=True))


def _offer(table: pd.DataFrame, home: str, name: str) -> None:
    def add() -> None:
        _put_table(home, join_tables(st.session_state["edited"][home], table))

    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Add to the table", type="primary", key=f"add {name}", on_click=add)
        st.button("Replace the table", key=f"replace {name}", on_click=_put_table, args=(home, table))
        st.caption(f"{len(table)} sentences")


def _open_link(home: str) -> None:
    if link := st.query_params.get("rows"):
        try:
            _put_table(home, from_link(link))
        except SentenceListError as error:
            show_error(str(error))


def _write_link(sentences: list[Sentence], start: list[Sentence]) -> None:
    link = to_link(sentences) if sentences != start else ""
    if link:
        st.query_params["rows"] = link
    else:
        st.query_params.pop("rows", None)
    if link is None:
        st.caption("These sentences are too long for a link: the address keeps everything else.")


def _sense_order(sentences: list[Sentence]) -> Callable[[Sentence], int]:
    order = {sense: i for i, sense in enumerate(dict.fromkeys(s.sense for s in sentences if s.sense))}
    return lambda sentence: order.get(sentence.sense or "", len(order))
