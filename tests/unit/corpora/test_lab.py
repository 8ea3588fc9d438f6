import re
from collections import Counter
from itertools import islice, permutations

import pytest

from ctxemb.corpora import open_corpus
from ctxemb.corpora.lab import SENSES, held_out_sentences, labelled_passages, passages
from ctxemb.corpora.lab.english import IRREGULAR, PLURALS, Action, as_sentence, conjugate, with_s
from ctxemb.corpora.lab.frames import ASIDE, ASIDE_NEXT, DOING, DOING_NEXT, SHARED, UNDERGOING, UNDERGOING_NEXT
from ctxemb.corpora.lab.topics import TOPICS
from ctxemb.corpora.named import NAMED
from ctxemb.examples import load_examples
from ctxemb.text import split_sentences

AMBIGUOUS = {sense.word for sense in SENSES}
FRAMES = UNDERGOING + DOING + UNDERGOING_NEXT + DOING_NEXT + ASIDE + ASIDE_NEXT
ALL_ACTIONS = {action for sense in SENSES for action in sense.undergoes + sense.does}
WORD = re.compile(r"[^\W_]+")
# words that any English sentence may be full of
FUNCTION_WORDS = set(
    re.findall(
        r"\w+",
        """a after again all always an and any are as at be because been before behind by can did do does during even
        ever every for from had has have he her here his how i if in into is it its last later long many most much
        neither never no nobody nor not of off on one or our out over really she so than that the their them then
        there they this to too two under up us was we were what when which while who why will with would you""",
    )
)


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


def content_runs(text: str, length: int) -> set[tuple[str, ...]]:
    content = [word for word in words(text) if word not in FUNCTION_WORDS]
    return {tuple(content[i : i + length]) for i in range(len(content) - length + 1)}


@pytest.fixture(scope="module")
def corpus() -> list[list[str]]:
    """The sentences of every passage of the corpus `lab`."""
    return [split_sentences(passage) for passage in open_corpus("lab").passages()]


@pytest.fixture(scope="module")
def sentences(corpus) -> list[str]:
    return [sentence for passage in corpus for sentence in passage]


# word forms


@pytest.mark.parametrize(
    ("phrase", "third", "past", "participle"),
    [
        ("rob", "robs", "robbed", "robbed"),
        ("cancel", "cancels", "cancelled", "cancelled"),
        ("visit", "visits", "visited", "visited"),
        ("carry ten tons", "carries ten tons", "carried ten tons", "carried ten tons"),
        ("play", "plays", "played", "played"),
        ("go bankrupt", "goes bankrupt", "went bankrupt", "gone bankrupt"),
        ("catch a frog", "catches a frog", "caught a frog", "caught a frog"),
        ("boo", "boos", "booed", "booed"),
        ("plug in", "plugs in", "plugged in", "plugged in"),
        ("mix", "mixes", "mixed", "mixed"),
        ("repeat", "repeats", "repeated", "repeated"),
        ("break", "breaks", "broke", "broken"),
    ],
)
def test_a_verb_is_conjugated_and_keeps_what_follows(phrase, third, past, participle):
    action = conjugate(phrase)
    assert (action.base, action.third, action.past, action.participle) == (phrase, third, past, participle)


def test_a_noun_becomes_plural():
    regular = {"clerk": "clerks", "torch": "torches", "battery": "batteries", "key": "keys", "fuse": "fuses"}
    others = {"loaf": "loaves", "knife": "knives", "fisherman": "fishermen", "woman": "women", "box": "boxes"}
    for noun, plural in (regular | others).items():
        assert with_s(noun) == plural


def test_every_irregular_form_is_used_and_none_is_a_regular_one():
    used = {action.base.partition(" ")[0] for action in ALL_ACTIONS}
    used |= {action.base for topic in TOPICS.values() for action in topic.handling}
    assert set(IRREGULAR) <= used
    nouns = {noun for topic in TOPICS.values() for noun in topic.things + topic.people}
    assert set(PLURALS) <= nouns


