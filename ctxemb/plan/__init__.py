"""What a training will cost, before it starts: sizes out of a sample of its text, time and memory out of a few steps.

All of it is an estimate. What cannot be trained as asked is refused, with the reason.

sample.py   the beginning of each text, and how much there is in all
trial.py    a few steps on the sample
plan.py     what follows for the whole
uploads.py  a user's own text, kept beside the runs
"""

from ctxemb.plan.plan import Plan, PlanError, machine_bytes, make_plan
from ctxemb.plan.uploads import keep_upload

__all__ = ["Plan", "PlanError", "keep_upload", "machine_bytes", "make_plan"]
