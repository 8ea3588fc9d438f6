"""Our own example sentences, labelled with senses: data files, and the function that reads them."""

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
