"""The Checkup page as a user meets it: a good and a bad upload, a reference, reports, what is left at the end."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import ROOT, serve
from tests.browser.test_compare import FITS, NARROW, WIDE, metric
from tests.browser.test_pages import SETTLED

OpenPage = Callable[..., Page]
UPLOAD = "checkup?checked=a+file+of+yours"
GONE = "() => !document.querySelector('[data-testid=stProgress]')"


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the app puts uploads."""
    return tmp_path_factory.mktemp("temporary")


@pytest.fixture(scope="module")
def shipped(temporary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app on the shipped checkpoints; its log may hold no traceback at the end."""
    log = tmp_path_factory.mktemp("log") / "server.log"
    with serve(log, TMPDIR=str(temporary), CTXEMB_DATA=str(temporary / "no data")) as address:
        yield address
    assert "Traceback" not in log.read_text()


def archive(name: str, leave_out: str = "") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for path in (ROOT / "checkpoints" / name).iterdir():
            if path.name != leave_out:
                file.write(path, f"{name}/{path.name}")
    return stream.getvalue()


def drop(page: Page, name: str, content: bytes) -> None:
    file = {"name": name, "mimeType": "application/zip", "buffer": content}
    page.get_by_test_id("stFileUploaderDropzoneInput").set_input_files([file])  # type: ignore[list-item]


def verdict(page: Page) -> Locator:
    return page.get_by_test_id("stAlert").first


def wait_for_checkup(page: Page) -> None:
    expect(page.get_by_role("button", name="Report as JSON")).to_be_visible()
    page.wait_for_function(GONE)
    expect(page.locator(SETTLED)).to_be_visible()


def test_a_good_upload_is_sound_a_bad_one_is_refused_and_both_are_gone_at_the_end(
    open_page: OpenPage, shipped: str, temporary: Path
) -> None:
    page = open_page(f"{shipped}/{UPLOAD}", viewport=WIDE)
    expect(page.get_by_role("heading", name="Is this checkpoint sound?")).to_be_visible()
    expect(page.get_by_text("Nothing to check yet")).to_be_visible()
    drop(page, "mine.zip", archive("en-static"))
    expect(verdict(page)).to_contain_text("mine.zip: Sound: 14 checks passed, 4 did not apply.")
    wait_for_checkup(page)
    expect(metric(page, "Failed")).to_have_text("0")
    expect(page.get_by_role("heading", name="Beside en-static")).to_be_visible()
    (first,) = temporary.glob("ctxemb-upload-*")

    with page.expect_download() as download:
        page.get_by_role("button", name="Report as JSON").click()
    assert download.value.suggested_filename == "checkup-mine.zip.json"
    content = json.loads(download.value.path().read_text())
    assert (content["verdict"], content["reference"]) == ("sound", "en-static")

    page.get_by_role("button", name=re.compile("Remove mine")).click()
    expect(page.get_by_text("Nothing to check yet")).to_be_visible()
    drop(page, "cut.zip", archive("en-static", leave_out="tokenizer.json"))
    expect(verdict(page)).to_contain_text(re.compile(r"cut\.zip: Unreadable: .*no tokenizer\.json; give all of"))
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_text("Traceback")).to_have_count(0)
    expect(page.get_by_text(str(temporary))).to_have_count(0)
    wait_for_checkup(page)
    (second,) = temporary.glob("ctxemb-upload-*")
    assert second != first

    other = open_page(f"{shipped}/{UPLOAD}", viewport=WIDE)
    expect(other.get_by_text("Nothing to check yet")).to_be_visible()
    page.close()
    # the server learns of it through the closed connection: asking for another page gives it the time
    for _ in range(20):
        other.reload()
        expect(other.get_by_text("Nothing to check yet")).to_be_visible()
        if not second.exists():
            break
    assert not list(temporary.glob("ctxemb-upload-*"))


def test_a_checkpoint_of_this_machine_beside_the_shipped_one_and_a_link_that_shows_the_same(
    open_page: OpenPage, shipped: str
) -> None:
    page = open_page(f"{shipped}/checkup?checkpoint=zh-static", viewport=WIDE)
    expect(verdict(page)).to_contain_text("zh-static: Sound")
    expect(page.get_by_role("heading", name="Beside zh-contrastive")).to_be_visible()
    wait_for_checkup(page)
    page.get_by_role("combobox", name="Beside it").click()
    page.get_by_role("option", name="en-static").click()
    expect(page.get_by_role("heading", name="Beside en-static")).to_be_visible()
    expect(page).to_have_url(re.compile("against=en-static"))
    wait_for_checkup(page)

    again = open_page(page.url, viewport=WIDE)
    expect(again.get_by_role("heading", name="Beside en-static")).to_be_visible()
    expect(verdict(again)).to_contain_text("zh-static: Sound")
    spectrum = again.get_by_test_id("stExpander").filter(has_text="spectrum").first
    expect(spectrum.locator(".js-plotly-plot")).not_to_be_visible()
    spectrum.locator("summary").click()
    expect(spectrum.locator(".js-plotly-plot")).to_be_visible()
    expect(spectrum).to_contain_text("en-static: ")


def test_nothing_sticks_out_in_the_dark_or_on_a_phone(open_page: OpenPage, shipped: str) -> None:
    page = open_page(f"{shipped}/checkup?checkpoint=en-static", viewport=WIDE, color_scheme="dark")
    wait_for_checkup(page)
    for viewport in (WIDE, NARROW):
        page.set_viewport_size(viewport)
        page.wait_for_function(FITS)
