import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from ctxemb import Encoder
from ctxemb.batching import make_batch
from ctxemb.checkpoint import load_checkpoint
from ctxemb.foreign import import_torch_bilm
from ctxemb.foreign.bilm_state import BiLMStateError
from ctxemb.foreign.torch_file import TorchFileError
from ctxemb.foreign.vocabulary_file import VocabularyError
from ctxemb.text import BOS, EOS, PAD, UNK

WORDS = ["the", "bank", "river", "loan", "sat", "we", "of", "on"]
# an order of its own, and names of its own for what we call <pad> <bos> <eos> <unk>
VOCABULARY = ["[UNK]", "river", "</s>", "the", "bank", "loan", "<PAD>", "sat", "we", "<s>", "of", "on"]
SPECIAL = {"<PAD>": PAD, "<s>": BOS, "</s>": EOS, "[UNK]": UNK}
SENTENCES = [["we", "sat", "on", "the", "river", "bank"], ["the", "loan"], ["zebra", "of", "the", "bank"], ["on"]]


class StudentBiLM(nn.Module):
    """As it is usually written: one embedding, a stacked LSTM and an output layer a direction."""

    def __init__(self, num_words: int, E: int, H: int, num_layers: int, seed: int = 0) -> None:
        torch.manual_seed(seed)
        super().__init__()
        self.embed = nn.Embedding(num_words, E)
        self.fwd_lstm = nn.LSTM(E, H, num_layers, batch_first=True, dropout=0.3 if num_layers > 1 else 0)
        self.bwd_lstm = nn.LSTM(E, H, num_layers, batch_first=True, dropout=0.3 if num_layers > 1 else 0)
        self.fwd_out, self.bwd_out = nn.Linear(H, num_words), nn.Linear(H, num_words)

    def read(self, ids: list[int], direction: str) -> tuple[Tensor, Tensor]:
        """States of the top layer after each id, and the log-probabilities of what comes next."""
        lstm, out = (self.fwd_lstm, self.fwd_out) if direction == "forward" else (self.bwd_lstm, self.bwd_out)
        states, _ = lstm(self.embed(torch.tensor([ids])))
        return states[0], out(states[0]).log_softmax(-1)


