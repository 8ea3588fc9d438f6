"""`python -m benchmarks.fuzz`: checkpoints, archives and state_dicts with something wrong in them, by the thousand.

Not a part of `make bench`: it proves, it does not time. Each case has to end in a checkpoint that can be used, or in
one sentence of the ValueError family: within its time and memory, with nothing written outside its folder, nothing left
behind, and nothing executed. Exit code 1 if one does not, with the number that makes it again.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

import torch

from benchmarks.fuzz_cases import ROUTES, SENTENCES, Case, make_case, make_sound
from ctxemb import Encoder
from ctxemb.calibration import load_statistics
from ctxemb.foreign import receive_checkpoint

CASES_PER_CHILD = 200
SECONDS_PER_CASE = 10
MEMORY_PER_CHILD = 2 << 30  # beyond what a child has when it starts
MAX_MESSAGE_CHARACTERS = 1_500
FORBIDDEN = ("os.system", "os.exec", "os.posix_spawn", "os.fork", "subprocess.Popen", "socket.connect", "ctypes.dlopen")
FAULTS = ("time", "memory", "traceback", "message", "files", "executed", "crash")


class Outcome(NamedTuple):
    """How a case ended: `usable`, `refused`, or one of `FAULTS`, with a word about it."""

    kind: str
    detail: str = ""


def main() -> None:
    """Run the cases in children, print a table, name the failures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=5, help="give up after so long")
    parser.add_argument("--case", type=int, help="this one alone")
    arguments = parser.parse_args()
    numbers = range(arguments.cases) if arguments.case is None else range(arguments.case, arguments.case + 1)
    deadline = time.monotonic() + 60 * arguments.minutes
    counts: Counter[tuple[str, str]] = Counter()
    failures = []
    with tempfile.TemporaryDirectory(prefix="ctxemb-fuzz-") as folder:
        sound = make_sound(Path(folder) / "sound")
        for number, outcome in run_in_children(arguments.seed, numbers, Path(folder), deadline):
            counts[ROUTES[number % len(ROUTES)], outcome.kind] += 1
            if outcome.kind in FAULTS or arguments.case is not None:
                description = make_case(sound, arguments.seed, number).description
                report = f"case {number} ({description}): {outcome.kind}: {outcome.detail}"
                (failures.append if outcome.kind in FAULTS else print)(report)
    for (route, kind), count in sorted(counts.items()):
        print(f"{route:12} {kind:10} {count:5}")
    if counts.total() < len(numbers):
        failures.append(f"only {counts.total()} of {len(numbers)} cases in {arguments.minutes} minutes")
    print("\n".join(failures) or f"all {counts.total()} cases of seed {arguments.seed} ended as they should")
    sys.exit(1 if failures else 0)


def run_in_children(seed: int, numbers: Sequence[int], folder: Path, deadline: float) -> Iterator[tuple[int, Outcome]]:
    """Outcomes of cases; a child that dies or hangs costs the case it was at, and another goes on behind it."""
    context = get_context("spawn")
    while numbers and time.monotonic() < deadline:
        here, there = context.Pipe(duplex=False)
        child = context.Process(target=_child, args=(seed, numbers[:CASES_PER_CHILD], folder, there))
        child.start()
        there.close()
        current, is_over = numbers[0], False
        while not is_over and here.poll(SECONDS_PER_CASE + 30 * (current == numbers[0])):
            try:
                number, outcome = here.recv()
            except EOFError:
                break
            yield number, outcome
            current = number + 1
            is_over = current > numbers[:CASES_PER_CHILD][-1]
        is_hanging = child.is_alive() and not is_over
        if is_hanging:
            child.kill()
        child.join()
        here.close()
        if not is_over:
            yield current, Outcome("time" if is_hanging else "crash", f"exit code {child.exitcode}")
            current += 1
        numbers = [number for number in numbers if number >= current]


def _child(seed: int, numbers: Sequence[int], folder: Path, pipe: Connection) -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("error")  # what is odd enough for a warning has to be refused
    sound = make_sound(Path(tempfile.mkdtemp(dir=folder)))
    run_case(Case("folder", "warm up", sound.checkpoints[0]), folder)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY_PER_CHILD, -1))
    executed: list[str] = []
    sys.addaudithook(lambda event, _: executed.append(event) if event.startswith(FORBIDDEN) else None)
    for number in numbers:
        case = make_case(sound, seed, number)
        started = time.monotonic()
        outcome = run_case(case, folder)
        if executed:
            outcome = Outcome("executed", ", ".join(executed))
            executed.clear()
        elif time.monotonic() - started > SECONDS_PER_CASE:
            outcome = Outcome("time", f"{time.monotonic() - started:.0f} s")
        pipe.send((number, outcome))


def run_case(case: Case, folder: Path) -> Outcome:
    """Send one case through the door it is for, in a fresh folder below `folder`, which is the working folder then."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        sent, private, elsewhere = (Path(name) / part for part in ("sent", "private", "elsewhere"))
        for path in (sent, private, elsewhere):
            path.mkdir()
        files = {name: sent / str(number) for number, name in enumerate(case.files)}
        if case.route == "folder":
            files = {name: sent / name for name in case.files}
        for name, path in files.items():
            path.write_bytes(case.files[name])
        before, home = _listing(folder), Path.cwd()
        os.chdir(elsewhere)
        try:
            outcome = _open(case, files, sent, private)
        finally:
            os.chdir(home)
        after = {path for path in _listing(folder) if private not in path.parents}
        if after != before:
            outcome = Outcome("files", f"outside its folder: {sorted(map(str, after ^ before))}")
        elif (
            outcome.kind != "usable"
            and case.route != "folder"
            and any(private.iterdir())
            and outcome.detail[:4] != "used"
        ):
            outcome = Outcome("files", f"left behind: {sorted(path.name for path in private.rglob('*'))}")
        return outcome


def _open(case: Case, files: dict[str, Path], sent: Path, private: Path) -> Outcome:
    place = ""
    try:
        path = sent if case.route == "folder" else receive_checkpoint(files, private)
        place = "used: " * (case.route != "folder")
        _use(path)
    except ValueError as error:
        message = str(error)
        if not message.isprintable() or len(message) > MAX_MESSAGE_CHARACTERS:
            return Outcome("message", ascii(message[:200]))
        return Outcome("refused", place + message)
    except MemoryError:
        return Outcome("memory")
    except Exception as error:  # everything else is what this looks for
        return Outcome("traceback", f"{type(error).__name__}: {error}"[:300])
    except BaseException as error:  # a panic in Rust
        return Outcome("traceback", f"{type(error).__name__}: {error}"[:300])
    return Outcome("usable")


def _use(path: Path) -> None:
    encoder = Encoder.load(path, device="cpu")
    for readout in encoder.config.model.readouts:
        encoder.with_reading(encoder.reading_for(readout, "last")).encode(SENTENCES)
    encoder.encode(SENTENCES)
    load_statistics(encoder)


def _listing(folder: Path) -> set[Path]:
    return set(folder.rglob("*"))


if __name__ == "__main__":
    main()
