"""A checkpoint on the page: chosen or uploaded, put through the battery in the background, and what was found."""

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from ctxemb.analysis.isotropy import Spectrum
from ctxemb.checkup import (
    CheckResult,
    Checkup,
    Cosines,
    LayerCosines,
    Losses,
    Verdict,
    as_json,
    as_markdown,
    check_path,
    check_received,
    choose_reference,
    summary,
)
from ctxemb.figures.checkup import kinds_chart, layers_chart, losses_chart
from ctxemb.figures.geometry import energy_chart
from ctxemb.geometry import BINS
from ctxemb.ui import loading
from ctxemb.ui.jobs import in_background
from ctxemb.ui.messages import plain, show_error
from ctxemb.ui.results import CHART_CONFIG, show_metrics
from ctxemb.ui.uploads import Upload, keep_upload

HERE, FILE = "this machine", "a file of yours"
LIKE_IT, NOTHING = "the shipped one like it", "nothing"
ENDINGS = ["zip", "safetensors", "json", "pt", "pth", "txt"]
BESIDE_HELP = """A checkpoint whose numbers stand beside. By default one that comes with the app, of the same language
and, if there is one, of the same family."""
NOTHING_YET = """Nothing to check yet: drop a .zip of a checkpoint folder above, or its files one by one. Nobody else
sees them, no code in them is run, and they are removed when you leave."""
FILE_HELP = """One .zip of a checkpoint folder; or model.safetensors, config.json and tokenizer.json; or a PyTorch
state_dict (.pt) of a plain BiLM with its words, one a line (.txt)."""
BADGES: dict[Verdict, str] = {
    "fail": ":red-badge[:material/close: fail]",
    "warn": ":orange-badge[:material/warning: warn]",
    "pass": ":green-badge[:material/check: pass]",
    "not applicable": ":gray-badge[not applicable]",
    "not run": ":gray-badge[not run]",
}
MAIN_DIRECTIONS = 10
MAX_UPLOAD_MEGABYTES = 500  # a plain BiLM of 20,000 words has some 70


@dataclass(frozen=True)
class Checked:
    """What is put through the battery.

    Attributes:
        name: for people.
        key: tells it from all others; that of an upload holds the name of a private folder, which nobody can guess.
        source: a folder of this machine, or an upload.
    """

    name: str
    key: Hashable
    source: Path | Upload


def choose_checked() -> tuple[Checked | None, str]:
    """A checkpoint of this machine or uploaded files, None as long as there are none; and what it is held against.

    The second is a checkpoint's name or a wish, to be resolved once family and language are known.

    Raises:
        ValueError: if the files cannot be taken.
    """
    paths, name = loading.find_checkpoints(), None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "Checkpoint from", (HERE, FILE), default=HERE, required=True, key="checked", bind="query-params"
        )
        if kind == HERE and paths:
            name = st.selectbox("Checkpoint", list(paths), key="checkpoint", bind="query-params", width=320)
        beside = st.selectbox(
            "Beside it",
            [LIKE_IT, NOTHING, *paths],
            key="against",
            bind="query-params",
            width=320,
            help=BESIDE_HELP,
        )
    if name is not None:
        return Checked(name, (str(paths[name]), loading.last_changed(paths[name])), paths[name]), beside
    if kind == HERE:
        show_error(f"there is no checkpoint in {loading.SHIPPED}; drop one here, or train one on the Train page")
        return None, beside
    files = st.file_uploader(
        "Drop a checkpoint here",
        type=ENDINGS,
        accept_multiple_files=True,
        key="checkpoint files",
        help=FILE_HELP,
        max_upload_size=MAX_UPLOAD_MEGABYTES,
    )
    if not files:
        st.info(NOTHING_YET)
    return _take(files) if files else None, beside


def load_checkup(checked: Checked) -> Checkup | None:
    """The battery's results; None as long as it is running."""
    title, key = f"Checking {plain(checked.name)}", ("checkup", checked.key)
    if isinstance(checked.source, Upload):
        files, folder = checked.source.files, checked.source.folder
        return in_background("checkups", key, title, check_received, files, folder, checked.name)
    checkup = in_background("checkups", key, title, check_path, checked.source)
    return checkup and checkup.renamed(checked.name)


def load_reference(checked: Checked, checkup: Checkup, beside: str) -> Checkup | None:
    """The results of the checkpoint beside it; None without one, and as long as it is being checked."""
    paths = loading.find_checkpoints()
    name = beside if beside in paths else None
    if beside == LIKE_IT and checkup.family and checkup.language:
        shipped = {
            name: path for name, path in paths.items() if path.parent == loading.SHIPPED and path != checked.source
        }
        name = choose_reference(checkup.family, checkup.language, shipped)
    if name is None or paths[name] == checked.source:
        return None
    return load_checkup(Checked(name, (str(paths[name]), loading.last_changed(paths[name])), paths[name]))