def test_articles_follow_the_sound():
    assert as_sentence("a old clerk saw a uniform and a apple.") == "An old clerk saw a uniform and an apple."


# the lists


def test_there_are_enough_words_each_in_two_senses_of_the_examples():
    examples = load_examples()
    known = set(zip(examples.word, examples.sense, strict=True))
    assert len(AMBIGUOUS) >= 12
    assert {(sense.word, sense.name) for sense in SENSES} <= known
    assert set(Counter(sense.word for sense in SENSES).values()) == {2}
    for word in AMBIGUOUS:
        first, second = (sense.topic for sense in SENSES if sense.word == word)
        assert first is not second


def test_no_list_holds_an_ambiguous_word_or_a_word_twice():
    shared = [text for texts in SHARED.values() for text in texts]
    for sense in SENSES:
        topic = sense.topic
        for texts in (sense.adjectives, sense.undergoes, sense.does, topic.people, topic.things, topic.places, shared):
            assert len(set(texts)) == len(texts)
            for text in texts:
                assert AMBIGUOUS.isdisjoint(words(text.base if isinstance(text, Action) else text)), text


# the text


def test_one_seed_gives_one_text_and_another_seed_another():
    text = list(passages(90, seed=3))
    assert text == list(passages(90, seed=3))
    assert text == list(islice(passages(10_000, seed=3), 90))  # fewer passages are the beginning of more
    assert set(text).isdisjoint(passages(90, seed=4))
    assert held_out_sentences(3) == held_out_sentences(3)
    assert held_out_sentences(3) != held_out_sentences(3, seed=2)


def test_the_size_is_as_promised(corpus, sentences):
    assert 20_000 <= len(sentences) <= 200_000
    assert len(set(sentences)) > 0.9 * len(sentences)
    num_words = sum(len(sentence.split()) for sentence in sentences)
    assert abs(num_words / 1e6 - float(NAMED["lab"].size.split()[0])) < 0.05
    assert set(map(len, corpus)) == {3, 4, 5}


def test_a_passage_uses_one_ambiguous_word_and_most_use_it_in_two_sentences(corpus):
    num_twice = 0
    for passage in corpus:
        counts = [Counter(word for word in words(sentence) if word in AMBIGUOUS) for sentence in passage]
        assert len(set().union(*counts)) == 1
        assert all(count.total() <= 1 for count in counts)
        num_twice += sum(map(bool, counts)) >= 2
    assert num_twice > 0.85 * len(corpus)


def test_senses_are_balanced_and_a_passage_is_of_the_sense_it_is_labelled_with():
    labelled = list(labelled_passages(50 * len(SENSES), seed=5))
    assert set(Counter((sense.word, sense.name) for sense, _ in labelled).values()) == {50}
    for start in range(0, len(labelled), len(SENSES)):
        assert len({(sense.word, sense.name) for sense, _ in labelled[start : start + len(SENSES)]}) == len(SENSES)
    for sense, text in labelled:
        forms = {form for action in sense.undergoes + sense.does for form in vars(action).values()}
        assert sense.word in words(text)
        assert any(form in text for form in forms), text


def test_a_verb_agrees_with_its_subject_and_keeps_its_tense(sentences):
    thirds, bases = ({getattr(action, form).partition(" ")[0] for action in ALL_ACTIONS} for form in ("third", "base"))
    ambiguous = "|".join(sorted(AMBIGUOUS))
    plurals = "|".join({with_s(person) for topic in TOPICS.values() for person in topic.people})
    num_checked = 0
    for sentence in sentences:
        if match := re.match(rf"Every time the \w+ ({ambiguous}) (\w+)", sentence):
            assert match[2] in thirds, sentence
        elif match := re.match(rf"(?:Will|Did) the (?:\w+ )?(?:{ambiguous}) (\w+)", sentence):
            assert match[1] in bases, sentence
        elif sentence.startswith("Most "):
            assert (match := re.match(rf"Most (?:{plurals}) (\w+) ", sentence)), sentence
            assert match[1] in bases, sentence
        else:
            continue
        num_checked += 1
    assert num_checked > 1_000


