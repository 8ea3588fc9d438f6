import bz2

import pytest

from ctxemb.corpora import open_corpus, wiki_sample

ARTICLE = """{{Infobox|name={{nested|x}}|text=A sentence inside of an infobox that nobody should ever read.}}
[[File:bank.jpg|thumb|right|A caption with a [[link]] in it that is long enough to count.]]
'''Bank''' ({{IPAc-en|b|æ|ŋ|k}}; {{lang|fr|banque}}) is a [[financial institution|money place]]<ref name="a">
{{cite web|title=A footnote of many words that do not belong.}}</ref>, about {{convert|5|km|mi}} from a river &amp; sea.
<!-- A comment that is long enough to look like a sentence of text. -->
== History ==
It was founded in 1694{{sfn|Smith|2001}} by [[W. Paterson]], from {{circa|1700}}, {{cvt|2|to|3|mi}} away.<ref name=a />
* A list item that is long enough to look like a sentence of text.
: An indented line that is long enough to look like a sentence.
{| class="wikitable"
|-
| A cell that is long enough to look like a sentence of text. || {| nested
| Another cell that is long enough to look like a sentence of text.
|}
|}
<gallery>
File:a.jpg|A caption that is long enough to look like a sentence of text.
</gallery>
<math>E = mc^2 and then some more words to be long enough here.</math>
Too short to be kept.
A line of several words that does not end as sentences do
== See also ==
The last part is not the article's own text, and goes as a whole.
=== External links ===
As does every part that comes after it, long or short, here.
[[Category:Banks that have a long name, long enough to be a sentence.]]
"""
PARAGRAPHS = [
    "Bank (banque) is a money place, about 5 km from a river & sea.",
    "It was founded in 1694 by W. Paterson, from c. 1700, 2 to 3 mi away.",
]

DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/"><siteinfo/>
<page><title>Bank</title><ns>0</ns><id>1</id><revision><text>{article}</text></revision></page>
<page><title>Talk</title><ns>1</ns><id>2</id><revision><text>A talk page of many words that is no article at all.</text></revision></page>
<page><title>Banks</title><ns>0</ns><id>3</id><revision><text>#REDIRECT [[Bank]] and more words that make it look like text.</text></revision></page>
<page><title>Empty</title><ns>0</ns><id>4</id><revision><text/></revision></page>
</mediawiki>"""  # noqa: E501


def test_an_article_keeps_its_running_text_only():
    assert wiki_sample.plain_paragraphs(ARTICLE) == PARAGRAPHS


def test_talk_pages_and_redirects_are_left_out(tmp_path):
    path = tmp_path / "dump.bz2"
    escaped = ARTICLE.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    path.write_bytes(bz2.compress(DUMP.format(article=escaped).encode()))
    assert list(wiki_sample.read(path)) == PARAGRAPHS


@pytest.mark.parametrize(
    "text", ["", "{{ never closed", "{| never closed", "<ref> never closed", "[[File:a.jpg|never", "}}|}]]"]
)
def test_broken_markup_is_survived(text):
    assert wiki_sample.plain_paragraphs(text) == []


def test_the_real_extract_is_running_text_without_a_network(empty_data_folder):
    passages = list(open_corpus("wiki-sample").passages())
    assert len(passages) > 4_500
    assert sum(len(passage.split()) for passage in passages) > 380_000
    assert passages[0].startswith("Anarchism is a political philosophy that advocates self-governed societies")
    residue = ("{", "}", "[[", "]]", "|", "''", "<ref", "&nbsp;", "&amp;", "http", "()", " ,", "==", "Category:")
    assert {mark for mark in residue for passage in passages if mark in passage} == set()
    assert not empty_data_folder.exists()
