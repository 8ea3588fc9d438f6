"""`python -m benchmarks.soak`: kill a training again and again at random moments, resume it, and count what was lost.

Not a part of `make bench`: it proves, it does not time. A kill hits the start of the process, reading, training,
validation and saving alike. Exit code 1 if anything was lost that should not have been.
"""

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from safetensors import SafetensorError, safe_open

from ctxemb.checkpoint import CheckpointError, load_checkpoint, read_state
from ctxemb.progress import Step, read_progress
from ctxemb.runs import Run, RunRequest, RunStore
from ctxemb.training import PROGRESS, STATE

SAVE_EVERY = 20
SETTINGS = (
    *("model.embedding_size=32", "model.hidden_size=64", "training.batch_tokens=400", "training.num_epochs=100"),
    *("training.validate_every=30", f"training.save_every={SAVE_EVERY}", "training.precision=float32"),
)
MAX_TOKENS = 20_000
POLL_SECONDS = 0.02


def main() -> None:
    """Kill, look, resume; at the end the curve must be that of a run that nobody killed, up to there."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=10, help="give up after so long")
    arguments = parser.parse_args()
    draw, deadline = random.Random(arguments.seed), time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CTXEMB_CACHE"] = str(Path(folder) / "cache")
        run = RunStore(Path(folder) / "runs").start(request())
        print("kill  after s  state     step  saved  lost  damage")
        problems = []
        for number in range(1, arguments.kills + 1):
            if time.monotonic() > deadline:
                problems.append(f"only {number - 1} of {arguments.kills} kills in {arguments.minutes} minutes")
                break
            before = reached(run)
            # every third kill comes without waiting: while Python, torch and the corpus are being read
            if number % 3:
                wait_until(lambda run=run, step=before: run.state == "training" and reached(run) != step, deadline)
            seconds = draw.uniform(0, 2)
            time.sleep(seconds)
            state = kill(run)
            run = RunStore(Path(folder) / "runs").get(run.id)  # as a restarted app finds it
            step, saved, damage = reached(run), saved_step(run), damaged(run)
            print(f"{number:4}  {seconds:7.2f}  {state:8}  {step:4}  {saved:5}  {step - saved:4}  {damage or 'none'}")
            if damage or step - saved > SAVE_EVERY or run.state != "interrupted":
                problems.append(f"kill {number}: {run.state}, {step - saved} steps lost, {damage or 'no damage'}")
            run.resume()
        wait_until(lambda: run.state == "training" and reached(run) > 0, deadline)
        run.stop()
        wait_until(lambda: run.state == "stopped", deadline)
        if gaps := missing_steps(run):
            problems.append(f"steps missing or repeated in {PROGRESS}: {gaps}")
        if drafts := sorted(path.name for path in run.trained.glob("**/.*")):
            problems.append(f"drafts left behind: {', '.join(drafts)}")
    print("; ".join(problems) or f"all resumable, at most {SAVE_EVERY} steps lost, no file damaged, no step missing")
    sys.exit(1 if problems else 0)


def request() -> RunRequest:
    """Small enough that a step takes milliseconds, and longer than the kills take."""
    return RunRequest(name="soak", recipe="quick", settings=SETTINGS, max_tokens=MAX_TOKENS, device="cpu", threads=1)


def wait_until(condition, deadline: float) -> None:
    """Poll until something is so."""
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit("the time is up while waiting for the run; give it more --minutes")
        time.sleep(POLL_SECONDS)


def kill(run: Run) -> str:
    """Kill its process outright; the state that it was in."""
    state, pid = run.state, run.pid
    if pid is None:
        raise SystemExit(f"the run ended by itself: {run.status()}\n{run.log_tail()}")
    os.killpg(pid, signal.SIGKILL)
    while run.is_live:
        time.sleep(POLL_SECONDS)
    return state


def reached(run: Run) -> int:
    """The last step in the run's records."""
    reader = run.reader()
    reader.read()
    return (reader.last_step or {}).get("step", 0)


def saved_step(run: Run) -> int:
    """The step that it would go on from."""
    path = run.trained / STATE
    return read_state(path)[1]["step"] if path.exists() else 0


def damaged(run: Run) -> str:
    """Which of its files cannot be read; empty if all can."""
    found = []
    for name in ("best", "last"):
        if (run.trained / name).exists():
            try:
                load_checkpoint(run.trained / name)
            except CheckpointError as error:
                found.append(str(error))
    for path in run.trained.glob("*.safetensors"):
        try:
            with safe_open(path, framework="pt") as file:
                list(file.keys())
        except SafetensorError as error:
            found.append(f"{path.name}: {error}")
    return "; ".join(found)


def missing_steps(run: Run) -> list[int]:
    """Steps that are not there exactly once and in order."""
    steps = [record.step for record in read_progress(run.trained / PROGRESS) if isinstance(record, Step)]
    return [step for step, expected in zip(steps, range(1, len(steps) + 1), strict=True) if step != expected]


if __name__ == "__main__":
    main()
