"""Chinese: the synonym groups of Cilin (extended), and antonyms in the format of antisem.txt.

A line of Cilin is `Aa01A02= 人类 生人 全人类`: a code, then words. Only codes that end in = are synonyms; # marks
words that are merely related, @ a word on its own. A line of antisem is `安:危;乱`: a word, then its antonyms.
Source: HIT-CIR Tongyici Cilin (Extended); https://github.com/liuhuanyong/ChineseAntiword
"""

from collections.abc import Iterator
from pathlib import Path

from ctxemb.corpora.lines import detect_encoding, read_lines
from ctxemb.lexicon.lexicon import Entry, LexiconError

# Numbers tell homographs apart (生1:死, 生2:熟); as text they are one word.
HOMOGRAPH_NUMBERS = "0123456789"


def read_cilin(path: Path) -> Iterator[Entry]:
    """Yield the synonym groups, each with its code as id.

    Raises:
        LexiconError: a line without a code.
        CorpusError: the file cannot be read as UTF-8 text.
    """
    for number, line in read_lines(path, detect_encoding(path, "utf-8")):
        if not line.strip():
            continue
        code, *words = line.split()
        if code[-1] not in "=#@":
            raise LexiconError(
                f"{path}, line {number}: {code!r} is no Cilin code, which ends in =, # or @; mend or remove that line."
            )
        if code.endswith("="):
            yield Entry("synonym", tuple(words), code)


def read_antisem(path: Path) -> Iterator[Entry]:
    """Yield antonym pairs, each once although most stand in the file in both directions.

    Raises:
        LexiconError: a line without a colon.
        CorpusError: the file cannot be read as UTF-8 text.
    """
    seen = set()
    for number, line in read_lines(path, detect_encoding(path, "utf-8")):
        if not line.strip():
            continue
        heads, colon, opposites = line.partition(":")
        if not colon:
            raise LexiconError(f"{path}, line {number}: has no colon; write a word, a colon, antonyms between ;.")
        for head in _words(heads):
            for opposite in _words(opposites):
                pair = (min(head, opposite), max(head, opposite))
                if pair not in seen:
                    seen.add(pair)
                    yield Entry("antonym", (head, opposite))


def _words(cell: str) -> list[str]:
    words = (word.strip().rstrip(HOMOGRAPH_NUMBERS) for word in cell.split(";"))
    return [word for word in words if word]
