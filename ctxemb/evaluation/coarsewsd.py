"""CoarseWSD-20: twenty nouns, each with a few coarse senses; uses are recognised by their nearest neighbour.

The authors give a training and a test part. Out of the former a dev part is carved here: every fifth line of a word,
the rest is the index that neighbours are looked for in. Macro recall (the mean over senses, then over words) comes
first, because accuracy hides the rare senses.

Source: Loureiro et al. 2021, arXiv:2008.11608.

S sentences of one word, D numbers per vector.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxemb.analysis.senses import macro_recall, nearest_neighbour_senses
from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.sources import find_file, read_text
from ctxemb.evaluation.targets import Target

HOME = "https://github.com/danlou/bert-disambiguation"
DEV_EVERY = 5


@dataclass(frozen=True)
class WordTask:
    """The uses of one noun.

    Attributes:
        texts: S sentences, tokens joined by spaces.
        starts: S character offsets of the target.
        senses_S: (S,) sense ids of the authors' files.
    """

    word: str
    texts: list[str]
    starts: list[int]
    senses_S: np.ndarray

    @property
    def is_dev(self) -> np.ndarray:
        """(S,) bool: which sentences are asked about; the others are the index."""
        return np.arange(len(self.texts)) % DEV_EVERY == 0

    @property
    def targets(self) -> list[Target]:
        """S targets for `encode_targets`."""
        pairs = zip(self.texts, self.starts, strict=True)
        return [Target(text, start, start + len(text[start:].split(" ")[0])) for text, start in pairs]


def load_coarsewsd(folder: Path | None = None, part: str = "train") -> list[WordTask]:
    """Read the authors' layout: `<word>/<part>.data.txt`, `<word>/<part>.gold.txt`, `<word>/classes_map.txt`.

    Args:
        folder: the one with the words' folders; `coarsewsd-20` in the data folder if None.
        part: train or test.

    Raises:
        CorpusError: if a file is not there or a line is not in the authors' format.
    """
    folder = folder or data_folder() / "coarsewsd-20"
    words = coarsewsd_words(folder)
    if not words:
        raise CorpusError(f"there is no CoarseWSD-20 in {folder}; get it from {HOME} and put its word folders there")
    return [_read_word(folder / word, part) for word in words]


def coarsewsd_words(folder: Path) -> list[str]:
    """The words whose folders are in a folder."""
    return sorted(path.parent.name for path in folder.glob("*/classes_map.txt"))


def _read_word(folder: Path, part: str) -> WordTask:
    texts, starts, data = [], [], find_file(folder, f"{part}.data.txt", HOME)
    for number, line in enumerate(read_text(data).removesuffix("\n").split("\n"), 1):
        index, tab, text = line.removesuffix("\r").partition("\t")
        tokens = text.split(" ")
        if not tab or not index.isdecimal() or not "".join(tokens[int(index) : int(index) + 1]):
            raise CorpusError(f"{data}, line {number}: not a token index, a tab and tokens")
        texts.append(text)
        starts.append(len(" ".join(tokens[: int(index)])) + (int(index) > 0))
    gold = find_file(folder, f"{part}.gold.txt", HOME)
    labels = read_text(gold).split()
    if len(labels) != len(texts):
        raise CorpusError(f"{folder}: {len(texts)} sentences but {len(labels)} senses in {gold.name}")
    classes = folder / "classes_map.txt"
    try:
        names = json.loads(read_text(classes))
        senses_S = np.array([names[label] for label in labels])
    except (ValueError, KeyError, TypeError) as error:
        raise CorpusError(f"{classes} does not name the senses of {gold.name} ({error})") from error
    return WordTask(folder.name, texts, starts, senses_S)


def dev_recall(task: WordTask, vectors_SD: np.ndarray) -> float:
    """Macro 1-NN sense recall of the dev part, 0 to 1."""
    is_dev = task.is_dev
    predicted = nearest_neighbour_senses(vectors_SD[~is_dev], task.senses_S[~is_dev], vectors_SD[is_dev])
    return macro_recall(task.senses_S[is_dev], predicted)


def most_frequent_sense_recall(task: WordTask) -> float:
    """The baseline that always answers the index's most frequent sense: one over the number of senses."""
    senses, counts = np.unique(task.senses_S[~task.is_dev], return_counts=True)
    true = task.senses_S[task.is_dev]
    return macro_recall(true, np.full(len(true), senses[counts.argmax()]))
