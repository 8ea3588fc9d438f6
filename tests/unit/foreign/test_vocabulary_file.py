import json
from pathlib import Path

import pytest

from ctxemb.foreign import vocabulary_file
from ctxemb.foreign.vocabulary_file import VocabularyError, read_vocabulary


def write(folder: Path, content: str | bytes, name: str = "words.txt") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("the\nbank\n[PAD]\n河\n", "words.txt"),
        ("the\r\nbank\r\n[PAD]\r\n河", "words.txt"),
        ("\ufeffthe\nbank\n[PAD]\n河\n", "words.txt"),
        (json.dumps(["the", "bank", "[PAD]", "河"]), "words.json"),
        (json.dumps(["the", "bank", "[PAD]", "河"]), "words.txt"),
        (json.dumps({"河": 3, "bank": 1, "the": 0, "[PAD]": 2}), "words.json"),
    ],
)
def test_the_words_come_in_the_order_of_their_ids(tmp_path, content, name):
    assert read_vocabulary(write(tmp_path, content, name)) == ["the", "bank", "[PAD]", "河"]


def test_a_text_whose_first_word_looks_like_json_is_a_text(tmp_path):
    assert read_vocabulary(write(tmp_path, "[PAD]\n[UNK]\nthe\n")) == ["[PAD]", "[UNK]", "the"]
    assert read_vocabulary(write(tmp_path, "{\nthe\n}\n")) == ["{", "the", "}"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", r"line 1: is empty"),
        ("a\n\nb\n", r"line 2: is empty"),
        ("a\nb\t12\n", r"line 2: the word 'b\\t12' holds a tab"),
        ("a\nb\na\n", r"line 3: the word 'a' is line 1 already"),
        (b"a\nb\n\xff\xfe\n", r"byte 4: is not UTF-8"),
        ("a\n" + "x" * 1_001, r"line 2: is a word of 1,001 characters"),
    ],
)
def test_a_bad_line_is_named(tmp_path, content, message):
    with pytest.raises(VocabularyError, match=rf"words\.txt, {message}"):
        read_vocabulary(write(tmp_path, content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[1, 2]", "is JSON, but no list of words"),
        ('["a", ["b"]]', "is JSON, but no list of words"),
        ('{"a": 0, "b": 2}', "the ids of 2 words have to be 0 to 1, each once"),
        ('{"a": 0, "b": 0}', "the ids of 2 words have to be 0 to 1, each once"),
        ('{"a": 0, "b": true}', "the ids of 2 words have to be 0 to 1, each once"),
        ('{"a": 0, "b": 1e400}', "the ids of 2 words have to be 0 to 1, each once"),
        ('["a"', "is not JSON"),
        ("[" * 100_000, "is not JSON (nested too deeply)"),
        ('["a", "\\ud800"]', "entry 2: the word"),
        ("[]", "holds no words"),
    ],
)
def test_other_json_is_refused(tmp_path, content, message):
    with pytest.raises(VocabularyError) as caught:
        read_vocabulary(write(tmp_path, content, "words.json"))
    assert message in str(caught.value)


def test_sizes_are_limited(tmp_path, monkeypatch):
    path = write(tmp_path, "a\nb\nc\n")
    monkeypatch.setattr(vocabulary_file, "MAX_VOCABULARY", 2)
    with pytest.raises(VocabularyError, match="holds 3 words; at most 2 are read"):
        read_vocabulary(path)
    with path.open("ab") as file:
        file.truncate(2**30)  # a hole: no space is used
    with pytest.raises(VocabularyError, match="has 1,073,741,824 bytes; at most 67,108,864 are read"):
        read_vocabulary(path)
    with pytest.raises(VocabularyError, match="there is no file"):
        read_vocabulary(tmp_path / "nowhere")
