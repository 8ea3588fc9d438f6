import doctest

from ctxemb import quoting
from ctxemb.quoting import printable, quoted


def test_names_are_short_and_without_tricks():
    assert quoted("a'b") == '"a\'b"'
    assert quoted("河.txt") == "'河.txt'"
    assert quoted("a\x1b\n\u202eb\ud800") == r"'a\x1b\n\u202eb\ud800'"
    assert len(quoted("x" * 10_000)) < 90
    assert quoted("") == "''"


def test_reasons_are_one_short_line_and_never_empty():
    assert printable(ValueError("\x1b[31m red\n  and\tblue")) == r"\x1b[31m red and blue"
    assert printable(EOFError()) == "EOFError"
    assert len(printable("y" * 10_000)) < 210


def test_the_examples_are_true():
    assert doctest.testmod(quoting) == (0, 2)
