import pytest
import torch
from torch import nn

from ctxemb.batching import make_batch
from ctxemb.models.bilm import prediction_mask
from ctxemb.models.directions import inputs_and_targets, read_states, reverse
from ctxemb.text import BOS, EOS

SENTENCES = [[7, 5, 9, 8, 7], [6], [4, 9, 5], [6, 6]]


def random_states(batch, num_layers: int = 2, num_units: int = 3) -> dict:
    torch.manual_seed(0)
    shape = (num_layers, len(batch.ids_BT), batch.ids_BT.shape[1] + 1, num_units)
    return {direction: list(torch.randn(shape)) for direction in ("forward", "backward")}


def test_what_each_direction_reads_and_predicts():
    batch = make_batch([[5, 6, 7], [8]])
    mask_BT = prediction_mask(batch)
    read, predicted = inputs_and_targets(batch, "forward")
    assert read.tolist() == [[BOS, 5, 6, 7], [BOS, 8, 0, 0]]
    assert [row[mask].tolist() for row, mask in zip(predicted, mask_BT, strict=True)] == [[5, 6, 7, EOS], [8, EOS]]
    read, predicted = inputs_and_targets(batch, "backward")
    assert read[0].tolist() == [EOS, 7, 6, 5]
    assert read[1, :2].tolist() == [EOS, 8]
    assert [row[mask].tolist() for row, mask in zip(predicted, mask_BT, strict=True)] == [[7, 6, 5, BOS], [8, BOS]]


def test_reversing_turns_each_sentence_within_its_own_length():
    batch = make_batch([[1, 2, 3], [4, 5], [6]])
    turned = reverse(batch.ids_BT, batch.lengths_B)
    assert [row[:n].tolist() for row, n in zip(turned, batch.lengths_B, strict=True)] == [[3, 2, 1], [5, 4], [6]]
    vectors = reverse(batch.ids_BT[:, :, None] * torch.tensor([1, 10]), batch.lengths_B)
    assert vectors[1, :2].tolist() == [[5, 50], [4, 40]]
    assert batch.ids_BT.flip(1)[1].tolist() == [0, 5, 4]  # the trap: padding first


def test_reversing_twice_changes_nothing():
    batch = make_batch(SENTENCES)
    twice = reverse(reverse(batch.ids_BT, batch.lengths_B), batch.lengths_B)
    assert [row[:n].tolist() for row, n in zip(twice, batch.lengths_B, strict=True)] == SENTENCES


def test_states_are_joined_by_the_word_they_stand_at():
    # a state is the number of words that its direction has read: 0 to 3
    batch = make_batch([[5, 6, 7]])
    count = [torch.arange(4.0)[None, :, None]]
    states = {"forward": count, "backward": [10 * count[0]]}
    (here,) = read_states(states, batch, "here")
    (context,) = read_states(states, batch, "context")
    assert here[0].tolist() == [[1, 30], [2, 20], [3, 10]]
    assert context[0].tolist() == [[0, 20], [1, 10], [2, 0]]


@pytest.mark.parametrize("readout", ["here", "context"])
def test_joining_agrees_with_a_naive_loop(readout):
    batch = make_batch(SENTENCES)
    states = random_states(batch)
    joined = read_states(states, batch, readout)
    assert [layer.shape for layer in joined] == [(4, 5, 6), (4, 5, 6)]
    skip = 1 if readout == "here" else 0
    for layer, joined_BTD in enumerate(joined):
        for b, words in enumerate(SENTENCES):
            for t in range(len(words)):
                forward = states["forward"][layer][b, t + skip]
                backward = states["backward"][layer][b, len(words) - 1 - t + skip]
                assert torch.equal(joined_BTD[b, t], torch.cat([forward, backward]))


def test_two_readers_are_a_bidirectional_lstm_of_the_bounded_sentence():
    torch.manual_seed(0)
    both = nn.LSTM(4, 3, bidirectional=True, batch_first=True)
    embedding = nn.Embedding(10, 4)
    readers = {}
    for direction, suffix in (("forward", ""), ("backward", "_reverse")):
        readers[direction] = nn.LSTM(4, 3, batch_first=True)
        weights = {name: getattr(both, name + suffix) for name in readers[direction].state_dict()}
        readers[direction].load_state_dict(weights)
    batch = make_batch(SENTENCES)
    with torch.no_grad():
        states = {d: [lstm(embedding(inputs_and_targets(batch, d)[0]))[0]] for d, lstm in readers.items()}
        (here_BTD,) = read_states(states, batch, "here")
        (context_BTD,) = read_states(states, batch, "context")
        for b, words in enumerate(SENTENCES):
            expected_TD = both(embedding(torch.tensor([[BOS, *words, EOS]])))[0][0]
            torch.testing.assert_close(here_BTD[b, : len(words)], expected_TD[1:-1], atol=1e-6, rtol=1e-5)
            around_TD = torch.cat([expected_TD[:-2, :3], expected_TD[2:, 3:]], dim=1)
            torch.testing.assert_close(context_BTD[b, : len(words)], around_TD, atol=1e-6, rtol=1e-5)
