"""A user's own text, kept beside the runs that read it: a run that is resumed needs it again."""

import hashlib
import re
import shutil
import time
from pathlib import Path

from ctxemb.atomic import replace_file
from ctxemb.corpora import CorpusError, open_corpus
from ctxemb.runs.report import REQUEST

UPLOADS = ".uploads"  # no id of a run
SECONDS_TO_START = 86_400  # somebody may be about to start a run on what was uploaded
UNSAFE = re.compile(r"[^\w.-]+")


def keep_upload(root: Path, name: str, content: bytes, text_column: str | None = None) -> Path:
    """Write an uploaded file below the folder of the runs, once for each content; delete old ones that no run reads.

    Raises:
        CorpusError: an archive, binary content, a table without a column of text, or nothing at all; nothing is kept.
    """
    safe = UNSAFE.sub("_", Path(name).name).lstrip(".") or "text.txt"
    folder = root / UPLOADS / hashlib.sha256(content).hexdigest()[:16]
    path = folder / safe
    _delete_unused(root)
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
    try:
        next(open_corpus(path, text_column=text_column).passages())
    except CorpusError as error:
        path.unlink()
        raise CorpusError(str(error).replace(str(path), name)) from error
    return path


def _delete_unused(root: Path) -> None:
    requests = [path.read_text(encoding="utf-8") for path in root.glob(f"*/{REQUEST}")]
    for folder in (root / UPLOADS).glob("*"):
        is_old = time.time() - folder.stat().st_mtime > SECONDS_TO_START
        if is_old and not any(folder.name in request for request in requests):
            shutil.rmtree(folder)
