import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Client, Listener
from pathlib import Path

import numpy as np
import pytest

from ctxemb.background import CancelledError, Job, OnProgress, Worker, WorkerError
from ctxemb.background.pipe import read_message, write_message

ROOT = Path(__file__).parents[2]
warm_up_parts: list[int] = []  # in the child


def double(values: np.ndarray, on_progress: OnProgress) -> np.ndarray:
    print("what a library prints must not disturb the pipe")
    on_progress(0.5, "halfway")
    return 2 * values


def where_am_i(on_progress: OnProgress) -> tuple[int, str, str, int]:
    niceness = os.nice(0) if hasattr(os, "nice") else 10
    return os.getpid(), os.environ["OMP_NUM_THREADS"], os.environ["OMP_WAIT_POLICY"], niceness


def wait_for_ever(on_progress: OnProgress) -> None:
    on_progress(0.25, "waiting for ever")
    threading.Event().wait()


def connect_and_compute(address: str, on_progress: OnProgress) -> None:
    connection = Client(address)
    connection.send(os.getpid())
    while True:
        sum(range(1_000))


def die(on_progress: OnProgress) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class AwkwardError(Exception):
    def __init__(self, one: int, other: int):
        super().__init__(f"{one} and {other}")


def fail(kind: str, on_progress: OnProgress) -> None:
    raise {"value": ValueError("row 3 holds NaN"), "key": KeyError("bank"), "awkward": AwkwardError(1, 2)}[kind]


def unpicklable(on_progress: OnProgress) -> io.TextIOBase:
    return sys.stderr


def warm_up() -> Iterator[None]:
    with Client(os.environ["WARM_UP_ADDRESS"]) as connection:
        for part in range(3):
            warm_up_parts.append(part)
            yield
        connection.send("done")


def parts_warmed_up(on_progress: OnProgress) -> list[int]:
    return warm_up_parts


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker("test", num_threads=3) as worker:
        yield worker


def wait_until_waiting_for_ever(job: Job) -> None:
    while job.stage != "waiting for ever":
        assert not job.wait(0.01), job.state


def test_a_job_is_done_elsewhere_with_a_thread_budget_and_a_low_priority(worker):
    job = worker.submit(double, np.arange(3))
    assert job.result.tolist() == [0, 2, 4]
    assert (job.state, job.fraction, job.stage, job.num_ahead) == ("done", 1.0, "halfway", 0)
    assert job.seconds > 0
    pid, num_threads, policy, niceness = worker.submit(where_am_i).result
    assert pid != os.getpid()
    assert (num_threads, policy) == ("3", "PASSIVE")
    assert niceness >= 10


def test_one_process_serves_many_threads_in_order(worker):
    jobs: list[Job] = []
    threads = [threading.Thread(target=lambda n=n: jobs.append(worker.submit(double, np.array(n)))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(job.result) for job in jobs) == list(range(0, 40, 2))
    assert len({worker.submit(where_am_i).result[0] for _ in range(3)}) == 1


def test_jobs_wait_in_line_and_cancelling_frees_it(worker):
    first = worker.submit(where_am_i).result[0]
    running, unlucky, last = (worker.submit(function) for function in (wait_for_ever, die, where_am_i))
    wait_until_waiting_for_ever(running)
    assert (running.state, running.fraction, running.num_ahead) == ("running", 0.25, 0)
    assert (unlucky.state, unlucky.num_ahead, last.num_ahead) == ("waiting", 1, 2)
    assert unlucky.seconds == 0
    assert unlucky.cancel()
    assert last.num_ahead == 1
    assert running.cancel()
    assert not running.cancel(), "it is over"
    assert last.result[0] != first, "a fresh process"
    for job in (running, unlucky):
        assert job.state == "cancelled"
        with pytest.raises(CancelledError, match="start it again"):
            _ = job.result


def test_errors_come_back_with_their_type_and_text(worker):
    with pytest.raises(ValueError, match="row 3 holds NaN") as caught:
        _ = worker.submit(fail, "value").result
    assert (type(caught.value), str(caught.value)) == (ValueError, "row 3 holds NaN")
    assert "test_background.py" in caught.value.__notes__[0], "where it happened"
    with pytest.raises(KeyError, match="bank"):
        _ = worker.submit(fail, "key").result
    with pytest.raises(WorkerError, match="AwkwardError: 1 and 2"):
        _ = worker.submit(fail, "awkward").result
    with pytest.raises(TypeError, match="cannot pickle"):
        _ = worker.submit(unpicklable).result
    with pytest.raises(TypeError, match="cannot pickle"):
        _ = worker.submit(double, threading.Lock()).result
    with pytest.raises(TypeError, match=r"lambda.* cannot be imported by another process"):
        worker.submit(lambda on_progress: None)
    assert worker.submit(double, 1).result == 2, "the same process goes on"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_process_that_died_is_said_and_replaced(worker):
    with pytest.raises(WorkerError, match="ended by signal 9 before its work was done"):
        _ = worker.submit(die).result
    idle = worker.submit(where_am_i).result[0]
    os.kill(idle, signal.SIGKILL)
    job = worker.submit(double, 4)
    job.wait()
    assert job.state == "done" or "signal 9" in str(job._error), "it may have been sent before the death was noticed"
    assert worker.submit(double, 5).result == 10


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_the_child_ends_with_its_parent_even_in_the_middle_of_a_job():
    script = (
        "import sys\n"
        "from ctxemb.background import Worker\n"
        "from tests.unit.test_background import connect_and_compute\n"
        "Worker('orphan').submit(connect_and_compute, sys.argv[1]).wait()\n"
    )
    with Listener() as listener:
        parent = subprocess.Popen([sys.executable, "-c", script, listener.address], cwd=ROOT)
        with listener.accept() as connection:
            assert connection.recv() != parent.pid
            parent.kill()
            parent.wait()
            with pytest.raises(EOFError):
                connection.recv()  # returns once the child is gone


def test_the_first_job_goes_before_the_warm_up_and_closing_ends_all(monkeypatch):
    with Listener() as listener, Worker("warm", warm_up=f"{__name__}:warm_up") as worker:
        monkeypatch.setenv("WARM_UP_ADDRESS", str(listener.address))
        assert worker.submit(parts_warmed_up).result == []
        with listener.accept() as connection:
            assert connection.recv() == "done"
        assert worker.submit(parts_warmed_up).result == [0, 1, 2]
        child = worker._child
        running, waiting = worker.submit(wait_for_ever), worker.submit(parts_warmed_up)
    assert child is not None
    assert child.returncode is not None
    assert (running.state, waiting.state) == ("cancelled", "cancelled")
    with pytest.raises(WorkerError, match="'warm' is closed; make a new one"):
        worker.submit(parts_warmed_up)


def test_messages_keep_their_bounds():
    stream = io.BytesIO()
    messages = [b"", b"one", bytes(100_000)]
    for message in messages:
        write_message(stream, message)
    whole = stream.getvalue()
    stream.seek(0)
    assert [read_message(stream) for _ in messages] == messages
    for size in (0, 5, len(whole) - 1):
        cut = io.BytesIO(whole[:size])
        with pytest.raises(EOFError, match="gone"):
            _ = [read_message(cut) for _ in messages]
