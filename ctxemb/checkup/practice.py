"""Checks of everyday use: how many words it knows, how large and how quick it is."""

import time

import numpy as np

from ctxemb.checkup.result import Finding
from ctxemb.checkup.subject import Subject

# shipped: 2 % (English) and 8 % (Chinese) of our everyday sentences, with 8,000 words 15 %; above a half, a sentence is
# mostly holes
MAX_UNKNOWN_SHARE, HIGH_UNKNOWN_SHARE = 0.5, 0.2
# a page of 500 words in a second; shipped: 10,000 and more on one core
MIN_TOKENS_PER_SECOND = 500


def check_coverage(subject: Subject) -> Finding:
    """How much of everyday text the vocabulary lacks."""
    is_unknown_N = np.concatenate([encoding.oov for encoding in subject.sample])
    share, limit = float(is_unknown_N.mean()) if len(is_unknown_N) else 1.0, f"at most {HIGH_UNKNOWN_SHARE:.0%}"
    if subject.encoder.reads_spelling:
        return Finding("pass", "Words are read by their spelling, so every word has a vector.", 0.0, "0.0%", limit)
    told = f"Of {len(is_unknown_N):,} words of our example sentences, {share:.1%} are not in the vocabulary"
    if share > HIGH_UNKNOWN_SHARE:
        verdict = "fail" if share > MAX_UNKNOWN_SHARE else "warn"
        advice = (
            "Look whether the tokenizer is that of this language and letter case; else train with a larger vocabulary "
            "(text.max_vocabulary, text.min_frequency) or on more text."
        )
        return Finding(verdict, f"{told}.", share, f"{share:.1%}", limit, advice)
    return Finding("pass", f"{told}.", share, f"{share:.1%}", limit)


def check_speed(subject: Subject) -> Finding:
    """How large it is, and how many words it reads in a second here."""
    num_tokens = sum(len(encoding.tokens) for encoding in subject.sample)  # a first reading, which warms up
    start = time.perf_counter()
    subject.encoder.encode(subject.sentences)
    rate = num_tokens / max(time.perf_counter() - start, 1e-9)
    num_parameters = sum(p.numel() for p in subject.encoder.model.parameters())
    shown, limit = f"{rate:,.0f} words/s", f"at least {MIN_TOKENS_PER_SECOND:,} words/s"
    config = subject.encoder.config.model
    told = (
        f"{num_parameters / 1e6:,.1f} M parameters, {config.width} numbers a vector, {config.vocabulary_size:,} words; "
        f"it reads {rate:,.0f} words a second on this machine"
    )
    if rate < MIN_TOKENS_PER_SECOND:
        advice = "Pages will be slow with it: use precision=bfloat16, a GPU, or a smaller model."
        return Finding("warn", f"{told}.", rate, shown, limit, advice)
    return Finding("pass", f"{told}.", rate, shown, limit)
