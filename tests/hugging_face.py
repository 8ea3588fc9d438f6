"""Hugging Face encoders of a few thousand weights, written as their own library writes them; tests only."""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]
WORDS = ["the", "we", "old", "bank", "river", "sat", "on", "of", "approved", "a", "loan", "for", "farm", "do", "un"]
MARKS = ["1990", ".", ",", "'", "-", "[", "]", "<", ">"]
PIECES = ["##er", "##believ", "##able", "##ing", *(f"##{letter}" for letter in LETTERS)]
VOCABULARY = [
    *("[PAD]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *dict.fromkeys([*WORDS, *MARKS, *LETTERS]),
    *PIECES,
]
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 20, "max_position_embeddings": 24}
SETTINGS = {
    "bert": {"hidden_size": 8, **SIZES},
    "electra": {"hidden_size": 8, "embedding_size": 6, **SIZES},
    "mpnet": {"hidden_size": 8, "pad_token_id": 1, **SIZES},
    "distilbert": {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 20, "max_position_embeddings": 24},
}


def write_words(folder: Path, vocabulary: list[str] = VOCABULARY, lowercase: bool = True) -> None:
    """vocab.txt and tokenizer_config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"do_lower_case": lowercase, "tokenizer_class": "BertTokenizer", "model_max_length": 24}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def write_config(folder: Path, model_type: str = "bert", **changes: object) -> None:
    """config.json, for a vocabulary of the usual size unless said otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = {"model_type": model_type, "vocab_size": len(VOCABULARY), **SETTINGS.get(model_type, SIZES)}
    (folder / "config.json").write_text(json.dumps(settings | changes))


def write_weights(folder: Path, prefix: str = "", seed: int = 0) -> nn.Module:
    """model.safetensors of a random encoder that fits config.json, and the encoder."""
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(seed)
    model = AutoModel.from_config(AutoConfig.from_pretrained(folder), attn_implementation="eager").eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    tensors = {f"{prefix}{name}": tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    return model


def write_encoder(folder: Path, model_type: str = "bert", **changes: object) -> Path:
    """A whole folder, ready to be opened."""
    write_words(folder)
    write_config(folder, model_type, **changes)
    write_weights(folder)
    return folder
