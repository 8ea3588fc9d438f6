import dataclasses

import pytest
import torch

from ctxemb.cli.training import _watch
from ctxemb.distributed import World
from ctxemb.progress import (
    ContrastiveStepRecord,
    ContrastiveValidationRecord,
    EndRecord,
    Progress,
    RescueRecord,
    StepRecord,
    ValidationRecord,
    progress_line,
    read_progress,
)

ALONE = World(0, 1, torch.device("cpu"))
STEP = {
    "step": 3,
    "total_steps": 9,
    "epoch": 0,
    "num_tokens": 60,
    "gradient_norm": 1.5,
    "learning_rate": 1e-3,
    "tokens_per_second": 2_000.0,
    "eta_seconds": 120.0,
    "padding_share": 0.125,
}
AT = {"step": 3, "epoch": 0, "num_tokens": 60, "is_best": True}
PAIRS = {"loss_nats": 2.25, "chance_nats": 4.5, "accuracy": 0.625, "positive_cosine": 0.75, "negative_cosine": 0.25}
CONTRASTIVE = [
    ContrastiveStepRecord(**STEP, **PAIRS, num_anchors=24, num_masked=5),
    ContrastiveValidationRecord(**AT, **PAIRS, random_cosine=0.1, alignment=0.5, uniformity=-2.0, top10_energy=0.4),
]
RECORDS: list[Progress] = [
    StepRecord(**STEP, loss_forward_nats=2.0, loss_backward_nats=4.0, perplexity=20.0),
    ValidationRecord(
        **AT, loss_forward_nats=2.0, loss_backward_nats=4.0, perplexity_forward=7.4, perplexity_backward=54.6
    ),
    *CONTRASTIVE,
    RescueRecord(4, "loss nan, gradient norm nan", 5e-4, 1.0, False),
    EndRecord(9, "finished", 12.5),
]


def test_every_kind_of_record_comes_back_from_its_line(tmp_path):
    path = tmp_path / "progress.jsonl"
    path.write_text("".join(progress_line(record) + "\n" for record in RECORDS))
    assert read_progress(path) == RECORDS
    assert len({record.kind for record in RECORDS}) == len(RECORDS)


def test_a_line_of_the_first_version_is_still_read(tmp_path):
    path = tmp_path / "progress.jsonl"
    path.write_text(
        '{"kind": "step", "step": 3, "total_steps": 9, "epoch": 0, "num_tokens": 60, "loss_forward_nats": 2.0, '
        '"loss_backward_nats": 4.0, "perplexity": 20.0, "gradient_norm": 1.5, "learning_rate": 0.001, '
        '"tokens_per_second": 2000.0, "eta_seconds": 120.0, "padding_share": 0.125}\n'
        '{"kind": "validation", "step": 3, "epoch": 0, "num_tokens": 60, "loss_forward_nats": 2.0, '
        '"loss_backward_nats": 4.0, "perplexity_forward": 7.4, "perplexity_backward": 54.6, "is_best": true}\n'
    )
    assert read_progress(path) == RECORDS[:2]


def test_a_validation_of_two_directions_counts_as_their_mean():
    assert RECORDS[1].loss_nats == 3.0


@pytest.mark.parametrize("is_best", [True, False])
def test_a_contrastive_run_is_drawn_as_its_loss_against_chance(capsys, is_best):
    records = [CONTRASTIVE[0], dataclasses.replace(CONTRASTIVE[1], is_best=is_best), RECORDS[-1]]
    assert not _watch(iter(records), ALONE)
    drawn = " ".join(capsys.readouterr().err.split())
    best = " (best)" if is_best else ""
    assert f"step 3: validation loss 2.250 (chance 4.500), accuracy 62.5%{best} " in drawn
    assert ("(best)" in drawn) == is_best
    assert "loss 2.250 (chance 4.500), accuracy 62.5% | rate 1.0e-03 | 2,000 tokens/s" in drawn
    assert "perplexity" not in drawn