@pytest.fixture(autouse=True)
def no_gradients():
    with torch.inference_mode():
        yield


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., tuple[Path, Path]]:
    """`write(state, words)`: a file of torch.save and one of words."""

    def write(state: object, words: list[str] = VOCABULARY) -> tuple[Path, Path]:
        torch.save(state, tmp_path / "student.pt")
        (tmp_path / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
        return tmp_path / "student.pt", tmp_path / "words.txt"

    return write


def check_same(student: StudentBiLM, folder: Path, vocabulary: list[str] = VOCABULARY) -> None:
    """States and predictions of a checkpoint are the student's, sentence by sentence and in both directions."""
    encoder = Encoder.load(folder, device="cpu")
    row_of = {word: row for row, word in enumerate(vocabulary)}
    our_ids = [SPECIAL[word] if word in SPECIAL else encoder.tokenizer.word_id(word) for word in vocabulary]
    H, width = student.fwd_lstm.hidden_size, encoder.config.model.hidden_size
    for words in SENTENCES:
        rows = [row_of.get(word, row_of["[UNK]"]) for word in words]
        encoding = encoder.encode([" ".join(words)])[0]
        log_p_2TV = encoder.model.predictions(make_batch([encoding.ids.tolist()]))[:, 0]
        forward, backward = torch.from_numpy(encoding.layers[-1]).split(width, dim=1)
        states, log_p = student.read([row_of["<s>"], *rows], "forward")
        torch.testing.assert_close(forward[:, :H], states[1:], atol=1e-5, rtol=0)
        torch.testing.assert_close(log_p_2TV[0][:, our_ids], log_p[:-1], atol=1e-5, rtol=0)
        states, log_p = student.read([row_of["</s>"], *rows[::-1]], "backward")
        torch.testing.assert_close(backward[:, :H], states[1:].flip(0), atol=1e-5, rtol=0)
        torch.testing.assert_close(log_p_2TV[1][:, our_ids], log_p[:-1].flip(0), atol=1e-5, rtol=0)
        assert not forward[:, H:].any()
        assert not backward[:, H:].any()


def renamed(state: dict[str, Tensor], *changes: tuple[str, str]) -> dict[str, Tensor]:
    """Names changed one after another."""
    for old, new in changes:
        state = {name.replace(old, new): tensor for name, tensor in state.items()}
    return state


# what the student's module says, the checkpoint says


@pytest.mark.parametrize(("E", "H", "num_layers"), [(5, 8, 1), (8, 8, 2), (6, 9, 3), (12, 7, 2)])
def test_states_and_predictions_are_those_of_the_module(write, tmp_path, E, H, num_layers):
    student = StudentBiLM(len(VOCABULARY), E, H, num_layers).eval()
    report = import_torch_bilm(*write(student.state_dict()), tmp_path / "out")
    check_same(student, tmp_path / "out")
    sizes = (report.num_words, report.embedding_size, report.hidden_size, report.num_layers, report.num_silent_units)
    assert sizes == (8, E, H, num_layers, max(E - H, 0))
    assert (report.language, report.lowercase, report.num_never_read) == ("en", True, 0)
    assert report.special == {"<pad>": "<PAD>", "<bos>": "<s>", "<eos>": "</s>", "<unk>": "[UNK]"}
    loaded = load_checkpoint(tmp_path / "out")
    assert [loaded.tokenizer.word(i) for i in range(4, 12)] == [word for word in VOCABULARY if word in WORDS]
    assert loaded.metrics["import"]["file"] == "student.pt"
    assert loaded.config.model.shared_embeddings is False  # one embedding, but an output layer a direction


VARIANTS = {
    "wrapped": lambda state: {"epoch": 3, "model_state_dict": state, "optimizer": {"lr": 0.1}},
    "parallel": lambda state: {f"module.model.{name}": tensor for name, tensor in state.items()},
    "long names": lambda state: renamed(state, ("embed", "embedding"), ("fwd_", "forward_"), ("bwd_", "backward_")),
    "parts": lambda state: renamed(state, ("fwd_", "fwd."), ("bwd_", "bwd."), ("_out", ".decoder")),
    "suffixes": lambda state: renamed(
        state, ("fwd_lstm", "lstm_f"), ("bwd_lstm", "lstm_b"), ("fwd_out", "fc_f"), ("bwd_out", "fc_b")
    ),
    "lists of one-layer LSTMs": lambda state: {
        re.sub(r"lstm\.(\w+_l)(\d)", r"lstm.\2.\g<1>0", name): tensor for name, tensor in state.items()
    },
    "two embeddings": lambda state: {
        "fwd_emb.weight": state["embed.weight"],
        "bwd_emb.weight": state["embed.weight"].clone(),
        **{name: tensor for name, tensor in state.items() if name != "embed.weight"},
    },
    "half precision": lambda state: {name: tensor.half() for name, tensor in state.items()},
    "double precision": lambda state: {name: tensor.double() for name, tensor in state.items()},
    "parameters": lambda state: {name: nn.Parameter(tensor.clone()) for name, tensor in state.items()},
    "views": lambda state: {name: tensor.T.contiguous().T for name, tensor in state.items()},
}


@pytest.mark.filterwarnings("ignore:The use of `x.T` on tensors of dimension other than 2")
@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_the_same_weights_in_other_clothes(write, tmp_path, variant):
    student = StudentBiLM(len(VOCABULARY), 6, 8, 2).half().float().eval()
    import_torch_bilm(*write(variant(student.state_dict())), tmp_path / "out")
    check_same(student, tmp_path / "out")


def test_tied_and_shared_output_layers_are_stored_once(write, tmp_path):
    student = StudentBiLM(len(VOCABULARY), 8, 8, 1).eval()
    student.fwd_out = student.bwd_out
    student.fwd_out.weight = student.embed.weight
    import_torch_bilm(*write(student.state_dict()), tmp_path / "out")
    check_same(student, tmp_path / "out")
    model = load_checkpoint(tmp_path / "out").config.model
    assert (model.tied_weights, model.shared_embeddings, model.output_size) == (True, True, None)


def test_one_output_layer_without_a_bias_and_lstms_without_biases(write, tmp_path):
    student = StudentBiLM(len(VOCABULARY), 5, 8, 1).eval()
    with torch.no_grad():
        for name, weight in student.named_parameters():
            if "bias" in name:
                weight.zero_()
    student.bwd_out = student.fwd_out
    state = {
        name: tensor for name, tensor in student.state_dict().items() if "bias" not in name and "bwd_o" not in name
    }
    import_torch_bilm(*write(renamed(state, ("fwd_out", "out"))), tmp_path / "out")
    check_same(student, tmp_path / "out")
    assert load_checkpoint(tmp_path / "out").config.model.shared_embeddings is True


def test_special_rows_that_are_not_there_are_made_up_and_said_so(write, tmp_path):
    student = StudentBiLM(len(WORDS), 5, 8, 1).eval()
    report = import_torch_bilm(*write(student.state_dict(), WORDS), tmp_path / "out")
    assert report.special == dict.fromkeys(("<pad>", "<bos>", "<eos>", "<unk>"))
    assert "made up, because the words have none: <pad>, <bos>, <eos>, <unk>" in str(report)
    model = load_checkpoint(tmp_path / "out").model
    table = model.word_vectors()
    torch.testing.assert_close(table[4:], student.embed.weight)
    assert not table[0].any()
    for word_id in (BOS, EOS, UNK):  # an average word
        torch.testing.assert_close(table[word_id], student.embed.weight.mean(0))
    # given the same states, every word is as likely as it was, and what is made up is never predicted
    states = torch.randn(7, 8)
    log_p = model.forward_lm.softmax.log_probabilities(states)
    torch.testing.assert_close(log_p[:, 4:], student.fwd_out(states).log_softmax(-1), atol=1e-5, rtol=0)
    assert log_p[:, :4].max() < -50


# words


def test_capitals_and_chinese_are_seen_from_the_words_unless_said(write, tmp_path):
    cased = ["The", "Bank", "of", "river"]
    chinese = ["银行", "河", "的", "ok"]
    student = StudentBiLM(4, 5, 8, 1)
    report = import_torch_bilm(*write(student.state_dict(), cased), tmp_path / "cased")
    assert (report.language, report.lowercase, report.num_never_read) == ("en", False, 0)
    report = import_torch_bilm(*write(student.state_dict(), cased), tmp_path / "lower", lowercase=True)
    assert (report.lowercase, report.num_never_read) == (True, 2)
    report = import_torch_bilm(*write(student.state_dict(), chinese), tmp_path / "zh")
    assert report.language == "zh"
    assert Encoder.load(tmp_path / "zh", device="cpu").encode(["河的银行"])[0].tokens == ["河", "的", "银行"]
    report = import_torch_bilm(*write(student.state_dict(), chinese), tmp_path / "en", language="en")
    assert report.language == "en"


def test_our_own_name_of_a_special_token_comes_before_another(write, tmp_path):
    words = ["<s>", "<bos>", "the", "[SEP]", "</s>"]
    report = import_torch_bilm(*write(StudentBiLM(5, 5, 8, 1).state_dict(), words), tmp_path / "out")
    assert report.special == {"<pad>": None, "<bos>": "<bos>", "<eos>": "[SEP]", "<unk>": None}
    tokenizer = load_checkpoint(tmp_path / "out").tokenizer
    assert [tokenizer.word(i) for i in range(4, 7)] == [
        "<s>",
        "the",
        "</s>",
    ]  # kept: dropping a row changes predictions
    assert report.num_never_read == 2


def test_words_may_be_json(write, tmp_path):
    student = StudentBiLM(len(VOCABULARY), 5, 8, 1).eval()
    state, _ = write(student.state_dict())
    backwards = {word: row for row, word in reversed(list(enumerate(VOCABULARY)))}
    for number, content in enumerate((VOCABULARY, backwards)):
        path = tmp_path / f"words{number}.json"
        path.write_text(json.dumps(content))
        import_torch_bilm(state, path, tmp_path / f"out{number}")
        check_same(student, tmp_path / f"out{number}")


# what cannot be read is refused


@pytest.fixture
def refused(write: Callable[..., tuple[Path, Path]], tmp_path: Path) -> Callable[..., str]:
    """`refused(state)`: the one sentence with which weights are refused; nothing is left behind."""

    def refused(state: object, words: list[str] = VOCABULARY, error: type = BiLMStateError) -> str:
        files = write(state, words)
        with pytest.raises(error) as caught:
            import_torch_bilm(*files, tmp_path / "out")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["student.pt", "words.txt"]
        assert "\n" not in str(caught.value)
        assert str(tmp_path) in str(caught.value)
        return str(caught.value)

    return refused


def student_state(**changes: Tensor | None) -> dict[str, Tensor]:
    state = StudentBiLM(len(VOCABULARY), 5, 8, 2).state_dict()
    state |= {name.replace("__", "."): tensor for name, tensor in changes.items() if tensor is not None}
    return {name: tensor for name, tensor in state.items() if changes.get(name.replace(".", "__"), tensor) is not None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"embed__weight": None}, "there is no embedding for the forward direction"),
        ({"bwd_out__weight": None}, "the output layer of 'bwd_out.bias' has no weight"),
        ({"bwd_out__weight": None, "bwd_out__bias": None}, "there is no output layer for the backward direction"),
        ({"fwd_lstm__weight_ih_l1": None}, "the LSTM of 'fwd_lstm.weight_ih_l0' has no weight_ih"),
        ({"norm__weight": torch.ones(8), "norm__bias": torch.ones(8)}, "'norm.weight' is left over"),
        ({"fwd_norm__weight": torch.ones(8)}, "'fwd_out.weight' and 'fwd_norm.weight' could both be the output layer"),
        ({"embed2__weight": torch.ones(12, 5)}, "'embed.weight' and 'embed2.weight' could both be the embedding"),
        ({"scale": torch.ones(1)}, "'scale' is no weight of a plain BiLM"),
        ({"fwd_lstm__weight_hr_l0": torch.ones(4, 8)}, "'fwd_lstm.weight_hr_l0' is no weight of a plain BiLM"),
        ({"lstm__weight_ih_l0": torch.ones(32, 5)}, "'lstm.weight_ih_l0' does not say its direction"),
        ({"fwd_bwd_out__weight": torch.ones(12, 8)}, "'fwd_bwd_out.weight' does not say its direction"),
        ({"fwd_lstm__weight_ih_l0": torch.ones(32, 6)}, r"'fwd_lstm.weight_ih_l0' is \(32, 6\), but .* \(32, 5\)"),
        ({"fwd_out__weight": torch.ones(12, 5)}, r"'fwd_out.weight' is \(12, 5\), but .* has to be \(12, 8\)"),
        ({"fwd_out__bias": torch.ones(1)}, r"'fwd_out.bias' is \(1,\), but .* has to be \(12,\)"),
        ({"embed__weight": torch.ones(60)}, "'embed.weight' is no embedding"),
        ({"embed__weight": torch.ones(12, 25)}, r"'fwd_lstm.weight_ih_l0' is \(32, 5\), but .* \(32, 25\)"),
    ],
)
def test_other_weights_are_named(refused, changes, message):
    assert re.search(message, refused(student_state(**changes)))


