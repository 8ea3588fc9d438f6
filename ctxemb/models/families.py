"""The kinds of encoder there are. A family is a config and the module that it builds.

Every config gives `family`, `readouts` (the read-outs it has, the usual one first), `vocabulary_size`, `num_layers`
(L, above layer 0), `width` (D) and `reads_spelling`. Every module gives `config`, `layers(batch, readout)` ->
(L + 1, B, T, D) and `word_vectors()` -> (V, E), the static table that layer 0 is made from. One that reads spellings
takes the batch's words where they are given, and is told once how the ids are spelled.
"""

from typing import Literal

from ctxemb.models.bilm import BiLM, BiLMConfig
from ctxemb.models.contrastive import Contrastive, ContrastiveConfig
from ctxemb.models.elmo import ELMo, ELMoConfig
from ctxemb.models.static import Static, StaticConfig
from ctxemb.models.transformer import Transformer, TransformerConfig
from ctxemb.text import NUM_SPECIAL, WordTokenizer

Family = Literal["bilm", "contrastive", "elmo", "static", "transformer"]
ModelConfig = BiLMConfig | ContrastiveConfig | ELMoConfig | StaticConfig | TransformerConfig
Model = BiLM | Contrastive | ELMo | Static | Transformer

# of the families whose checkpoints are written here; a transformer stays the folder that others wrote
CONFIGS: dict[str, type[ModelConfig]] = {
    config.family: config for config in (BiLMConfig, ContrastiveConfig, ELMoConfig, StaticConfig)
}


def build_model(config: ModelConfig) -> Model:
    """The module that a config describes, with untrained weights."""
    match config:
        case BiLMConfig():
            return BiLM(config)
        case ContrastiveConfig():
            return Contrastive(config)
        case ELMoConfig():
            return ELMo(config)
        case StaticConfig():
            return Static(config)
        case TransformerConfig():
            return Transformer(config)


def spell_vocabulary(model: Model, tokenizer: WordTokenizer) -> None:
    """Tell a model that reads spellings how the ids are spelled; the others have no use for it."""
    if isinstance(model, BiLM | ELMo) and model.config.reads_spelling:
        model.spell_vocabulary([tokenizer.word(word_id) for word_id in range(NUM_SPECIAL, len(tokenizer))])
