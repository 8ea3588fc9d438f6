"""English word forms: plurals, the forms of a verb, and `a` or `an`. Only for the words of this lab."""

import re
from dataclasses import dataclass

PLURALS = {"knife": "knives", "leaf": "leaves", "loaf": "loaves", "thief": "thieves"}
# base: (past, participle)
IRREGULAR = {
    "bear": ("bore", "borne"),
    "beat": ("beat", "beaten"),
    "bite": ("bit", "bitten"),
    "bleed": ("bled", "bled"),
    "blow": ("blew", "blown"),
    "break": ("broke", "broken"),
    "bring": ("brought", "brought"),
    "build": ("built", "built"),
    "buy": ("bought", "bought"),
    "catch": ("caught", "caught"),
    "come": ("came", "come"),
    "cost": ("cost", "cost"),
    "cut": ("cut", "cut"),
    "dig": ("dug", "dug"),
    "draw": ("drew", "drawn"),
    "eat": ("ate", "eaten"),
    "fall": ("fell", "fallen"),
    "feed": ("fed", "fed"),
    "feel": ("felt", "felt"),
    "fight": ("fought", "fought"),
    "find": ("found", "found"),
    "fly": ("flew", "flown"),
    "forget": ("forgot", "forgotten"),
    "freeze": ("froze", "frozen"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "hang": ("hung", "hung"),
    "hear": ("heard", "heard"),
    "hide": ("hid", "hidden"),
    "hit": ("hit", "hit"),
    "hold": ("held", "held"),
    "hurt": ("hurt", "hurt"),
    "keep": ("kept", "kept"),
    "lay": ("laid", "laid"),
    "leave": ("left", "left"),
    "lend": ("lent", "lent"),
    "lie": ("lay", "lain"),
    "light": ("lit", "lit"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "meet": ("met", "met"),
    "pay": ("paid", "paid"),
    "read": ("read", "read"),
    "rise": ("rose", "risen"),
    "run": ("ran", "run"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "set": ("set", "set"),
    "shake": ("shook", "shaken"),
    "shine": ("shone", "shone"),
    "shut": ("shut", "shut"),
    "sing": ("sang", "sung"),
    "sleep": ("slept", "slept"),
    "spread": ("spread", "spread"),
    "stand": ("stood", "stood"),
    "steal": ("stole", "stolen"),
    "stick": ("stuck", "stuck"),
    "strike": ("struck", "struck"),
    "sweep": ("swept", "swept"),
    "swim": ("swam", "swum"),
    "swing": ("swung", "swung"),
    "tear": ("tore", "torn"),
    "throw": ("threw", "thrown"),
    "wake": ("woke", "woken"),
    "wear": ("wore", "worn"),
    "win": ("won", "won"),
    "write": ("wrote", "written"),
}
HISSING = re.compile(r"(s|x|z|ch|sh)$")
CONSONANT_Y = re.compile(r"[^aeiou]y$")
# of one syllable, with one vowel and one consonant after it (robbed, stopped), and cancelled, labelled
DOUBLING = re.compile(r"^[^aeiou]*[aeiou][bdgklmnprt]$|[^e]el$")
# by sound, not by letter: a uniform
A_BEFORE_VOWEL = re.compile(r"\b([Aa]) (?=(?!uni)[aeiou])")


@dataclass(frozen=True)
class Action:
    """What somebody does, in its forms; what follows the verb is part of each.

    Attributes:
        base: `lend money`.
        third: `lends money`.
        past: `lent money`.
        participle: `lent money`, after `had` or `was`.
    """

    base: str
    third: str
    past: str
    participle: str


def with_s(word: str) -> str:
    """The plural of a noun, the third person of a verb.

    >>> with_s("lorry driver"), with_s("lorry"), with_s("catch"), with_s("fisherman")
    ('lorry drivers', 'lorries', 'catches', 'fishermen')
    """
    if word in PLURALS:
        return PLURALS[word]
    if word.endswith("man"):
        return word.removesuffix("man") + "men"
    if CONSONANT_Y.search(word):
        return word[:-1] + "ies"
    return word + ("es" if HISSING.search(word) or word == "go" else "s")


def with_ed(verb: str) -> str:
    """The past of a regular verb.

    >>> with_ed("rob"), with_ed("visit"), with_ed("label"), with_ed("carry"), with_ed("escape")
    ('robbed', 'visited', 'labelled', 'carried', 'escaped')
    """
    if CONSONANT_Y.search(verb):
        return verb[:-1] + "ied"
    if DOUBLING.search(verb):
        return verb + verb[-1] + "ed"
    return verb + ("d" if verb.endswith("e") else "ed")


def conjugate(phrase: str) -> Action:
    """The forms of a phrase that begins with a verb.

    >>> conjugate("dig a tunnel")
    Action(base='dig a tunnel', third='digs a tunnel', past='dug a tunnel', participle='dug a tunnel')
    """
    verb, space, rest = phrase.partition(" ")
    past, participle = IRREGULAR.get(verb) or (with_ed(verb),) * 2
    return Action(*(form + space + rest for form in (verb, with_s(verb), past, participle)))


def as_sentence(text: str) -> str:
    """Give a filled frame its capital and its articles.

    >>> as_sentence("a old clerk met a uniform .".replace(" .", "."))
    'An old clerk met a uniform.'
    """
    text = A_BEFORE_VOWEL.sub(r"\1n ", text)
    return text[0].upper() + text[1:]
