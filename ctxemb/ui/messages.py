"""Words to the user: errors, problems, and text that must not be read as Markdown."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import streamlit as st

NUM_PROBLEMS_SHOWN = 5


@contextmanager
def user_errors() -> Iterator[None]:
    """Show a user's mistake in a sentence, and end the page there."""
    try:
        yield
    except ValueError as error:
        show_error(str(error))
        st.stop()


def show_error(text: str) -> None:
    """One sentence in a red box; further lines below it as they stand."""
    first, _, rest = text.partition("\n")
    st.error(plain(_as_sentence(first)))
    if rest:
        st.code(rest, language=None)


def show_problems(problems: Sequence[str]) -> None:
    """Sentences that could not be used, and why."""
    if problems:
        shown = [f"- {plain(_as_sentence(problem))}" for problem in problems[:NUM_PROBLEMS_SHOWN]]
        left = len(problems) - NUM_PROBLEMS_SHOWN
        st.warning("\n".join([*shown, f"- and {left} more"] if left > 0 else shown))


def plain(text: str) -> str:
    """Text as it stands, for places that read Markdown."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|$:<>~&@])", r"\\\1", text)


def _as_sentence(text: str) -> str:
    """A message with a capital at its beginning, unless that is a name."""
    first, _, rest = text.partition(" ")
    return f"{first.capitalize()} {rest}" if first.isalpha() else text