@pytest.mark.parametrize(("cell", "message"), [(nn.GRU, "a GRU; only LSTMs"), (nn.RNN, "a plain RNN; only LSTMs")])
def test_other_cells_are_named(refused, cell, message):
    student = StudentBiLM(len(VOCABULARY), 5, 8, 1)
    student.fwd_lstm, student.bwd_lstm = cell(5, 8), cell(5, 8)
    assert message in refused(student.state_dict())


def test_an_lstm_of_both_directions_is_refused_with_the_reason(refused):
    student = StudentBiLM(len(VOCABULARY), 5, 8, 1)
    student.fwd_lstm = nn.LSTM(5, 8, bidirectional=True)
    assert "a bidirectional LSTM, which sees the word that it predicts" in refused(student.state_dict())


def test_directions_of_different_size_are_refused(refused):
    student = StudentBiLM(len(VOCABULARY), 5, 8, 1)
    student.bwd_lstm, student.bwd_out = nn.LSTM(5, 9), nn.Linear(9, len(VOCABULARY))
    assert "the two directions differ" in refused(student.state_dict())


@pytest.mark.parametrize(
    ("E", "H", "num_layers", "message"),
    [
        (25, 8, 1, "25 numbers a word, more than 3 times its 8 LSTM units"),
        (5, 8, 9, "num_layers: Input should be less"),
    ],
)
def test_sizes_that_no_checkpoint_has_are_refused(refused, E, H, num_layers, message):
    assert message in refused(StudentBiLM(len(VOCABULARY), E, H, num_layers).state_dict())


def test_words_that_do_not_fit_the_rows_are_refused(refused):
    state = StudentBiLM(len(VOCABULARY), 5, 8, 1).state_dict()
    assert "words.txt has 11 words, but the embedding of" in refused(state, VOCABULARY[1:], VocabularyError)
    special = StudentBiLM(2, 5, 8, 1).state_dict()
    assert "holds special tokens only" in refused(special, ["<s>", "[UNK]"], VocabularyError)


def test_weights_that_are_not_finite_are_refused(refused):
    state = StudentBiLM(len(VOCABULARY), 5, 8, 1).state_dict()
    state["fwd_out.weight"][3, 2] = torch.nan
    assert "'fwd_out.weight' holds NaN" in refused(state, error=TorchFileError)


def test_a_folder_that_holds_something_is_left_alone(write, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(ValueError, match="is there already and is no empty folder"):
        import_torch_bilm(*write(StudentBiLM(len(VOCABULARY), 5, 8, 1).state_dict()), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["mine"]
