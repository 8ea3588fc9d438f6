from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import chain, combinations

import numpy as np
import pytest

from ctxemb import pairs as pairs_module
from ctxemb.corpora import CorpusError
from ctxemb.pairs import PairBatch, PassagePairs, crop
from ctxemb.text import BOS, EOS, NUM_SPECIAL, PAD, UNK
from ctxemb.tokenized import TokenizationReport, TokenizedCorpus

Passage = Sequence[Sequence[int]]
NUM_DRAWS = 1_500
MARK = 1_000  # the last id of sentence s is MARK + s, so that drawn sentences can be told


def corpus_of(passages: Sequence[Passage]) -> TokenizedCorpus:
    sentences = [list(sentence) for passage in passages for sentence in passage]
    lengths = [len(sentence) for sentence in sentences]
    return TokenizedCorpus(
        ids=np.array(list(chain.from_iterable(sentences)), dtype=np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]),
        passages=np.repeat(np.arange(len(passages), dtype=np.int32), [len(passage) for passage in passages]),
        report=TokenizationReport(len(passages), len(sentences), sum(lengths), 0, 0, 0, 0),
    )


def marked(passages: Sequence[Passage]) -> TokenizedCorpus:
    number = iter(range(10_000))
    return corpus_of([[[*sentence, MARK + next(number)] for sentence in passage] for passage in passages])


def pairs_of(corpus: TokenizedCorpus, sentences: Sequence[int] | None = None, **changes: object) -> PassagePairs:
    settings = {"is_target": lambda word_id: word_id < MARK, "num_passages": 2, "min_count": 1, "max_share": 1.0}
    drawn = np.arange(len(corpus)) if sentences is None else np.array(sentences, dtype=np.int64)
    return PassagePairs(corpus, drawn, **settings | changes)


def draws(pairs: PassagePairs, num_draws: int, num_words: int = 1, max_tokens: int = 100) -> list[PairBatch]:
    rng = np.random.default_rng(0)
    return [pairs.draw(num_words, max_tokens, rng) for _ in range(num_draws)]


def naive_groups(corpus: TokenizedCorpus, sentences: Sequence[int]) -> dict[tuple[int, int], dict[int, int]]:
    """Word and passage -> sentence -> first position of the word; groups of two sentences or more."""
    groups: dict[tuple[int, int], dict[int, int]] = defaultdict(dict)
    for sentence in sentences:
        for position, word_id in enumerate(corpus[sentence].tolist()):
            if NUM_SPECIAL <= word_id < MARK:
                groups[word_id, int(corpus.passages[sentence])].setdefault(sentence, position)
    return {group: uses for group, uses in groups.items() if len(uses) > 1}


def random_corpus(seed: int) -> TokenizedCorpus:
    rng = np.random.default_rng(seed)
    return marked(
        [
            [rng.integers(1, 10, rng.integers(1, 7)).tolist() for _ in range(rng.integers(1, 6))]
            for _ in range(rng.integers(10, 20))
        ]
    )


# which pairs there are


