"""ctxemb: see how a word's meaning moves with its context."""

from ctxemb.encoder import Encoder, Encoding

__all__ = ["Encoder", "Encoding"]
__version__ = "0.1.0"
