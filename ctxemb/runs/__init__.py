"""Training runs as folders and processes: start, watch, stop, resume; the app may come and go meanwhile.

request.py      what somebody wants trained, checked before anything starts
store.py        RunStore: the runs of one folder, and their queue
run.py          Run: one folder, and its state
process.py      the process `python -m ctxemb train`: started, ended
lock.py         locks that end with their process: who lives
report.py       what a training process says of itself, about once a second
reader.py       ProgressReader: follows a progress.jsonl
downsampled.py  a curve in bounded memory that keeps its spikes
errors.py       what went wrong, in a sentence

<root>/<id>/    request.json  about.json  ticket (while it waits)  stop (once asked)  lock  process.json
                report.json  log.txt  run/ (all that `train` writes: run.json, progress.jsonl, best/, last/, ...)
"""

from ctxemb.runs.downsampled import Downsampled
from ctxemb.runs.errors import RunError, describe_error
from ctxemb.runs.reader import ProgressReader
from ctxemb.runs.report import Reporter, reporting
from ctxemb.runs.request import RunRequest
from ctxemb.runs.run import LIVE, RESUMABLE, Run, State, Status
from ctxemb.runs.store import RunStore, runs_root

__all__ = [
    "LIVE",
    "RESUMABLE",
    "Downsampled",
    "ProgressReader",
    "Reporter",
    "Run",
    "RunError",
    "RunRequest",
    "RunStore",
    "State",
    "Status",
    "describe_error",
    "reporting",
    "runs_root",
]
