"""English words: one regular expression, which lies in the tokenizer file."""

# In order: the stem of "don't", its "n't", clitics ('s, 're ...), words, numbers, any other visible character.
# Hyphens and punctuation are tokens of their own; control characters and spaces are none.
WORDS = (
    r"[\p{L}\p{M}]+?(?=n['’]t\b)|n['’]t\b|['’](?i:s|re|ve|ll|d|m)\b"
    r"|[\p{L}\p{M}]+|\p{N}+(?:[.,]\p{N}+)*|[^\s\p{L}\p{M}\p{N}\p{C}]"
)
