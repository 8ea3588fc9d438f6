"""The process that trains a run: started so that nothing that befalls the starter reaches it; signals to it."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import ctxemb
from ctxemb.atomic import replace_file
from ctxemb.runs.errors import RunError
from ctxemb.runs.lock import is_locked, take_lock
from ctxemb.runs.report import LOCK, LOCK_VARIABLE, TRAINED, Report, read_report, write_report
from ctxemb.runs.request import RunRequest

PROCESS, LOG = "process.json", "log.txt"
NICENESS = 5  # the app's own work comes first
MAX_NICENESS = 19

_started: list[subprocess.Popen[bytes]] = []  # of this process; asked now and then, so that ended ones leave no zombie


def num_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def num_gpus() -> int:
    """CUDA GPUs here."""
    import torch

    return torch.cuda.device_count()


def start_process(folder: Path, request: RunRequest, gpu: int | None, niceness: int = NICENESS) -> None:
    """Start `python -m ctxemb train` for a run's folder, in a session of its own, with its lock in its hands.

    Threads wait passively: two processes whose threads spin while they wait starve each other on few cores.

    Args:
        gpu: which of the GPUs here it sees; None for all.
        niceness: how much lower its priority is than that of this process.

    Raises:
        RunError: if a process trains this run.
        OSError: if there is no space for its files.
    """
    lock = take_lock(folder / LOCK, patience_seconds=1.0)  # whoever looks whether it is held has it for a moment
    if lock is None:
        raise RunError(f"{folder.name} is being trained already")
    try:
        (folder / PROCESS).unlink(missing_ok=True)  # never an earlier id under a held lock
        write_report(folder, Report(0, "starting"))
        _remove_drafts(folder / TRAINED)
        threads = request.threads or num_cores()
        command = [sys.executable, "-m", "ctxemb", *request.arguments(folder / TRAINED, threads)]
        with (folder / LOG).open("ab") as log:
            log.write(f"$ {shlex.join(command)}\n".encode())
            log.flush()
            process = subprocess.Popen(
                command,
                env=_environment(threads, gpu) | {LOCK_VARIABLE: str(lock)},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=(lock,),
                start_new_session=True,
            )
    finally:
        os.close(lock)  # the process has its own copy
    _started.append(process)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, process.pid, min(own + niceness, MAX_NICENESS))
    replace_file(folder / PROCESS, json.dumps({"pid": process.pid, "gpu": gpu}).encode())


def living_process(folder: Path) -> int | None:
    """The id of the process that trains a run: as it says itself, or, before it can, as its starter said."""
    report, path = read_report(folder), folder / PROCESS
    pid = report.pid if report else None
    if pid is None and path.exists():
        pid = json.loads(path.read_bytes())["pid"]
    return pid if is_locked(folder / LOCK) else None  # as long as that is held, the id is of no other process


def chosen_gpu(folder: Path) -> int | None:
    """The GPU that a run's last process was given."""
    path = folder / PROCESS
    return json.loads(path.read_bytes())["gpu"] if path.exists() else None


def send(folder: Path, number: signal.Signals) -> None:
    """Send a signal to the process of a run, if it lives, and to its children, if they are a group of their own."""
    pid = living_process(folder)
    if pid is None:
        return
    try:
        is_group = os.getpgid(pid) == pid
        (os.killpg if is_group else os.kill)(pid, number)
    except ProcessLookupError:
        return  # ended a moment ago


def reap() -> None:
    """Collect those of this process's trainings that have ended."""
    _started[:] = [process for process in _started if process.poll() is None]


def _environment(threads: int, gpu: int | None) -> dict[str, str]:
    package_home = str(Path(ctxemb.__file__).parents[1])
    path = os.environ.get("PYTHONPATH")
    environment = os.environ | {
        "OMP_NUM_THREADS": str(threads),
        "MKL_NUM_THREADS": str(threads),
        "OMP_WAIT_POLICY": "PASSIVE",
        "KMP_BLOCKTIME": "0",  # the same for LLVM's and Intel's OpenMP
        "PYTHONUNBUFFERED": "1",
        "PYTHONPATH": os.pathsep.join([package_home, *([path] if path else [])]),
    }
    if gpu is not None:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")
        environment["CUDA_VISIBLE_DEVICES"] = visible[gpu] if gpu < len(visible) and visible[gpu] else str(gpu)
    return environment


def _remove_drafts(trained: Path) -> None:
    """What a killed process was just writing; no process writes there now."""
    for draft in [*trained.glob(".*-*"), *trained.glob("*/.*-*")]:
        if draft.is_dir() and not draft.is_symlink():
            shutil.rmtree(draft)
        else:
            draft.unlink()
