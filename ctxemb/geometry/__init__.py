"""The shape of an encoder's space, and what correcting it does to the senses of our example sentences.

sample.py       uses of many words of a text, and of the labelled example sentences
shape.py        what the space looks like: spectrum, cosines of random words, layers, lengths
corrected.py    the same after corrections, and how far senses are then told apart
verdict.py      both in plain words
"""

from ctxemb.geometry.corrected import Corrected, Corrections, Senses
from ctxemb.geometry.sample import USES_PER_WORD, Cloud, GeometryError, LabelledUses, labelled_uses, sample_uses
from ctxemb.geometry.shape import BINS, Geometry, Norms, Shape, measure
from ctxemb.geometry.verdict import correction_verdict, shape_verdict

__all__ = [
    "BINS",
    "USES_PER_WORD",
    "Cloud",
    "Corrected",
    "Corrections",
    "Geometry",
    "GeometryError",
    "LabelledUses",
    "Norms",
    "Senses",
    "Shape",
    "correction_verdict",
    "labelled_uses",
    "measure",
    "sample_uses",
    "shape_verdict",
]
