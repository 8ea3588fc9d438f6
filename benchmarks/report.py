"""What a benchmark hands back, and the table of it."""

import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch


@dataclass(frozen=True)
class Row:
    """One measurement beside what it is compared with.

    Attributes:
        what: what was measured, and in which unit.
        ours: our number.
        plain: the plain loop's number, where there is one.
        aim: what was aimed at.
        is_met: whether it was reached; None where nothing was aimed at.
    """

    what: str
    ours: str
    plain: str = ""
    ratio: str = ""
    aim: str = ""
    is_met: bool | None = None


def ratio_row(what: str, ours: float, plain: float, aim: float | None = None) -> Row:
    """A row of two rates, and how many times faster ours is."""
    ratio = ours / plain
    return Row(
        what,
        f"{ours:,.0f}",
        f"{plain:,.0f}",
        f"{ratio:.1f}x",
        f">= {aim:g}x" if aim else "",
        ratio >= aim if aim else None,
    )


def limit_row(what: str, value: float, limit: float, unit: str) -> Row:
    """A row of a number that should stay below a limit."""
    return Row(what, f"{value:,.2f} {unit}", aim=f"< {limit:g} {unit}", is_met=value < limit)


def markdown_table(rows: Sequence[Row]) -> str:
    """All rows as one table."""
    verdicts = {True: "yes", False: "**no**", None: ""}
    lines = [
        "| measured | ours | plain | ratio | aim | met |",
        "|---|---:|---:|---:|---|---|",
        *(f"| {r.what} | {r.ours} | {r.plain} | {r.ratio} | {r.aim} | {verdicts[r.is_met]} |" for r in rows),
    ]
    return "\n".join(lines)


def load_rows(path: Path) -> list[Row]:
    """The rows of a saved file of results, benchmark after benchmark."""
    saved = json.loads(path.read_text(encoding="utf-8"))
    return [Row(**row) for part in saved.values() for row in part["rows"]]


def peak_bytes(usage: Any) -> int:
    """The most memory of a process, out of what `getrusage` or `wait4` says: Linux counts kilobytes, macOS bytes."""
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def machine() -> str:
    """The machine in a line; numbers of different machines do not compare."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        name = models[0].partition(":")[2].strip() if models else name
    threads = torch.get_num_threads()
    return (
        f"{name}, {os.cpu_count()} cores, {threads} threads, torch {torch.__version__}, load {os.getloadavg()[0]:.1f}"
    )
