"""The Checkup page, driven without a browser: the picker, the reference, uploads, a fault, reports."""

import os
import shutil
import time
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
from safetensors.torch import load_file, save_file
from streamlit.testing.v1 import AppTest

from ctxemb.ui.jobs import all_jobs
from ctxemb.ui.uploads import MAX_AGE_SECONDS, PREFIX, sweep
from tests.pages.test_map import settle

OpenApp = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def private_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where uploads go in these tests."""
    folder = tmp_path / "private"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.fixture
def open_checkup(open_family: OpenApp) -> OpenApp:
    """`open_checkup(checkpoint="en-static")`: the page, once the battery has ended."""
    return lambda **query: settle(open_family("checkup", **query))


def words(app: AppTest) -> str:
    shown = [*app.success, *app.error, *app.info, *app.markdown, *app.caption, *app.warning]
    return " ".join(element.value for element in shown).replace("\\", "")


def error(app: AppTest) -> str:
    return app.error[0].value.replace("\\", "")


def table(app: AppTest) -> pd.DataFrame:
    return app.dataframe[0].value


def counts(app: AppTest) -> dict[str, int]:
    return {metric.label: int(metric.value) for metric in app.metric}


def labels(app: AppTest) -> list[str]:
    return [expander.label.replace("\\", "") for expander in app.expander]


def pack(folder: Path) -> bytes:
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        for path in folder.iterdir():
            file.write(path, path.name)
    return stream.getvalue()


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.segmented_control(key="checked").set_value("a file of yours").run()
    return settle(
        app.file_uploader(key="checkpoint files").set_value([(*file, "application/zip") for file in files]).run()
    )


def test_a_sound_checkpoint_is_said_so_first_and_its_checks_are_folded(open_checkup: OpenApp) -> None:
    app = open_checkup(checkpoint="zh-static")
    assert not app.exception
    assert app.selectbox(key="checkpoint").value == "zh-static"
    assert app.success[0].value.replace("\\", "").startswith("**zh-static**: Sound: ")
    assert counts(app) == {"Failed": 0, "Warnings": 0, "Passed": 14, "Left out": 4}
    assert [expander.proto.expanded for expander in app.expander] == [False] * 15
    assert labels(app)[-1].endswith("no leak, trained, perplexity, senses")
    assert list(table(app).columns) == ["check", "verdict", "number", "limit"]


def test_an_untrained_one_is_named_first_and_open_with_what_to_do(open_checkup: OpenApp) -> None:
    app = open_checkup(checkpoint="en-bilm")
    assert not app.exception
    assert "Unsound: 1 check failed (trained)" in error(app)
    assert counts(app)["Failed"] == 1
    assert "**trained**" in labels(app)[0]
    assert app.expander[0].proto.expanded
    assert "no better than a guess over all" in words(app)
    assert "**What to do:** Train it" in words(app)
    assert labels(app)[-1].endswith("perplexity, collapse, spectrum, senses")


def test_the_chosen_reference_stands_beside(open_checkup: OpenApp) -> None:
    app = open_checkup(checkpoint="en-static", against="zh-static")
    assert not app.exception
    assert "Beside zh\\-static" in [heading.value for heading in app.subheader]
    rows = table(app).set_index("check")
    assert rows.loc["tokenizer", "number"] != rows.loc["tokenizer", "zh-static"]
    assert rows.loc["tokenizer", "zh-static"].endswith(" words")
    app = settle(app.selectbox(key="against").set_value("nothing").run())
    assert "zh-static" not in table(app).columns


def test_the_shipped_one_of_its_kind_is_the_usual_reference(
    open_checkup: OpenApp, families: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxemb.ui.loading.SHIPPED", families)
    app = open_checkup(checkpoint="en-static")
    assert "en-contrastive" in table(app).columns  # the first of its language, since this is the only static one
    app = upload(app, ("mine.zip", pack(families / "en-static")))
    assert "en-static" in table(app).columns


def test_a_checkpoint_that_does_not_open_is_examined_all_the_same(
    open_checkup: OpenApp, families: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(families / "en-static", home / "cut")
    weights = home / "cut" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    app = open_checkup()
    monkeypatch.setenv("CTXEMB_CHECKPOINTS", str(home))
    app = settle(app.run())
    assert not app.exception
    assert "Unreadable: model.safetensors cannot be read" in error(app)
    assert not app.metric
    assert not app.dataframe


def test_an_upload_is_checked_in_a_private_folder_that_goes_with_it(
    open_checkup: OpenApp, families: Path, private_folders: Path
) -> None:
    app = upload(open_checkup(checkpoint="en-static"), ("mine.zip", pack(families / "zh-static")))
    assert not app.exception
    assert app.success[0].value.replace("\\", "").startswith("**mine.zip**: Sound: ")
    (folder,) = private_folders.glob(f"{PREFIX}*")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == ["0.zip"]
    keys = [key for key in all_jobs()._jobs if "mine" in str(key) or str(folder) in str(key)]
    assert keys == [("checkups", ("checkup", str(folder)))]

    app = settle(app.file_uploader(key="checkpoint files").set_value([("b.zip", b"PK no", "application/zip")]).run())
    assert not app.exception
    assert "Unreadable: " in error(app)
    assert not folder.exists()
    assert len(list(private_folders.glob(f"{PREFIX}*"))) == 1
    assert str(private_folders) not in words(app)


def test_two_visitors_do_not_share_an_upload(open_checkup: OpenApp, families: Path, private_folders: Path) -> None:
    content = pack(families / "zh-static")
    for _ in range(2):
        upload(open_checkup(checkpoint="en-static"), ("mine.zip", content))
    keys = {key for key in all_jobs()._jobs if str(private_folders) in str(key)}
    assert len(keys) == 2


def test_files_one_by_one_and_a_weight_that_is_not_a_number(
    open_checkup: OpenApp, families: Path, tmp_path: Path
) -> None:
    tensors = load_file(families / "en-static" / "model.safetensors")
    tensors["embedding.weight"][9, 2] = float("nan")
    save_file(tensors, tmp_path / "spoilt.safetensors")
    files = [(name, (families / "en-static" / name).read_bytes()) for name in ("config.json", "tokenizer.json")]
    app = upload(open_checkup(), *files, ("spoilt.safetensors", (tmp_path / "spoilt.safetensors").read_bytes()))
    assert not app.exception
    assert "**3 files**" in error(app)
    assert "Unsound: 1 check failed (values)" in error(app)
    assert "1 number is NaN or infinite, in embedding.weight." in words(app)


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a.json", "a.json"], "Two files are called a.json"),
        ([f"{i}.json" for i in range(9)], "9 files are too many"),
    ],
)
def test_files_that_cannot_be_taken_are_refused_in_a_sentence(
    open_checkup: OpenApp, private_folders: Path, names: list[str], sentence: str
) -> None:
    app = upload(open_checkup(), *((name, b"{}") for name in names))
    assert not app.exception
    assert sentence in words(app)
    assert not list(private_folders.glob(f"{PREFIX}*"))


def test_too_large_files_are_refused_before_they_are_written(
    open_checkup: OpenApp, private_folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxemb.ui.checkup.MAX_UPLOAD_MEGABYTES", 1)
    half = bytes(600_000)  # each may be as large, but not all together
    app = upload(open_checkup(), ("a.json", half), ("b.json", half))
    assert "The files have 1,200,000 bytes; at most 1,048,576 are taken" in words(app)
    assert not list(private_folders.glob(f"{PREFIX}*"))


def test_without_a_file_nothing_is_asked_for(open_checkup: OpenApp) -> None:
    app = open_checkup()
    app.segmented_control(key="checked").set_value("a file of yours").run()
    assert not app.exception
    assert "Nothing to check yet" in app.info[0].value


def test_reports_hold_what_the_page_shows(open_checkup: OpenApp) -> None:
    app = open_checkup(checkpoint="en-static")
    buttons = {button.proto.label: button for button in app.get("download_button")}
    assert list(buttons) == ["Report as Markdown", "Report as JSON"]


def test_what_a_killed_app_has_left_is_swept_up(tmp_path: Path) -> None:
    old, new, other = (tmp_path / name for name in (f"{PREFIX}old", f"{PREFIX}new", "something else"))
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "0.zip").write_bytes(b"x")
    long_ago = time.time() - MAX_AGE_SECONDS - 60
    for folder in (old, other):
        os.utime(folder, (long_ago, long_ago))
    (tmp_path / f"{PREFIX}link").symlink_to(other)
    os.utime(tmp_path / f"{PREFIX}link", (long_ago, long_ago), follow_symlinks=False)
    sweep(tmp_path)
    assert not old.exists()
    assert new.exists()
    assert (other / "0.zip").exists()
