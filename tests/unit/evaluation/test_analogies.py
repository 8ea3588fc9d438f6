import io
import tarfile
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.evaluation.analogies import ANALOGY_SETS, Question, load_analogies, score_analogies

FILE = ": family\r\nman woman King queen\r\n\n: gram1-adverbs\nquick quickly calm calmly\n"


def write_bats(folder: Path, members: dict[str, str]) -> Path:
    with tarfile.open(folder / "BATS_3.0.tar.xz", "w:xz") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(f"BATS_3.0/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return folder


# reading the files


def test_questions_are_read_in_the_authors_layout(tmp_path):
    (tmp_path / "questions-words.txt").write_bytes(FILE.encode())
    assert load_analogies("google", tmp_path) == [
        Question("family", "man", "woman", "King", ("queen",)),
        Question("gram1-adverbs", "quick", "quickly", "calm", ("calmly",)),
    ]


def test_bats_asks_every_ordered_pair_of_lines(tmp_path):
    members = {
        "3_E/E06 [animal - young].txt": "ape\tbaby/infant\r\ncat\tkitten/\ndog\tpuppy",
        "1_I/I01 [noun - plural_reg].txt": "car\tcars\nroad\troads\n\n",
    }
    questions = load_analogies("bats", write_bats(tmp_path, members))
    assert len(questions) == 2 + 6
    assert questions[0] == Question("I01 [noun - plural_reg]", "car", "cars", "road", ("roads",))
    assert questions[2:4] == [
        Question("E06 [animal - young]", "ape", "baby", "cat", ("kitten",)),
        Question("E06 [animal - young]", "ape", "baby", "dog", ("puppy",)),
    ]
    assert questions[4].answers == ("baby", "infant")


@pytest.mark.parametrize("text", ["a b c d\n", ": s\na b c\n", ": s\na b c d e\n"])
def test_lines_in_another_format_are_named(tmp_path, text):
    (tmp_path / "semantic.txt").write_text(text, encoding="utf-8")
    with pytest.raises(CorpusError, match=rf"semantic\.txt, line {text.count(chr(10))}: not four words below"):
        load_analogies("ca8-semantic", tmp_path)


@pytest.mark.parametrize("line", ["cat kitten", "cat\t", "cat\t/"])
def test_bats_lines_in_another_format_are_named(tmp_path, line):
    with pytest.raises(CorpusError, match=r"BATS_3\.0/a\.txt, line 2: not a word, a tab and its answers"):
        load_analogies("bats", write_bats(tmp_path, {"a.txt": f"ape\tbaby\n{line}\n"}))


def test_missing_sets_say_where_to_get_them(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path))
    with pytest.raises(CorpusError, match="no analogy set 'ca8'; take one of google, bats, ca8-semantic"):
        load_analogies("ca8")
    with pytest.raises(CorpusError, match=rf"no semantic\.txt in {tmp_path}/zh-word-evals; get it from https://"):
        load_analogies("ca8-semantic")
    with pytest.raises(CorpusError, match="holds no questions"):
        load_analogies("bats", write_bats(tmp_path, {}))


@pytest.mark.parametrize(
    ("name", "num_questions", "num_sections"),
    [
        ("google", 19_544, 14),
        ("bats", 98_000, 40),
        ("ca8-semantic", 7_636, 4),
        ("ca8-morphological", 10_177, 4),
        ("ca-translated", 953, 3),
    ],
)
def test_the_published_files_can_be_read(name, num_questions, num_sections):
    if not (data_folder() / ANALOGY_SETS[name][0]).is_dir():
        pytest.skip(f"{name} is not in $CTXEMB_DATA")
    questions = load_analogies(name)
    assert (len(questions), len({question.section for question in questions})) == (num_questions, num_sections)


# scores

WORDS = ["man", "woman", "king", "queen", "apple"]
VECTORS = np.array([[1.0, 0, 0], [0, 1, 0], [1, 0, 1], [0, 2, 2], [0.3, 0, 1]])


def test_a_score_of_a_worked_example():
    questions = [
        Question("family", "Man", "Woman", "King", ("Queen",)),
        Question("family", "woman", "man", "queen", ("apple", "emperor")),
        Question("family", "man", "woman", "boy", ("girl",)),
        Question("fruit", "man", "king", "woman", ("empress", "queen")),
        Question("gone", "man", "king", "woman", ("empress",)),
    ]
    score = score_analogies(questions, WORDS, VECTORS)
    assert (score.total.num_known, score.total.num_questions) == (3, 5)
    assert score.total.accuracy == pytest.approx(2 / 3)
    assert score.total.coverage == pytest.approx(3 / 5)
    assert list(score.sections) == ["family", "fruit", "gone"]
    assert (score.sections["family"].accuracy, score.sections["fruit"].accuracy) == (0.5, 1)
    assert np.isnan(score.sections["gone"].accuracy)


def test_a_word_of_the_question_is_never_the_answer():
    questions = [Question("s", "man", "king", "woman", ("woman",)), Question("s", "man", "king", "woman", ("king",))]
    assert score_analogies(questions, WORDS, VECTORS).total.accuracy == 0


def test_the_first_spelling_counts():
    words, vectors = [*WORDS, "Queen"], np.vstack([VECTORS, [9.0, -9.0, -9.0]])
    question = Question("s", "man", "woman", "king", ("QUEEN",))
    assert score_analogies([question], words, vectors).total.accuracy == 1


def test_no_known_question_gives_no_accuracy():
    score = score_analogies([Question("s", "a", "b", "c", ("d",))], WORDS, VECTORS)
    assert np.isnan(score.total.accuracy)
    assert score_analogies([], WORDS, VECTORS).sections == {}


@pytest.mark.parametrize("with_structure", [False, True])
def test_it_agrees_with_gensim(tmp_path, with_structure):
    rng = np.random.default_rng(0)
    words = [f"{kind}{number}" for kind in "ab" for number in range(30)]
    stems = rng.normal(size=(30, 20))
    ends = stems + with_structure * rng.normal(size=20) + rng.normal(scale=0.7, size=(30, 20))
    vectors = np.vstack([stems, ends]).astype(np.float32)
    lines = []
    for section in ("first", "second"):
        lines.append(f": {section}")
        pairs = [rng.permutation(33)[:2] for _ in range(60)]  # 30 to 32 are outside the vocabulary
        lines += [f"a{i} b{i} A{j} b{j}" for i, j in pairs]
    path = tmp_path / "questions-words.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    keyed = KeyedVectors(20)
    keyed.add_vectors(words, vectors)
    accuracy, sections = keyed.evaluate_word_analogies(str(path))
    score = score_analogies(load_analogies("google", tmp_path), words, vectors)
    assert score.total.accuracy == pytest.approx(accuracy)
    for expected in sections[:2]:
        found = score.sections[expected["section"]]
        assert found.num_known == len(expected["correct"]) + len(expected["incorrect"])
        assert found.accuracy == pytest.approx(len(expected["correct"]) / found.num_known)
    assert 0 < score.total.accuracy < 1
    assert score.total.coverage < 1
