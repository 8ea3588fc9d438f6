"""The Wikipedia extract inside the installed gensim wheel: real text on any machine, with no network.

gensim takes care of links, entities, footnotes and addresses; this room removes first what its patterns leave
standing (tables, files, galleries, formulas), and keeps running text only: no headings, lists or captions.
"""

import bz2
import importlib.util
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ctxemb.corpora.corpus import CorpusError

DUMP = "test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"
MIN_WORDS = 8

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
FOOTNOTE = re.compile(r"<ref\b[^<>]*/\s*>|<ref\b[^<>]*>.*?</ref\s*>", re.DOTALL | re.IGNORECASE)
# Tags whose content is no prose.
BLOCK = re.compile(
    r"<(gallery|math|timeline|code|source|syntaxhighlight|pre|score|table|imagemap|chem|references|poem|nowiki)\b"
    r"[^<>]*(?:/>|>.*?</\1\s*>)",
    re.DOTALL | re.IGNORECASE,
)
# The article's own text ends here.
LAST_SECTION = re.compile(
    r"^==\s*(see also|references?|notes|footnotes|further reading|external links|bibliography|sources|citations"
    r"|works cited|notes and references|references and notes)\s*==.*",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
# Templates that stand for words of the sentence, innermost first; every other template is dropped.
CONVERT = re.compile(
    r"\{\{\s*(?:convert|cvt)\s*\|([^{}|]*)\|(?:(to|and|by|-|–)\|([^{}|]*)\|)?([^{}|]*)[^{}]*\}\}", re.IGNORECASE
)
SPOKEN = re.compile(r"\{\{\s*(?:lang|nihongo|transl)\s*\|[^{}|]*\|([^{}|]*)[^{}]*\}\}", re.IGNORECASE)
PLAIN = re.compile(r"\{\{\s*(?:nowrap|nobr|em|abbr|tooltip|sc|smallcaps|quote|lang-en)\s*\|([^{}|]*)[^{}]*\}\}", re.I)
DASH = re.compile(r"\{\{\s*(?:spaced ?ndash|snd|ndash|endash|mdash|emdash|dash|–)\s*\}\}", re.IGNORECASE)
CIRCA = re.compile(r"\{\{\s*(?:circa|c\.)\s*\|([^{}|]*)[^{}]*\}\}", re.IGNORECASE)
TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
TABLE = re.compile(r"\{\|(?:(?!\{\|).)*?\|\}", re.DOTALL)
FILE = re.compile(r"\[\[\s*(?:file|image|category|media)\s*:(?:[^\[\]]|\[[^\[\]]*\]|\[\[[^\[\]]*\]\])*\]\]", re.I)
BEHAVIOUR = re.compile(r"__[A-Z]+__")

QUOTES = re.compile(r"'{2,}")
NO_PROSE = re.compile(r"^[\s=*#:;|!{}<&+]|[{}|]|\]\]|\[\[|={2,}|https?:")
EMPTY_BRACKETS = re.compile(r"\s*\((?:[\s,;:/–-]|or|and|also)*\)")
BRACKET_START = re.compile(r"\((?:[\s,;:]|or )+")
SPACE_BEFORE = re.compile(r"\s+([,;:.)])")
SENTENCE_END = re.compile(r"[.!?][\"”’')\]]*$")


def plain_paragraphs(wikitext: str) -> list[str]:
    """Reduce an article's MediaWiki source to its paragraphs of running text.

    >>> plain_paragraphs("== Head ==\\n'''Iron''' is a [[metal|hard metal]]{{sfn|X}} known to everybody.<ref>Y</ref>")
    ['Iron is a hard metal known to everybody.']
    """
    # gensim takes a second to import, and only this corpus needs it.
    from gensim.corpora.wikicorpus import filter_wiki

    text = BLOCK.sub("", FOOTNOTE.sub("", COMMENT.sub("", wikitext)))
    text = LAST_SECTION.sub("", text)
    text = until_stable(without_innermost_templates, text)
    text = until_stable(lambda text: TABLE.sub("\n", text), text)
    text = BEHAVIOUR.sub("", FILE.sub("", text))
    return [tidy(line) for line in QUOTES.sub("", filter_wiki(text)).split("\n") if is_running_text(line)]


def without_innermost_templates(text: str) -> str:
    """Say the few templates that stand for words, and drop the others; call again for those around them."""
    text = CONVERT.sub(lambda m: " ".join(filter(None, (m[1], m[2], m[3], m[4]))), text)
    text = CIRCA.sub(r"c. \1", DASH.sub(" – ", PLAIN.sub(r"\1", SPOKEN.sub(r"\1", text))))
    return TEMPLATE.sub("", text)


def until_stable(change: Callable[[str], str], text: str) -> str:
    """Apply `change` until it changes nothing."""
    while (changed := change(text)) != text:
        text = changed
    return text


def tidy(line: str) -> str:
    """Close the gaps that removed markup leaves: empty brackets, a space before a comma."""
    line = EMPTY_BRACKETS.sub("", line)
    line = BRACKET_START.sub("(", line)
    return " ".join(SPACE_BEFORE.sub(r"\1", line).split())


def is_running_text(line: str) -> bool:
    """Tell sentences from headings, list items, captions and table cells."""
    return (
        NO_PROSE.search(line) is None
        and SENTENCE_END.search(line.rstrip()) is not None
        and len(line.split()) >= MIN_WORDS
    )


def dump_path() -> Path:
    """Find the extract in the installed gensim.

    Raises:
        CorpusError: gensim is not installed, or without its test data.
    """
    package = importlib.util.find_spec("gensim")
    path = Path(package.origin).parent / DUMP if package and package.origin else None
    if path is None or not path.is_file():
        raise CorpusError("wiki-sample lies inside the gensim wheel: pip install 'gensim==4.4.0' brings it.")
    return path


def read(path: Path) -> Iterator[str]:
    """Yield the paragraphs of every article in a (bz2) MediaWiki dump; redirects are left out."""
    from gensim.corpora.wikicorpus import extract_pages

    with bz2.open(path) as stream:
        # gensim says bool, and means "or the namespaces to keep".
        for _, wikitext, _ in extract_pages(stream, filter_namespaces=["0"]):  # pyright: ignore[reportArgumentType]
            if not wikitext.lstrip().lower().startswith("#redirect"):
                yield from plain_paragraphs(wikitext)
