"""Files in the format of the published ELMo, with random weights, and what such a model computes, word by word.

The second is written from the format alone, in numpy and in loops: it shares no line with the reader or the module.
"""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np

Arrays = dict[str, np.ndarray]


def options(**lstm: Any) -> dict[str, Any]:
    """A small options.json; keywords change its LSTM part."""
    return {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": 5,
            "dim": 7,
            "n_layers": 2,
            "cell_clip": 3,
            "proj_clip": 3,
            **lstm,
        },
        "char_cnn": {
            "embedding": {"dim": 3},
            "filters": [[1, 2], [2, 4], [3, 3]],
            "n_highway": 2,
            "n_characters": 261,
            "max_characters_per_token": 12,
            "activation": "relu",
        },
        "n_tokens_vocab": 793471,
    }


def random_arrays(options: dict[str, Any], seed: int = 0) -> Arrays:
    """Every dataset that a file for these options holds."""
    lstm, characters = options["lstm"], options["char_cnn"]
    size, units = lstm["projection_dim"], lstm["dim"]
    num_filters = sum(number for _, number in characters["filters"])
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, characters["embedding"]["dim"])}
    for i, (width, number) in enumerate(characters["filters"]):
        shapes[f"CNN/W_cnn_{i}"] = (1, width, characters["embedding"]["dim"], number)
        shapes[f"CNN/b_cnn_{i}"] = (number,)
    for i in range(characters["n_highway"]):
        for gate in ("carry", "transform"):
            shapes[f"CNN_high_{i}/W_{gate}"] = (num_filters, num_filters)
            shapes[f"CNN_high_{i}/b_{gate}"] = (num_filters,)
    if num_filters != size:
        shapes |= {"CNN_proj/W_proj": (num_filters, size), "CNN_proj/b_proj": (size,)}
    for direction in range(2):
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            shapes |= {f"{cell}/W_0": (2 * size, 4 * units), f"{cell}/B": (4 * units,), f"{cell}/W_P_0": (units, size)}
    rng = np.random.default_rng(seed)
    return {name: rng.normal(scale=0.8, size=shape).astype(np.float32) for name, shape in shapes.items()}


def write(folder: Path, options: dict[str, Any], arrays: Arrays) -> tuple[Path, Path]:
    """options.json and weights.hdf5."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "options.json").write_text(json.dumps(options))
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, array in arrays.items():
            file[name] = array
    return folder / "options.json", folder / "weights.hdf5"


def naive_layers(options: dict[str, Any], arrays: Arrays, words: list[str]) -> np.ndarray:
    """(L + 1, T, 2 P) states that have just read each word."""
    length = options["char_cnn"]["max_characters_per_token"]
    spelled = [list(word.encode())[: length - 2] for word in words]
    begin, *tokens, end = (_token(options, arrays, codes) for codes in [[256], *spelled, [257]])
    forward = _read(options, arrays, 0, [begin, *tokens])[:, 1:]
    backward = _read(options, arrays, 1, [end, *tokens[::-1]])[:, :0:-1]
    layer_zero = np.stack([np.concatenate([token, token]) for token in tokens])
    return np.concatenate([layer_zero[None], np.concatenate([forward, backward], axis=-1)])


def _token(options: dict[str, Any], arrays: Arrays, codes: list[int]) -> np.ndarray:
    characters = options["char_cnn"]
    length = characters["max_characters_per_token"]
    codes = [258, *codes, 259] + [260] * (length - 2 - len(codes))
    rows = arrays["char_embed"][codes]
    found = []
    for i, (width, number) in enumerate(characters["filters"]):
        kernel, bias = arrays[f"CNN/W_cnn_{i}"][0], arrays[f"CNN/b_cnn_{i}"]
        for f in range(number):
            answers = [(rows[at : at + width] * kernel[..., f]).sum() + bias[f] for at in range(length - width + 1)]
            found.append(max(answers))
    x = np.array(found)
    x = np.maximum(x, 0) if characters["activation"] == "relu" else np.tanh(x)
    for i in range(characters["n_highway"]):
        layer = f"CNN_high_{i}"
        carry = _sigmoid(x @ arrays[f"{layer}/W_carry"] + arrays[f"{layer}/b_carry"])
        transformed = np.maximum(x @ arrays[f"{layer}/W_transform"] + arrays[f"{layer}/b_transform"], 0)
        x = carry * transformed + (1 - carry) * x
    return x @ arrays["CNN_proj/W_proj"] + arrays["CNN_proj/b_proj"] if "CNN_proj/W_proj" in arrays else x


def _read(options: dict[str, Any], arrays: Arrays, direction: int, tokens: list[np.ndarray]) -> np.ndarray:
    lstm, inputs, layers = options["lstm"], tokens, []
    for layer in range(lstm["n_layers"]):
        cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
        output, memory = np.zeros(lstm["projection_dim"]), np.zeros(lstm["dim"])
        outputs = []
        for token in inputs:
            gates = np.concatenate([token, output]) @ arrays[f"{cell}/W_0"] + arrays[f"{cell}/B"]
            i, j, f, o = np.split(gates, 4)
            memory = _sigmoid(f + 1) * memory + _sigmoid(i) * np.tanh(j)
            memory = np.clip(memory, -lstm["cell_clip"], lstm["cell_clip"])
            output = (_sigmoid(o) * np.tanh(memory)) @ arrays[f"{cell}/W_P_0"]
            output = np.clip(output, -lstm["proj_clip"], lstm["proj_clip"])
            outputs.append(output + token if layer and lstm["use_skip_connections"] else output)
        inputs = outputs
        layers.append(np.stack(outputs))
    return np.stack(layers)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))
