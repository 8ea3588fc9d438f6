import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from ctxemb import Encoder
from ctxemb.batching import make_batch
from ctxemb.checkpoint import load_checkpoint
from ctxemb.foreign import ELMoFileError, elmo, import_elmo
from ctxemb.foreign.elmo import listed_words
from ctxemb.models.elmo import ELMo
from ctxemb.models.reading import Reading
from ctxemb.text import BOS, EOS, TextConfig, WordTokenizer
from tests import published_elmo
from tests.published_elmo import naive_layers, options, random_arrays

TEXT = TextConfig(lowercase=False, min_frequency=1)
SENTENCES = ["The bank", "We sat on the 日本 bank of the floccinaucinihilipilification .", "zyzzyva"]
CELL = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"


@pytest.fixture
def tokenizer() -> WordTokenizer:
    return WordTokenizer.from_words(["the", "bank", "The", "of"], TEXT)


@pytest.fixture
def imported(tmp_path: Path, tokenizer: WordTokenizer) -> Callable[..., Encoder]:
    """`imported(options, arrays)`: written as published, read as a checkpoint."""

    def imported(options: dict[str, Any], arrays: published_elmo.Arrays) -> Encoder:
        files = published_elmo.write(tmp_path / "published", options, arrays)
        import_elmo(*files, tmp_path / "out", tokenizer, TEXT)
        return Encoder.load(tmp_path / "out", device="cpu")

    return imported


# parity


def with_characters(**changes: Any) -> dict[str, Any]:
    found = options()
    found["char_cnn"] |= changes
    return found


@pytest.mark.parametrize(
    "chosen",
    [
        options(),
        options(use_skip_connections=False, n_layers=3, cell_clip=0.4, proj_clip=0.3),
        with_characters(activation="tanh", n_highway=0, n_characters=262),
        options(projection_dim=9),  # as many as there are filters: nothing to project
    ],
)
def test_an_encoder_computes_what_the_format_says(imported, chosen):
    arrays = random_arrays(chosen)
    encoder = imported(chosen, arrays)
    expected = [naive_layers(chosen, arrays, sentence.split()) for sentence in SENTENCES]
    for encoding, layers in zip(encoder.encode([s.split() for s in SENTENCES]), expected, strict=True):
        np.testing.assert_allclose(encoding.layers, layers, atol=1e-5)
        assert not encoding.oov.any()
    bound = chosen["lstm"]["proj_clip"]
    assert (max(np.abs(layers[1]).max() for layers in expected) == bound) == (bound < 1)  # there, clipping is seen


def test_the_states_around_a_word_have_not_seen_it(imported):
    encoder = imported(options(), random_arrays(options())).with_reading(Reading(readout="context"))
    one, other = encoder.encode(["the old bank of it", "the old shore of it"])
    np.testing.assert_allclose(one.layers[1:, 2], other.layers[1:, 2], atol=1e-6)
    assert np.abs(one.layers[1:, 1] - other.layers[1:, 1]).max() > 0.01


@pytest.fixture(scope="module")
def fixture() -> Path:
    folder = Path(os.environ.get("CTXEMB_DATA", "")) / "elmo-fixture"
    if not folder.is_dir():
        pytest.skip("the published test files are not here: put elmo-fixture into $CTXEMB_DATA")
    return folder


