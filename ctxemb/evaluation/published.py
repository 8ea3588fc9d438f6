"""Numbers that others have published, each with its set-up: to stand beside ours, never among them.

Only rows measured on the same data by the same protocol may be compared; `set_up` says which those are.
"""

from dataclasses import dataclass
from typing import Literal

Unit = Literal["percent", "share", "perplexity", "cosine", "minutes", "nats"]

WIC = "Pilehvar & Camacho-Collados 2019, arXiv:1808.09121, and its leaderboard"
MIRROR_WIC = "Liu et al. 2021, MirrorWiC"
COARSEWSD = "Loureiro et al. 2021, arXiv:2008.11608: computed from the authors' result files"
WORD_LANGUAGE_MODEL = "pytorch/examples word_language_model, issues 281 and 415"
AWD_LSTM = "Merity et al. 2017, arXiv:1708.02182"
GEOMETRY = "Ethayarajh 2019, arXiv:1909.00512; code kawine/contextual"
BILM_ARTICLE = "the article on a BiLM of a small corpus that this project starts from"
CONTRASTIVE_ARTICLE = "the article on contrastive word vectors that this project starts from"


@dataclass(frozen=True)
class Published:
    """One number of somebody else.

    Attributes:
        benchmark: what was measured.
        system: whose number it is.
        value: in `unit`.
        set_up: data and protocol, as far as they decide what it may be compared with.
        source: where it stands.
    """

    benchmark: str
    system: str
    value: float
    unit: Unit
    set_up: str
    source: str


def _same(benchmark: str, unit: Unit, set_up: str, source: str, values: dict[str, float]) -> tuple[Published, ...]:
    return tuple(Published(benchmark, system, value, unit, set_up, source) for system, value in values.items())


_GEOMETRY = {  # random words, "bank" with itself, mean over words with themselves
    "ELMo, layer 0": (0.008, 1.0, 1.0),
    "ELMo, layer 1": (0.157, 0.595, 0.744),
    "ELMo, layer 2": (0.136, 0.432, 0.642),
    "BERT, layer 12": (0.477, 0.775, 0.755),
    "GPT-2, layer 12": (0.978, 0.994, 0.985),
}
_CONTRASTIVE: tuple[tuple[str, Unit, float, float], ...] = (  # Word2Vec, contrastive
    ("synonym among the 10 nearest words", "percent", 42, 61),
    ("analogies", "percent", 38, 55),
    ("top-10 singular-value energy", "percent", 78, 43),
    ("few-shot text classification, F1", "percent", 71.2, 76.5),
    ("training time", "minutes", 45, 80),
)

PUBLISHED: tuple[Published, ...] = (
    *_same(
        "WiC",
        "percent",
        "accuracy on the test part: the same measurement as ours on test, not as ours on dev",
        WIC,
        {"chance": 50, "Sentence-LSTM": 53.1, "ELMo": 57.7, "context2vec": 59.3, "BERT-large": 65.5},
    ),
    *_same(
        "WiC",
        "percent",
        "accuracy on the dev part, without supervision",
        MIRROR_WIC,
        {"BERT-base": 68.5, "MirrorWiC (BERT-base)": 71.9},
    ),
    *_same(
        "CoarseWSD-20",
        "share",
        "macro-averaged sense recall on the test part, full training part: as ours on test, not on a carved dev part",
        COARSEWSD,
        {
            "most frequent sense": 0.410,
            "fastText-base 100d": 0.765,
            "fastText-crawl": 0.849,
            "BERT-base 1-NN": 0.945,
            "BERT-large 1-NN": 0.964,
        },
    ),
    *_same(
        "WikiText-2",
        "perplexity",
        "test part, one direction, two-layer LSTM that carries its state across lines; ours carries none",
        WORD_LANGUAGE_MODEL,
        {
            "200 d untied, 6 epochs": 142.1,
            "200 d tied, 6 epochs": 130.3,
            "200 d tied, 40 epochs": 100.3,
            "650 d, 40 epochs": 94.3,
            "650 d tied, 40 epochs": 86.7,
        },
    ),
    *_same(
        "WikiText-2",
        "perplexity",
        "test part, one direction, state carried across lines",
        AWD_LSTM,
        {"AWD-LSTM": 65.8},
    ),
    *(
        Published(benchmark, system, value, "cosine", "the authors' sentences, not centred", GEOMETRY)
        for system, values in _GEOMETRY.items()
        for benchmark, value in zip(
            ("random words", "self-similarity of “bank”", "mean self-similarity"), values, strict=True
        )
    ),
    *_same(
        "two uses of “bank”",
        "cosine",
        "a BiLM of a small corpus, a few sentences",
        BILM_ARTICLE,
        {"across senses": 0.18, "within the money sense": 0.78, "within the river sense": 0.71, "static control": 1.0},
    ),
    Published("held-out text", "BiLM", 150, "perplexity", "a small corpus, about", BILM_ARTICLE),
    Published("loss of an untrained BiLM", "BiLM, at least", 9, "nats", "20,000 words", BILM_ARTICLE),
    Published("loss of an untrained BiLM", "BiLM, at most", 10, "nats", "20,000 words", BILM_ARTICLE),
    *(
        Published(benchmark, system, value, unit, "200,000 Chinese sentences", CONTRASTIVE_ARTICLE)
        for benchmark, unit, *values in _CONTRASTIVE
        for system, value in zip(("Word2Vec", "contrastive"), values, strict=True)
    ),
)


def published(benchmark: str) -> list[Published]:
    """The numbers of one benchmark, in the order of the table."""
    return [number for number in PUBLISHED if number.benchmark == benchmark]
