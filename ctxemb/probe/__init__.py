"""A live probe of a training run: at every validation, the same labelled sentences are held against each other.

The training process does it itself, between two steps, without drawing a random number: a run with a probe has the
same loss curve as one without, and the probe goes on when no page is open.

uses.py     which sentences
folder.py   the files: probe.jsonl (a line a look), probe/uses.json, probe/<step>.npy (directions, bounded in number)
probe.py    a look at the model
history.py  what was seen: series over steps, and a map whose points move
"""

from ctxemb.probe.folder import ProbePoint
from ctxemb.probe.history import ProbeHistory, ProbeMap, ProbeSeries, probe_map, read_probe
from ctxemb.probe.probe import ALL_WORDS, Probe, open_probe
from ctxemb.probe.uses import ProbedUse, choose_uses

__all__ = [
    "ALL_WORDS",
    "Probe",
    "ProbeHistory",
    "ProbeMap",
    "ProbePoint",
    "ProbeSeries",
    "ProbedUse",
    "choose_uses",
    "open_probe",
    "probe_map",
    "read_probe",
]
