"""Which checkpoint a new one is held against, if nobody says."""

from collections.abc import Mapping
from pathlib import Path

from ctxemb.checkpoint import CheckpointError, read_config


def choose_reference(family: str, language: str, candidates: Mapping[str, Path]) -> str | None:
    """The first candidate of the same language and family, else of the same language; None without one.

    Args:
        family, language: of the new checkpoint.
        candidates: name -> folder, the preferred first; those that cannot be read are passed over.
    """
    of_language = {}
    for name, folder in candidates.items():
        try:
            config = read_config(folder)
        except CheckpointError:
            continue
        if config.text.language == language:
            of_language[name] = config.family
    same_family = [name for name, found in of_language.items() if found == family]
    return next(iter([*same_family, *of_language]), None)
