"""Reading a run's curve for the user: what its records show to be going wrong, said once, with what to do.

history.py         the last stretch of a run, in bounded memory
rule.py            a rule, and what it finds
shared.py          rules for every family
language_model.py  rules for the BiLM
contrastive.py     rules for the contrastive encoder
watcher.py         a record in, new findings out
"""

from ctxemb.watch.rule import Finding, Rule
from ctxemb.watch.watcher import RULES, Watcher, watch

__all__ = ["RULES", "Finding", "Rule", "Watcher", "watch"]
