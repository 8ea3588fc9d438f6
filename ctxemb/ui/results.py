"""What a comparison looks like: numbers, baselines, sentences in words, and what moves a vector."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.analysis.senses import SensePairs
from ctxemb.analysis.similarity import RandomPairs
from ctxemb.comparison import Comparison, Use, influence
from ctxemb.figures import influence_html, sense_colors, tokens_html, uses_html
from ctxemb.models.reading import Reading
from ctxemb.ui.loading import Model

THIN_CONTEXT = 10
MAX_WORDS_LEFT_OUT = 100
CHART_CONFIG = {"displayModeBar": False}
AUC_HELP = "How often a same-sense pair is closer than a cross-sense pair: 0.50 is chance, 1.00 is always"
RANDOM_HELP = "Mean cosine of pairs of different words, under the same reading: the level from which to read any cosine"
BASELINES_CAPTION = (
    "*Bag of context*: mean static vector of the other words. *Static vector*: layer 0, the same in every sentence. "
    "*Random words*: pairs of different words, the level from which to read a cosine."
)


def is_dark() -> bool:
    """Whether the browser shows the dark theme."""
    return st.context.theme.type == "dark"


def show_headline(comparison: Comparison, random: RandomPairs | None) -> None:
    """The four numbers that are read first; without sense labels, what there is instead."""
    pairs, cosines = comparison.pairs, comparison.cosines_NN[np.triu_indices(len(comparison.uses), k=1)]
    cosines = cosines[~np.isnan(cosines)]
    if pairs.num_same + pairs.num_cross:
        numbers = {
            "Same sense": (
                format_number(pairs.same_mean),
                f"Mean cosine of {pairs.num_same} pairs of uses with the same sense",
            ),
            "Cross sense": (
                format_number(pairs.cross_mean),
                f"Mean cosine of {pairs.num_cross} pairs with different senses",
            ),
            "Gap": (format_number(pairs.gap, "+.2f"), "Same sense minus cross sense"),
            "AUC": (format_number(pairs.auc), AUC_HELP),
        }
    else:
        numbers = {
            "All pairs": (format_number(comparison.mean_cosine), f"Mean cosine of {len(cosines)} pairs of uses"),
            "Closest pair": (format_number(cosines.max(initial=-1) if len(cosines) else np.nan), None),
            "Farthest pair": (format_number(cosines.min(initial=1) if len(cosines) else np.nan), None),
            "Random words": (format_number(random.mean if random else np.nan), RANDOM_HELP),
        }
    with st.container(horizontal=True):
        for names in (list(numbers)[:2], list(numbers)[2:]):  # two by two, also where only two find room
            with st.container(horizontal=True):
                for name in names:
                    value, help_text = numbers[name]
                    st.metric(name, value, help=help_text, border=True)


def show_baselines(comparison: Comparison, random: RandomPairs | None) -> None:
    """The same numbers for what a contextual encoder has to beat."""
    rows: dict[str, SensePairs | None] = {
        "**this encoder**": comparison.pairs,
        "bag of context": comparison.bag_pairs,
        "static vector": comparison.layer_pairs[0],
    }
    table = {name: (p.same_mean, p.cross_mean, p.gap, p.auc) for name, p in rows.items() if p}
    if random:
        table["random words"] = (np.nan, random.mean, np.nan, np.nan)
    frame = pd.DataFrame.from_dict(table, orient="index", columns=["same", "cross", "gap", "AUC"])
    st.table(frame.style.format(format_number), border="horizontal")
    is_emptied = np.isnan(comparison.layer_means[0]) and len(comparison.uses) > 1
    st.caption(
        BASELINES_CAPTION + (" Centred on its own mean, nothing of the static vector is left." if is_emptied else "")
    )


def layer_lines(comparison: Comparison) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Mean cosine of each kind of pair, by layer and for the bag of context."""
    bag = comparison.bag_pairs
    kinds = {
        "same": ([p.same_mean for p in comparison.layer_pairs], bag.same_mean if bag else np.nan),
        "cross": ([p.cross_mean for p in comparison.layer_pairs], bag.cross_mean if bag else np.nan),
    }
    kinds = {kind: values for kind, values in kinds.items() if not np.isnan(values[0]).all()}
    if not kinds:
        kinds = {"all pairs": (comparison.layer_means, np.nan)}
    lines = {kind: line for kind, (line, _) in kinds.items()}
    return lines, {kind: mean for kind, (_, mean) in kinds.items() if not np.isnan(mean)}


def show_uses(comparison: Comparison, labels: Sequence[str]) -> None:
    """Every sentence in words, the target marked."""
    uses = comparison.uses
    senses = [use.sentence.sense for use in uses]
    colors = sense_colors(senses)
    chips = [
        tokens_html(
            use.encoding.tokens,
            use.encoding.oov.tolist(),
            use.encoding.positions(comparison.word),
            use.position,
            colors[use.sentence.sense],
        )
        for use in uses
    ]
    notes = ["thin context: under 10 words" if len(use.encoding.tokens) < THIN_CONTEXT else "" for use in uses]
    st.html(uses_html(labels, chips, senses, notes))
    st.caption("Dashed: not in the vocabulary, read as unknown. Outlined: the word once more; choose it under *Edit*.")


def show_influence(model: Model, reading: Reading, use: Use, mean_LD: np.ndarray | None, color: str) -> None:
    """How far the target's vector moves without each of the other words."""
    tokens = use.encoding.tokens
    if len(tokens) > MAX_WORDS_LEFT_OUT:
        st.info(f"This sentence has {len(tokens)} words; the view is for at most {MAX_WORDS_LEFT_OUT}.")
        return
    moved_T = influence(model.encoder.with_reading(reading), use, mean_LD)
    if np.isnan(moved_T).all():
        st.info("There is nothing to leave out, or nothing left of the vector after centring.")
        return
    st.html(influence_html(tokens, moved_T, use.position, color))
    st.caption("Bars: 1 − cosine between the vector of the target with and without the word. Longer is more telling.")


def format_number(value: float, pattern: str = ".2f") -> str:
    """Two decimals; “–” for a number that does not exist."""
    return "–" if np.isnan(value) else f"{value:{pattern}}".replace("-", "−")
