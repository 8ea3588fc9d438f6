from ctxemb.evaluation.published import PUBLISHED, published


def test_the_numbers_of_a_benchmark_are_found_with_their_set_up():
    assert {n.system: n.value for n in published("WiC")}["ELMo"] == 57.7
    assert {n.system: n.value for n in published("CoarseWSD-20")}["fastText-crawl"] == 0.849
    assert {n.system: n.value for n in published("synonym among the 10 nearest words")} == {
        "Word2Vec": 42,
        "contrastive": 61,
    }
    assert {n.system: n.value for n in published("mean self-similarity")}["ELMo, layer 2"] == 0.642
    assert published("nothing") == []


def test_every_number_says_where_it_is_from_and_stands_there_once():
    assert all(n.set_up and n.source for n in PUBLISHED)
    assert len({(n.benchmark, n.system, n.set_up) for n in PUBLISHED}) == len(PUBLISHED)
    assert all(0 <= n.value <= 100 for n in PUBLISHED if n.unit == "percent")
    assert all(0 <= n.value <= 1 for n in PUBLISHED if n.unit in ("share", "cosine"))
