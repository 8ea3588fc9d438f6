"""Traditional and simplified characters: recognised without a dictionary, converted with opencc if it is installed.

A character is counted as traditional if it is among the frequent ones of Taiwan's character set and not in mainland
China's: level 1 of Big5, without GB 2312.
"""

import importlib
import re
from functools import cache
from typing import Any

HAN = re.compile("[\u4e00-\u9fff]")
LAST_FREQUENT_BIG5 = 0xC6
# Nineteen of twenty traditional sentences have more, five of ten thousand simplified ones (by a rare name).
TRADITIONAL_FROM = 0.1


def traditional_share(text: str) -> float:
    """Share of the Chinese characters that exist in traditional script only, 0 to 1; 0 if there are none.

    >>> traditional_share("銀行的利率"), traditional_share("银行的利率")
    (0.2, 0.0)
    """
    num_han = len(HAN.findall(text))
    return len(_traditional_only().findall(text)) / num_han if num_han else 0.0


def is_traditional(text: str) -> bool:
    """Tell whether a text is written in traditional characters; a text that reads the same in both is not."""
    return traditional_share(text) >= TRADITIONAL_FROM


def script_problem(text: str) -> str | None:
    """What to tell a person whose text is in the script that the checkpoint has not learnt; None if all is well."""
    if not is_traditional(text):
        return None
    shown = text if len(text) <= 40 else text[:39] + "…"
    return (
        f"“{shown}” is in traditional characters; the checkpoint knows simplified ones. "
        "Convert it first: ctxemb.text.to_simplified(text)"
    )


def to_simplified(text: str) -> str:
    """Convert traditional characters to simplified ones; others stay as they are.

    Raises:
        ValueError: if opencc is not installed.
    """
    return _converter().convert(text)


@cache
def _traditional_only() -> re.Pattern[str]:
    han = map(chr, range(0x4E00, 0xA000))
    frequent = (c for c in han if 0 < _first_byte(c, "big5") <= LAST_FREQUENT_BIG5)
    return re.compile(f"[{''.join(c for c in frequent if not _first_byte(c, 'gb2312'))}]")


def _first_byte(character: str, encoding: str) -> int:
    return (character.encode(encoding, "ignore") or b"\0")[0]


@cache
def _converter() -> Any:
    try:
        opencc = importlib.import_module("opencc")
    except ImportError as error:
        raise ValueError("conversion to simplified characters needs opencc: pip install opencc") from error
    return opencc.OpenCC("t2s")
