"""What a comparison looks like: numbers, baselines, and sentences in words."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from ctxemb.analysis.senses import SensePairs
from ctxemb.analysis.similarity import RandomPairs
from ctxemb.comparison import Comparison
from ctxemb.encoder import Encoding
from ctxemb.figures.comparing import layer_chart
from ctxemb.figures.style import sense_colors
from ctxemb.models.layers import layer_names
from ctxemb.models.reading import Reading
from ctxemb.sentence_html import tokens_html, uses_html
from ctxemb.text import Language
from ctxemb.ui.loading import Model

THIN_CONTEXT: dict[Language, int] = {"en": 10, "zh": 8}  # Chinese punctuation is no token
CHART_CONFIG = {"displayModeBar": False}
AUC_HELP = "How often a same-sense pair is closer than a cross-sense pair: 0.50 is chance, 1.00 is always"
RANDOM_HELP = "Mean cosine of pairs of different words, under the same reading: the level from which to read any cosine"
BASELINES = {
    "bag of context": "*Bag of context*: mean static vector of the other words.",
    "static vector": "*Static vector*: layer 0, the same in every sentence.",
    "random words": "*Random words*: pairs of different words, the level from which to read a cosine.",
}
CUT = "On grey: the words into which rjieba cuts the sentence; punctuation and numbers are none."
DASHED = "Dashed: not in the vocabulary, read as unknown."
OUTLINED = "Outlined: the word once more; choose it under *Edit*."


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
    show_metrics(numbers)


def show_metrics(numbers: Mapping[str, tuple[str, str | None]]) -> None:
    """Four numbers in a row, each with what it says when asked."""
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
        # of an encoder without layers it is all there is
        "static vector": comparison.layer_pairs[0] if len(comparison.layer_pairs) > 1 else None,
    }
    table = {name: (p.same_mean, p.cross_mean, p.gap, p.auc) for name, p in rows.items() if p}
    if random:
        table["random words"] = (np.nan, random.mean, np.nan, np.nan)
    frame = pd.DataFrame.from_dict(table, orient="index", columns=["same", "cross", "gap", "AUC"])
    st.table(frame.style.format(format_number), border="horizontal")
    notes = [note for name, note in BASELINES.items() if name in table]
    if np.isnan(comparison.layer_means[0]) and len(comparison.uses) > 1:
        notes.append("Centred on its own mean, nothing of the static vector is left.")
    st.caption(" ".join(notes))


def show_layers(model: Model, comparison: Comparison, reading: Reading, random: Sequence[RandomPairs]) -> None:
    """Mean cosine of each kind of pair, layer by layer; an encoder without layers has nothing to show."""
    if not model.encoder.num_layers:
        st.info("This encoder has one vector a word: no layer has read the context, so every use of the word is equal.")
        return
    bag = comparison.bag_pairs
    kinds = {
        "same": ([p.same_mean for p in comparison.layer_pairs], bag.same_mean if bag else np.nan),
        "cross": ([p.cross_mean for p in comparison.layer_pairs], bag.cross_mean if bag else np.nan),
    }
    kinds = {kind: values for kind, values in kinds.items() if not np.isnan(values[0]).all()}
    if not kinds:
        kinds = {"all pairs": (comparison.layer_means, np.nan)}
    st.subheader("Mean cosine, layer by layer")
    chart = layer_chart(
        layer_names(model.encoder.config.model),
        {kind: line for kind, (line, _) in kinds.items()},
        {kind: mean for kind, (_, mean) in kinds.items() if not np.isnan(mean)},
        [pairs.mean for pairs in random],
        reading.layer if isinstance(reading.layer, int) else None,
    )
    st.plotly_chart(chart, key="layers", config=CHART_CONFIG)


def show_uses(comparison: Comparison, labels: Sequence[str], language: Language) -> None:
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
            _between(use.encoding) if language == "zh" else None,
        )
        for use in uses
    ]
    thin = THIN_CONTEXT[language]
    notes = [f"thin context: under {thin} words" if len(use.encoding.tokens) < thin else "" for use in uses]
    st.html(uses_html(labels, chips, senses, notes))
    marks = {
        CUT: language == "zh",
        DASHED: any(use.encoding.oov.any() for use in uses),
        OUTLINED: any(len(use.encoding.positions(comparison.word)) > 1 for use in uses),
    }
    st.caption(" ".join(mark for mark, is_seen in marks.items() if is_seen))


def format_number(value: float, pattern: str = ".2f") -> str:
    """Two decimals; “–” for a number that does not exist."""
    return "–" if np.isnan(value) else f"{value:{pattern}}".replace("-", "−")


def format_seconds(seconds: float) -> str:
    """A duration in the unit that fits."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3600:.1f} h"


def _between(encoding: Encoding) -> list[str]:
    """What stands before each token and after the last."""
    ends = [0, *(end for _, end in encoding.spans)]
    starts = [*(start for start, _ in encoding.spans), len(encoding.text)]
    return [encoding.text[end:start] for end, start in zip(ends, starts, strict=True)]
