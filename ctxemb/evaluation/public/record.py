"""Scores of public test sets in a checkpoint's metrics.json, under `tests`: one of each name and split."""

import json
from collections.abc import Sequence
from pathlib import Path

from ctxemb.atomic import replace_file
from ctxemb.checkpoint import METRICS, check_writable, load_checkpoint
from ctxemb.evaluation.public.score import TESTS, PublicScore


def record_scores(checkpoint: Path, scores: Sequence[PublicScore]) -> None:
    """Write scores into a checkpoint; one of the same name and split takes the place of the old one.

    Raises:
        CheckpointError: if the checkpoint cannot be read, or is not ours to write to.
        OSError: if its folder cannot be written to.
    """
    check_writable(checkpoint)
    metrics = load_checkpoint(checkpoint).metrics
    records = {(record["name"], record["split"]): record for record in metrics.get(TESTS, [])}
    records |= {(score.name, score.split): score.as_json() for score in scores}
    metrics[TESTS] = list(records.values())
    replace_file(checkpoint / METRICS, json.dumps(metrics, indent=2).encode())
