"""Every layer of every family has a name."""

import pytest

from ctxemb.models.bilm import BiLMConfig
from ctxemb.models.contrastive import ContrastiveConfig
from ctxemb.models.families import ModelConfig
from ctxemb.models.layers import layer_names
from ctxemb.models.static import StaticConfig


@pytest.mark.parametrize(
    ("config", "names"),
    [
        (BiLMConfig(num_layers=1), ["embedding", "LSTM"]),
        (BiLMConfig(num_layers=2), ["embedding", "LSTM 1", "LSTM 2"]),
        (ContrastiveConfig(), ["embedding", "LSTM", "projection"]),
        (ContrastiveConfig(lstm_layers=2), ["embedding", "LSTM 1", "LSTM 2", "projection"]),
        (StaticConfig(), ["embedding"]),
    ],
)
def test_layer_names(config: ModelConfig, names: list[str]) -> None:
    assert layer_names(config) == names
    assert len(names) == config.num_layers + 1
