"""Checks of reading: the same sentence has the same vectors, whatever stands beside it.

T tokens, P pairs of uses, L layers above layer 0, D numbers per vector.
"""

from collections.abc import Sequence

import numpy as np

from ctxemb.analysis.similarity import unit_vectors
from ctxemb.checkup.result import Finding, LayerCosines, not_applicable, tiny
from ctxemb.checkup.subject import Subject, largest_difference
from ctxemb.encoder import Encoder, Encoding
from ctxemb.models.layers import layer_names
from ctxemb.text import SPECIAL_TOKENS, UNK

NUM_READ = 24
MAX_CHANGE = 1e-6  # twice the same computation; dropout that was left on changes the first digit
MAX_BATCH_CHANGE = 1e-5  # float32 sums in another order; padding that is read changes the second digit
MIN_EQUAL_COSINE = 1 - 1e-5  # a vector with itself, in float32
MAX_DIFFERENT_COSINE = 1 - 1e-4  # two contexts that a layer has read never come so close
MAX_USES = 6


def check_determinism(subject: Subject) -> Finding:
    """Whether reading twice gives the same vectors."""
    sentences = subject.sentences[:NUM_READ]
    first, second = subject.encoder.encode(sentences), subject.encoder.encode(sentences)
    change = largest_difference(_layers(first), _layers(second))
    return _at_most(
        change,
        MAX_CHANGE,
        f"{len(sentences)} sentences read twice have the same vectors.",
        f"The same {len(sentences)} sentences read twice have different vectors.",
        "Something random is left in the model, such as dropout: it has to be off when sentences are read.",
    )


def check_batches(subject: Subject) -> Finding:
    """Whether a sentence read alone has the vectors that it has among others, in any order."""
    sentences, encode = subject.sentences[:NUM_READ], subject.encoder.encode
    alone = _layers([encode([sentence])[0] for sentence in sentences])
    together = _layers(encode(sentences))
    turned = _layers(encode(sentences[::-1]))[::-1]
    change = max(largest_difference(alone, together), largest_difference(alone, turned))
    return _at_most(
        change,
        MAX_BATCH_CHANGE,
        f"{len(sentences)} sentences of different lengths have the same vectors alone, together and in turned order.",
        f"{len(sentences)} sentences of different lengths have other vectors together than alone.",
        "Padding or neighbours leak into a sentence: reverse and pool within each sentence's own length.",
    )


def check_boundaries(subject: Subject) -> Finding:
    """Whether T words give T vectors, and no boundary token is among them."""
    one_word = next((e.tokens[0] for e in subject.sample if e.tokens), "a")
    sentences = [*subject.sentences[:NUM_READ], "", one_word, " ".join([*SPECIAL_TOKENS, one_word])]
    encodings = subject.encoder.encode(sentences)
    depth, width = subject.encoder.num_layers + 1, subject.encoder.config.model.width
    wrong = [
        e.text
        for e in encodings
        if e.layers.shape != (depth, len(e.tokens), width)
        or not np.isfinite(e.layers).all()
        or (e.ids.min(initial=UNK) < UNK)
    ]
    limit = "none"
    if wrong:
        return Finding(
            "fail",
            f"{len(wrong)} of {len(sentences)} sentences have another number of vectors than of words, or a boundary "
            f"token among them, first “{wrong[0][:60]}”.",
            len(wrong),
            f"{len(wrong)} sentences",
            limit,
            "Boundary tokens belong to the model: cut their states off before vectors are handed out.",
        )
    found = "T words give T vectors, also for one word, for none, and where a text spells out a boundary token."
    return Finding("pass", found, 0, "0 sentences", limit)


def check_layer_zero(subject: Subject) -> Finding:
    """Whether a word has one vector at layer 0, and others in other contexts above it."""
    own_LP, others_L = _cosines_of_uses(subject.encoder, subject.sample)
    if not own_LP.size:
        return not_applicable("No known word stands in two of our example sentences.")
    lowest, means_L = float(own_LP[0].min()), own_LP.mean(axis=1)
    picture = LayerCosines(layer_names(subject.encoder.config.model), means_L.tolist())
    limit = "1.0000 at layer 0, less above it"
    shown = " → ".join(f"{mean:.4f}" for mean in means_L)
    if not lowest >= MIN_EQUAL_COSINE:
        return Finding(
            "fail",
            f"At layer 0 two uses of a word have cosines down to {lowest:.3f}; it should be one vector a word.",
            lowest,
            shown,
            limit,
            "Layer 0 has to be the embedding alone, looked up before any context or position is read.",
            picture,
        )
    # where other words have that vector too, it is not the context that is missing: the space has collapsed
    equal_L = (means_L > MAX_DIFFERENT_COSINE) & (others_L <= MAX_DIFFERENT_COSINE)
    equal = [str(layer) for layer in range(1, len(means_L)) if equal_L[layer]]
    if equal:
        return Finding(
            "fail",
            f"At layer {', '.join(equal)} a word has the same vector in every sentence, as if no context was read.",
            float(means_L[int(equal[0])]),
            shown,
            limit,
            "Look whether the recurrent weights were loaded; a layer that does nothing passes the embedding on.",
            picture,
        )
    num_pairs = own_LP.shape[1]
    above = " and other vectors at each layer above" if len(means_L) > 1 else ", the only layer there is"
    found = f"In {num_pairs:,} pairs of sentences a word has the same vector at layer 0{above}."
    return Finding("pass", found, lowest, shown, limit, picture=picture)


def _cosines_of_uses(encoder: Encoder, encodings: Sequence[Encoding]) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of a known word's first use with some later ones, in other sentences, and of one word with another.

    Returns:
        (L + 1, P) of P pairs of uses; (L + 1,) the mean of pairs of different words.
    """
    first: dict[str, np.ndarray] = {}
    counts = dict[str, int]()
    pairs = []
    for encoding in encodings:
        entries = {encoder.entry(encoding, t): t for t in range(len(encoding.tokens)) if not encoding.oov[t]}
        for entry, position in entries.items():
            layers_LD = encoding.layers[:, position]
            first_LD = first.setdefault(entry, layers_LD)
            if first_LD is not layers_LD and counts.get(entry, 0) < MAX_USES:
                counts[entry] = counts.get(entry, 0) + 1
                pairs.append(_cosines(first_LD, layers_LD))
    words = list(first.values())
    others = [_cosines(one_LD, other_LD) for one_LD, other_LD in zip(words, words[1:], strict=False)]
    own_PL, others_PL = (np.array(found).reshape(-1, encoder.num_layers + 1) for found in (pairs, others))
    own_PL, others_PL = (found[~np.isnan(found).any(axis=1)] for found in (own_PL, others_PL))
    return own_PL.T, others_PL.mean(axis=0) if len(others_PL) else np.zeros(encoder.num_layers + 1)


def _cosines(first_LD: np.ndarray, second_LD: np.ndarray) -> np.ndarray:
    return (unit_vectors(first_LD) * unit_vectors(second_LD)).sum(axis=1)


def _layers(encodings: Sequence[Encoding]) -> list[np.ndarray]:
    return [encoding.layers for encoding in encodings]


def _at_most(change: float, most: float, passed: str, failed: str, advice: str) -> Finding:
    """The finding about vectors that have to stay as they are; a change that is no number is one."""
    limit = f"at most {most:.0e}"
    if change > most or np.isnan(change):
        return Finding("fail", failed, change, tiny(change), limit, advice)
    return Finding("pass", passed, change, tiny(change), limit)
