"""A look at a model in training: the vectors of the probed uses, and how they stand to each other.

N uses, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctxemb.analysis.senses import SensePairs, labelled_pairs, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.calibration import CorpusUse, use_layers
from ctxemb.checkpoint import Checkpoint, CheckpointConfig
from ctxemb.comparison import Centring, Sentence, find_uses
from ctxemb.encoder import Encoder
from ctxemb.models.reading import Reading
from ctxemb.probe.folder import ProbeFolder, ProbePoint
from ctxemb.probe.uses import ProbedUse, choose_uses
from ctxemb.text import Language, WordTokenizer
from ctxemb.training import Objective

ALL_WORDS = "all words"
# per word: the mean of the word's probed uses is subtracted, since a run has no statistics yet; it knows no sense
PROBE_CENTRINGS: tuple[Centring, ...] = ("off", "per word")


class Probe:
    """Reads the same uses whenever it is called; hand it to `train` as `on_validation`.

    Attributes:
        last: what was seen at the last look of this process.
    """

    def __init__(self, run: Path, uses: Sequence[ProbedUse]) -> None:
        self.folder, self.uses = ProbeFolder(run), list(uses)
        self.last: ProbePoint | None = None
        self._places: list[CorpusUse] = []

    def __call__(self, objective: Objective[Any], step: int) -> None:
        """Look at an objective's model as it is after a step, and keep what is seen in the run's folder."""
        model = objective.model
        was_training = model.training
        encoder = _encoder_of(objective)
        if not self._places:
            self._find_places(encoder)
        layers_NLD = use_layers(encoder, self._places, encoder.reading.readout)
        model.train(was_training)
        vectors_ND = encoder.reading.combine(layers_NLD.swapaxes(0, 1))
        self.last = ProbePoint(step, {centring: self._pairs(vectors_ND, centring) for centring in PROBE_CENTRINGS})
        self.folder.add(self.last, vectors_ND, self.uses)

    def _find_places(self, encoder: Encoder) -> None:
        """Locate every use once; the few that the tokenizer hides are left out, in each process alike."""
        kept = []
        for word in dict.fromkeys(use.word for use in self.uses):
            sentences = [Sentence(use.text, use.sense, use.occurrence) for use in self.uses if use.word == word]
            for found in find_uses(encoder, sentences, word)[0]:
                kept.append(ProbedUse(word, str(found.sentence.sense), found.sentence.text, found.sentence.occurrence))
                self._places.append(CorpusUse(found.encoding.ids, found.position, tuple(found.encoding.tokens)))
        self.uses = kept

    def _pairs(self, vectors_ND: np.ndarray, centring: Centring) -> dict[str, SensePairs]:
        words_N = np.array([use.word for use in self.uses])
        found: dict[str, SensePairs] = {}
        cosines, is_same = [], []
        for word in dict.fromkeys(words_N.tolist()):
            rows = np.flatnonzero(words_N == word)
            own_ND = vectors_ND[rows]
            if centring == "per word":
                own_ND = own_ND - own_ND.mean(axis=0)
            pairs = labelled_pairs(cosine_matrix(own_ND), [self.uses[row].sense for row in rows])
            found[word] = sense_pairs(*pairs)
            cosines.append(pairs[0])
            is_same.append(pairs[1])
        return {ALL_WORDS: sense_pairs(np.concatenate(cosines), np.concatenate(is_same)), **found}


def open_probe(
    run: Path,
    tokenizer: WordTokenizer,
    language: Language,
    corpora: Sequence[str],
    words: Sequence[str] | None = None,
) -> Probe | None:
    """The probe of a run; a resumed run goes on with the sentences that it began with.

    Args:
        run: the run's folder.
        tokenizer: of the run.
        language: of its text.
        corpora: what it is trained on; a run on the lab corpus is probed with the lab's held-out sentences.
        words: whose sentences are read; None for the first dozen that the vocabulary holds.

    Returns:
        None if the vocabulary holds none of them.

    Raises:
        ValueError: if a named word cannot be probed, or the run was begun with others.
    """
    begun = ProbeFolder(run).uses()
    if begun:
        earlier = list(dict.fromkeys(use.word for use in begun))
        if words is not None and set(words) != set(earlier):
            raise ValueError(f"{run} is probed with {', '.join(earlier)}; name the same words, or none")
        return Probe(run, begun)
    uses = choose_uses(tokenizer, language, corpora, words)
    return Probe(run, uses) if uses else None


def _encoder_of(objective: Objective[Any]) -> Encoder:
    """The model as it stands, to be read from as a checkpoint would be; it shares its weights."""
    config = objective.model.config
    reading = objective.reading or Reading(readout=config.readouts[0])
    described = CheckpointConfig(family=config.family, model=config, text=objective.text, reading=reading)
    checkpoint = Checkpoint(Path("the run"), described, objective.tokenizer, objective.model.eval(), {})
    return Encoder(checkpoint, reading, next(objective.model.parameters()).device)
