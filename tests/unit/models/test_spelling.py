import torch

from ctxemb.models.spelling import spell, spell_special


def test_a_word_is_its_bytes_between_two_marks():
    assert spell(["ab", "é", ""], 6).tolist() == [
        [258, 97, 98, 259, 260, 260],
        [258, 195, 169, 259, 260, 260],
        [258, 259, 260, 260, 260, 260],
    ]


def test_what_is_longer_is_cut_and_keeps_both_marks():
    assert spell(["abcdef", "苹果"], 5).tolist() == [[258, 97, 98, 99, 259], [258, 232, 139, 185, 259]]


def test_half_a_character_is_spelled_too():
    assert spell(["\ud800"], 4).tolist() == [[258, 63, 259, 260]]


def test_boundaries_are_no_text():
    special = spell_special(8).tolist()
    assert special[0] == [260] * 8
    assert special[1][:4] == [258, 256, 259, 260]
    assert special[2][:4] == [258, 257, 259, 260]
    assert special[3] == spell(["<unk>"], 8)[0].tolist()
    assert not any(special[i] == spell([text], 8)[0].tolist() for i in (1, 2) for text in ("<bos>", "<eos>", "<S>", ""))


def test_no_words_have_no_spelling():
    assert spell([], 7).shape == (0, 7)
    assert spell([], 7).dtype == torch.int16  # a list of two million words stays small
