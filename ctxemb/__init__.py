"""ctxemb: see how a word's meaning moves with its context."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ctxemb.encoder import Encoder, Encoding

__all__ = ["Encoder", "Encoding"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ctxemb import encoder  # brings torch: a second that a process which only draws maps need not pay

    return getattr(encoder, name)
