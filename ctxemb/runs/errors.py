"""What went wrong, in a sentence."""

import errno

from pydantic import ValidationError

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class RunError(ValueError):
    """A run that cannot be started, found or changed; the text says why and what to do."""


def describe_error(error: BaseException) -> str:
    """An error as a sentence for the user; that of an unforeseen kind begins with its name."""
    match error:
        case ValidationError():
            return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'settings'}: {e['msg']}" for e in error.errors())
        case OSError(errno=number) if number in NO_SPACE:
            place = f" for {error.filename}" if error.filename else ""
            return (
                f"there is no space left on the disk{place} ({error.strerror}); make room and start it again: "
                "what was saved before is whole"
            )
        case ValueError() | OSError():
            return str(error)
    return f"{type(error).__name__}: {error}".strip(": ")
