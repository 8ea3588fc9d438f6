"""The lab corpus: English out of a grammar of our own, whose senses are known because it was told which to write about.

It is synthetic and says so. Fifteen words of the example sentences are used in two senses each; a passage is about one
topic and uses one word, in one sense, in several sentences.

    english.py   word forms
    topics.py    who, what and where
    senses.py    the ambiguous words
    frames.py    sentences with slots, and words that all topics share
    passages.py  passages, and sentences that are held out of them
"""

from pathlib import Path

from ctxemb.corpora.lab.passages import LabSentence, held_out_sentences, labelled_passages, passages
from ctxemb.corpora.lab.senses import SENSES, Sense

FOLDER = Path(__file__).parent
SEED = 0

__all__ = ["FOLDER", "SEED", "SENSES", "LabSentence", "Sense", "held_out_sentences", "labelled_passages", "passages"]
