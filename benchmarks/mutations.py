"""Something wrong in a file of a checkpoint: its bytes, its JSON, its list of tensors, its tensors, its words."""

import json
import random
import struct
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

NASTY: tuple[Any, ...] = (
    *(
        0,
        -1,
        1,
        2**31,
        2**63,
        10**30,
        -(10**30),
        0.5,
        1e308,
        float("nan"),
        float("inf"),
        None,
        True,
        "",
        "\0",
        "..",
        "x" * 10_000,
    ),
    *("last", "\ud800", [], {}, [[]], {"a": {}}, [0] * 1_000, list(range(3)), {str(i): i for i in range(200)}),
)
TYPES = (
    torch.int32,
    torch.int64,
    torch.bool,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.complex64,
    torch.float8_e5m2,
)


def change_bytes(draw: random.Random, content: bytes) -> bytes:
    """Flip, cut, repeat, blank or insert."""
    changed = bytearray(content)
    for _ in range(draw.choice((1, 1, 3, 20))):
        start = draw.randrange(len(changed) + 1)
        stop = min(len(changed), start + draw.choice((1, 1, 4, 8, 100)))
        match draw.randrange(6):
            case 0:
                changed[start:stop] = bytes(byte ^ 1 << draw.randrange(8) for byte in changed[start:stop])
            case 1:
                del changed[start:]
            case 2:
                changed[start:start] = changed[start:stop] * draw.choice((1, 1_000))
            case 3:
                changed[start:stop] = bytes(stop - start)
            case 4:
                changed[start:stop] = draw.randbytes(stop - start)
            case _:
                changed[start:stop] = struct.pack("<Q", draw.choice((2**64 - 1, 2**63, 2**31, 2**40)))
    return bytes(changed)


def change_json(draw: random.Random, content: bytes) -> bytes:
    """Change a value, a key, or the depth of a JSON file."""
    try:
        tree = json.loads(content)
    except (ValueError, RecursionError):
        return change_bytes(draw, content)
    for _ in range(draw.choice((1, 1, 2))):
        _change_leaf(draw, tree)
    text = json.dumps(tree)
    if draw.random() < 0.1:
        depth = draw.choice((100, 1_000, 100_000))
        opening, closing = draw.choice((("[", "]"), ('{"a":', "}")))
        inside = opening * depth + "0" + closing * depth
        text = draw.choice((inside, text.replace("null", inside, 1), text[:-1] + f', "deep": {inside}}}'))
    return text.encode()


def _change_leaf(draw: random.Random, tree: Any) -> None:
    node = tree
    while isinstance(node, dict | list) and node:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = draw.choice(keys)
        inside = node[key]
        if isinstance(inside, dict | list) and inside and draw.random() < 0.8:
            node = inside
            continue
        match draw.randrange(5):
            case 0:
                del node[key]
            case 1 if isinstance(node, dict):
                node[draw.choice(("", "surprise", "a\0", "vocab", "__proto__"))] = node.pop(key)
            case _:
                node[key] = draw.choice(NASTY)
        return


def change_header(draw: random.Random, content: bytes) -> bytes:
    """Change what a safetensors file declares of its tensors."""
    length = int.from_bytes(content[:8], "little")
    if not 0 < length < len(content):
        return change_bytes(draw, content)
    header, rest = content[8 : 8 + length], content[8 + length :]
    header = (
        header.replace(b"F32", draw.choice((b"F64", b"I64", b"BOOL", b"BF16", b"F8_E4M3", b"C64", b"F4")))
        if draw.random() < 0.2
        else change_json(draw, header)
    )
    length = draw.choice((len(header),) * 4 + (0, 2**63, 2**40, len(header) - 1))
    return struct.pack("<Q", length) + header + rest


def change_tensors(draw: random.Random, content: bytes) -> bytes:
    """Write a safetensors file anew, with a tensor of another type, shape, name or content."""
    try:
        tensors = load(content)
    except SafetensorError:
        return change_bytes(draw, content)
    name = draw.choice(list(tensors))
    tensor = tensors.pop(name)
    match draw.randrange(6):
        case 0:
            tensor = tensor.to(draw.choice(TYPES))
        case 1:
            tensor = tensor * draw.choice((float("nan"), 1e38, 0))
        case 2:
            tensor = tensor.flatten()
        case 3:
            tensor = tensor[:0]
        case 4:
            name = draw.choice(("", "a\0", "x" * 5_000, f"{name}."))
        case _:
            tensor = tensor[..., None]
    return save(tensors | {name: tensor}, {"state": draw.choice(("{}", "[" * 100_000, "null", ""))})


def change_tokenizer(draw: random.Random, content: bytes) -> bytes:
    """Other ids, other steps: what a tokenizer may be, but not one of ours."""
    try:
        tree = json.loads(content)
        vocabulary, added = tree["model"]["vocab"], tree["added_tokens"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return change_bytes(draw, content)
    if not (isinstance(vocabulary, dict) and vocabulary and isinstance(added, list) and added):
        return change_bytes(draw, content)
    word = draw.choice(list(vocabulary))
    match draw.randrange(5):
        case 0:
            vocabulary[word] = draw.choice((10**6, 2**32 - 1, 2**32, -1, 0, 5))
        case 1:
            vocabulary[draw.choice(("new", "", "\0", "<mask>"))] = draw.choice((len(vocabulary), 7))
        case 2:
            token = {"id": 9, "content": "bank", "normalized": True, "special": False}
            added[-1] = draw.choice(({**token, "single_word": True, "lstrip": False, "rstrip": True}, token, None))
        case 3:
            tree["pre_tokenizer"] = draw.choice(
                (
                    {"type": "Whitespace"},
                    {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Removed", "invert": True},
                    {
                        "type": "Split",
                        "pattern": {"Regex": "((a{1000}){1000}){1000}"},
                        "behavior": "Removed",
                        "invert": False,
                    },
                    {"type": "Split", "pattern": {"Regex": "("}, "behavior": "Removed", "invert": True},
                    {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
                )
            )
        case _:
            tree["model"] = draw.choice(
                (
                    {"type": "BPE", "vocab": vocabulary, "merges": []},
                    {"type": "WordLevel", "vocab": vocabulary, "unk_token": "absent"},
                    {"type": "WordPiece", "vocab": vocabulary, "unk_token": "<unk>"},
                    {"type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 9},
                )
            )
    return json.dumps(tree).encode()


def change_words(draw: random.Random, content: bytes) -> bytes:
    """Words that are not those of the embedding, or no words."""
    words = content.decode().split("\n")
    return draw.choice(
        (
            lambda: change_bytes(draw, content),
            lambda: "\n".join(words[draw.randrange(6) :]).encode(),
            lambda: json.dumps(draw.choice((words, dict.fromkeys(words, 3), list(NASTY[:11])))).encode(),
            lambda: ("[" * 100_000).encode(),
            lambda: "\n".join(draw.choice((*words, "", "\t", "x" * 2_000)) for _ in words).encode(),
        )
    )()
