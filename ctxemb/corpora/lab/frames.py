"""Sentence frames, and the words that every topic shares.

A frame is a sentence with slots. Most frames say something of the topic on both sides of the ambiguous word, as a
language model has no use for a topic that nothing more is said about. The action is the word's own: `{do}`, `{does}`,
`{did}`, `{done}`. The other slots:

    word, adj              the ambiguous word, what it is like
    person, people         those of the topic; `people` is plural
    anybody, stranger      somebody that any topic shares; somebody of any topic
    thing, things          what the topic handles; `things` is plural
    anything, oddity       a thing that any topic shares; a thing of any topic
    handle, handled, treated    what is done to a thing: base, past, participle
    place                  where, in the topic
    anywhere, quality, reacted, when, soon, often  shared by all topics
    he, his                pronouns for the last person
    it, that               pronouns for the ambiguous word
"""

from ctxemb.corpora.lab.topics import listed

SHARED = {
    "anybody": listed("man, woman, boy, girl, teacher, cousin, neighbour, tourist"),
    "anything": listed("bag, newspaper, umbrella, picture, hat, book, box"),
    "anywhere": listed(
        "in the village, near the market, in the old town, behind the house, outside the school, by the road"
    ),
    "quality": listed("strange, wonderful, terrible, odd, remarkable, ordinary, impressive, unusual"),
    "reacted": listed(
        "laughed, went home, said nothing, felt better, began to whistle, called a friend, shrugged, "
        "ran outside, fell silent, smiled, sat down"
    ),
    "when": listed(
        "yesterday, last week, on Monday, this morning, after lunch, three days ago, last winter, in the evening, "
        "at noon, in April"
    ),
    "soon": listed("tomorrow, next week, before noon, on Friday, one day, in a few minutes, next summer"),
    "often": listed("every week, every Monday, now and then, every morning, once a year, on Sundays, time and again"),
}

# {do} is what people do to the word
UNDERGOING = (
    "{place} {people} {did} the {adj} {word} and {handled} {things}.",
    "{place} the {person} with the {things} {did} the {word}.",
    "{things} and the {adj} {word} {done} by {people} were {place}.",
    "Why did {people} with {things} {do} the {word} {place}?",
    "After {people} {place} had {done} the {adj} {word}, {people} {handled} {things}.",
    "The {person} who {did} the {word} {place} also {handled} {things}.",
    "Most {people} {do} a {adj} {word} {place} before they {handle} {things}.",
    "“Please do not {do} the {word} {place},” said the {person} with the {things}.",
    "The {person} {handled} {things} and then {did} the {adj} {word} {place}.",
    "The {word} was {done} {place} by {people} with {things}.",
)
# {do} is what the word does
DOING = (
    "{place} the {adj} {word} {did} and {people} {handled} {things}.",
    "The {person} {handled} {things} {place} because the {word} {did}.",
    "While {people} {handled} {things} {place}, the {adj} {word} {did}.",
    "The {person} {place} said that the {word} {did} before {people} {handled} {things}.",
    "{people} and their {things} were {place} when the {adj} {word} {did}.",
    "Will the {word} {do} before {people} {handle} {things} {place}?",
    "Every time the {adj} {word} {does}, {people} {handle} {things} {place}.",
    "{things} were {treated} by {people} {place} before the {word} {did}.",
    "There is a {adj} {word} {that} {does} when {people} {handle} {things} {place}.",
    "Did the {word} {do} while {people} {handled} {things} {place}?",
    "To the surprise of {people} with {things}, the {adj} {word} {did} {place}.",
    "{people} {place} hope that the {word} {does} {soon}.",
)
# the same, after a sentence with a {person}
UNDERGOING_NEXT = (
    "{place} {he} {did} the {adj} {word} and {handled} {things}.",
    "With {things} {he} {did} the {word} {place}.",
    "{he} {handled} {things} {place} but had never {done} the {adj} {word}.",
)
DOING_NEXT = (
    "{he} {handled} {things} {place} until the {word} {did}.",
    "{place} {he} told {people} how the {adj} {word} {did}.",
)
# without the word
ASIDE = (
    "The {person} {handled} {things} {place}.",
    "Two {things} were {treated} by the {person} {place}.",
    "Has the {person} {treated} the {things} {place}?",
    "The {person} {reacted}, and so did a {stranger} {anywhere}.",
    "{it} was {quality}, as the {person} told the {anybody} {when}.",
    "The {person} with the {oddity} {handled} a {anything} {often}.",
)
ASIDE_NEXT = (
    "{he} {handled} {things} {place}.",
    "{his} {thing} was {quality}, and {he} {reacted}.",
)
