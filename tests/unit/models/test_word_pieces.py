import json
from pathlib import Path

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

from ctxemb.examples import example_words
from ctxemb.models.word_pieces import WordPieceError, read_word_pieces
from ctxemb.text import TextConfig
from tests.hugging_face import VOCABULARY, write_words


def write_json(folder: Path, lowercase: bool = True, boundaries: tuple[str, str] = ("[CLS]", "[SEP]")) -> None:
    """The tokenizer as the library saves it, with boundaries, truncation and padding of its own."""
    names = {"[CLS]": boundaries[0], "[SEP]": boundaries[1]}
    ids = {names.get(piece, piece): number for number, piece in enumerate(VOCABULARY)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", *boundaries, "[MASK]"])
    first, last = boundaries
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(name, ids[name]) for name in boundaries]
    )
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=9)
    folder.mkdir(exist_ok=True)
    tokenizer.save(str(folder / "tokenizer.json"))


@pytest.fixture(params=["vocab.txt", "tokenizer.json"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    write_words(tmp_path) if request.param == "vocab.txt" else write_json(tmp_path)
    return tmp_path


def test_words_are_cut_into_pieces(folder: Path):
    pieces = read_word_pieces(folder)
    spelled = [[VOCABULARY[i] for i in word] for word in pieces.cut(["bank", "Banks", "unbelievable", "n't", "1990"])]
    assert spelled == [["bank"], ["bank", "##s"], ["un", "##believ", "##able"], ["n", "'", "t"], ["1990"]]
    assert (VOCABULARY[pieces.first], VOCABULARY[pieces.last], VOCABULARY[pieces.unknown]) == (
        "[CLS]",
        "[SEP]",
        "[UNK]",
    )
    assert pieces.num_pieces == len(VOCABULARY)


def test_no_word_is_without_pieces_and_none_is_a_boundary(folder: Path):
    pieces = read_word_pieces(folder)
    assert pieces.cut(["", "日本", "\u0301", "🙂"]) == [[pieces.unknown], [pieces.unknown] * 2, *[[pieces.unknown]] * 2]
    typed = pieces.cut(["[CLS]", "[MASK]", "[unused1]"])
    assert VOCABULARY[typed[0][0]] == "["
    special = {VOCABULARY.index(name) for name in ("[CLS]", "[SEP]", "[MASK]", "[PAD]", "[unused1]")}
    assert special.isdisjoint(piece for word in typed for piece in word)


def test_the_words_are_the_entries_that_are_one_word_and_one_piece(folder: Path):
    pieces = read_word_pieces(folder)
    assert pieces.words[:5] == ("the", "we", "old", "bank", "river")
    assert not [word for word in pieces.words if word.startswith("##") or (word.startswith("[") and len(word) > 1)]
    assert {"1990", ".", "-", "z"} <= set(pieces.words)
    of_one_piece = [word for word in pieces.words if word in VOCABULARY]
    assert pieces.cut(of_one_piece) == [[VOCABULARY.index(word)] for word in of_one_piece]
    # and the words that pages offer, whose uses are looked for in a text
    assert set(pieces.words) - set(of_one_piece) == set(example_words("en")) - set(VOCABULARY)
    assert pieces.text == TextConfig(language="en", lowercase=True, min_frequency=1)


def test_case_is_the_models_own(tmp_path: Path):
    cased = [*VOCABULARY, "Bank"]
    write_words(tmp_path / "stated", cased, lowercase=False)
    write_words(tmp_path / "seen", cased)
    (tmp_path / "seen" / "tokenizer_config.json").unlink()  # the entries alone say it
    write_json(tmp_path / "json", lowercase=False)
    for name in ("stated", "seen", "json"):
        assert not read_word_pieces(tmp_path / name).text.lowercase
    pieces = read_word_pieces(tmp_path / "stated")
    assert pieces.cut(["Bank", "bank"]) == [[len(cased) - 1], [VOCABULARY.index("bank")]]
    assert "Bank" in pieces.words
    # read in lower case, an entry with a capital is never found
    write_words(tmp_path / "lower", cased)
    assert "Bank" not in read_word_pieces(tmp_path / "lower").words


def test_boundaries_of_other_names_are_found(tmp_path: Path):
    write_json(tmp_path / "json", boundaries=("<s>", "</s>"))
    write_words(tmp_path / "txt", [{"[CLS]": "<s>", "[SEP]": "</s>"}.get(piece, piece) for piece in VOCABULARY])
    for name in ("json", "txt"):
        pieces = read_word_pieces(tmp_path / name)
        assert (pieces.first, pieces.last) == (VOCABULARY.index("[CLS]"), VOCABULARY.index("[SEP]"))
        assert pieces.first not in pieces.cut(["<s>"])[0]


def test_a_chinese_vocabulary_is_read_in_chinese_words(tmp_path: Path):
    write_words(tmp_path, [*VOCABULARY[:6], *"苹果手机好吃的公司我买了", "apple", *(f"##{c}" for c in "abc")])
    pieces = read_word_pieces(tmp_path)
    assert pieces.text.language == "zh"
    assert [len(word) for word in pieces.cut(["苹果", "手机", "apple"])] == [2, 2, 1]
    assert set(pieces.words) == {*"苹果手机好吃的公司我买了", "apple", *example_words("zh")}


def test_files_that_are_no_word_pieces_are_refused(tmp_path: Path):
    with pytest.raises(WordPieceError, match=r"has no tokenizer\.json and no vocab\.txt"):
        read_word_pieces(tmp_path)
    bpe = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2}, [("a", "b")]))
    bpe.save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(WordPieceError, match=r"tokenizer\.json is a BPE tokenizer; only WordPiece is read"):
        read_word_pieces(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(WordPieceError, match="is not a readable tokenizer file"):
        read_word_pieces(tmp_path)
    (tmp_path / "tokenizer.json").unlink()
    write_words(tmp_path, ["a", "b", "[UNK]"])
    with pytest.raises(WordPieceError, match=r"has no \[CLS\] or <s> with its partner"):
        read_word_pieces(tmp_path)
    (tmp_path / "vocab.txt").write_bytes(b"[CLS]\n\xff\n")
    with pytest.raises(WordPieceError, match=r"vocab\.txt, byte 6: is not UTF-8"):
        read_word_pieces(tmp_path)
    write_words(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("[")
    with pytest.raises(WordPieceError, match=r"tokenizer_config\.json is not JSON"):
        read_word_pieces(tmp_path)


def test_a_repeated_entry_has_the_last_of_its_ids(tmp_path: Path):
    write_words(tmp_path, [*VOCABULARY, "bank"])
    pieces = read_word_pieces(tmp_path)
    assert (pieces.cut(["bank"]), pieces.num_pieces) == ([[len(VOCABULARY)]], len(VOCABULARY) + 1)
    assert pieces.words.count("bank") == 1


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write_words(tmp_path)
    monkeypatch.setattr("ctxemb.models.word_pieces.MAX_FILE_BYTES", 100)
    with pytest.raises(WordPieceError, match=r"vocab\.txt has \d+ bytes; at most 100 are read"):
        read_word_pieces(tmp_path)


def test_settings_of_the_tokenizer_count(tmp_path: Path):
    write_words(tmp_path)
    settings = json.loads((tmp_path / "tokenizer_config.json").read_text())
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings | {"strip_accents": False}))
    pieces = read_word_pieces(tmp_path)
    assert pieces.cut(["bánk"]) == [[pieces.unknown]]
    write_words(tmp_path)
    assert read_word_pieces(tmp_path).cut(["bánk"]) == [[VOCABULARY.index("bank")]]
