import io
import tarfile

import pytest

from ctxemb.corpora import CorpusError, data_folder
from ctxemb.lexicon import Entry, Lexicon, LexiconError, clean, open_entries, open_lexicon, read_pairs, write_pairs
from ctxemb.lexicon.sources import FOLDER

LICENCE = "  1 This software and database is being provided to you, the LICENSEE, by  \n"
HEAD = "02084071 05 n 04 dog 0 domestic_dog 0 Canis 0 cad 0 000 | a member of the genus Canis  \n"
DATABASE = {
    "data.noun": LICENCE
    + HEAD
    + "00000010 05 n 01 ice_cream 0 000 | frozen  \n"
    + "00000020 05 n 01 dog 2 000 | a dull person  \n"
    + "00000030 05 n 02 day 0 daytime 0 001 ! 00000040 n 0101 | light  \n"
    + "00000040 05 n 01 night 0 001 ! 00000030 n 0101 | dark  \n",
    "data.verb": LICENCE + "00000001 30 v 02 rise 0 lift 0 001 ! 00000002 v 0101 02 + 02 00 + 08 00 | up  \n"
    "00000002 30 v 02 fall 0 go_down 0 001 ! 00000001 v 0101 01 + 02 00 | down  \n",
    "data.adj": LICENCE + "00000005 00 a 01 galore(ip) 0 000 | plenty  \n",
    "data.adv": LICENCE,
    "index.noun": LICENCE
    + "dog n 2 1 @ 2 1 00000020 02084071  \ncanis n 1 0 1 1 02084071  \ncad n 1 0 1 0 02084071  \n",
    "index.verb": LICENCE,
    "index.adj": LICENCE + "galore a 1 0 1 0 00000005  \n",
    "index.adv": LICENCE,
}


def put_wordnet(folder, files: dict[str, str]):
    path = folder / "wordnet-3.1" / "wn3.1.dict.tar.gz"
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(f"dict/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CTXEMB_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_synsets_become_groups_with_sense_numbers_and_antonyms_stand_once(empty_folder):
    put_wordnet(empty_folder, DATABASE)
    lexicon = open_lexicon("wordnet")
    assert lexicon.synonyms[0] == Entry("synonym", ("dog", "Canis", "cad"), "n02084071", (2, 1, 1))
    assert lexicon.synonyms[1] == Entry("synonym", ("dog",), "n00000020", (1,))
    assert Entry("synonym", ("galore",), "a00000005", (1,)) in lexicon.synonyms
    assert [entry.words for entry in lexicon.antonyms] == [("day", "night"), ("rise", "fall")]


@pytest.mark.parametrize("files", [{"data.noun": HEAD}, {**DATABASE, "data.adj": "not a synset\n"}])
def test_a_damaged_database_is_named(empty_folder, files):
    put_wordnet(empty_folder, files)
    with pytest.raises(LexiconError, match=r"wn3.1.dict.tar.gz is not the WordNet 3.1 database"):
        open_lexicon("wordnet")


def test_cilin_and_its_antonyms(empty_folder):
    folder = empty_folder / FOLDER
    folder.mkdir(parents=True)
    cilin, antisem = folder / "cilin_ex.txt", folder / "antisem.txt"
    cilin.write_text("Aa01A01= 人类 生人\r\nAa01A02# 山 河\r\nAa01A03@ 海\r\n\r\nAa01A04= 土\r\n", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"cilin is not here; get antisem.txt .* put it at"):
        open_lexicon("cilin")
    antisem.write_text("矮:高\n安:危;乱\n高:矮;\n生2:熟\n必有一失:\n低;下:高\n", encoding="utf-8")
    lexicon = open_lexicon("cilin")
    assert [(entry.id, entry.words) for entry in lexicon.synonyms] == [
        ("Aa01A01=", ("人类", "生人")),
        ("Aa01A04=", ("土",)),
    ]
    assert ["".join(entry.words) for entry in lexicon.antonyms] == ["矮高", "安危", "安乱", "生熟", "低高", "下高"]
    antisem.write_text("矮高\n", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"antisem.txt, line 1: has no colon"):
        open_lexicon("cilin")
    cilin.write_text("人类 生人\n", encoding="utf-8")
    with pytest.raises(LexiconError, match=r"cilin_ex.txt, line 1: '人类' is no Cilin code"):
        open_lexicon("cilin")
    cilin.write_bytes("Aa01A01= 人类 生人\n".encode("gb18030"))
    with pytest.raises(CorpusError, match="line 1, character 10: not utf-8 text"):
        open_lexicon("cilin")


def test_reviewed_pairs_survive_a_round_trip(tmp_path):
    path = tmp_path / "pairs.csv"
    entries = [
        Entry("synonym", ("car", "auto")),
        Entry("antonym", ("hot", 'so-called "cold"')),
        Entry("alias", ("New York, N.Y.", "紐約")),
    ]
    assert write_pairs(path, entries) == 3
    assert path.read_text(encoding="utf-8").splitlines()[:2] == ["kind,a,b", "synonym,car,auto"]
    assert list(read_pairs(path)) == entries
    assert list(Lexicon.of("x", open_entries(path))) == entries
    assert write_pairs(path, [Entry("synonym", ("a", "b", "c"), "s")]) == 3
    assert [entry.words for entry in read_pairs(path)] == [("a", "b"), ("a", "c"), ("b", "c")]
    with pytest.raises(LexiconError, match="has an empty word"):
        write_pairs(path, [Entry("synonym", ("a", " "))])
    assert len(list(read_pairs(path))) == 3
    assert [file.name for file in tmp_path.iterdir()] == ["pairs.csv"]
    with pytest.raises(LexiconError, match="cannot be written"):
        write_pairs(path / "below.csv", entries)


@pytest.mark.parametrize("text", ["\ufeffB;Kind;A\nauto;Synonym;car\n;;\n", "kind,a,b,note\nsynonym, car ,auto,yes\n"])
def test_spreadsheets_write_tables_in_many_ways(tmp_path, text):
    path = tmp_path / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    assert list(read_pairs(path)) in ([Entry("synonym", ("car", "auto"))], [Entry("synonym", ("auto", "car"))])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kind,x,b\nsynonym,a,b\n", r"has no column 'a'; its columns are 'kind', 'x', 'b'"),
        ("kind,a,b\nsynonym,a,b\nantonyms,a,b\n", "line 3: kind 'antonyms' is unknown; write synonym"),
        ("kind,a,b\nsynonym,a\n", "line 2: has 2 cells"),
        ("kind,a,b\nsynonym,a,\n", "line 2: a word is missing"),
        ("", "is empty"),
    ],
)
def test_bad_tables_are_refused_with_their_line(tmp_path, text, message):
    path = tmp_path / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        open_lexicon(path)


