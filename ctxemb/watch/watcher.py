"""A run watched as it goes: each way of going wrong is said once."""

from collections.abc import Iterable
from pathlib import Path

from ctxemb.progress import Progress, read_progress
from ctxemb.watch.contrastive import CONTRASTIVE_RULES
from ctxemb.watch.history import History
from ctxemb.watch.language_model import LANGUAGE_MODEL_RULES
from ctxemb.watch.rule import Finding
from ctxemb.watch.shared import SHARED_RULES

RULES = (*SHARED_RULES, *LANGUAGE_MODEL_RULES, *CONTRASTIVE_RULES)


class Watcher:
    """Takes a run's records one by one, in order; cheap enough to be asked after each of them."""

    def __init__(self, vocabulary_size: int | None = None, progress: Path | None = None) -> None:
        """Begin to watch.

        Args:
            vocabulary_size: `model.vocabulary_size` of the run's run.json.
            progress: the run's progress.jsonl. What a resumed run did before the first record that is seen is taken
                from it, and what it had to say then is not said again.
        """
        self._history, self._earlier = History(vocabulary_size), progress
        self._waiting = list(RULES)
        self.findings: list[Finding] = []

    def see(self, record: Progress) -> list[Finding]:
        """What this record shows to be going wrong that was not said before."""
        if self._earlier is not None:
            earlier, self._earlier = read_progress(self._earlier), None
            for before in earlier:
                if before.step < record.step:
                    self.see(before)
        self._history.add(record)
        found = []
        for rule in list(self._waiting):
            if (seen := rule.look(self._history)) is not None:
                found.append(Finding(rule.name, record.step, seen, rule.advice))
                self._waiting.remove(rule)
        self.findings += found
        return found


def watch(records: Iterable[Progress], vocabulary_size: int | None = None) -> list[Finding]:
    """Everything that was found in a run, in the order in which it was seen."""
    watcher = Watcher(vocabulary_size)
    for record in records:
        watcher.see(record)
    return watcher.findings
