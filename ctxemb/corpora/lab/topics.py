"""Eighteen topics: who is there, what they handle and how, and where it happens.

Some words stand in more than one topic, and those of frames.py in all.
"""

from dataclasses import dataclass

from ctxemb.corpora.lab.english import Action, conjugate


@dataclass(frozen=True)
class Topic:
    """What a passage is about.

    Attributes:
        people: nouns for those who act.
        things: nouns for what they handle.
        handling: what can be done to each of the things.
        places: where, as a phrase that follows a sentence.
    """

    people: tuple[str, ...]
    things: tuple[str, ...]
    handling: tuple[Action, ...]
    places: tuple[str, ...]


def listed(text: str) -> tuple[str, ...]:
    """Split at commas."""
    return tuple(text.split(", "))


def actions(text: str) -> tuple[Action, ...]:
    """The forms of verb phrases, split at commas."""
    return tuple(map(conjugate, listed(text)))


def topic(people: str, things: str, handling: str, places: str) -> Topic:
    """A topic out of four lists."""
    return Topic(listed(people), listed(things), actions(handling), listed(places))


TOPICS = {
    "money": topic(
        "cashier, banker, clerk, customer",
        "loan, cheque, mortgage, receipt, coin",
        "check, record, lose",
        "at the counter, in the vault, near the cash machine",
    ),
    "river": topic(
        "angler, fisherman, rower, ferryman",
        "canoe, paddle, fishing rod, raft, boat",
        "drag, dry, repair",
        "beside the stream, below the bridge, near the rapids",
    ),
    "music": topic(
        "guitarist, drummer, singer, composer",
        "song, melody, drum, guitar, hymn",
        "practise, hear, play",
        "on the stage, in the rehearsal room, at the concert",
    ),
    "office": topic(
        "secretary, postman, typist, editor",
        "envelope, letter, parcel, drawer, stapler",
        "open, label, move",
        "at the post office, in the waiting room, at the desk",
    ),
    "hospital": topic(
        "surgeon, nurse, doctor, biologist",
        "vaccine, microscope, bandage, scalpel, virus",
        "study, store, label",
        "in the laboratory, on the ward, in the operating theatre",
    ),
    "prison": topic(
        "prisoner, guard, thief, murderer",
        "key, alarm, knife, uniform, tunnel",
        "hide, inspect, report",
        "behind bars, in the prison yard, at the end of the corridor",
    ),
    "ball game": topic(
        "batter, catcher, umpire, coach",
        "ball, helmet, glove, trophy, whistle",
        "throw, drop, catch",
        "in the stadium, on the field, beside the scoreboard",
    ),
    "wildlife": topic(
        "zoologist, hiker, photographer, hunter",
        "nest, feather, egg, insect, burrow",
        "photograph, find, touch",
        "in the cave, near the marsh, in the nature reserve",
    ),
    "kitchen": topic(
        "cook, baker, waiter, grandmother",
        "cake, spoon, plate, glass, loaf",
        "serve, cover, fetch",
        "in the kitchen, in the pantry, at breakfast",
    ),
    "industry": topic(
        "builder, engineer, welder, foreman",
        "truck, beam, pipe, machine, helmet",
        "move, weigh, repair",
        "on the building site, in the factory yard, beside the scaffold",
    ),
    "garden": topic(
        "gardener, farmer, florist, botanist",
        "flower, rake, seed, leaf, vegetable",
        "collect, bring, clean",
        "in the garden, beside the hedge, in the greenhouse",
    ),
    "camp": topic(
        "camper, scout, smoker, ranger",
        "candle, stove, lantern, log, pipe",
        "light, dry, carry",
        "at the campfire, in the tent, beside the stove",
    ),
    "computer": topic(
        "programmer, designer, gamer, typist",
        "keyboard, screen, printer, file, laptop",
        "update, connect, test",
        "at the desk, beside the keyboard, in the office",
    ),
    "electricity": topic(
        "electrician, engineer, physicist, mechanic",
        "wire, battery, lamp, circuit, switch",
        "test, replace, connect",
        "in the workshop, at the power station, behind the fuse box",
    ),
    "sky": topic(
        "astronomer, sailor, poet, astronaut",
        "telescope, planet, comet, galaxy, rocket",
        "observe, photograph, name",
        "at the observatory, under the night sky, in the desert",
    ),
    "show business": topic(
        "actor, director, reporter, photographer",
        "film, ticket, costume, camera, script",
        "praise, review, sell",
        "on the red carpet, at the premiere, in Hollywood",
    ),
    "road": topic(
        "driver, cyclist, lorry driver, policeman",
        "car, bus, lorry, bicycle, tunnel",
        "follow, photograph, find",
        "on the motorway, near the tunnel, at the junction",
    ),
    "secret service": topic(
        "spy, agent, minister, general",
        "code, secret, file, passport, letter",
        "hide, copy, steal",
        "inside the ministry, at the embassy, in the capital",
    ),
}
