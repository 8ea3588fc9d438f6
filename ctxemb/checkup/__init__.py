"""A battery of checks that a new checkpoint goes through: is it sound, and if not, what is wrong with it?

battery.py     the checks, their order, and what each takes for granted
subject.py     what they look at, made once
result.py      what they find
opening.py     files, tokenizer, shapes, statistics
weights.py     broken, empty and repeated numbers
reading.py     the same vectors twice, in every batch, one a word; layer 0
leak.py        what must not see the word does not
learning.py    better than a guess; the recorded perplexity
passages.py    pairs of uses that should be close
space.py       collapse, spectrum, senses
practice.py    known words, size, speed
reference.py   what to hold it against
folder.py      what people have (a run, an archive) -> a checkpoint folder
report.py      all of it in a sentence, as JSON, as Markdown
"""

from ctxemb.checkup.battery import CHECKS, check_folder, examine, run_checkup
from ctxemb.checkup.folder import check_path, check_received, open_folder
from ctxemb.checkup.reference import choose_reference
from ctxemb.checkup.report import as_json, as_markdown, summary
from ctxemb.checkup.result import (
    VERDICTS,
    CheckResult,
    Checkup,
    Cosines,
    Finding,
    LayerCosines,
    Losses,
    Overall,
    Verdict,
)

__all__ = [
    "CHECKS",
    "VERDICTS",
    "CheckResult",
    "Checkup",
    "Cosines",
    "Finding",
    "LayerCosines",
    "Losses",
    "Overall",
    "Verdict",
    "as_json",
    "as_markdown",
    "check_folder",
    "check_path",
    "check_received",
    "choose_reference",
    "examine",
    "open_folder",
    "run_checkup",
    "summary",
]
