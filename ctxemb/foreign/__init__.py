"""Files that other programs wrote -> checkpoints of ours.

Nobody vouches for such a file: it is read piece by piece, nothing is allocated on its word alone, and no code in it
is ever run.

    vector_file.py     a file of word vectors -> its records, each checked
    word_vectors.py    those records -> a static checkpoint
    archive.py         a zip file -> its members, each checked
    torch_file.py      a file of torch.save -> plain tensors
    bilm_state.py      those tensors -> which is the embedding, which an LSTM, which an output layer
    build_bilm.py      both stacks of them -> a BiLM that computes the same
    vocabulary_file.py words in the order of their ids
    plain_bilm.py      weights and words -> a bilm checkpoint
    elmo.py            options.json and a list of words -> a checkpoint with the weights of a published ELMo
    elmo_weights.py    those weights, out of HDF5
    received.py        whatever was uploaded -> a checkpoint folder
"""

from ctxemb.foreign.elmo import ELMoReport, import_elmo
from ctxemb.foreign.elmo_weights import ELMoFileError
from ctxemb.foreign.plain_bilm import TorchImportReport, import_torch_bilm
from ctxemb.foreign.received import ReceivedError, receive_checkpoint
from ctxemb.foreign.vector_file import VectorFileError
from ctxemb.foreign.word_vectors import ImportReport, import_word_vectors

__all__ = [
    "ELMoFileError",
    "ELMoReport",
    "ImportReport",
    "ReceivedError",
    "TorchImportReport",
    "VectorFileError",
    "import_elmo",
    "import_torch_bilm",
    "import_word_vectors",
    "receive_checkpoint",
]
