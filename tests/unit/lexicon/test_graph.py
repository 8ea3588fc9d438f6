import pytest

from ctxemb.lexicon import LexiconError, clean, open_entries, read_graph

TRIPLES = """entity\trelation\tentity
aspirin\ttreats\theadache
aspirin\talias\tASA
ASA\tsame as\tacetylsalicylic acid
acetylsalicylic acid\talias\taspirin
fever\ttreated by\tASA
aspirin\trelated\tASA
insulin\ttreats\tdiabetes
"""


@pytest.fixture
def graph(tmp_path):
    path = tmp_path / "drugs.tsv"
    path.write_text(TRIPLES, encoding="utf-8")
    return read_graph(path)


def test_names_joined_by_a_cycle_of_aliases_are_one_entity(graph):
    assert graph.names == (
        ("aspirin", "ASA", "acetylsalicylic acid"), ("headache",), ("fever",), ("insulin",), ("diabetes",),
    )  # fmt: skip
    assert [entry.words for entry in graph] == [("aspirin", "ASA", "acetylsalicylic acid")]
    lexicon, report = clean(graph, name=graph.name)
    assert (report.num_alias_groups, report.num_synonyms) == (1, 3)
    assert lexicon.is_alias_G.tolist() == [True]


def test_unrelated_entities_are_neither_names_nor_neighbours(graph):
    for name in ("aspirin", "ASA"):
        assert set(graph.unrelated(name, 9, seed=0)) == {"insulin", "diabetes"}
    assert set(graph.unrelated("insulin", 9, seed=0)) == {"aspirin", "headache", "fever"}
    assert set(graph.unrelated("headache", 9, seed=0)) == {"fever", "insulin", "diabetes"}
    assert graph.unrelated("insulin", 2, seed=1) == graph.unrelated("insulin", 2, seed=1)


def test_every_unrelated_entity_is_drawn_equally_often(graph):
    drawn = [graph.unrelated("insulin", 1, seed)[0] for seed in range(600)]
    for name in ("aspirin", "headache", "fever"):
        assert 150 < drawn.count(name) < 250


def test_a_table_of_aliases(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text("entity,alias\nNew York,NYC\nNYC,Big Apple\n北京,首都\n", encoding="utf-8")
    assert read_graph(path).names == (("New York", "NYC", "Big Apple"), ("北京", "首都"))
    assert [entry.words for entry in open_entries(path)] == [("New York", "NYC", "Big Apple"), ("北京", "首都")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\nx,y\n", r"has the columns 'a', 'b'; a graph has entity,alias or"),
        ("entity,alias\nx\n", r"names.csv, line 2: \['x'\] is no row of entity,alias"),
        ("entity,alias\nx,\n", "line 2"),
        ("entity,alias\n", "has no rows"),
        ("entity,alias\na,b\nc,d\ne,f\n", "line 4: more than 2 rows; raise max_rows"),
    ],
)
def test_bad_tables_are_explained(tmp_path, text, message):
    path = tmp_path / "names.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LexiconError, match=message):
        read_graph(path, max_rows=2)


def test_an_unknown_entity_and_one_without_negatives(graph, tmp_path):
    with pytest.raises(LexiconError, match=r"drugs.tsv has no entity 'ibuprofen'"):
        graph.unrelated("ibuprofen", 1, seed=0)
    path = tmp_path / "two.csv"
    path.write_text("entity,relation,entity\na,near,b\n", encoding="utf-8")
    with pytest.raises(LexiconError, match="every entity is related to 'a'"):
        read_graph(path).unrelated("a", 1, seed=0)
