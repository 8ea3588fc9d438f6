"""The battery: which checks there are, in which order, and what each of them takes for granted.

A check whose ground another one has found missing is not run: its number would only repeat the same fault.
"""

import dataclasses
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxemb.background import OnProgress, no_progress
from ctxemb.checkpoint import CheckpointError, read_config
from ctxemb.checkup.leak import check_leak
from ctxemb.checkup.learning import check_perplexity, check_trained
from ctxemb.checkup.opening import check_files, check_statistics, check_tokenizer, check_weights
from ctxemb.checkup.practice import check_coverage, check_speed
from ctxemb.checkup.reading import check_batches, check_boundaries, check_determinism, check_layer_zero
from ctxemb.checkup.result import CheckResult, Checkup, Finding, Group, short_name
from ctxemb.checkup.space import check_collapse, check_senses, check_spectrum
from ctxemb.checkup.subject import Subject
from ctxemb.checkup.weights import check_rows, check_values

logger = logging.getLogger(__name__)
MAX_CHARACTERS = 600


@dataclass(frozen=True)
class Check:
    """A question to a checkpoint.

    Attributes:
        needs: names of the checks that must not have failed.
    """

    name: str
    question: str
    group: Group
    run: Callable[[Subject], Finding]
    needs: tuple[str, ...] = ()


CHECKS = (
    Check("files", "Are all files there, and can they be read?", "files", check_files),
    Check("tokenizer", "Does the vocabulary fit, with the special ids in place?", "files", check_tokenizer, ("files",)),
    Check("weights", "Are the weights those that the config declares?", "files", check_weights, ("tokenizer",)),
    Check(
        "statistics", "Do the word counts and means belong to these weights?", "weights", check_statistics, ("weights",)
    ),
    Check("values", "Are all numbers finite, and is no weight empty?", "weights", check_values, ("weights",)),
    Check("rows", "Does every word have a row of its own?", "weights", check_rows, ("values",)),
    Check("same twice", "Does reading twice give the same vectors?", "reading", check_determinism, ("values",)),
    Check("batches", "Does a sentence not depend on its neighbours?", "reading", check_batches, ("same twice",)),
    Check("boundaries", "Do T words have T vectors?", "reading", check_boundaries, ("values",)),
    Check(
        "layer 0", "Is layer 0 one vector a word, and are those above it not?", "reading", check_layer_zero, ("values",)
    ),
    Check("no leak", "Is the word hidden from what must not see it?", "reading", check_leak, ("same twice",)),
    Check("coverage", "How much of everyday text is unknown to it?", "use", check_coverage, ("values",)),
    Check("speed", "How large and how quick is it?", "use", check_speed, ("values",)),
    Check("trained", "Has it learnt anything?", "learning", check_trained, ("no leak",)),
    Check("perplexity", "Is its perplexity the recorded one?", "learning", check_perplexity, ("trained",)),
    Check("collapse", "Do random words have different vectors?", "space", check_collapse, ("trained",)),
    Check("spectrum", "Do the vectors use more than a few directions?", "space", check_spectrum, ("collapse",)),
    Check("senses", "Are same-sense uses closer than others?", "space", check_senses, ("collapse",)),
)


def run_checkup(folder: Path) -> Iterator[CheckResult]:
    """Put a checkpoint folder through all checks, cheap ones first; one result each, whatever happens.

    Args:
        folder: that holds config.json; `open_folder` makes one of what else people have.
    """
    return examine(Subject(folder))


def examine(subject: Subject) -> Iterator[CheckResult]:
    """`run_checkup` for a checkpoint that may be open already."""
    failed: dict[str, str] = {}  # check -> the check at which it or its ground failed
    for check in CHECKS:
        start = time.perf_counter()
        root = next((failed[need] for need in check.needs if need in failed), None)
        finding = _not_run(root) if root else _run(check, subject)
        if root or finding.verdict == "fail":
            failed[check.name] = root or check.name
        yield CheckResult(check.name, check.question, check.group, finding, time.perf_counter() - start)


def check_folder(folder: Path, name: str = "", on_progress: OnProgress = no_progress) -> Checkup:
    """The whole battery, for callers who wait; `on_progress` is told what is asked next."""
    start, results = time.perf_counter(), []
    on_progress(0.0, CHECKS[0].question)
    for number, result in enumerate(run_checkup(folder), 1):
        results.append(result)
        on_progress(number / len(CHECKS), CHECKS[min(number, len(CHECKS) - 1)].question)
    return collect(folder, results, time.perf_counter() - start, name)


def refused(name: str, reason: str) -> Checkup:
    """The checkup of what is no checkpoint: nothing could be run."""
    results = [CheckResult(check.name, check.question, check.group, _not_run(CHECKS[0].name)) for check in CHECKS]
    results[0] = dataclasses.replace(results[0], finding=_printable(Finding("fail", _as_sentence(reason))))
    return Checkup(name, None, None, tuple(results), 0.0)


def collect(folder: Path, results: list[CheckResult], seconds: float, name: str = "") -> Checkup:
    """The results of a battery, with what the config says of the checkpoint."""
    family = language = None
    if results[0].verdict != "fail":
        config = read_config(folder)
        family, language = config.family, config.text.language
    return Checkup(name or short_name(folder), family, language, tuple(results), seconds)


def _run(check: Check, subject: Subject) -> Finding:
    try:
        return _printable(check.run(subject))
    except CheckpointError as error:
        # which checkpoint is meant is known; its files are named as they are called in it
        return _printable(Finding("fail", _as_sentence(str(error).replace(f"{subject.folder}/", ""))))
    except Exception as error:
        # the others still have something to say; where this one broke is for who mends it
        logger.debug("the check %r broke", check.name, exc_info=True)
        found = f"The check “{check.name}” broke on this checkpoint: {type(error).__name__}: {error}"
        advice = "The model does something that no sound one does, or the check has a fault: tell its authors."
        return _printable(Finding("fail", _as_sentence(found), advice=advice))


def _not_run(root: str) -> Finding:
    return Finding("not run", f"“{root}” failed, and nothing that builds on it can be trusted.")


def _printable(finding: Finding) -> Finding:
    """Names and words of a file may hold anything; what cannot be printed is not."""
    text = "".join(c if c.isprintable() else "�" for c in finding.found.replace("\n", " "))
    if len(text) > MAX_CHARACTERS:
        text = f"{text[:MAX_CHARACTERS]} …"
    return dataclasses.replace(finding, found=text)


def _as_sentence(text: str) -> str:
    text = text.strip()
    text = text[0].upper() + text[1:] if text.split(" ", 1)[0].isalpha() else text
    return text if text.endswith((".", "…", "!", "?")) else f"{text}."
