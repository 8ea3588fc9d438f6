"""English: WordNet's synsets as synonym groups, its `!` pointers as antonyms.

Multi-word lemmas are left out; a synset stays even with one word left, because it is a sense of that word. The number
of a lemma's sense is its place in the index files, which order senses by frequency.
Source: https://wordnet.princeton.edu/documentation/wndb5wn
"""

import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

from ctxemb.corpora.wordnet import MAX_BYTES
from ctxemb.lexicon.lexicon import Entry, LexiconError

PARTS = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
SYNTACTIC_MARKER = re.compile(r"\((a|p|ip)\)$")  # where an adjective may stand: galore(ip)

SenseNumbers = dict[tuple[str, str], int]  # (lemma in lower case, synset id) -> 1 for the most frequent sense


def read_wordnet(archive: Path) -> Iterator[Entry]:
    """Yield a synonym entry a synset, in the order of the files, then every antonym pair once.

    Raises:
        LexiconError: the archive is damaged or holds other files.
    """
    try:
        files = _files(archive)
        numbers: SenseNumbers = {}
        for part, letter in PARTS.items():
            numbers |= _sense_numbers(files.pop(f"index.{part}"), letter)
        lemmas: dict[str, list[str]] = {}
        pointers: list[tuple[str, int, str, int]] = []
        for part, letter in PARTS.items():
            for line in files.pop(f"data.{part}").splitlines():
                if line.startswith("  "):  # the licence
                    continue
                synset, words = _synset(line, letter, pointers)
                lemmas[synset] = words
                single = [word for word in words if "_" not in word]
                if single:
                    ranks = tuple(numbers.get((word.lower(), synset), 0) for word in single)
                    yield Entry("synonym", tuple(single), synset, ranks)
        yield from _antonyms(lemmas, pointers)
    except (tarfile.TarError, EOFError, OSError, KeyError, ValueError, IndexError) as error:
        raise LexiconError(
            f"{archive} is not the WordNet 3.1 database ({error!r}); delete it and fetch it again."
        ) from error


def _files(archive: Path) -> dict[str, str]:
    """The text of the data and index files, read in one pass: going back in a packed archive unpacks it anew."""
    wanted = {f"{kind}.{part}" for kind in ("data", "index") for part in PARTS}
    files = {}
    with tarfile.open(archive, "r|*") as tar:
        for member in tar:
            name = Path(member.name).name
            if name in wanted and member.isfile() and member.size <= MAX_BYTES:
                stream = tar.extractfile(member)
                assert stream is not None
                files[name] = stream.read().decode("utf-8")
    return files


def _sense_numbers(index: str, letter: str) -> SenseNumbers:
    numbers = {}
    for line in index.splitlines():
        if not line.startswith("  "):
            lemma, _, num_synsets, *rest = line.split()
            for number, offset in enumerate(rest[-int(num_synsets) :], start=1):
                numbers[lemma, letter + offset] = number
    return numbers


def _synset(line: str, letter: str, pointers: list[tuple[str, int, str, int]]) -> tuple[str, list[str]]:
    """The id and the lemmas of a synset; its antonym pointers are added to `pointers`."""
    fields = line.partition(" | ")[0].split()
    synset, num_words = letter + fields[0], int(fields[3], 16)
    words = [SYNTACTIC_MARKER.sub("", fields[4 + 2 * i]) for i in range(num_words)]
    start = 4 + 2 * num_words
    for i in range(int(fields[start])):
        symbol, offset, part, ends = fields[start + 1 + 4 * i : start + 5 + 4 * i]
        if symbol == "!":
            pointers.append((synset, int(ends[:2], 16), part.replace("s", "a") + offset, int(ends[2:], 16)))
    return synset, words


def _antonyms(lemmas: dict[str, list[str]], pointers: list[tuple[str, int, str, int]]) -> Iterator[Entry]:
    seen = set()
    for synset, source, other, target in pointers:
        # Antonymy is between words; pointers between whole synsets would carry the numbers 00.
        if not (source and target):
            continue
        pair = (lemmas[synset][source - 1], lemmas[other][target - 1])
        if not any("_" in word for word in pair) and frozenset(pair) not in seen:
            seen.add(frozenset(pair))
            yield Entry("antonym", pair)
