"""How the layers of an encoder become the one default vector of a word.

L layers above layer 0, T tokens, D numbers per vector.
"""

from typing import Literal, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

Readout = Literal["here", "context", "sentence"]


class Reading(BaseModel):
    """Which state and which layer is the vector of a word.

    `weighted` is ELMo's sum of layers, with weights learnt once and kept in the checkpoint.
    Source: equation 1 of arXiv:1802.05365, without its scale, which changes no cosine.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    readout: Readout = Field(default="here", description="State at the word, or the states around it")
    layer: int | Literal["last", "mean", "weighted"] = Field(
        default="last", description="Layer, 0 = embedding, or a mix"
    )
    layer_weights: tuple[float, ...] | None = Field(
        default=None, description="Share of each layer from 0 on, summing to 1, for layer = weighted"
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.layer == "weighted" and self.layer_weights is None:
            raise ValueError("layer = weighted needs layer_weights, which this checkpoint has not learnt")
        if self.layer_weights is not None and not abs(sum(self.layer_weights) - 1) <= 1e-3:  # NaN too
            raise ValueError(f"layer_weights sum to {sum(self.layer_weights):.3f}, not to 1")
        return self

    @property
    def sees_word(self) -> bool:
        """Whether the vector depends on which word it is; one that does not can read unknown words too."""
        return self.readout != "context" or self.layer in (0, "mean", "weighted")

    def combine(self, layers: np.ndarray) -> np.ndarray:
        """(L + 1, ..., D) -> (..., D).

        Raises:
            ValueError: if there is no such layer.
        """
        num_layers = len(layers) - 1
        if self.layer == "last":
            return layers[-1]
        if self.layer == "mean":
            return layers.mean(axis=0)
        if self.layer == "weighted":
            assert self.layer_weights is not None
            if len(self.layer_weights) != len(layers):
                raise ValueError(f"{len(self.layer_weights)} layer weights do not fit {len(layers)} layers")
            return np.tensordot(np.array(self.layer_weights, dtype=layers.dtype), layers, axes=1)
        if not 0 <= self.layer <= num_layers:
            raise ValueError(f"there is no layer {self.layer}; this encoder has layers 0 to {num_layers}")
        return layers[self.layer]