def test_another_encoding_is_never_guessed(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_bytes(b"kind,a,b\n" + "synonym,人类,人们\nsynonym,山脉,群山\n".encode("gb18030") * 20)
    with pytest.raises(LexiconError, match=r"pairs.csv is not UTF-8 text \(perhaps .*save it as UTF-8"):
        open_lexicon(path)
    assert open_lexicon(path, encoding="gb18030").synonyms[0].words == ("人类", "人们")
    path.write_text("kind,a,b\nsynonym,人类,人们\n", encoding="utf-16")
    assert open_lexicon(path).synonyms[0].words == ("人类", "人们")


def test_a_group_a_line(tmp_path):
    path = tmp_path / "groups.txt"
    path.write_text("car auto\n\nice cream, gelato\n山；岭、\nalone\n", encoding="utf-8")
    words = [(entry.words, entry.id) for entry in open_entries(path)]
    assert words == [
        (("car", "auto"), "line 1"),
        (("ice cream", "gelato"), "line 3"),
        (("山", "岭"), "line 4"),
        (("alone",), "line 5"),
    ]


def test_an_unknown_name_lists_those_there_are():
    with pytest.raises(LexiconError, match="no lexicon of that name; the named ones are wordnet, cilin"):
        open_entries("worldnet")


def test_the_real_lexicons():
    if not (data_folder() / FOLDER).is_dir() or not (data_folder() / "wordnet-3.1").is_dir():
        pytest.skip("needs zh-lexicon and wordnet-3.1 in $CTXEMB_DATA")
    cilin, wordnet = open_lexicon("cilin"), open_lexicon("wordnet")
    assert len(cilin.synonyms) == 9_995
    assert len(cilin.antonyms) == 20_776
    assert cilin.synonyms[1].words == ("人类", "生人", "全人类")
    assert len(wordnet.antonyms) == 3_313
    car = next(entry for entry in wordnet.synonyms if "automobile" in entry.words and "car" in entry.words)
    assert car.sense_numbers[car.words.index("car")] == 1
    lexicon, report = clean(wordnet)
    assert 30_000 < report.num_synonyms < 40_000
    ids = {word: word_id for word_id, word in lexicon.words.items()}
    assert ids["hot"] in lexicon.antonyms_of(ids["cold"])
    assert "bank" not in ids  # 18 senses
