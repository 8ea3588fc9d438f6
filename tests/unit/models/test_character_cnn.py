import numpy as np
import pytest
import torch

from ctxemb.batching import make_batch
from ctxemb.models import character_cnn
from ctxemb.models.character_cnn import CharacterCNN, Highway, SpelledWords
from ctxemb.models.spelling import spell

FILTERS = ((1, 2), (3, 4), (4, 3))
WORDS = ["a", "bank", "floccinaucinihilipilification", "日本", ""]


def random_cnn(output_size: int = 5, activation: character_cnn.Activation = "relu") -> CharacterCNN:
    torch.manual_seed(0)
    cnn = CharacterCNN(3, FILTERS, 1, activation, output_size)
    for parameter in cnn.parameters():
        torch.nn.init.normal_(parameter)
    return cnn.eval()


@pytest.fixture
def words() -> SpelledWords:
    words = SpelledWords(random_cnn(), 20)
    words.spell_vocabulary(WORDS)
    return words


def test_a_highway_lets_each_number_pass_or_change():
    highway = Highway(2)
    with torch.no_grad():
        highway.gate.weight.zero_()
        highway.gate.bias.copy_(torch.tensor([-100.0, 100.0]))
        highway.transform.weight.copy_(torch.tensor([[1.0, 1.0], [1.0, 1.0]]))
        highway.transform.bias.fill_(-1)
    # the first is carried, the second is relu(3 + 4 - 1)
    torch.testing.assert_close(highway(torch.tensor([[3.0, 4.0]])), torch.tensor([[3.0, 6.0]]))
    torch.testing.assert_close(highway(torch.tensor([[-3.0, -4.0]])), torch.tensor([[-3.0, 0.0]]))


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("output_size", [5, 9])
def test_the_strongest_answer_at_any_place_agrees_with_a_naive_loop(activation, output_size):
    cnn, codes_NC = random_cnn(output_size, activation), spell(WORDS, 20)
    assert isinstance(cnn.projection, torch.nn.Identity) == (output_size == 9)
    with torch.inference_mode():
        found = cnn(codes_NC)
        for row, codes in enumerate(codes_NC.long()):
            answers = []
            for convolution in cnn.convolutions:
                width = convolution.kernel_size[0]
                for kernel, bias in zip(convolution.weight, convolution.bias, strict=True):
                    windows = [cnn.characters[codes[at : at + width]].T for at in range(len(codes) - width + 1)]
                    answers.append(max((window * kernel).sum() + bias for window in windows))
            vector = cnn.highways[0](getattr(torch, activation)(torch.stack(answers)))
            torch.testing.assert_close(found[row], cnn.projection(vector), atol=1e-5, rtol=1e-5)


def test_a_norm_keeps_vectors_at_one_scale_whatever_the_weights_do():
    torch.manual_seed(0)
    cnn = CharacterCNN(3, FILTERS, 1, "relu", 5, has_norm=True)
    with torch.no_grad():
        cnn.projection.bias.fill_(1_000).add_(torch.arange(5) * 10.0)
    vectors_NE = cnn(spell(WORDS, 20))
    torch.testing.assert_close(vectors_NE.mean(dim=1), torch.zeros(5), atol=1e-4, rtol=0)
    torch.testing.assert_close(vectors_NE.std(dim=1, unbiased=False), torch.ones(5), atol=1e-3, rtol=0)


def test_a_long_word_beside_it_changes_no_vector():
    cnn = random_cnn()
    for codes_NC in (spell(WORDS, 40), spell(WORDS, 31)):  # 31: the longest just fits, without any padding
        together = cnn(codes_NC)
        for row in range(len(WORDS)):
            torch.testing.assert_close(cnn(codes_NC[row : row + 1])[0], together[row], atol=1e-5, rtol=1e-5)


def test_each_distinct_word_is_computed_once(words, monkeypatch):
    computed = []
    plain = CharacterCNN.forward
    monkeypatch.setattr(CharacterCNN, "forward", lambda cnn, codes: computed.append(len(codes)) or plain(cnn, codes))
    by_ids, _ = words(make_batch([[4, 5, 4], [5], [5, 5, 5, 7]]))
    by_words, _ = words(make_batch([[3, 3, 3], [3]], [["a", "b", "a"], ["b"]]))
    assert computed == [4 + 3, 4 + 2]
    assert by_ids.ids_BT.tolist() == [[4, 5, 4, 0], [5, 0, 0, 0], [5, 5, 5, 6]]
    assert by_words.ids_BT.tolist() == [[4, 5, 4], [5, 0, 0]]


def test_ids_and_words_are_looked_up_alike(words):
    batch = make_batch([[4, 5, 6], [8, 3]])
    spelled = make_batch([[3, 3, 3], [3, 3]], [["a", "bank", WORDS[2]], ["", "<unk>"]])
    found = [table[numbered.ids_BT] for numbered, table in (words(batch), words(spelled))]
    inside_BT = batch.ids_BT != 0
    torch.testing.assert_close(found[0][inside_BT], found[1][inside_BT], atol=1e-6, rtol=1e-6)
    torch.testing.assert_close(found[0][0, 1], words.table()[5], atol=1e-6, rtol=1e-6)
    assert len({tuple(np.round(row, 4)) for row in words.table().tolist()}) == 4 + len(WORDS)


def test_memory_is_bounded_however_many_words_there_are(words, monkeypatch):
    expected = words.table()
    monkeypatch.setattr(character_cnn, "MAX_ANSWERS", 20 * 9 * 2)
    sizes = []
    plain = CharacterCNN.forward
    monkeypatch.setattr(CharacterCNN, "forward", lambda cnn, codes: sizes.append(len(codes)) or plain(cnn, codes))
    torch.testing.assert_close(words.table(), expected, atol=1e-6, rtol=1e-6)
    assert sizes == [2, 2, 2, 2, 1]


def test_an_empty_batch_has_its_special_words_only(words):
    numbered, table = words(make_batch([]))
    assert numbered.ids_BT.shape == (0, 0)
    assert table.shape == (4, 5)


def test_gradients_reach_the_characters_of_the_words_that_were_read(words):
    numbered, table = words(make_batch([[5]]))  # bank
    table[numbered.ids_BT].square().sum().backward()
    gradient = words.cnn.characters.grad
    assert gradient is not None
    moved = set(torch.nonzero(gradient.abs().sum(dim=1)).flatten().tolist())
    assert moved <= {*b"bank", 258, 259, 260}
    assert moved & {*b"bank"}
