"""Words as rows of character codes: all that a model which reads spellings sees of them.

A word is its UTF-8 bytes between two marks, padded on the right. The boundary tokens of a sentence are codes that no
byte has, so no text can be mistaken for them; and every word has a spelling, in every script, also one never seen.

Source: the input of ELMo, arXiv:1802.05365; the codes are those of its published files.

N words, V vocabulary, C codes of a word.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from ctxemb.text import BOS, EOS, NUM_SPECIAL, PAD, SPECIAL_TOKENS, UNK

SENTENCE_BEGIN, SENTENCE_END, WORD_BEGIN, WORD_END, NO_CHARACTER = range(256, 261)
NUM_CODES = 261
MIN_CHARACTERS = 3  # one byte between the two marks


def spell(words: Sequence[str], max_characters: int) -> Tensor:
    """(N, C) int16 codes with C = `max_characters`, the two marks included; what is longer is cut."""
    codes_NC = np.full((len(words), max_characters), NO_CHARACTER, dtype=np.int16)
    for row_C, word in zip(codes_NC, words, strict=True):
        _write(row_C, word.encode("utf-8", "replace")[: max_characters - 2])
    return torch.from_numpy(codes_NC)


def spell_special(max_characters: int) -> Tensor:
    """(4, C) codes of the special ids: padding has no character, an unknown word whose spelling is lost is `<unk>`."""
    codes_4C = spell(SPECIAL_TOKENS, max_characters).numpy()
    codes_4C[[PAD, BOS, EOS]] = NO_CHARACTER
    _write(codes_4C[BOS], [SENTENCE_BEGIN])
    _write(codes_4C[EOS], [SENTENCE_END])
    assert len(codes_4C) == NUM_SPECIAL == UNK + 1
    return torch.from_numpy(codes_4C)


def _write(row_C: np.ndarray, codes: Sequence[int]) -> None:
    row_C[: len(codes) + 2] = [WORD_BEGIN, *codes, WORD_END]
