import numpy as np
import pytest
import torch

from ctxemb.batching import NUM_BOUNDARY_TOKENS, Batch, make_batch, plan_batches


def flat(plan: list[np.ndarray]) -> list[int]:
    return [int(sentence) for batch in plan for sentence in batch]


def test_sentences_are_grouped_by_length_within_the_budget():
    lengths_S = np.array([3, 1, 3, 2, 3])
    # a sentence costs its length + 1: 2 + 3 -> 2 x 3 = 6 cells, then two of 4 cells, then what is left
    assert [batch.tolist() for batch in plan_batches(lengths_S, batch_tokens=8)] == [[1, 3], [0, 2], [4]]


def test_a_sentence_longer_than_the_budget_stands_alone():
    assert [batch.tolist() for batch in plan_batches(np.array([50, 2, 40]), batch_tokens=9)] == [[1], [2], [0]]


@pytest.mark.parametrize("seed", range(20))
def test_any_plan_holds_every_sentence_once_keeps_the_budget_and_pads_at_most_half(seed):
    rng = np.random.default_rng(seed)
    scale = rng.choice([2, 20, 200])
    lengths_S = 1 + rng.geometric(1 / scale, size=rng.integers(1, 400))
    batch_tokens = int(rng.integers(1, 2_000))
    plan = plan_batches(lengths_S, batch_tokens, seed=seed if seed % 2 else None)
    assert sorted(flat(plan)) == list(range(len(lengths_S)))
    for batch in plan:
        cells = (lengths_S[batch].max() + NUM_BOUNDARY_TOKENS) * len(batch)
        assert cells <= batch_tokens or len(batch) == 1
        assert make_batch([np.ones(length) for length in lengths_S[batch]]).padding_share <= 0.5


def test_the_seed_decides_the_order_of_batches_and_of_sentences_within_a_length():
    lengths_S = np.tile(np.arange(1, 30), 20)
    same = [flat(plan_batches(lengths_S, 100, seed=7)) for _ in range(2)]
    assert same[0] == same[1] != flat(plan_batches(lengths_S, 100, seed=8))
    lengths = [lengths_S[batch].max() for batch in plan_batches(lengths_S, 100, seed=7)]
    assert lengths != sorted(lengths)


def test_without_a_seed_sentences_stand_in_order_of_length():
    assert flat(plan_batches(np.array([2, 1, 2, 1]), 100)) == [1, 3, 0, 2]


def test_no_sentences_make_no_batches():
    assert plan_batches(np.array([], dtype=np.int64), 100) == []


@pytest.mark.parametrize(
    ("lengths", "batch_tokens", "message"),
    [([1], 0, "batch_tokens is 0; it has to be at least 1"), ([3, 0], 10, "sentence 1 has no token")],
)
def test_impossible_plans_are_refused(lengths, batch_tokens, message):
    with pytest.raises(ValueError, match=message):
        plan_batches(np.array(lengths), batch_tokens)


def test_padding_stands_on_the_right():
    batch = make_batch([[5, 6, 7], np.array([8], dtype=np.int32)])
    assert batch.ids_BT.tolist() == [[5, 6, 7], [8, 0, 0]]
    assert batch.lengths_B.tolist() == [3, 1]
    assert (batch.num_tokens, batch.padding_share) == (4, pytest.approx(2 / 6))
    assert batch.ids_BT.dtype == batch.lengths_B.dtype == torch.int64


def test_an_empty_batch_has_no_padding():
    batch = make_batch([])
    assert (batch.ids_BT.shape, batch.num_tokens, batch.padding_share) == ((0, 0), 0, 1.0)


def test_a_batch_moves_as_a_whole():
    batch = make_batch([[5]]).to(torch.device("meta"))
    assert isinstance(batch, Batch)
    assert batch.ids_BT.device == batch.lengths_B.device == torch.device("meta")
