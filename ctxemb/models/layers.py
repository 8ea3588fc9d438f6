"""What the layers of each family are."""

from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.models.elmo import ELMoConfig
from ctxemb.models.families import ModelConfig
from ctxemb.models.static import StaticConfig
from ctxemb.models.transformer import TransformerConfig


def layer_names(config: ModelConfig) -> list[str]:
    """L + 1 names, layer 0 first.

    >>> layer_names(ContrastiveConfig())
    ['embedding', 'LSTM', 'projection']
    """
    if isinstance(config, TransformerConfig):
        return ["word pieces", *(f"block {i}" for i in range(1, config.num_layers + 1))]
    match config:
        case BiLMConfig() | ELMoConfig():
            num_lstms, last = config.num_layers, []
        case ContrastiveConfig():
            num_lstms, last = config.lstm_layers, ["projection"]
        case StaticConfig():
            num_lstms, last = 0, []
    lstms = ["LSTM"] if num_lstms == 1 else [f"LSTM {i}" for i in range(1, num_lstms + 1)]
    return ["characters" if config.reads_spelling else "embedding", *lstms, *last]
