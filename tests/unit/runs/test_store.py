import os
import signal
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from ctxemb.runs import Run, RunError, RunRequest, RunStore, runs_root
from ctxemb.runs.lock import is_locked, take_lock
from ctxemb.runs.report import Report, write_report

ROOT = Path(__file__).parents[3]


def states(*runs: Run) -> list[str]:
    return [run.state for run in runs]


# the queue


def test_one_runs_and_the_others_wait_in_order(store, request_run, sleepers, wait):
    one, two, three = (store.start(request_run(name)) for name in ("one", "two", "three"))
    assert states(one, two, three) == ["starting", "queued", "queued"]
    assert [run.status().place for run in (one, two, three)] == [None, 1, 2]
    assert [run.id for run in store.list()] == [three.id, two.id, one.id]

    two.stop()
    assert states(one, two, three) == ["starting", "stopped", "queued"]
    one.stop()
    wait(lambda: one.state == "stopped")
    two.resume()  # behind the third, which has waited longer
    assert states(one, two, three) == ["stopped", "queued", "starting"]


def test_a_store_may_run_several(store, request_run, sleepers):
    runs = [store.start(request_run(name)) for name in ("one", "two", "three")]
    assert states(*runs) == ["starting", "queued", "queued"]
    RunStore(max_running=2, niceness=0).list()
    assert states(*runs) == ["starting", "starting", "queued"]


