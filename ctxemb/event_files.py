"""A run's records as TensorBoard event files: one scalar a measure. TensorBoard is an optional package."""

from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ctxemb.progress import EndRecord, Progress, RescueRecord, Step, Validation


class EventFiles:
    """Writes the records that it is given; close it, or use it as a context."""

    def __init__(self, folder: Path) -> None:
        """Find the package; nothing is written before the first record.

        Raises:
            ValueError: if TensorBoard is not installed.
        """
        try:
            from torch.utils.tensorboard.writer import SummaryWriter
        except ImportError as error:
            raise ValueError(
                "event files need the package tensorboard, which is not installed; "
                "`pip install tensorboard`, or leave out --tensorboard"
            ) from error
        self._folder, self._make, self._writer = folder, SummaryWriter, None

    def write(self, record: Progress) -> None:
        """Add a record's numbers at its step; steps that a resumed run does again hide those of before."""
        if self._writer is None:
            self._writer = self._make(str(self._folder), purge_step=record.step)
        for name, value in _measures(record).items():
            self._writer.add_scalar(name, value, record.step)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.close()


def _measures(record: Progress) -> dict[str, float]:
    """Numbers by tag, such as `step/perplexity` and `validation/loss_nats`."""
    match record:
        case Step():
            group = "step"
        case Validation():
            group = "validation"
        case RescueRecord():
            return {"rescue/learning_rate": record.learning_rate}
        case EndRecord():
            return {"end/seconds": record.seconds}
    values: dict[str, Any] = asdict(record)
    return {
        f"{group}/{name}": float(value)
        for name, value in values.items()
        if name not in ("step", "total_steps") and not isinstance(value, bool)
    }
