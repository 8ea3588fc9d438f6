"""Tables of contexts and their vectors: the same as one sentence at a time gives."""

import numpy as np
import pandas as pd
import pytest

from ctxemb import Encoder
from ctxemb.contexts import (
    MAX_WORDS_CENTRED,
    SENTENCES_PER_CHUNK,
    check_centring,
    context_table,
    encode_contexts,
    encode_from_disk,
    example_contexts,
    find_words,
    sample_contexts,
    table_key,
    with_coordinates,
)

SENTENCES = [
    "the old bank approved the loan for the farmer .",
    "we sat on the quiet bank of the river with the teacher .",
    "the farmer saw the green plant beside the road .",
]


def no_mean(word: str) -> None:
    return None


def test_vectors_are_those_of_each_sentence_alone(encoder: Encoder) -> None:
    table = context_table(SENTENCES, ["bank", "bank", "plant"], ["money", "river", ""])
    contexts = encode_contexts(encoder, table, no_mean)
    for row, (text, word) in enumerate(zip(table.sentence, table.word, strict=True)):
        alone = encoder.encode([text])[0]
        position = alone.tokens.index(word)
        np.testing.assert_allclose(contexts.vectors_ND[row], alone.vectors[position], atol=1e-5)
        assert (contexts.table.start[row], contexts.table.end[row]) == alone.spans[position]
        assert contexts.table.place[row] == pytest.approx(position / (len(alone.tokens) - 1))
    assert contexts.problems == ()


def test_a_mean_of_each_word_is_subtracted_from_its_uses_alone(encoder: Encoder) -> None:
    table = context_table(SENTENCES, ["bank", "bank", "plant"], [""] * 3)
    plain = encode_contexts(encoder, table, no_mean).vectors_ND
    shift_LD = np.ones((encoder.num_layers + 1, encoder.config.model.width), np.float32)
    moved = encode_contexts(encoder, table, lambda word: 2 * shift_LD if word == "plant" else None).vectors_ND
    np.testing.assert_allclose(plain - moved, [[0] * plain.shape[1]] * 2 + [[2] * plain.shape[1]], atol=1e-6)


def test_rows_keep_their_names_and_order_and_the_lost_ones_their_reason(encoder: Encoder) -> None:
    texts = [SENTENCES[2], "nothing here .", SENTENCES[0], "a zyzzyva here .", "another zyzzyva ."]
    table = context_table(texts, ["plant", "bank", "bank", "zyzzyva", "zyzzyva"], [""] * 5)
    table.index = pd.Index([7, 3, 5, 1, 2])
    contexts = encode_contexts(encoder, table, no_mean)
    assert contexts.table.index.tolist() == [7, 5]
    assert contexts.table.word.tolist() == ["plant", "bank"]
    assert len(contexts.vectors_ND) == 2
    assert [problem.split("”")[0] for problem in contexts.problems] == ["“bank", "“zyzzyva"]
    assert "not in this checkpoint's vocabulary" in contexts.problems[1]


def test_the_occurrence_that_starts_where_the_table_says_is_meant(encoder: Encoder) -> None:
    text = "the bank paid the money to the bank in the city ."
    table = context_table([text] * 3, ["bank"] * 3, [""] * 3, [-1, text.index("bank"), text.rindex("bank")])
    contexts = encode_contexts(encoder, table, no_mean)
    assert contexts.table.start.tolist() == [4, 4, text.rindex("bank")]
    assert not np.allclose(contexts.vectors_ND[1], contexts.vectors_ND[2])


def test_many_contexts_come_in_chunks_with_progress(encoder: Encoder) -> None:
    number = 2 * SENTENCES_PER_CHUNK + 10
    table = context_table([SENTENCES[0]] * number, ["bank"] * number, [""] * number)
    heard: list[float] = []
    contexts = encode_contexts(encoder, table, no_mean, lambda fraction, stage: heard.append(fraction))
    assert len(contexts.table) == number
    assert len(heard) == 3
    assert heard == sorted(heard)
    assert heard[-1] == 1
    assert np.ptp(contexts.vectors_ND, axis=0).max() < 1e-5


def test_a_checkpoint_on_disk_gives_the_same(calibrated: Encoder) -> None:
    table = context_table(SENTENCES, ["bank", "bank", "plant"], [""] * 3)
    statistics_centred = encode_from_disk(
        str(calibrated.checkpoint.path), calibrated.reading, "all words", table, on_progress=lambda *_: None
    )
    plain = encode_contexts(calibrated, table, no_mean)
    differences = plain.vectors_ND - statistics_centred.vectors_ND
    np.testing.assert_allclose(differences, differences[:1].repeat(3, axis=0), atol=1e-5)
    assert np.abs(differences).max() > 1e-3


def test_examples_of_a_word_bring_their_senses() -> None:
    table = example_contexts(["bank", "Plant", "nosuchword"], "en")
    assert table.groupby("word").sense.nunique().to_dict() == {"bank": 2, "plant": 2}
    assert example_contexts([], "en").empty


def test_words_are_looked_for_whole_and_in_every_sentence() -> None:
    table = context_table(["The Bank and the plant.", "Banks here.", "bankrupt", "a (bank)"], [""] * 4, ["s"] * 4)
    found = find_words(table, ["bank", "plant"], "en")
    assert found[["word", "sentence"]].to_numpy().tolist() == [
        ["bank", "The Bank and the plant."],
        ["bank", "a (bank)"],
        ["plant", "The Bank and the plant."],
    ]
    assert found.sense.tolist() == ["s"] * 3
    assert len(find_words(context_table(["她买了苹果汁"], [""], [""]), ["苹果"], "zh")) == 1
    named = context_table(["x"], ["other"], [""])
    assert find_words(named, ["bank"], "en").word.tolist() == ["other"]


def test_a_sample_is_random_repeatable_and_in_order() -> None:
    table = context_table([str(number) for number in range(1000)], ["w"] * 1000, [""] * 1000)
    first, again, other = (sample_contexts(table, 100, seed) for seed in (0, 0, 1))
    assert first.index.tolist() == again.index.tolist() == sorted(first.index)
    assert first.index.tolist() != other.index.tolist()
    # a random hundred of a thousand has a mean of about 500 ± 29
    assert abs(first.index.to_numpy().mean() - 499.5) < 4 * 28.9
    assert sample_contexts(table, 1000) is table


def test_a_key_tells_tables_apart() -> None:
    table = context_table(SENTENCES, ["bank"] * 3, [""] * 3)
    assert table_key(table) == table_key(table.copy())
    assert table_key(table) != table_key(table.assign(sense="x"))
    assert table_key(table) != table_key(table.iloc[:2])


def test_very_many_words_are_not_centred_one_by_one() -> None:
    number = MAX_WORDS_CENTRED + 1
    table = context_table(["s"] * number, [f"w{i}" for i in range(number)], [""] * number)
    check_centring(table, "all words")
    check_centring(table.iloc[1:], "per word")
    with pytest.raises(ValueError, match="at most 50 words, and there are 51"):
        check_centring(table, "per word")


def test_coordinates_stand_beside_their_use() -> None:
    table = context_table(SENTENCES, ["bank", "bank", "plant"], ["money", "river", ""]).assign(end=0, place=0.0)
    flat = with_coordinates(table, np.arange(6.0).reshape(3, 2))
    assert flat.columns.tolist() == ["word", "sense", "sentence", "start", "end", "x", "y"]
    assert flat[["word", "x", "y"]].iloc[2].tolist() == ["plant", 4.0, 5.0]
    assert with_coordinates(table, np.zeros((3, 3))).columns[-1] == "z"
