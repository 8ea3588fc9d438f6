"""A checkup in a sentence, as JSON and as Markdown."""

from html import escape
from typing import Any

from ctxemb.checkup.result import VERDICTS, CheckResult, Checkup

TITLES = {"fail": "Failed", "warn": "Warning"}


def summary(checkup: Checkup) -> str:
    """The verdict in one sentence."""
    failed, warned, passed, left, not_run = (checkup.of(verdict) for verdict in VERDICTS)
    if checkup.verdict == "unreadable":
        return f"Unreadable: {_inner(failed[0].finding.found)}"
    warnings = f"{_count(len(warned), 'warning')} ({_names(warned)})" if warned else ""
    if failed:
        also = f", and {warnings}" if warnings else ""
        rest = f"; {len(not_run)} could not be run" if not_run else ""
        return f"Unsound: {_count(len(failed), 'check')} failed ({_names(failed)}){also}{rest}."
    with_warnings = f", with {warnings}" if warnings else ""
    left_out = f", {len(left)} did not apply" if left else ""
    return f"Sound{with_warnings}: {_count(len(passed), 'check')} passed{left_out}."


def as_json(checkup: Checkup, reference: Checkup | None = None) -> dict[str, Any]:
    """Everything but the pictures; numbers of the reference stand beside those of the checkpoint."""
    beside = {result.name: result for result in reference.results} if reference else {}
    checks = []
    for result in checkup.results:
        finding = result.finding
        row: dict[str, Any] = {
            "name": result.name,
            "group": result.group,
            "question": result.question,
            "verdict": result.verdict,
            "found": finding.found,
            "number": finding.number,
            "shown": finding.shown,
            "limit": finding.limit,
            "advice": finding.advice,
            "seconds": round(result.seconds, 3),
        }
        if reference:
            other = beside[result.name]
            row["reference"] = {"verdict": other.verdict, "number": other.finding.number, "shown": other.finding.shown}
        checks.append(row)
    return {
        "checkpoint": checkup.name,
        "family": checkup.family,
        "language": checkup.language,
        "verdict": checkup.verdict,
        "summary": summary(checkup),
        "seconds": round(checkup.seconds, 2),
        "reference": reference.name if reference else None,
        "checks": checks,
    }


def as_markdown(checkup: Checkup, reference: Checkup | None = None) -> str:
    """A report to keep: what failed and what to do first, then every number with its limit."""
    lines = [f"# Checkup of {_plain(checkup.name)}", "", _plain(summary(checkup)), ""]
    if checkup.family:
        lines += [f"Family {checkup.family}, language {checkup.language}; {checkup.seconds:.1f} s.", ""]
    for verdict in ("fail", "warn"):
        for result in checkup.of(verdict):
            finding = result.finding
            lines += [f"## {TITLES[verdict]}: {result.name}", "", _plain(finding.found), ""]
            lines += [f"**What to do:** {_plain(finding.advice)}", ""] if finding.advice else []
    columns = ["check", "verdict", "number", "limit", *([_plain(reference.name)] if reference else []), "found"]
    lines += ["## All checks", "", f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for result in checkup.results:
        lines.append(f"| {' | '.join(map(_plain, _row(result, reference)))} |")
    return "\n".join(lines) + "\n"


def _row(result: CheckResult, reference: Checkup | None) -> list[str]:
    finding = result.finding
    beside = [reference.result(result.name).finding.shown] if reference else []
    return [result.name, result.verdict, finding.shown, finding.limit, *beside, finding.found]


def _plain(text: str) -> str:
    """Text of a file that neither ends a cell nor is read as a tag."""
    return escape(text, quote=False).replace("|", "\\|").replace("\n", " ")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _names(results: list[CheckResult]) -> str:
    return ", ".join(result.name for result in results)


def _inner(sentence: str) -> str:
    """A sentence after a colon: its first letter small, unless a name begins it."""
    first = sentence.split(" ", 1)[0]
    return sentence[0].lower() + sentence[1:] if first.isalpha() and first.istitle() else sentence
