"""What a checkpoint makes of the lab's words: in sentences held out of the lab corpus, and in our hand-written ones.

The first says whether training has worked, the second how far that carries beyond the grammar.

D numbers per vector, L layers above layer 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxemb.analysis.senses import SensePairs, labelled_pairs, sense_pairs
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.calibration import load_statistics
from ctxemb.comparison import Centring, Sentence, TargetError, Use, centring_mean, example_uses, find_uses
from ctxemb.corpora.lab import SENSES, held_out_sentences
from ctxemb.encoder import Encoder

SENTENCES_PER_SENSE = 12
SCORED = 2  # draws other held-out sentences than those that the settings were chosen and runs are watched on


@dataclass(frozen=True)
class LabScore:
    """Pairs of uses of one word, pooled over the lab's words.

    Attributes:
        held_out: of the lab's held-out sentences.
        examples: of the example sentences of the same words, in the same senses.
    """

    held_out: SensePairs
    examples: SensePairs


def score_lab(encoder: Encoder, centring: Centring = "off") -> LabScore:
    """Gap and AUC under the encoder's reading.

    Raises:
        TargetError: if the checkpoint knows none of the words, or lacks the statistics that the centring needs.
    """
    lab_uses = held_out_uses(encoder)
    if not lab_uses:
        raise TargetError("none of the lab's words is in this checkpoint's vocabulary; train it on the corpus lab")
    senses = {(sense.word, sense.name) for sense in SENSES}
    found = {
        word: [use for use in uses if (word, use.sentence.sense) in senses]
        for word, uses in example_uses(encoder, lab_uses).items()
    }
    statistics = load_statistics(encoder)
    means = {word: centring_mean(centring, encoder, statistics, word) for word in lab_uses}
    return LabScore(pooled_pairs(encoder, lab_uses, means), pooled_pairs(encoder, found, means))


def held_out_uses(encoder: Encoder) -> dict[str, list[Use]]:
    """Uses of the lab's words in its held-out sentences, by word; words unknown to the checkpoint are left out."""
    sentences: dict[str, list[Sentence]] = {}
    for sentence in held_out_sentences(SENTENCES_PER_SENSE, SCORED):
        sentences.setdefault(sentence.word, []).append(Sentence(sentence.text, sentence.sense))
    found = {word: find_uses(encoder, of_word, word)[0] for word, of_word in sentences.items()}
    return {word: uses for word, uses in found.items() if uses}


def pooled_pairs(
    encoder: Encoder, uses: Mapping[str, Sequence[Use]], means: Mapping[str, np.ndarray | None]
) -> SensePairs:
    """Pairs within each word, pooled over words.

    Args:
        encoder: its reading decides the vector of a use.
        uses: by word.
        means: by word, (L + 1, D) to subtract, or None.
    """
    cosines, same = [], []
    for word, found in uses.items():
        mean_LD = means[word]
        layers = [use.encoding.layers[:, use.position] for use in found]
        vectors = [
            encoder.reading.combine(layers_LD if mean_LD is None else layers_LD - mean_LD) for layers_LD in layers
        ]
        cosines_P, is_same_P = labelled_pairs(cosine_matrix(np.stack(vectors)), [use.sentence.sense for use in found])
        cosines.append(cosines_P)
        same.append(is_same_P)
    return sense_pairs(np.concatenate(cosines), np.concatenate(same))
