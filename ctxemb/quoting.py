"""What files from outside hold, as it can stand in a message: short, on one line, every odd character written out."""

MAX_QUOTED_CHARACTERS = 80
MAX_REASON_CHARACTERS = 200


def quoted(name: str) -> str:
    """A name in quotes.

    >>> print(quoted("a\\x1b[31m"))
    'a\\x1b[31m'
    """
    short = name if len(name) <= MAX_QUOTED_CHARACTERS else f"{name[:MAX_QUOTED_CHARACTERS]}..."
    return repr(short)  # repr writes out what is not printable, and nothing else


def printable(reason: object) -> str:
    """What a library says of a file, which may quote any of its content.

    >>> print(printable(ValueError("bad\\nkey \\x00")))
    bad key \\x00
    """
    text = " ".join(str(reason).split()) or type(reason).__name__
    short = text if len(text) <= MAX_REASON_CHARACTERS else f"{text[:MAX_REASON_CHARACTERS]}..."
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in short)