def test_pairs_by_hand():
    corpus = marked([[[5, 6], [7, 6, 6]], [[6, 8], [9]], [[5], [8, 8, 6], [6, 5]], [[8, 8], [7]]])
    pairs = pairs_of(corpus)
    # 6 in passages 0 and 2, 5 in passage 2 only; 8 stands twice in one sentence, which is one use
    assert (pairs.words.tolist(), pairs.num_groups) == ([6], 3)
    batch = draws(pairs, 1)[0]
    assert batch.words_R.tolist() == [6, 6]
    assert sorted(batch.passages_R) == [0, 2]
    uses = sorted((int(ids[-1]) - MARK, int(p)) for ids, p in zip(batch.sentences, batch.positions_B, strict=True))
    assert uses == [(0, 1), (1, 1), (5, 2), (6, 0)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("num_passages", [2, 3])
def test_all_pairs_and_no_others_are_drawn(seed, num_passages):
    corpus = random_corpus(seed)
    sentences = np.flatnonzero(np.random.default_rng(seed).random(len(corpus)) < 0.9).tolist()
    groups = naive_groups(corpus, sentences)
    num_passages_of = Counter(word_id for word_id, _ in groups)
    words = sorted(word_id for word_id, number in num_passages_of.items() if number >= num_passages)
    expected = {
        (word_id, passage, *pair)
        for (word_id, passage), uses in groups.items()
        if word_id in words
        for pair in combinations(sorted(uses), 2)
    }
    pairs = pairs_of(corpus, sentences, num_passages=num_passages)
    assert (pairs.words.tolist(), pairs.num_groups) == (words, len(groups))
    found = set()
    for batch in draws(pairs, 400, num_words=len(words)):
        for i, (word_id, passage) in enumerate(zip(batch.words_R.tolist(), batch.passages_R.tolist(), strict=True)):
            both = {}
            for use in (2 * i, 2 * i + 1):
                sentence = int(batch.sentences[use][-1]) - MARK
                assert np.array_equal(batch.sentences[use], corpus[sentence])
                both[sentence] = int(batch.positions_B[use])
            assert both.items() <= groups[word_id, passage].items()
            found.add((word_id, passage, *sorted(both)))
    assert found == expected


def test_special_ids_are_no_words():
    passage = [[UNK, PAD, BOS, EOS, 4], [UNK, PAD, BOS, EOS, 4]]
    assert pairs_of(corpus_of([passage, passage])).words.tolist() == [4]


def test_rare_frequent_and_refused_words_are_no_targets():
    sentence = [4, 5, 5, 6, 6, 6]
    corpus = corpus_of([[sentence, sentence]] * 3)  # 36 tokens: 6, 12 and 18 of the words
    assert pairs_of(corpus).words.tolist() == [4, 5, 6]
    assert pairs_of(corpus, min_count=6).words.tolist() == [4, 5, 6]
    assert pairs_of(corpus, min_count=7).words.tolist() == [5, 6]
    assert pairs_of(corpus, max_share=12 / 36).words.tolist() == [4, 5]
    assert pairs_of(corpus, max_share=11 / 36).words.tolist() == [4]
    asked = []
    pairs = pairs_of(corpus, max_share=0.4, is_target=lambda word_id: bool(asked.append(word_id)) or word_id == 5)
    assert (pairs.words.tolist(), asked) == ([5], [4, 5])
    assert all(type(word_id) is int for word_id in asked)


@pytest.mark.parametrize(
    ("passages", "changes"),
    [
        ([[[4, 5], [6, 7]], [[8, 9], [10, 11]]], {}),  # nothing twice
        ([[[4, 4]], [[4, 4]]], {}),  # twice in a sentence
        ([[[4], [4]], [[4]], [[4]]], {}),  # two sentences of one passage only
        ([[[4], [4]], [[4], [4]]], {"num_passages": 3}),
        ([[[4], [4]], [[4], [4]]], {"sentences": [0, 1, 2]}),
        ([[[4], [4]], [[4], [4]]], {"sentences": []}),
        ([[[4], [4]], [[4], [4]]], {"is_target": lambda word_id: False}),
        ([[[UNK], [UNK]], [[UNK], [UNK]]], {}),
    ],
)
def test_a_text_without_pairs_is_refused(passages, changes):
    number = changes.get("num_passages", 2)
    with pytest.raises(CorpusError, match=f"no word stands in two sentences of {number} passages each; use more text"):
        pairs_of(corpus_of(passages), **changes)


# how they are drawn


def test_a_batch_is_of_the_words_and_passages_asked_for():
    sentence = list(range(4, 14))
    pairs = pairs_of(corpus_of([[sentence, sentence]] * 6), num_passages=3)
    for batch in draws(pairs, 20, num_words=4):
        words_WP, passages_WP = batch.words_R.reshape(4, 3), batch.passages_R.reshape(4, 3)
        assert (words_WP == words_WP[:, :1]).all()
        assert len(set(words_WP[:, 0])) == 4
        assert all(len(set(passages)) == 3 for passages in passages_WP)
        assert (len(batch.sentences), batch.positions_B.shape) == (24, (24,))
        stands = [int(ids[p]) for ids, p in zip(batch.sentences, batch.positions_B, strict=True)]
        assert stands == np.repeat(batch.words_R, 2).tolist()


def test_no_more_words_are_drawn_than_there_are():
    pairs = pairs_of(corpus_of([[[4, 5, 6], [6, 5, 4]]] * 2))
    assert sorted(set(pairs.draw(50, 10, np.random.default_rng(0)).words_R.tolist())) == [4, 5, 6]


@pytest.mark.parametrize("max_tokens", [1, 2, 3, 8])
def test_the_word_stands_where_it_is_said_to_after_cropping(max_tokens):
    rng = np.random.default_rng(0)
    corpus = corpus_of([[rng.permutation(np.arange(4, 16)).tolist() for _ in range(3)] for _ in range(4)])
    for batch in draws(pairs_of(corpus), 30, num_words=5, max_tokens=max_tokens):
        assert {len(ids) for ids in batch.sentences} == {max_tokens}
        stands = [int(ids[p]) for ids, p in zip(batch.sentences, batch.positions_B, strict=True)]
        assert stands == np.repeat(batch.words_R, 2).tolist()


def test_a_batch_is_decided_by_its_generator():
    pairs = pairs_of(random_corpus(1))
    first, again, other = (pairs.draw(3, 4, np.random.default_rng(seed)) for seed in (5, 5, 6))
    for name in ("positions_B", "words_R", "passages_R"):
        assert np.array_equal(getattr(first, name), getattr(again, name))
    assert [ids.tolist() for ids in first.sentences] == [ids.tolist() for ids in again.sentences]
    assert [ids.tolist() for ids in first.sentences] != [ids.tolist() for ids in other.sentences]


def test_words_are_drawn_by_the_square_root_of_their_passages(monkeypatch):
    corpus = corpus_of([[[4], [4]]] * 4 + [[[5], [5]]] * 16)
    first = Counter(int(batch.words_R[0]) for batch in draws(pairs_of(corpus), NUM_DRAWS))
    assert first[5] / NUM_DRAWS == pytest.approx(4 / 6, abs=0.04)
    monkeypatch.setattr(pairs_module, "MAX_PASSAGES_THAT_COUNT", 4)
    first = Counter(int(batch.words_R[0]) for batch in draws(pairs_of(corpus), NUM_DRAWS))
    assert first[5] / NUM_DRAWS == pytest.approx(1 / 2, abs=0.04)


@pytest.mark.parametrize(
    ("favoured", "shares"),
    [
        ([5], [1 / 6, 1 / 2, 1 / 3]),  # half for 5; 4 and 6 share the rest by the roots of 4 and 16
        ([4, 6, 99], [1 / 6, 1 / 2, 1 / 3]),
        ([4, 5, 6], [1 / 4, 1 / 4, 1 / 2]),
        ([], [1 / 4, 1 / 4, 1 / 2]),
    ],
)
def test_favoured_words_are_drawn_half_of_the_time(favoured, shares):
    corpus = corpus_of([[[4], [4]]] * 4 + [[[5], [5]]] * 4 + [[[6], [6]]] * 16)
    batches = draws(pairs_of(corpus, favoured=np.array(favoured, dtype=np.int64)), NUM_DRAWS)
    drawn = Counter(int(batch.words_R[0]) for batch in batches)
    assert [drawn[word_id] / NUM_DRAWS for word_id in (4, 5, 6)] == pytest.approx(shares, abs=0.04)


def test_passages_and_sentences_are_drawn_evenly():
    pairs = pairs_of(marked([[[4], [4], [4]]] * 3))
    batches = draws(pairs, NUM_DRAWS)
    passages = Counter(int(passage) for batch in batches for passage in batch.passages_R)
    assert [passages[i] / (2 * NUM_DRAWS) for i in range(3)] == pytest.approx([1 / 3] * 3, abs=0.04)
    ordered = Counter(
        tuple((int(ids[-1]) - MARK) % 3 for ids in batch.sentences[2 * i : 2 * i + 2])
        for batch in batches
        for i in range(2)
    )
    assert len(ordered) == 6
    assert [number / (2 * NUM_DRAWS) for number in ordered.values()] == pytest.approx([1 / 6] * 6, abs=0.04)


# cropping


@pytest.mark.parametrize(
    ("length", "position", "max_tokens", "start", "stop"),
    [
        (9, 7, 4, 5, 9),
        (9, 0, 4, 0, 4),
        (9, 2, 4, 0, 4),
        (9, 3, 4, 1, 5),
        (9, 8, 4, 5, 9),
        (9, 4, 3, 3, 6),
        (9, 4, 1, 4, 5),
        (9, 8, 1, 8, 9),
        (4, 3, 4, 0, 4),
        (3, 1, 4, 0, 3),
        (1, 0, 1, 0, 1),
    ],
)
def test_cropping_by_hand(length, position, max_tokens, start, stop):
    ids, moved = crop(np.arange(length), position, max_tokens)
    assert (ids.tolist(), moved) == (list(range(start, stop)), position - start)


def test_a_crop_is_the_window_that_has_the_word_nearest_to_its_middle():
    for length in range(1, 9):
        for max_tokens in range(1, 10):
            for position in range(length):
                ids, moved = crop(np.arange(length), position, max_tokens)
                size = min(length, max_tokens)
                windows = [range(start, start + size) for start in range(length - size + 1)]
                best = min(windows, key=lambda window: abs(position - window.start - max_tokens // 2))
                assert (ids.tolist(), int(ids[moved])) == (list(best), position)
