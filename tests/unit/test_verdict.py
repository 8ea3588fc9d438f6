"""What is said about numbers worked out by hand."""

import numpy as np
import pytest

from ctxemb.analysis.senses import labelled_pairs, sense_pairs
from ctxemb.comparison import Comparison, Sentence, Use
from ctxemb.encoder import Encoding
from ctxemb.verdict import nearest_sense, verdict

NOTHING = Encoding("", [], [], np.zeros(0, np.int64), np.zeros((1, 0, 1)), np.zeros((0, 1)))


def comparison(
    cosines: list[list[float]], senses: list[str | None], bag: list[list[float]] | None = None
) -> Comparison:
    cosines_NN = np.array(cosines, dtype=float)
    upper = cosines_NN[np.triu_indices(len(senses), k=1)]
    pairs = sense_pairs(*labelled_pairs(cosines_NN, senses))
    bag_NN = None if bag is None else np.array(bag, dtype=float)
    return Comparison(
        word="bank",
        uses=[Use(Sentence("", sense), NOTHING, 0, 1) for sense in senses],
        cosines_NN=cosines_NN,
        pairs=pairs,
        mean_cosine=float(np.nanmean(upper)) if len(upper) and not np.isnan(upper).all() else np.nan,
        layer_pairs=[pairs],
        layer_means=[0.0],
        bag_cosines_NN=bag_NN,
        bag_pairs=None if bag_NN is None else sense_pairs(*labelled_pairs(bag_NN, senses)),
    )


# same: .9 .8, cross: .5 .5 .5 .5
APART = [[1, 0.9, 0.5, 0.5], [0.9, 1, 0.5, 0.5], [0.5, 0.5, 1, 0.8], [0.5, 0.5, 0.8, 1]]
# same: .4 .4, cross: .5 .5 .5 .5
TURNED = [[1, 0.4, 0.5, 0.5], [0.4, 1, 0.5, 0.5], [0.5, 0.5, 1, 0.4], [0.5, 0.5, 0.4, 1]]
SENSES: list[str | None] = ["money", "money", "river", "river"]


def test_senses_told_apart() -> None:
    said = verdict(comparison(APART, SENSES))
    assert "on average 0.35 closer" in said
    assert "apart clearly (AUC 1.00; chance is 0.50)" in said
    assert "anecdote" in said
    assert "bag" not in said.replace("“bank”", "")


@pytest.mark.parametrize(
    ("model", "bag", "words"),
    [(APART, TURNED, "worse (AUC 0.00)"), (TURNED, APART, "better (AUC 1.00)"), (APART, APART, "as well")],
)
def test_the_bag_is_held_against_it(model: list[list[float]], bag: list[list[float]], words: str) -> None:
    assert words in verdict(comparison(model, SENSES, bag))


def test_senses_the_wrong_way_round() -> None:
    said = verdict(comparison(TURNED, SENSES))
    assert "0.10 farther apart" in said
    assert "the wrong way round" in said


@pytest.mark.parametrize(
    ("cosines", "senses", "words"),
    [
        ([[1]], ["money"], "needs two uses"),
        ([[np.nan, np.nan], [np.nan, np.nan]], ["money", "river"], "Nothing is left"),
        ([[1, 1], [1, 1]], ["money", "river"], "a static embedding"),
        ([[1, 0.5], [0.5, 1]], [None, None], "Give at least three sentences a sense"),
        ([[1, 0.5], [0.5, 1]], ["money", "river"], "Give at least three sentences a sense"),
    ],
)
def test_what_cannot_be_judged_is_not_judged(cosines: list[list[float]], senses: list[str | None], words: str) -> None:
    assert words in verdict(comparison(cosines, senses))


def test_nearest_sense_of_an_own_sentence() -> None:
    cosines = [[1, 0.9, 0.3], [0.9, 1, 0.6], [0.3, 0.6, 1]]
    assert nearest_sense(comparison(cosines, ["money", "river", None]), 2) == (
        "It is closest to “river”: mean cosine 0.60, against 0.30 with “money”."
    )
    assert nearest_sense(comparison(cosines, [None, None, None]), 2) == "Its mean cosine with the others is 0.45."
    assert nearest_sense(comparison(cosines, ["money", "money", None]), 2) == "Its mean cosine with “money” is 0.45."
    level = [[1, 0.9, 0.5], [0.9, 1, 0.501], [0.5, 0.501, 1]]
    assert "as close to “river” as to “money”" in nearest_sense(comparison(level, ["money", "river", None]), 2)
    assert nearest_sense(comparison([[1]], [None]), 0) == ""
