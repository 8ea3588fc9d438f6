"""A user's own text, kept beside the runs that read it: a run that is resumed needs it again."""

import hashlib
import re
from pathlib import Path

from ctxemb.atomic import replace_file
from ctxemb.corpora import CorpusError, open_corpus

UPLOADS = ".uploads"  # no id of a run
UNSAFE = re.compile(r"[^\w.-]+")


def keep_upload(root: Path, name: str, content: bytes, text_column: str | None = None) -> Path:
    """Write an uploaded file below the folder of the runs, once for each content.

    Raises:
        CorpusError: an archive, binary content, a table without a column of text, or nothing at all; nothing is kept.
    """
    safe = UNSAFE.sub("_", Path(name).name).lstrip(".") or "text.txt"
    folder = root / UPLOADS / hashlib.sha256(content).hexdigest()[:16]
    path = folder / safe
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(path, content)
    try:
        next(open_corpus(path, text_column=text_column).passages())
    except CorpusError as error:
        path.unlink()
        raise CorpusError(str(error).replace(str(path), name)) from error
    return path
