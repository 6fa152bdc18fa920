"""HTML becomes text before anything else; what is written is the HTML that came."""

import gzip
import json
import sys
from importlib.metadata import version
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup as nd
from neardup.io.corpora.reading import HTML
from neardup.text.html import PACKAGES, extractor
from strategies import any_text

STORY = [
    "The ferry to the islands was built in the spring of nineteen twelve by a yard that made nothing else that year.",
    "She carried sheep, letters and a brass band, and on one winter night a bishop who refused to sit below the deck.",
    "Her engine is in the harbour museum now, where it turns every Sunday at three for whoever brings a coin for it.",
]


def page(story=STORY, *, links=("Home", "Timetable", "Lost property"), advertisement="Cheap tires, only today!"):
    navigation = "".join(f"<li><a href='/{link}'>{link}</a>" for link in links)
    return (
        f"<!DOCTYPE html><html><head><title>The ferry</title><style>p {{ color: red }}</style></head><body><nav><ul>{navigation}"
        f"</ul></nav><aside class='advertisement'>{advertisement}</aside><article><h1>The old ferry</h1>"
        + "".join(f"<p>{paragraph}</p>" for paragraph in story)
        + "</article><script>track('<p>not a text</p>')</script><footer>All rights reserved</footer></body></html>"
    )


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("", ""),
        ("no tags at all &amp; fine", "no tags at all & fine"),
        ("<p>one<p>two", "one\ntwo"),
        ("<p>in  <b>one</b>\n line, un<i>brok</i>en</p>", "in one line, unbroken"),
        ("<div><div>a</div></div>b<br>c<hr>d", "a\nb\nc\nd"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a b\nc"),
        ("<pre>if x:\n    y  z</pre>", "if x:\ny  z"),
        ("<ul><li>a<li>b</ul>", "a\nb"),
        ("<title>t</title><style>s</style><script>'<p>'</script><template>t</template><p>x<noscript>n</noscript>", "x"),
        ("&eacute;&#233;&#xE9;&#xD800;&bogus;&nbsp;!<!-- no -->", "ééé\ufffd&bogus;\xa0!"),
        ("<p>河上的<b>老石桥</b></p><p>雨</p>", "河上的老石桥\n雨"),
    ],
)
def test_the_whole_text_is_what_the_page_shows(html, text):
    assert extractor("whole")(html) == text


def test_the_main_text_has_the_story_and_not_what_surrounds_it():
    text = extractor("main")(page())
    assert all(paragraph in text for paragraph in STORY)
    assert not any(word in text for word in ("Timetable", "tires", "track", "color", "reserved"))
    assert "Timetable" in extractor("whole")(page())


def test_a_page_without_any_text_gives_an_empty_text_and_says_nothing(capfd):
    assert [extractor("main")(broken) for broken in ("", "\x00", "<p></p>", "<frameset></frameset>")] == [""] * 4
    assert capfd.readouterr() == ("", "")


HARD = [
    "<",
    ">",
    "</",
    "<p",
    "<!--",
    "-->",
    "<![CDATA[",
    "&#",
    "&#x110000;",
    "\x00",
    "<script>",
    "<pre>",
    "<table><td>",
    "='\"",
    "<svg>",
]


@given(st.lists(st.one_of(st.sampled_from(HARD), any_text), max_size=12).map("".join))
def test_whatever_is_given_gives_valid_text_and_the_same_each_time(broken):
    for html in HTML:
        text = extractor(html)(broken)
        assert text == extractor(html)(broken)
        text.encode()


@pytest.mark.parametrize("html", HTML)
def test_pages_that_end_anywhere_or_are_nested_deeply_are_read(html):
    extract, whole = extractor(html), page()
    for end in range(0, len(whole), 37):
        assert [word for word in extract(whole[:end]).split() if word not in whole] == []
    assert extract("<div>" * 5000 + "deep" + "<b>" * 5000) == "deep"


def test_the_tables_of_choices_agree():
    assert HTML.keys() == PACKAGES.keys()


OTHER = [" ".join(paragraph.split()[::-1]) for paragraph in STORY]
PAGES = [page(), page(links=("Start", "Contact"), advertisement="Buy a kettle"), page(OTHER)]


def test_pages_are_compared_by_their_text_and_come_back_as_they_were():
    result = nd.deduplicate(PAGES, html="main")
    assert result.survivors == [PAGES[0], PAGES[2]]
    assert result.duplicates.select(["row", "exact"]).to_pylist() == [{"row": 1, "exact": True}]
    assert nd.deduplicate(PAGES, html="whole", min_similarity=1).survivors == PAGES