@pytest.fixture(scope="module")
def published(fixture: Path, tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    """The published test model, with the published list of words."""
    out = tmp_path_factory.mktemp("published") / "elmo"
    words = listed_words((fixture / "vocab_test.txt").read_text().splitlines(), TEXT, 1_000)
    import_elmo(fixture / "options.json", fixture / "lm_weights.hdf5", out, words, TEXT)
    return Encoder.load(out, device="cpu")


def original_states(fixture: Path, number: int) -> tuple[list[list[str]], list[np.ndarray]]:
    """Ten sentences of a set, and their top layer (T, 2 P) as the original program gave it."""
    sentences = json.loads((fixture / "lm_embeddings_sentences.json").read_text())[number]
    with h5py.File(fixture / f"lm_embeddings_{number}.hdf5", "r", locking=False) as file:
        states = [np.concatenate(list(file[str(i)][()]), axis=-1) for i in range(len(sentences))]
    return [sentence.split() for sentence in sentences], states


@pytest.mark.parametrize("number", [0, 1])
def test_a_first_sentence_is_read_as_by_the_original_program(published, fixture, number):
    sentences, states = original_states(fixture, number)
    encodings = published.encode(sentences)  # all at once: no state goes from one to the next
    np.testing.assert_allclose(encodings[0].vectors, states[0], atol=1e-4)
    assert np.abs(encodings[1].vectors - states[1]).max() > 0.1


@pytest.mark.parametrize("number", [0, 1])
def test_the_original_program_carries_its_states_on_to_the_next_sentence(published, fixture, number):
    model, (sentences, states) = published.model, original_states(fixture, number)
    assert isinstance(model, ELMo)
    ends: list[Any] = [None, None]
    for words, expected_TD in zip(sentences, states, strict=True):
        with torch.inference_mode():
            numbered, table_NP = model.words(make_batch([[3] * len(words)], [words]))
            ids_T = numbered.ids_BT[0].tolist()
            halves = []
            for i, (reader, inputs) in enumerate(
                (
                    (model.forward_reader, [BOS, *ids_T, EOS]),
                    (model.backward_reader, [EOS, *reversed(ids_T), BOS]),
                )
            ):
                layers, ends[i] = reader(F.embedding(torch.tensor([inputs]), table_NP), ends[i])
                halves.append(layers[-1][0, 1:-1])
        found_TD = torch.cat([halves[0], halves[1].flip(0)], dim=-1)
        np.testing.assert_allclose(found_TD, expected_TD, atol=1e-4)


# what is kept


def test_a_checkpoint_says_where_it_is_from(imported):
    encoder = imported(options(), random_arrays(options()))
    num_parameters = sum(array.size for array in random_arrays(options()).values())
    assert encoder.checkpoint.metrics["import"] == {
        "options": "options.json",
        "weights": "weights.hdf5",
        "num_parameters": num_parameters,
        "num_words": 4,
    }
    assert (encoder.config.family, encoder.num_layers, encoder.config.model.width) == ("elmo", 2, 10)
    assert encoder.config.text.lowercase is False


def test_a_list_of_words_keeps_each_once_and_no_marks():
    lines = ["<S>", "the", " bank ", "the", "", "</S>", "<UNK>", "<unk>", "!!!MAXTERMID", "The", "of"]
    tokenizer = listed_words(lines, TEXT, 3)
    assert [tokenizer.word(word_id) for word_id in range(4, len(tokenizer))] == ["the", "bank", "The"]
    with pytest.raises(ELMoFileError, match="the list of words holds none"):
        listed_words(["", "<S>"], TEXT, 3)


# files nobody vouches for


@pytest.fixture
def refused(tmp_path: Path, tokenizer: WordTokenizer) -> Callable[..., str]:
    """`refused(options, weights)`: the one sentence with which the files are refused; nothing is left behind."""

    def refused(options: Path, weights: Path) -> str:
        with pytest.raises(ELMoFileError) as error:
            import_elmo(options, weights, tmp_path / "out", tokenizer, TEXT)
        assert not (tmp_path / "out").exists()
        message = str(error.value)
        assert "\n" not in message
        return message

    return refused


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is not JSON"),
        (b"[" * 100_000, r"is not JSON \(RecursionError\)"),
        (b"\xff\xfe{}", "is not JSON"),
        (b'{"lstm": {"dim": ' + b"9" * 5_000 + b"}}", "is not JSON"),
        (b"[]", "describes no ELMo that can be read: options: Input should be"),
        (b'{"lstm": {}}', "lstm.dim: Field required"),
        (b" " * (2 << 20), "is longer than 1,048,576 bytes"),
    ],
)
def test_options_that_are_none(tmp_path, refused, content, message):
    path = tmp_path / "options.json"
    path.write_bytes(content)
    with pytest.raises(ELMoFileError, match=message):
        elmo.read_options(path)
    assert str(path) in refused(path, tmp_path / "none.hdf5")


@pytest.mark.parametrize(
    ("part", "changes", "message"),
    [
        ("lstm", {"dim": 10**9}, "lstm.dim: Input should be less than or equal to 16384"),
        ("lstm", {"projection_dim": -4}, "lstm.projection_dim: Input should be greater"),
        ("lstm", {"n_layers": 10**400}, "lstm.n_layers: "),
        ("lstm", {"cell_clip": float("nan")}, "lstm.cell_clip: Input should be"),
        ("lstm", {"proj_clip": -3}, "lstm.proj_clip: Input should be greater than 0"),
        ("lstm", {"dim": 16_384, "projection_dim": 8_192, "n_layers": 8}, r"declares [\d,]+ parameters; the limit is"),
        ("char_cnn", {"n_characters": 60_000}, "has 60,000 kinds of characters; words are read as bytes"),
        ("char_cnn", {"filters": [[3, 10**9]]}, "there are 1,000,000,000 filters; at most 16,384"),
        ("char_cnn", {"filters": [[13, 4]]}, "a filter is 13 characters wide, but words have 1 to 12"),
        ("char_cnn", {"filters": [[1, 0]]}, "there are 0 filters of width 1"),
        ("char_cnn", {"filters": []}, "char_cnn.filters: "),
        ("char_cnn", {"filters": [[1, 1]] * 1_000}, "char_cnn.filters: "),
        ("char_cnn", {"max_characters_per_token": 2}, "char_cnn.max_characters_per_token: "),
        ("char_cnn", {"activation": "exec"}, "char_cnn.activation: Input should be 'relu' or 'tanh'"),
        ("char_cnn", {"n_highway": 10**6}, "char_cnn.n_highway: "),
    ],
)
def test_absurd_options_are_refused_before_anything_is_built(tmp_path, refused, part, changes, message):
    chosen = options()
    chosen[part] |= changes
    path = tmp_path / "options.json"
    path.write_text(json.dumps(chosen))
    with pytest.raises(ELMoFileError, match=message):
        elmo.read_options(path)
    assert str(path) in refused(path, tmp_path / "none.hdf5")


