"""`python -m benchmarks.polling`: memory of the Train page while it polls a run for half an hour, without the waiting.

Not a part of `make bench`. A made-up training gains ten steps between two polls, a validation and a look at the senses
now and then; the page is drawn anew for each poll, without a browser. Exit code 1 if it grows by more than it may.
"""

import argparse
import math
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from unittest.mock import patch

import numpy as np
from streamlit.testing.v1 import AppTest

from benchmarks.report import peak_bytes
from ctxemb.analysis.senses import SensePairs
from ctxemb.probe import ALL_WORDS, ProbedUse, ProbePoint
from ctxemb.probe.folder import ProbeFolder
from ctxemb.progress import StepRecord, ValidationRecord, progress_line
from ctxemb.runs import RunRequest, RunStore
from ctxemb.runs.lock import take_lock
from ctxemb.runs.report import LOCK, Report, write_report
from ctxemb.training import PROGRESS

ROOT = Path(__file__).parents[1]
LIMIT_MEGABYTES = 50
POLLS_A_SECOND, STEPS_A_POLL, POLLS_A_LOOK = 1, 10, 30
POLLS_TO_WARM_UP = 100  # caches fill: what is measured is what does not stop growing
USES = [
    ProbedUse(word, sense, f"Sentence {number} with the {sense} sense of {word} .")
    for word in ("bank", "plant", "bat")
    for sense in ("one", "other")
    for number in range(8)
]


def main() -> None:
    """Poll, and print the memory of this process now and then."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.polling", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30, help="simulated")
    arguments = parser.parse_args()
    num_polls = round(arguments.minutes * 60 * POLLS_A_SECOND)
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, {"CTXEMB_RUNS": folder}):
        with patch.object(RunStore, "advance", lambda store: None):  # nothing is really trained
            store = RunStore(Path(folder))
            run = store.start(RunRequest(name="polled", recipe="quick"))
        lock = take_lock(run.folder / LOCK)
        training = MadeUpTraining(run.trained)
        app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
        app.query_params["run"] = run.id
        app.switch_page("app_pages/train.py")
        before = math.nan
        for poll in range(POLLS_TO_WARM_UP + num_polls):
            training.go_on()
            write_report(run.folder, Report(poll, "training", pid=os.getpid()))
            app.run()
            if app.exception or app.error:
                sys.exit(f"the page failed at poll {poll}: {[*app.exception, *app.error]}")
            if poll == POLLS_TO_WARM_UP:
                before = own_peak_megabytes()
            if poll % 300 == POLLS_TO_WARM_UP:
                print(f"{poll:5,} polls  {training.step:6,} steps  {own_peak_megabytes():7.1f} MB", flush=True)
        grown = own_peak_megabytes() - before
        assert lock is not None
        os.close(lock)
    print(
        f"{num_polls:,} polls of {training.step:,} steps in {time.monotonic() - started:.0f} s: {grown:+.1f} MB, "
        f"at most {LIMIT_MEGABYTES} MB"
    )
    sys.exit(grown > LIMIT_MEGABYTES)


class MadeUpTraining:
    """Writes what a training of a BiLM would have written."""

    def __init__(self, folder: Path) -> None:
        self._progress, self._probe = folder / PROGRESS, ProbeFolder(folder)
        self._rng = np.random.default_rng(0)
        self.step = self._polls = 0
        folder.mkdir(parents=True)

    def go_on(self) -> None:
        """The steps between two polls."""
        lines = []
        for _ in range(STEPS_A_POLL):
            self.step += 1
            loss = 4 + 4 * math.exp(-self.step / 3_000) + float(self._rng.normal(0, 0.1))
            record = StepRecord(
                step=self.step,
                total_steps=1_000_000,
                epoch=0,
                num_tokens=500 * self.step,
                gradient_norm=1.0,
                learning_rate=1e-3,
                tokens_per_second=5_000.0,
                eta_seconds=60.0,
                padding_share=0.1,
                loss_forward_nats=loss,
                loss_backward_nats=loss,
                perplexity=math.exp(loss),
            )
            lines.append(progress_line(record))
        if self._polls % POLLS_A_LOOK == 0:
            seen = ValidationRecord(self.step, 0, 500 * self.step, True, loss, loss, math.exp(loss), math.exp(loss))
            lines.append(progress_line(seen))
            pairs = SensePairs(0.5, 0.4, 0.6, 28, 32)
            words = dict.fromkeys((ALL_WORDS, *dict.fromkeys(use.word for use in USES)), pairs)
            point = ProbePoint(self.step, {"off": words, "per word": words})
            self._probe.add(point, self._rng.normal(size=(len(USES), 128)), USES)
        self._polls += 1
        with self._progress.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{line.rstrip()}\n" for line in lines)


def own_peak_megabytes() -> float:
    """The most memory that this process has had so far."""
    return peak_bytes(resource.getrusage(resource.RUSAGE_SELF)) / 1e6


if __name__ == "__main__":
    main()