def show_summary(checkup: Checkup) -> None:
    """The verdict in a sentence, and how many checks say what."""
    show, icon = {
        "sound": (st.warning if checkup.of("warn") else st.success, ":material/verified:"),
        "unsound": (st.error, ":material/report:"),
        "unreadable": (st.error, ":material/block:"),
    }[checkup.verdict]
    show(f"**{plain(checkup.name)}**: {plain(summary(checkup))}", icon=icon)
    if checkup.verdict == "unreadable":
        return
    left = len(checkup.of("not applicable")) + len(checkup.of("not run"))
    show_metrics(
        {
            "Failed": (str(len(checkup.of("fail"))), "What makes it unsound"),
            "Warnings": (str(len(checkup.of("warn"))), "What is unusual, and may be meant"),
            "Passed": (str(len(checkup.of("pass"))), None),
            "Left out": (str(left), "Checks that do not apply to such a checkpoint, or could not be run"),
        }
    )


def show_results(checkup: Checkup, reference: Checkup | None) -> None:
    """Every check: those that found something first and open, the others folded."""
    with st.container(gap="xsmall"):
        for result in [*checkup.of("fail"), *checkup.of("warn"), *checkup.of("pass")]:
            with st.expander(_label(result), expanded=result.verdict != "pass"):
                _show_result(result, checkup, reference)
        for verdict in ("not applicable", "not run"):
            if left := checkup.of(verdict):
                with st.expander(f"{BADGES[verdict]} {', '.join(result.name for result in left)}"):
                    st.markdown("\n".join(f"- **{result.name}**: {plain(result.finding.found)}" for result in left))


def show_table(checkup: Checkup, reference: Checkup | None) -> None:
    """All numbers with their limits, and those of the reference."""
    st.subheader(f"Beside {plain(reference.name)}" if reference else "All numbers")
    rows = [result for result in checkup.results if result.verdict != "not run"]
    st.dataframe(
        checkup_table(rows, reference),
        hide_index=True,
        height="content",
        column_config={
            "check": st.column_config.TextColumn(width=110),
            "verdict": st.column_config.TextColumn(width=110),
            "number": st.column_config.TextColumn(width=200),
            "limit": st.column_config.TextColumn(width=330),
        },
        key="all checks",
    )


def offer_reports(checkup: Checkup, reference: Checkup | None) -> None:
    """The report as files."""
    name = "".join(c if c.isalnum() or c in "-." else "-" for c in checkup.name)
    with st.container(horizontal=True, vertical_alignment="center"):
        _offer("Report as Markdown", as_markdown(checkup, reference), f"checkup-{name}.md", "text/markdown")
        content = json.dumps(as_json(checkup, reference), indent=2, ensure_ascii=False)
        _offer("Report as JSON", content, f"checkup-{name}.json", "application/json")
        st.caption(f"Checked in {checkup.seconds:.1f} s.")


def checkup_table(results: Sequence[CheckResult], reference: Checkup | None) -> pd.DataFrame:
    """One row a check; a column named after the reference, if there is one."""
    table = pd.DataFrame(
        {
            "check": [result.name for result in results],
            "verdict": [result.verdict for result in results],
            "number": [result.finding.shown for result in results],
            "limit": [result.finding.limit for result in results],
        }
    )
    if reference:
        table.insert(3, reference.name, [reference.result(result.name).finding.shown for result in results])
    return table


def _take(files: Any) -> Checked:
    upload = keep_upload(files, MAX_UPLOAD_MEGABYTES * 2**20)
    name = files[0].name if len(files) == 1 else f"{len(files)} files"
    return Checked(name, str(upload.folder), upload)


def _label(result: CheckResult) -> str:
    number = f" · {plain(result.finding.shown)}" if result.finding.shown else ""
    limit = f" :gray[({plain(result.finding.limit)})]" if result.finding.limit and number else ""
    return f"{BADGES[result.verdict]} **{result.name}**{number}{limit}"


def _show_result(result: CheckResult, checkup: Checkup, reference: Checkup | None) -> None:
    finding = result.finding
    st.markdown(f"*{result.question}* {plain(finding.found)}")
    if finding.advice:
        st.markdown(f"**What to do:** {plain(finding.advice)}")
    beside = reference.result(result.name) if reference else None
    if reference and beside and beside.finding.shown:
        st.caption(f"{plain(reference.name)}: {plain(beside.finding.shown)}")
    if chart := _chart(result, checkup, beside, reference.name if reference else ""):
        st.plotly_chart(chart, key=f"chart of {result.name}", config=CHART_CONFIG)


def _chart(result: CheckResult, checkup: Checkup, beside: CheckResult | None, reference: str) -> Any:
    """What the number was taken from, drawn; None where it speaks for itself."""
    picture, other = result.finding.picture, beside.finding.picture if beside else None
    match picture:
        case Cosines():
            return kinds_chart(picture.shares, other.shares if isinstance(other, Cosines) else {}, reference, BINS)
        case LayerCosines() if len(picture.means) > 1:
            means = other.means if isinstance(other, LayerCosines) else ()
            return layers_chart(picture.layers, picture.means, means, reference, checkup.name)
        case Losses():
            return losses_chart(picture.own, picture.levels)
        case Spectrum():
            spectra = {checkup.name: picture} | ({reference: other} if isinstance(other, Spectrum) else {})
            return energy_chart(spectra, min(MAIN_DIRECTIONS, picture.num_dimensions))
    return None


def _offer(label: str, content: str, name: str, kind: str) -> None:
    st.download_button(label, content, name, kind, icon=":material/download:", on_click="ignore")
