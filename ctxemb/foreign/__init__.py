"""Files that other programs wrote -> checkpoints of ours.

Nobody vouches for such a file: it is read piece by piece, nothing is allocated on its word alone, and no code in it
is ever run.

    vector_file.py     a file of word vectors -> its records, each checked
    word_vectors.py    those records -> a static checkpoint
"""

from ctxemb.foreign.vector_file import VectorFileError
from ctxemb.foreign.word_vectors import ImportReport, import_word_vectors

__all__ = ["ImportReport", "VectorFileError", "import_word_vectors"]
