"""The app in a real browser: one server, one Chromium, a fresh page for each test."""

import os
import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, expect, sync_playwright

from tests.untrained import write_checkpoints

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "checkpoints" / "en-bilm"
NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
TIMEOUT_MS = 150_000  # work in the background has the lowest priority, and other tests run meanwhile
INSTALL_SECONDS = 240


def find_chromium(playwright: Playwright) -> str | None:
    """The browser named by $CTXEMB_CHROMIUM, one on the path, or Playwright's own."""
    named = os.environ.get("CTXEMB_CHROMIUM")
    own = playwright.chromium.executable_path
    found = [named, *map(shutil.which, NAMES), own if Path(own).exists() else None]
    return next((path for path in found if path), None)


def install_chromium() -> None:
    """Try to get one: Debian's where that is allowed, else Playwright's."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        command = ["apt-get", "install", "-y", "chromium"]
    else:
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        subprocess.run(command, capture_output=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return


def launch(playwright: Playwright) -> Browser:
    """Start a browser.

    Raises:
        RuntimeError: if there is none, and none can be had.
    """
    if not find_chromium(playwright):
        install_chromium()
    path = find_chromium(playwright)
    if path is None:
        raise RuntimeError("no Chromium: install one, or set CTXEMB_CHROMIUM to its path")
    return playwright.chromium.launch(executable_path=path, headless=True, args=list(FLAGS))


@contextmanager
def serve(log: Path, **variables: str) -> Iterator[str]:
    """Run the app with environment variables added, and yield its address once it answers."""
    with serve_process(log, **variables) as (_, address):
        yield address


@contextmanager
def serve_process(log: Path, **variables: str) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """`serve`, for who wants the process too."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless", "true"]
    command += ["--server.address", "127.0.0.1", "--server.port", str(port), "--server.fileWatcherType", "none"]
    runs = {"CTXEMB_RUNS": str(log.parent / f"runs of {log.stem}")}
    with log.open("w") as stream:
        server = subprocess.Popen(
            command, cwd=ROOT, env=os.environ | runs | variables, stdout=stream, stderr=subprocess.STDOUT
        )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until_healthy(server, f"{address}/_stcore/health", log)
            yield server, address
        finally:
            server.terminate()
            server.wait(timeout=20)


def wait_until_healthy(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    while server.poll() is None:
        try:
            # the server is on this machine: a proxy of the environment would only be in the way
            urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=5).close()
            return
        except urllib.error.URLError:
            try:
                server.wait(timeout=0.2)
            except subprocess.TimeoutExpired:
                continue
    raise RuntimeError(f"the app did not start:\n{log.read_text()}")


def is_problem(message: ConsoleMessage) -> bool:
    """Whether the console says that something went wrong.

    A page that is the first to be opened asks below its own address for streamlit's health and finds none: that is how
    it learns where the server's root is.
    """
    return message.type == "error" and "/_stcore/" not in message.location["url"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        try:
            started = launch(playwright)
        except RuntimeError as error:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(str(error))
        yield started
        started.close()


@pytest.fixture(scope="session")
def app_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("app") / "server.log"


@pytest.fixture(scope="session")
def app(app_log: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the app, on the shipped checkpoint if there is one; its log may hold no traceback at the end."""
    variables = {}
    if not SHIPPED.exists():
        tiny = request.getfixturevalue("tiny_checkpoint")
        shutil.copytree(tiny, app_log.parent / "checkpoints" / "tiny")
        variables["CTXEMB_CHECKPOINTS"] = str(app_log.parent / "checkpoints")
    with serve(app_log, **variables) as address:
        yield address
    assert "Traceback" not in app_log.read_text()


@pytest.fixture(scope="session")
def families(app_log: Path) -> Iterator[str]:
    """The address of the app with an untrained checkpoint of every family in both languages, `bilm` to `static`.

    It has no lexicon, and of texts only our example sentences and what comes with gensim.
    """
    folder = app_log.parent / "families"
    write_checkpoints(folder, app_log.parent / "cache")
    log = app_log.with_name("families.log")
    variables = {"CTXEMB_CHECKPOINTS": folder, "CTXEMB_DATA": folder / "none", "CTXEMB_CACHE": app_log.parent / "cache"}
    with serve(log, **{name: str(path) for name, path in variables.items()}) as address:
        yield address
    assert "Traceback" not in log.read_text()


@pytest.fixture
def open_page(browser: Browser, app: str) -> Iterator[Callable[..., Page]]:
    """`open_page("?word=plant", color_scheme="dark")`: a fresh page; the console may hold no error at the end."""
    expect.set_options(timeout=TIMEOUT_MS)
    contexts, problems = [], []

    def open_one(query: str = "", **options: object) -> Page:
        context = browser.new_context(**options)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("console", lambda message: problems.append(message.text) if is_problem(message) else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(query if query.startswith("http") else f"{app}/{query}")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert problems == []
