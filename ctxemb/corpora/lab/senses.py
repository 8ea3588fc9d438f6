"""Fifteen words with two senses each: in which topic, what they are like, what is done to them, what they do.

The words and the names of their senses are those of the example sentences; nothing else is taken from there.
"""

from dataclasses import dataclass

from ctxemb.corpora.lab.english import Action
from ctxemb.corpora.lab.topics import TOPICS, Topic, actions, listed


@dataclass(frozen=True)
class Sense:
    """A word in one of its senses.

    Attributes:
        word: singular.
        name: of the sense, as in the example sentences.
        topic: what passages that use it are about.
        adjectives: what it may be like, to stand before it.
        undergoes: what people do to it: the word is the object.
        does: what it does: the word is the subject.
        is_person: takes `who`, `he` and `she`, not `which` and `it`.
    """

    word: str
    name: str
    topic: Topic
    adjectives: tuple[str, ...]
    undergoes: tuple[Action, ...]
    does: tuple[Action, ...]
    is_person: bool = False


def sense(
    word: str, name: str, topic: str, adjectives: str, undergoes: str, does: str, *, is_person: bool = False
) -> Sense:
    """A sense out of three lists."""
    return Sense(word, name, TOPICS[topic], listed(adjectives), actions(undergoes), actions(does), is_person)