def external(file: h5py.File, name: str) -> None:
    file[name] = h5py.ExternalLink("/etc/passwd", "/x")


def soft(file: h5py.File, name: str) -> None:
    file[name] = h5py.SoftLink("/char_embed")


def external_bytes(file: h5py.File, name: str) -> None:
    file.create_dataset(name, (28,), "f4", external=[("/etc/hostname", 0, 112)])


def virtual(file: h5py.File, name: str) -> None:
    layout = h5py.VirtualLayout((28,), "f4")
    layout[:] = h5py.VirtualSource("/etc/other.hdf5", "x", (28,))
    file.create_virtual_dataset(name, layout)


def huge(file: h5py.File, name: str) -> None:
    file.create_dataset(name, (10**13,), "f4", chunks=(1024,))


def big_chunks(file: h5py.File, name: str) -> None:
    file.create_dataset(name, (28,), "f4", chunks=(10**8,), maxshape=(None,))


def put(array: Any) -> Callable[[h5py.File, str], None]:
    return lambda file, name: file.__setitem__(name, array)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda file, name: None, "is missing; the options belong to another file"),
        (lambda file, name: file.create_group(name), "is a group, not a dataset"),
        (external, r"points elsewhere \(ExternalLink\)"),
        (soft, r"points elsewhere \(SoftLink\)"),
        (external_bytes, "has its numbers in another file"),
        (virtual, "has its numbers in another file"),
        (huge, r"is \(10000000000000,\), but the options ask for \(28,\)"),
        (big_chunks, r"is stored in chunks of \(100000000,\)"),
        (put(np.zeros((4, 7), np.float32)), r"is \(4, 7\), but the options ask for \(28,\)"),
        (put(h5py.Empty("f4")), "is None, but the options ask for"),
        (put(np.zeros(28, np.int32)), "holds int32, not floating-point numbers"),
        (put(np.array([b"x"] * 28)), "not floating-point numbers"),
        (put(np.full(28, np.nan, np.float32)), "has numbers that are not finite"),
        (put(np.full(28, 1e300)), "has numbers that are not finite"),
    ],
)
def test_a_spoiled_dataset_is_named(tmp_path, refused, spoil, message):
    arrays = random_arrays(options())
    del arrays[f"{CELL}/B"]
    files = published_elmo.write(tmp_path / "published", options(), arrays)
    with h5py.File(files[1], "a") as file:
        spoil(file, f"{CELL}/B")
    found = refused(*files)
    assert found.startswith(f"{files[1]}: {CELL}/B ")
    with pytest.raises(ELMoFileError, match=message):
        raise ELMoFileError(found)


@pytest.mark.parametrize("kept", [0, 10, 3_000, -200])
def test_a_file_that_is_no_hdf5_or_cut_short(tmp_path, refused, kept):
    files = published_elmo.write(tmp_path / "published", options(), random_arrays(options()))
    files[1].write_bytes(files[1].read_bytes()[:kept])
    assert f"{files[1]} cannot be read as HDF5" in refused(*files)


def test_files_that_are_not_there(tmp_path, refused):
    files = published_elmo.write(tmp_path / "published", options(), random_arrays(options()))
    assert "(there is no such file)" in refused(files[0], tmp_path / "moon.hdf5")
    assert "cannot be read (No such file or directory)" in refused(tmp_path / "moon.json", files[1])


def test_options_of_another_file_are_noticed(tmp_path, refused):
    files = published_elmo.write(tmp_path / "published", options(), random_arrays(options(n_layers=1)))
    assert "Cell1/LSTMCell/W_0 is missing; the options belong to another file" in refused(*files)


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, tokenizer):
    files = published_elmo.write(tmp_path / "published", options(), random_arrays(options()))
    with pytest.raises(ValueError, match="is there already and is no empty folder; choose another --out"):
        import_elmo(*files, files[0].parent, tokenizer, TEXT)
    import_elmo(*files, tmp_path / "out", tokenizer, TEXT)
    assert load_checkpoint(tmp_path / "out").config.model.vocabulary_size == 8
