"""SCWS: pairs of words, each in a passage of its own, rated by ten people for similarity.

Source: Huang et al. 2012, "Improving Word Representations via Global Context and Multiple Word Prototypes".

N pairs.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.sources import find_file, numbered_lines, read_text
from ctxemb.evaluation.targets import Target

HOME = "https://ai.stanford.edu/~ehhuang/ (SCWS)"
FILE = "ratings.txt"
MARKED = re.compile(r"<b>(\s*)(.*?)(\s*)</b>")
NUM_FIELDS_BEFORE_RATINGS = 8


@dataclass(frozen=True)
class RatedUses:
    """N pairs of uses.

    Attributes:
        targets: the N first uses, then their N partners, as `pair_cosines` expects them.
        ratings_N: (N,) mean rating, 0 to 10.
    """

    targets: list[Target]
    ratings_N: np.ndarray


def load_scws(folder: Path | None = None) -> RatedUses:
    """Read `ratings.txt` (or `.xz`): id, word, POS, word, POS, two passages with the word in `<b> </b>`, mean, ratings.

    Args:
        folder: `scws` in the data folder if None.

    Raises:
        CorpusError: if the file is missing, empty, or a line is not in the authors' format.
    """
    path = find_file(folder or data_folder() / "scws", FILE, HOME)
    firsts, seconds, ratings = [], [], []
    for number, line in numbered_lines(read_text(path)):
        try:
            *_, first, second, rating = line.split("\t")[:NUM_FIELDS_BEFORE_RATINGS]
            firsts.append(_marked_target(first))
            seconds.append(_marked_target(second))
            ratings.append(float(rating))
        except ValueError as error:
            raise CorpusError(
                f"{path}, line {number}: not two words, their passages with one <b> word </b> each, and a rating"
            ) from error
    if not firsts:
        raise CorpusError(f"{path} is empty; get it from {HOME}")
    return RatedUses(firsts + seconds, np.array(ratings))


def _marked_target(passage: str) -> Target:
    (match,) = MARKED.finditer(passage)
    before, word = passage[: match.start()], match[2]
    if not word:
        raise ValueError("nothing stands between the marks")
    start = len(before) + len(match[1])
    return Target(before + match[1] + word + match[3] + passage[match.end() :], start, start + len(word))