SENSES = (
    sense(
        "bank",
        "money",
        "money",
        "local, national, greedy, reliable, private, foreign",
        "rob, trust, visit, sue, own, call, guard, leave",
        "lend money, refuse credit, open a branch, raise its fees, go bankrupt, pay interest, close early, "
        "freeze the savings",
    ),
    sense(
        "bank",
        "river",
        "river",
        "muddy, steep, grassy, sandy, slippery, mossy",
        "reach, climb, follow, clear, strengthen, measure, dig up, explore",
        "crumble into the water, disappear under the flood, slope to the water, collapse after the rain, "
        "lie in the shade, smell of wet mud, slip into the stream, dry in the sun",
    ),
    sense(
        "current",
        "water",
        "river",
        "strong, swift, cold, gentle, dangerous, muddy",
        "fight, feel, fear, cross, study, follow, battle, escape",
        "carry the raft away, sweep the swimmer under, slow in the shallows, turn at the rocks, "
        "pull the boat downstream, push the logs along, swirl around the rocks, drag the net down",
    ),
    sense(
        "current",
        "electric",
        "electricity",
        "alternating, electric, weak, steady, constant, strong",
        "measure, switch off, double, interrupt, limit, reduce, produce, test",
        "flow through the wire, melt the fuse, power the lamp, heat the coil, charge the battery, "
        "pass through the circuit, damage the motor, fall to zero",
    ),
    sense(
        "bass",
        "fish",
        "river",
        "big, hungry, silver, fresh, young, striped",
        "catch, hook, clean, grill, release, weigh, feed, net",
        "swallow the bait, swim under the boat, hide in the weeds, bite the hook, jump out of the water, eat a worm, "
        "escape the net, lay its eggs",
    ),
    sense(
        "bass",
        "music",
        "music",
        "deep, loud, electric, double, heavy, booming",
        "play, tune, practise, record, hear, turn up, mix, amplify",
        "shake the speakers, drown the vocals, follow the drums, carry the rhythm, sound too loud, open the song, "
        "set the beat, fill the hall",
    ),
    sense(
        "note",
        "music",
        "music",
        "high, low, wrong, false, clear, long",
        "sing, play, hold, hear, miss, repeat, hum, practise",
        "end the song, echo in the hall, sound flat, follow the chord, start the tune, fade away, "
        "clash with the chord, please the choir",
    ),
    sense(
        "note",
        "message",
        "office",
        "short, anonymous, friendly, handwritten, angry, folded",
        "write, read, sign, send, deliver, tear up, pin up, translate",
        "thank the staff, warn the boss, lie on the desk, fall from the envelope, explain the delay, "
        "bear no signature, arrive by post, invite the guests",
    ),
    sense(
        "organ",
        "instrument",
        "music",
        "old, grand, electric, huge, wooden, solemn",
        "play, tune, restore, build, practise, hear, admire, repair",
        "fill the chapel, accompany the choir, play a hymn, drown the singers, sound at the wedding, need new pipes, "
        "thunder through the church, open the service",
    ),
    sense(
        "organ",
        "body",
        "hospital",
        "vital, healthy, damaged, internal, swollen, diseased",
        "remove, transplant, examine, donate, scan, treat, cut out, study",
        "filter the blood, fail after the infection, reject the drug, produce hormones, heal after the operation, "
        "bleed during the operation, grow in the embryo, need more oxygen",
    ),
    sense(
        "cell",
        "biology",
        "hospital",
        "living, healthy, tiny, cancerous, dead, single",
        "study, infect, stain, examine, observe, photograph, freeze, isolate",
        "divide in two, absorb sugar, produce a protein, fight the virus, copy its genes, repair its membrane, "
        "burn oxygen, carry the disease",
    ),
    sense(
        "cell",
        "prison",
        "prison",
        "dark, narrow, cold, locked, bare, damp",
        "search, lock, leave, share, clean, unlock, enter, inspect",
        "hide a tunnel, face the yard, smell of damp straw, hold two murderers, stand empty, "
        "measure six steps, contain a hard bunk, echo at night",
    ),
    sense(
        "bat",
        "animal",
        "wildlife",
        "brown, sleepy, furry, blind, hungry, wild",
        "watch, photograph, catch, rescue, feed, wake, release, track",
        "hang from the ceiling, hunt at night, spread its wings, eat the moths, fly out of the cave, "
        "sleep upside down, squeak in the dark, feed its young",
    ),
    sense(
        "bat",
        "sport",
        "ball game",
        "wooden, heavy, cracked, metal, light, lucky",
        "swing, grip, break, polish, carry, throw down, raise, tape",
        "hit the ball, snap in two, miss the ball, slip from the glove, lie beside the base, crack at the handle, "
        "meet the pitch, strike the helmet",
    ),
    sense(
        "pitcher",
        "baseball",
        "ball game",
        "young, tired, famous, nervous, injured, talented",
        "replace, praise, train, beat, boo, injure, sign, cheer",
        "throw a curve, warm up, walk off the mound, win the game, hurt a shoulder, strike out the runner, "
        "wipe the ball, lose the final",
        is_person=True,
    ),
    sense(
        "pitcher",
        "jug",
        "kitchen",
        "glass, clay, full, empty, cracked, silver",
        "fill, empty, wash, spill, break, pass, lift, rinse",
        "hold iced tea, leak on the cloth, stand on the tray, break on the floor, overflow with milk, "
        "contain lemonade, keep the water cold, shine on the shelf",
    ),
    sense(
        "crane",
        "bird",
        "wildlife",
        "white, tall, graceful, rare, wild, hungry",
        "photograph, watch, feed, protect, draw, track, frighten, rescue",
        "land in the marsh, stretch its neck, guard its eggs, fly south, stand on one leg, catch a frog, build a nest, "
        "dance for its mate",
    ),
    sense(
        "crane",
        "machine",
        "industry",
        "tall, heavy, rusty, mobile, yellow, enormous",
        "operate, rent, repair, steer, inspect, paint, move, install",
        "lift the beams, tip over, unload the truck, swing the load, block the gate, lower the pipes, drop a brick, "
        "carry ten tons",
    ),
    sense(
        "plant",
        "botany",
        "garden",
        "green, thirsty, leafy, wild, exotic, tall",
        "water, prune, grow, dig up, pick, feed, sell, label",
        "need more light, grow in the shade, lose its leaves, bloom in June, wither in the heat, attract the bees, "
        "climb the wall, bear red berries",
    ),
    sense(
        "plant",
        "factory",
        "industry",
        "chemical, nuclear, huge, noisy, modern, polluted",
        "close, build, manage, modernise, inspect, sell, visit, run",
        "make steel, employ many welders, pollute the air, produce trucks, burn coal, shut down, export machines, "
        "hire new workers",
    ),
    sense(
        "match",
        "sport",
        "ball game",
        "exciting, final, boring, friendly, close, important",
        "win, lose, watch, cancel, interrupt, film, postpone, enjoy",
        "end in a draw, start late, fill the stadium, go into overtime, excite the crowd, decide the league, "
        "last two hours, finish without a goal",
    ),
    sense(
        "match",
        "fire",
        "camp",
        "wet, burning, dry, wooden, single, long",
        "strike, light, drop, blow out, waste, find, borrow, hold",
        "light the candle, go out in the wind, start the fire, fall into the straw, break in half, flare up, "
        "glow in the dark, ignite the stove",
    ),
    sense(
        "mouse",
        "animal",
        "garden",
        "grey, tiny, hungry, timid, white, fat",
        "chase, catch, feed, scare, trap, see, hear, poison",
        "eat the cheese, run from the cat, hide in the barn, nibble the seeds, squeak in the straw, build a nest, "
        "steal a nut, live under the shed",
    ),
    sense(
        "mouse",
        "computer",
        "computer",
        "wireless, optical, broken, cheap, modern, plastic",
        "click, plug in, move, replace, connect, lose, buy, clean",
        "stop working, move the cursor, need a battery, freeze on the screen, click twice, select the file, "
        "come with a cable, cost ten dollars",
    ),
    sense(
        "star",
        "celestial",
        "sky",
        "bright, distant, faint, massive, red, dying",
        "observe, discover, name, photograph, study, follow, see, measure",
        "shine over the desert, explode in the distance, burn its hydrogen, orbit the galaxy, rise in the east, "
        "fade at dawn, collapse into dust, guide the sailors",
    ),
    sense(
        "star",
        "celebrity",
        "show business",
        "famous, rich, glamorous, young, rising, vain",
        "interview, admire, photograph, follow, recognise, hire, adore, meet",
        "sign autographs, leave the hotel, wear a silk dress, win an award, wave to the fans, play the villain, "
        "forget the lines, arrive by limousine",
        is_person=True,
    ),
    sense(
        "jam",
        "food",
        "kitchen",
        "sweet, sticky, homemade, red, thick, fresh",
        "spread, taste, cook, stir, spill, make, order, sell",
        "stick to the spoon, boil over, drip on the cloth, taste of plums, cool in the jar, attract the wasps, "
        "need more sugar, set overnight",
    ),
    sense(
        "jam",
        "traffic",
        "road",
        "long, endless, terrible, daily, huge, slow",
        "avoid, cause, report, leave, escape, curse, clear, predict",
        "block the motorway, last three hours, start at the junction, delay the bus, grow behind the accident, "
        "spread to the suburbs, end at the tunnel, stop the ambulance",
    ),
    sense(
        "mole",
        "animal",
        "garden",
        "black, blind, little, furry, busy, soft",
        "trap, chase, watch, catch, see, rescue, feed, follow",
        "dig a tunnel, ruin the lawn, eat a worm, push up the soil, sleep underground, leave a heap of earth, "
        "hunt in the dark, scratch at the roots",
    ),
    sense(
        "mole",
        "spy",
        "secret service",
        "secret, clever, hidden, dangerous, patient, ruthless",
        "expose, arrest, hire, suspect, question, betray, protect, recruit",
        "pass the secrets on, copy the code, work for the enemy, betray the agents, warn the embassy, vanish abroad, "
        "open the safe, deceive the minister",
        is_person=True,
    ),
)
