"""Public test sets by name: each gives numbers with a 95 % interval, its coverage, and baselines beside it.

catalogue.py        which sets there are, where they lie, which part is scored
context_pairs.py    WiC, MCL-WiC, SCWS
senses.py           CoarseWSD-20, zh-wsd
words.py            rated pairs of words, analogies
language_model.py   WikiText-2 perplexity in two protocols
subject.py          a checkpoint as the sets see it: its layers, its bag of context, its word vectors
intervals.py        the bootstrap
score.py            the result; record.py, where it is kept
"""