def test_sentences_are_tidy(sentences):
    for sentence in sentences:
        assert re.fullmatch(r"[A-Z“].*[.?]", sentence)
        assert not re.search(r"[{}]|  | [.,?]|\b[Aa] (?!uni)[aeiou]|\b[Aa]n (?![aeiou])", sentence), sentence
        assert not re.search(r"\b(\w{3,}) \1\b", sentence), sentence


@pytest.mark.parametrize("frame", FRAMES)
def test_every_frame_is_in_the_text(frame, sentences):
    # a slot may be filled with anything, and so may the article before it be
    pattern = re.compile(
        "".join(
            "an? " if part == "a " else ".+" if part[0] == "{" else re.escape(part)
            for part in re.findall(r"\{\w+\}|\ba (?=\{)|.", frame)
        ),
        re.IGNORECASE,
    )
    assert sum(bool(pattern.fullmatch(sentence)) for sentence in sentences[:6_000]) >= 10


def test_some_of_the_words_around_a_word_stand_beside_both_its_senses():
    around: dict[str, dict[str, Counter[str]]] = {word: {} for word in AMBIGUOUS}
    for sense, text in labelled_passages(100 * len(SENSES), seed=6):
        content = [word for word in words(text) if word not in FUNCTION_WORDS | AMBIGUOUS]
        around[sense.word].setdefault(sense.name, Counter()).update(content)
    for counts in around.values():
        for one, other in permutations(counts.values()):
            assert sum(one[word] for word in one.keys() & other.keys()) > 0.1 * one.total()


# what is never in it


def test_held_out_sentences_are_new_but_their_words_and_frames_are_not(sentences):
    held_out = held_out_sentences()
    assert Counter((s.word, s.sense) for s in held_out) == {(s.word, s.name): 12 for s in SENSES}
    assert all(words(s.text).count(s.word) == 1 for s in held_out)
    assert len({s.text for s in held_out}) == len(held_out)
    assert {s.text for s in held_out}.isdisjoint(sentences)
    known = {word for sentence in sentences for word in words(sentence)}
    found = [word in known for s in held_out for word in words(s.text)]
    assert sum(found) > 0.998 * len(found)  # but for a rare form, such as "strengthens"


def test_no_seed_writes_a_held_out_sentence():
    held_out = {s.text for s in held_out_sentences(100)}
    assert len(held_out) == 100 * len(SENSES)
    for seed in range(1, 4):
        assert held_out.isdisjoint(s for passage in passages(3_000, seed) for s in split_sentences(passage))


def test_no_example_sentence_and_no_five_content_words_of_one_are_in_the_text(sentences):
    examples = load_examples().sentence
    lab = [*sentences, *(s.text for s in held_out_sentences())]
    assert {" ".join(words(text)) for text in examples}.isdisjoint(" ".join(words(text)) for text in lab)
    runs = {run for text in examples for run in content_runs(text, 5)}
    assert len(runs) > 1_000
    assert runs.isdisjoint(run for text in lab for run in content_runs(text, 5))


# as a corpus


def test_it_is_a_named_corpus_that_is_always_here_and_says_that_it_is_synthetic(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "empty"))
    corpus = open_corpus("lab", max_tokens=100)
    assert corpus.description.startswith("SYNTHETIC")
    assert {path.name for path in corpus.files} >= {"topics.py", "senses.py", "frames.py", "passages.py"}
    assert corpus.settings["seed"] == 0
    text = list(corpus.passages())
    assert 100 <= len(" ".join(text).split()) < 200
    assert text == list(islice(passages(200), len(text)))
    assert not (tmp_path / "empty").exists()


def test_size_and_length_are_part_of_its_fingerprint():
    corpora = [open_corpus("lab"), open_corpus("lab:large"), open_corpus("lab", max_tokens=1_000)]
    assert len({corpus.fingerprint for corpus in corpora}) == 3
    assert open_corpus("lab").fingerprint == corpora[0].fingerprint
