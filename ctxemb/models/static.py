"""The control: one vector a word, whatever the sentence. Word2Vec, GloVe, or any other table of word vectors.

B sentences, T tokens, V vocabulary, D numbers per vector.
"""

from typing import ClassVar, Literal

import numpy as np
import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from ctxemb.batching import Batch
from ctxemb.models.reading import Readout
from ctxemb.text import NUM_SPECIAL


class StaticConfig(BaseModel):
    """Size of a table of word vectors."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    family: ClassVar[Literal["static"]] = "static"
    readouts: ClassVar[tuple[Readout, ...]] = ("here",)
    reads_spelling: ClassVar[bool] = False
    num_layers: ClassVar[int] = 0

    vocabulary_size: int = Field(
        default=NUM_SPECIAL + 1, ge=NUM_SPECIAL + 1, le=2_000_000, description="V, words and special ids"
    )
    vector_size: int = Field(default=100, ge=1, le=4_096, description="D, numbers per word")

    @property
    def width(self) -> int:
        """D, numbers per vector."""
        return self.vector_size


class Static(nn.Module):
    """A table of word vectors that reads sentences like the contextual families do."""

    def __init__(self, config: StaticConfig) -> None:
        super().__init__()
        self.config = config
        weight = torch.zeros(config.vocabulary_size, config.vector_size)
        self.embedding = nn.Embedding.from_pretrained(weight, freeze=False)

    @classmethod
    def from_vectors(cls, vectors_VD: np.ndarray) -> "Static":
        """The table (V, D), a row for each id, ready to be saved."""
        num_words, vector_size = vectors_VD.shape
        model = cls(StaticConfig(vocabulary_size=num_words, vector_size=vector_size))
        with torch.no_grad():
            model.embedding.weight.copy_(torch.from_numpy(vectors_VD))
        return model.eval()

    def layers(self, batch: Batch, readout: Readout) -> Tensor:
        """(1, B, T, D): layer 0 is all there is, and the read-out changes nothing."""
        return self.embedding(batch.ids_BT)[None]

    def word_vectors(self) -> Tensor:
        """(V, D), the table itself."""
        return self.embedding.weight.detach()
