"""The kinds of encoder there are. A family is a config and the module that it builds.

Every config gives `family`, `readouts` (the read-outs it has, the usual one first), `vocabulary_size`, `num_layers`
(L, above layer 0) and `width` (D). Every module gives `config`, `layers(batch, readout)` -> (L + 1, B, T, D) and
`word_vectors()` -> (V, E), the static table that layer 0 is made from.
"""

from typing import Literal

from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.models.static import Static, StaticConfig

Family = Literal["bilm", "contrastive", "static"]
ModelConfig = BiLMConfig | ContrastiveConfig | StaticConfig
Model = BiLM | Contrastive | Static

CONFIGS: dict[str, type[ModelConfig]] = {
    config.family: config for config in (BiLMConfig, ContrastiveConfig, StaticConfig)
}


def build_model(config: ModelConfig) -> Model:
    """The module that a config describes, with untrained weights."""
    match config:
        case BiLMConfig():
            return BiLM(config)
        case ContrastiveConfig():
            return Contrastive(config)
        case StaticConfig():
            return Static(config)