def test_two_who_start_at_once_start_one(request_run, store, sleepers):
    stores = [RunStore(max_running=1, niceness=0) for _ in range(6)]  # each as in a browser session of its own
    together = threading.Barrier(len(stores))

    def start(store: RunStore) -> None:
        together.wait()
        store.start(request_run())

    threads = [threading.Thread(target=start, args=(one,)) for one in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    runs = store.list()
    assert sorted(states(*runs)) == ["queued"] * 5 + ["starting"]
    assert sorted(run.status().place or 0 for run in runs) == [0, 1, 2, 3, 4, 5]


def test_an_app_that_is_killed_leaves_its_run_and_its_queue(store, request_run, sleepers, tmp_path, wait):
    (tmp_path / "request.json").write_text(request_run().model_dump_json())
    app = f"""
import os, signal, sys
from pathlib import Path
import ctxemb.runs.process
from ctxemb.runs import RunRequest, RunStore
sys.executable = {sys.executable!r}
request = RunRequest.model_validate_json(Path("request.json").read_bytes())
store = RunStore(max_running=1, niceness=0)
store.start(request), store.start(request)
os.killpg(0, signal.SIGKILL)
"""
    real = next(path for path in (Path(sys.prefix) / "bin/python3", Path(sys.prefix) / "bin/python") if path.exists())
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    killed = subprocess.run([real, "-c", app], cwd=tmp_path, env=environment, start_new_session=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    two, one = store.list()
    assert states(one, two) == ["starting", "queued"]
    one.stop()  # by another process than the one that started it
    wait(lambda: one.state == "stopped")
    assert states(*store.list()) == ["starting", "stopped"]  # whoever looks goes on with the queue


def test_a_ticket_that_a_killed_starter_left_is_no_second_start(store, request_run, sleepers):
    run = store.start(request_run())
    pid = run.pid
    (run.folder / "ticket").write_text("1")  # as if it had been killed just before it could remove it
    assert run.state == "starting"
    store.advance()
    assert (run.pid, run.ticket) == (pid, None)


def test_a_process_that_cannot_be_started_leaves_the_queue(store, request_run, monkeypatch):
    monkeypatch.setattr("ctxemb.runs.process.sys.executable", "/nowhere/python")
    with pytest.raises(RunError, match=r"cannot be started: .*/nowhere/python"):
        store.start(request_run())
    (run,) = store.list()
    assert (run.state, run.ticket) == ("interrupted", None)


# how a run is


def test_a_killed_process_is_an_interrupted_run(store, request_run, sleepers, wait):
    run = store.start(request_run())
    os.kill(run.pid, signal.SIGKILL)
    wait(lambda: run.state != "starting")
    assert (run.state, run.pid) == ("interrupted", None)
    run.resume()
    assert run.state == "starting"


def test_a_process_id_that_now_belongs_to_another_is_never_signalled(store, request_run, sleepers, wait):
    run = store.start(request_run())
    run.stop()
    wait(lambda: run.state == "stopped")
    bystander = subprocess.Popen(["sleep", "100"], start_new_session=True)
    try:
        write_report(run.folder, Report(7, "training", pid=bystander.pid))
        (run.folder / "process.json").write_text(f'{{"pid": {bystander.pid}, "gpu": null}}')
        (run.folder / "stop").unlink()
        assert run.state == "interrupted"
        with pytest.raises(RunError, match="is interrupted; there is nothing to stop"):
            run.stop()
        RunStore(max_running=1, grace_seconds=-1).advance()
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_process_that_died_of_its_arguments_has_failed_with_what_it_said(store, request_run, sleepers, wait):
    run = store.start(request_run())
    with (run.folder / "log.txt").open("a") as log:
        log.write("some warning\nerror: there is no recipe 'quick'\n")
    os.kill(run.pid, signal.SIGKILL)
    wait(lambda: run.state != "starting")
    assert (run.state, run.status().detail) == ("failed", "there is no recipe 'quick'")
    run.resume()  # what an earlier attempt said is no reason of this one
    os.kill(run.pid, signal.SIGKILL)
    wait(lambda: run.state != "starting")
    assert run.state == "interrupted"


def test_silence_is_measured_on_the_watchers_own_clock(untrained):
    now = [1e9]
    store = RunStore(clock=lambda: now[0])
    run = store.get(untrained.id)
    lock = take_lock(run.folder / "lock")
    try:
        write_report(run.folder, Report(1, "reading", "passages read", 40))
        assert run.status().silent_seconds == 0
        now[0] += 30
        status = run.status()
        assert (status.state, status.detail, status.done, status.silent_seconds) == ("reading", "passages read", 40, 30)
        os.utime(run.folder / "report.json", (0, 0))  # the clock of the machine jumps
        assert run.status().silent_seconds == 30
        write_report(run.folder, Report(2, "training"))
        assert (run.state, run.status().silent_seconds) == ("training", 0)
    finally:
        os.close(lock)


def test_a_report_that_is_half_written_does_not_disturb(untrained):
    lock = take_lock(untrained.folder / "lock")
    try:
        (untrained.folder / "report.json").write_bytes(b'{"beat": 3, "sta')
        assert untrained.state == "starting"
    finally:
        os.close(lock)


def test_who_does_not_heed_a_stop_is_killed_after_the_grace_time(request_run, tmp_path, monkeypatch, wait):
    stub = tmp_path / "deaf"
    stub.write_text("#!/bin/sh\ntrap '' TERM\n: > deaf.txt\nwhile :; do sleep 100; done\n")
    stub.chmod(0o755)
    monkeypatch.setattr("ctxemb.runs.process.sys.executable", str(stub))
    monkeypatch.chdir(tmp_path)
    now = [0.0]
    store = RunStore(max_running=1, niceness=0, grace_seconds=5, clock=lambda: now[0])
    run = store.start(request_run())
    wait((tmp_path / "deaf.txt").exists)
    run.stop()
    run.stop()
    now[0] = 4
    store.advance()
    assert (run.state, run.is_live) == ("stopping", True)
    now[0] = 6
    store.advance()
    wait(lambda: not run.is_live)
    assert run.state == "stopped"


# what may be done


def test_a_run_keeps_what_was_asked(store, request_run, sleepers, tiny_run):
    run = store.start(request_run("first  try", max_tokens=1_000))
    assert store.get(run.id).request == request_run("first try", max_tokens=1_000)
    path = tiny_run.parent / "text.txt"
    assert run.about["corpora"] == [{"name": "text.txt", "file": str(path), "bytes": path.stat().st_size}]
    assert (run.checkpoint, run.trained) == (None, run.folder / "run")
    run.rename("second try")
    assert (store.get(run.id).name, run.state) == ("second try", "starting")
    for name in ("", " \n ", "x" * 81, "a\0b"):
        with pytest.raises(RunError, match="1 to 80 characters"):
            run.rename(name)


def test_a_live_run_is_neither_deleted_nor_resumed(store, request_run, sleepers, wait):
    run = store.start(request_run())
    with pytest.raises(RunError, match="is starting; stop it before you delete it"):
        run.delete()
    with pytest.raises(RunError, match="is starting; only a run that has stopped"):
        run.resume()
    run.stop()
    wait(lambda: run.state == "stopped")
    with pytest.raises(RunError, match="is stopped; there is nothing to stop"):
        run.stop()
    run.delete()
    assert store.list() == []
    assert not run.folder.exists()
    for use in (lambda: store.get(run.id), run.delete, run.resume, lambda: run.rename("back again")):
        with pytest.raises(RunError, match="there is no run"):
            use()
    assert not run.folder.exists()


@pytest.mark.parametrize("id", ["../runs", "..", ".", "", "a/b", "/etc", "a\\b", "x\0", "~", ".lock", "a" * 65])
def test_an_id_is_no_path(store, untrained, id):
    with pytest.raises(RunError, match="is no id of a run"):
        store.get(id)


def test_nothing_outside_the_root_is_deleted(store, untrained, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "request.json").write_text((untrained.folder / "request.json").read_text())
    (outside / "letter.txt").write_text("dear")
    (store.root / "link").symlink_to(outside)
    (untrained.folder / "link").symlink_to(outside)
    (store.root / "notes").mkdir()  # no run
    (store.root / "notes/request.txt").write_text("mine")
    assert [run.id for run in store.list()] == [untrained.id]
    for id in ("link", "notes"):
        with pytest.raises(RunError, match=f"there is no run {id}"):
            store.get(id)
        with pytest.raises(RunError, match=f"there is no run {id}"):
            Run(store, store.root / id).delete()
    untrained.delete()
    assert (outside / "letter.txt").read_text() == "dear"
    assert (store.root / "notes/request.txt").exists()


def test_a_damaged_request_is_said_and_hides_no_other(store, untrained):
    (store.root / "damaged").mkdir()
    (store.root / "damaged/request.json").write_text("{")
    assert [run.id for run in store.list()] == [untrained.id]
    (problem,) = store.problems()
    assert "damaged/request.json cannot be read" in problem


# before anything starts


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"recipe": "huge"}, "there is no recipe 'huge'; there are: en-bilm"),
        ({"settings": ["training.speed=3"]}, "'training.speed=3' is no setting"),
        ({"settings": ["training.learning_rate=-1"]}, r"^training\.bilm\.learning_rate: |^training\.learning_rate: "),
        ({"corpora": ["nowhere.txt"]}, "There is no file nowhere.txt and no corpus of that name"),
        ({"corpora": ["words.zip"]}, "words.zip is an archive; unpack it"),
        ({"corpora": ["hidden.txt"]}, "hidden.txt holds a zip archive"),
        ({"corpora": ["blank.txt"]}, "blank.txt holds no text"),
        ({"corpora": ["wiki-sample"], "text_column": "text"}, "wiki-sample is a named corpus and has no text column"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_there_is_a_folder(
    store, request_run, tmp_path, monkeypatch, changes, message
):
    monkeypatch.chdir(tmp_path)
    for name in ("words.zip", "hidden.txt"):
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr("text.txt", "the old bank approved the loan .\n" * 100)
    Path("blank.txt").write_text(" \n\n")
    with pytest.raises(RunError, match=message):
        store.start(request_run(**changes))
    assert not store.root.exists()


def test_a_file_is_found_from_wherever_the_run_goes_on(tiny_run, request_run, monkeypatch):
    monkeypatch.chdir(tiny_run.parent)
    assert request_run(corpora=["text.txt"]).checked().corpora == (str(tiny_run.parent / "text.txt"),)


def test_values_that_look_like_options_are_values(tmp_path):
    request = RunRequest(name="x", recipe="quick", corpora=("--help",), settings=("--set",), text_column="-x")
    assert request.arguments(tmp_path, 2) == [
        *("train", "quick", f"--out={tmp_path}", "--corpus=--help", "--set=--set", "--text-column=-x"),
        *("--device=auto", "--threads=2"),
    ]


def test_where_runs_live(tmp_path, monkeypatch):
    assert runs_root() == tmp_path / "runs"
    monkeypatch.delenv("CTXEMB_RUNS")
    monkeypatch.chdir(tmp_path)
    assert runs_root() == tmp_path / "runs"
    monkeypatch.setattr("ctxemb.runs.store.os.access", lambda path, mode: False)  # root may write everywhere
    assert runs_root() == tmp_path / "cache/runs"


# locks


def test_a_lock_ends_with_its_holder_and_asking_does_not_disturb(tmp_path):
    path = tmp_path / "lock"
    assert not is_locked(path)
    held = take_lock(path)
    assert is_locked(path)
    assert take_lock(path) is None
    child = subprocess.Popen(["sleep", "100"], pass_fds=(held,))
    os.close(held)
    assert is_locked(path)  # the child has it
    child.kill()
    child.wait()
    assert not is_locked(path)
    asking = [threading.Thread(target=lambda: [is_locked(path) for _ in range(200)]) for _ in range(3)]
    for thread in asking:
        thread.start()
    assert not any(is_locked(path) for _ in range(200))
    for thread in asking:
        thread.join()
