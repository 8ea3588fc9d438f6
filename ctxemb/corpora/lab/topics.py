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
        "cashier, banker, clerk, customer, accountant",
        "loan, cheque, mortgage, receipt, coin, account",
        "check, record, lose, count",
        "at the counter, in the vault, near the cash machine, behind the teller",
    ),
    "river": topic(
        "angler, fisherman, rower, ferryman, swimmer",
        "canoe, paddle, fishing rod, raft, boat, net",
        "drag, dry, repair, drop",
        "beside the stream, below the bridge, near the rapids, among the reeds",
    ),
    "music": topic(
        "guitarist, drummer, singer, composer, conductor",
        "song, melody, drum, guitar, hymn, chord",
        "practise, hear, play, record",
        "on the stage, in the rehearsal room, at the concert, in the chapel",
    ),
    "office": topic(
        "secretary, postman, typist, editor, translator",
        "envelope, letter, parcel, drawer, stapler, folder",
        "open, label, move, drop",
        "at the post office, in the waiting room, at the desk",
    ),
    "hospital": topic(
        "surgeon, nurse, doctor, biologist, patient",
        "vaccine, microscope, bandage, scalpel, virus, tissue",
        "study, store, label, test",
        "in the laboratory, on the ward, in the operating theatre, at the clinic",
    ),
    "prison": topic(
        "prisoner, guard, thief, murderer, warden",
        "key, alarm, knife, uniform, tunnel, fence",
        "hide, inspect, report, touch",
        "behind bars, in the prison yard, in the east wing, beside the watchtower",
    ),
    "ball game": topic(
        "batter, catcher, umpire, coach, fielder",
        "ball, helmet, glove, trophy, whistle, jersey",
        "throw, drop, catch, lift",
        "in the stadium, on the field, beside the scoreboard, in the second half",
    ),
    "wildlife": topic(
        "zoologist, hiker, photographer, hunter, ranger",
        "nest, feather, egg, insect, burrow, trap",
        "photograph, find, touch, draw",
        "in the cave, near the marsh, in the nature reserve, among the reeds",
    ),
    "kitchen": topic(
        "cook, baker, waiter, grandmother, guest",
        "cake, spoon, plate, glass, loaf, jar",
        "serve, cover, fetch, drop",
        "in the kitchen, in the pantry, at breakfast, beside the oven",
    ),
    "industry": topic(
        "builder, engineer, welder, foreman, machinist",
        "truck, beam, pipe, machine, helmet, tank",
        "move, weigh, repair, paint",
        "on the building site, in the factory yard, beside the scaffold, at the gate",
    ),
    "garden": topic(
        "gardener, farmer, florist, botanist, beekeeper",
        "flower, rake, seed, leaf, vegetable, hedge",
        "collect, bring, clean, cover",
        "in the garden, beside the hedge, in the greenhouse, on the farm",
    ),
    "camp": topic(
        "camper, scout, smoker, ranger, hunter",
        "candle, stove, lantern, log, pipe, cigarette",
        "light, dry, carry, share",
        "at the campfire, in the tent, beside the stove, in the wind",
    ),
    "computer": topic(
        "programmer, designer, gamer, typist, engineer",
        "keyboard, screen, printer, file, laptop, cable",
        "update, connect, test, copy",
        "at the desk, beside the keyboard, in the office, in front of the screen",
    ),
    "electricity": topic(
        "electrician, engineer, physicist, mechanic, inventor",
        "wire, battery, lamp, circuit, switch, fuse",
        "test, replace, connect, measure",
        "in the workshop, at the power station, behind the fuse box",
    ),
    "sky": topic(
        "astronomer, sailor, poet, astronaut, shepherd",
        "telescope, planet, comet, galaxy, rocket, satellite",
        "observe, photograph, name, study",
        "at the observatory, under the night sky, in the desert, in the night sky",
    ),
    "show business": topic(
        "actor, director, reporter, photographer, singer",
        "film, ticket, costume, camera, script, interview",
        "praise, review, sell, copy",
        "on the red carpet, at the premiere, in Hollywood, behind the stage",
    ),
    "road": topic(
        "driver, cyclist, lorry driver, policeman, passenger",
        "car, bus, lorry, bicycle, tunnel, map",
        "follow, photograph, find, leave",
        "on the motorway, near the tunnel, at the junction, before the bridge",
    ),
    "secret service": topic(
        "spy, agent, minister, general, detective",
        "code, secret, file, passport, letter, radio",
        "hide, copy, steal, smuggle",
        "inside the ministry, at the embassy, in the capital, across the border",
    ),
}
