"""Sentence <-> tokens <-> ids: word tokenisation with character offsets, and the vocabulary.

The work is done by Hugging Face `tokenizers` (a WordLevel model), `rjieba` (Chinese words) and `sentencex` (English
sentences); this room adds the special ids, the offsets and the checks at the door.

    config.py       TextConfig: how text becomes words, and which words are known
    sentences.py    a passage -> sentences
    english.py, chinese.py    a sentence -> words
    tokenizer.py    WordTokenizer: words <-> ids, and its file
    script.py       traditional and simplified characters
"""

from ctxemb.text.config import Language, TextConfig, cutting_rule
from ctxemb.text.script import is_traditional, script_problem, to_simplified, traditional_share
from ctxemb.text.sentences import split_sentences
from ctxemb.text.tokenizer import BOS, EOS, NUM_SPECIAL, PAD, SPECIAL_TOKENS, UNK, Tokens, WordTokenizer

__all__ = [
    "BOS",
    "EOS",
    "NUM_SPECIAL",
    "PAD",
    "SPECIAL_TOKENS",
    "UNK",
    "Language",
    "TextConfig",
    "Tokens",
    "WordTokenizer",
    "cutting_rule",
    "is_traditional",
    "script_problem",
    "split_sentences",
    "to_simplified",
    "traditional_share",
]