def test_pairs_and_evaluations_of_pages_are_of_their_texts():
    found = nd.match(PAGES, html="main", min_similarity=1)
    assert list(zip(found.left.tolist(), found.right.tolist(), strict=True)) == [(0, 1)]
    assert len(nd.match(PAGES, html="whole", min_similarity=1)) == 0
    assert nd.match(PAGES[:1], PAGES[1:], html="main", min_similarity=1).left.tolist() == [0]
    assert [nd.evaluate(PAGES, html=html).equal_texts for html in ("main", "whole")] == [1, 0]


def test_pages_without_a_main_text_are_compared_by_all_that_they_show():
    pages = [
        f"<html><body><form><label>{name}</label><input></form></body></html>"
        for name in ("Search", "Log in", "Search")
    ]
    assert (
        [extractor("main")(each) for each in pages]
        == [extractor("whole")(each) for each in pages]
        == ["Search", "Log in", "Search"]
    )
    assert nd.deduplicate(pages, html="main").survivors == pages[:2]


@pytest.mark.parametrize("threads", [1, 3])
def test_files_of_html_survive_byte_for_byte_and_the_summary_names_the_extractor(tmp_path, threads):
    rows = [json.dumps({"id": i, "body": text}, ensure_ascii=i % 2 == 0) + "\n" for i, text in enumerate(PAGES)]
    (tmp_path / "in.jsonl").write_text("".join(rows), encoding="utf-8")
    done = nd.deduplicate_files(
        tmp_path / "in.jsonl", str(tmp_path / "out.jsonl"), text="body", html="main", threads=threads
    )
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == rows[0] + rows[2]
    assert done.summary.versions["trafilatura"] == version("trafilatura")
    assert done.files["html"] == "main"
    kept = nd.explain(tmp_path / "out.duplicates.jsonl", "2")
    assert kept.neighbors[0].similarity < 0.8


def test_files_of_html_in_a_folder_are_documents_where_texts_are_html(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("a.html", "b.htm", "c.HTML"):
        (tmp_path / "in" / name).write_text(page())
    (tmp_path / "in" / "d.html.gz").write_bytes(gzip.compress(page().encode()))
    nd.deduplicate_files(tmp_path / "in", f"{tmp_path}/out/", html="main")
    assert {path.name: path.read_text() for path in (tmp_path / "out").iterdir()} == {"a.html": page()}


def test_files_of_html_are_passed_over_in_a_folder_and_refused_by_name_where_texts_are_no_html(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.html").write_text(page())
    output = f"{tmp_path}/out/"
    with pytest.raises(nd.InputError, match=r"Its \.html files are read with `html='main'` or `html='whole'`\."):
        nd.deduplicate_files(tmp_path / "in", output)
    with pytest.raises(
        nd.InputError,
        match=r"a\.html is HTML: pass `html='main'` or `html='whole'` to .*, or `lines=True` to read it as it is",
    ):
        nd.deduplicate_files(tmp_path / "in" / "a.html", output)
    (tmp_path / "in" / "b.txt").write_text("A text.")
    nd.deduplicate_files(tmp_path / "in", output)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["b.txt"]
    nd.deduplicate_files(tmp_path / "in" / "a.html", f"{tmp_path}/a.html", lines=True)
    assert (tmp_path / "a.html").read_text() == page()


def test_every_command_that_reads_texts_reads_html(tmp_path):
    rows = [json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(PAGES)]
    path = tmp_path / "in.jsonl"
    path.write_text("".join(rows), encoding="utf-8")
    plain = tmp_path / "plain.jsonl"
    plain.write_text(
        "".join(json.dumps({"id": i, "text": extractor("main")(text)}) + "\n" for i, text in enumerate(PAGES))
    )
    for source, html in ((path, "main"), (plain, None)):
        name = str(tmp_path / f"{html}.pairs.jsonl")
        assert nd.pair_files(source, name, html=html) == 1
        nd.fingerprint_files(source, str(tmp_path / f"{html}.parquet"), html=html)
    found = (tmp_path / "None.pairs.jsonl").read_text(encoding="utf-8").replace(str(plain), str(path))
    assert (tmp_path / "main.pairs.jsonl").read_text(encoding="utf-8") == found
    main, none = (pq.read_table(tmp_path / f"{name}.parquet") for name in ("main", "None"))
    assert main.equals(none)


def test_an_unknown_kind_of_text_is_refused():
    with pytest.raises(nd.OptionError, match=r"`html='all'`: give one of main, whole, or leave it out"):
        nd.deduplicate(["<p>"], html="all")


@pytest.mark.parametrize("html", HTML)
def test_a_missing_package_is_told_with_the_command_that_installs_it(html, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    Path(tmp_path / "in.jsonl").write_text("no JSON, but that is not looked at")
    with pytest.raises(
        nd.MissingExtra, match=rf"`html='{html}'` needs {PACKAGES[html]} .* pip install 'neardup\[html\]'"
    ):
        nd.deduplicate_files(tmp_path / "in.jsonl", str(tmp_path / "out.jsonl"), html=html)
