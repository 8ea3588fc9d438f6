"""What a correction of the space does to its shape, and to the senses of the example words.

It is fitted without labels, on words that are not measured.

N uses, D numbers per vector.
"""

from dataclasses import dataclass, field

import numpy as np

from ctxemb.analysis.corrections import (
    Correction,
    PrincipalAxes,
    all_but_the_top,
    centring,
    learn_shrinkage,
    principal_axes,
    whitening,
)
from ctxemb.analysis.senses import SensePairs, labelled_pairs, macro_recall, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.geometry.sample import Cloud, LabelledUses
from ctxemb.geometry.shape import Shape, measure_shape
from ctxemb.models.reading import Reading


@dataclass(frozen=True)
class Senses:
    """How far vectors tell the senses of words apart.

    Attributes:
        pairs: pairs of uses of a word, pooled over words.
        recall: whether the nearest other use of the word has the same sense: mean over senses, then over words, 0 to
            1; NaN if no word has two uses.
    """

    pairs: SensePairs
    recall: float


@dataclass(frozen=True)
class Corrected:
    """A space and its senses after a correction, or before any."""

    name: str
    shape: Shape
    senses: Senses


@dataclass(frozen=True)
class Corrections:
    """Corrections of a space under one reading. Use `fit`, not the constructor.

    Attributes:
        cloud: the uses whose shape is measured.
        uses: those whose senses are told apart.
        axes: of other words.
        shrinkage: for whitening, of other words (Ledoit and Wolf).
    """

    cloud: Cloud
    uses: LabelledUses
    reading: Reading
    axes: PrincipalAxes = field(repr=False)
    shrinkage: float

    @classmethod
    def fit(cls, fitted_on: Cloud, cloud: Cloud, uses: LabelledUses, reading: Reading) -> "Corrections":
        """Find the mean and the main directions of some words, to correct others.

        Raises:
            ValueError: if the vectors are not finite, or all equal.
        """
        vectors_ND = reading.combine(fitted_on.layers_LND)
        return cls(cloud, uses, reading, principal_axes(vectors_ND), learn_shrinkage(vectors_ND))

    def as_read(self) -> Corrected:
        """Without any correction."""
        return self._measure("as read", None)

    def centred(self) -> Corrected:
        """Without the mean."""
        return self._measure("centred", centring(self.axes))

    def without_top(self, num_directions: int) -> Corrected:
        """Without the mean and the main directions.

        Raises:
            ValueError: if there are not so many directions.
        """
        return self._measure(f"without the top {num_directions}", all_but_the_top(self.axes, num_directions))

    def whitened(self) -> Corrected:
        """Without the mean, and as long in every direction."""
        return self._measure("whitened", whitening(self.axes, self.shrinkage))

    def sweep(self, max_directions: int) -> list[Senses]:
        """The senses without the main 0, 1, ..., `max_directions` directions.

        Raises:
            ValueError: if there are not so many directions.
        """
        numbers = range(max_directions + 1)
        return [measure_senses(self._uses(all_but_the_top(self.axes, number)), self.uses) for number in numbers]

    def _measure(self, name: str, correction: Correction | None) -> Corrected:
        vectors_ND = self.reading.combine(self.cloud.layers_LND)
        shape = measure_shape(correction.apply(vectors_ND) if correction else vectors_ND, self.cloud.words_N)
        return Corrected(name, shape, measure_senses(self._uses(correction), self.uses))

    def _uses(self, correction: Correction | None) -> np.ndarray:
        vectors_ND = self.reading.combine(self.uses.layers_LND)
        return correction.apply(vectors_ND) if correction else vectors_ND


def measure_senses(vectors_ND: np.ndarray, uses: LabelledUses) -> Senses:
    """Same-sense against cross-sense pairs, and nearest neighbours, within each word."""
    pairs, recalls = [], []
    for word in np.unique(uses.words_N):
        rows = np.flatnonzero(uses.words_N == word)
        # equal vectors have cosines that differ by rounding: the first of them is nearest, on every machine
        cosines_NN = cosine_matrix(vectors_ND[rows]).round(6)
        senses_N = uses.senses_N[rows]
        pairs.append(labelled_pairs(cosines_NN, senses_N.tolist()))
        if len(rows) > 1:
            np.fill_diagonal(cosines_NN, -np.inf)
            nearest_N = np.nan_to_num(cosines_NN, nan=-1).argmax(axis=1)
            recalls.append(macro_recall(senses_N, senses_N[nearest_N]))
    cosines, is_same = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    return Senses(sense_pairs(cosines, is_same), float(np.mean(recalls)) if recalls else np.nan)
