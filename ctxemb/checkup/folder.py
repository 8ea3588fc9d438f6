"""What people have -> a checkpoint folder: a folder, a training run, an archive, the files of an upload."""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from ctxemb.background import OnProgress, no_progress
from ctxemb.checkpoint import CONFIG, CheckpointError
from ctxemb.checkup.battery import check_folder, refused
from ctxemb.checkup.result import Checkup, short_name
from ctxemb.foreign import receive_checkpoint

BEST = "best"  # of a training run


def check_path(path: Path, on_progress: OnProgress = no_progress) -> Checkup:
    """Put whatever a path means through all checks; what is no checkpoint is unreadable, and the reason is said."""
    name = short_name(path)
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(open_folder(path))
        except (ValueError, OSError) as error:
            return refused(name, str(error))
        return check_folder(folder, name, on_progress)


@contextmanager
def open_folder(path: Path) -> Iterator[Path]:
    """The checkpoint folder that a path means; that of an archive is gone at the end.

    Raises:
        ValueError: if there is nothing, or an archive holds no checkpoint or is not safe to unpack.
    """
    if path.is_file():
        with tempfile.TemporaryDirectory(prefix="ctxemb-check-") as private:
            yield receive_checkpoint({path.name: path}, Path(private))
        return
    if not path.exists():
        raise CheckpointError(
            f"there is no {path}; give a checkpoint folder, the folder of a training run, or a .zip of a checkpoint"
        )
    is_run = not (path / CONFIG).exists() and (path / BEST).is_dir()
    yield path / BEST if is_run else path


def check_received(
    files: Mapping[str, Path], private: Path, name: str, on_progress: OnProgress = no_progress
) -> Checkup:
    """Unpack what somebody uploaded, and put it through all checks; what is refused is unreadable.

    Args:
        files: by the names they were uploaded under.
        private: a folder for this upload alone; a fresh one is made in it, and removed at the end.
        name: for people.
    """
    on_progress(0.0, "unpacking")
    with tempfile.TemporaryDirectory(dir=private) as fresh:
        try:
            folder = receive_checkpoint(files, Path(fresh))
        except (ValueError, OSError) as error:
            return refused(name, str(error))
        return check_folder(folder, name, on_progress)
