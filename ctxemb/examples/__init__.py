"""Our own example sentences, labelled with senses: data files, and what reads them."""

from functools import cache
from importlib import resources

import pandas as pd


@cache
def load_examples(language: str = "en") -> pd.DataFrame:
    """One row per sentence: `word`, `sense`, `sentence`; the word stands in its sentence exactly once.

    The frame is shared between callers: treat it as read-only.
    """
    with resources.as_file(resources.files(__name__) / f"polysemy_{language}.csv") as path:
        return pd.read_csv(path, dtype=str)


def example_words(language: str = "en") -> list[str]:
    """The words that have example sentences, in the file's order."""
    return list(load_examples(language).word.unique())
