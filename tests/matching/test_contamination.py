"""Which items documents hold, against the obvious definition; and the parts that find them."""

import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.errors import OptionError
from neardup.io.corpora.batch import Batch
from neardup.kernels.matching.items import best_passage
from neardup.matching.contamination.excerpts import MAX_CHARACTERS, excerpt_of
from neardup.matching.contamination.items import Items, least_shingles, read_items
from neardup.matching.contamination.options import DecontaminationOptions
from neardup.matching.contamination.overlaps import RunFinder
from neardup.matching.contamination.scan import Scanner
from strategies import any_text

vocabulary = st.sampled_from("the quick brown fox the over dog 中 国 法 律 は and 42 don't กิน ข้าวผัด 👍🏽".split())
BETWEEN = [
    *(
        " ",
        "\n",
        "\r\n\r\n",
        "&nbsp;",
        "&amp;nbsp;",
        "&#32;",
        "&mdash;",
        "&unknown;",
        "<b>",
        "</b> ",
        "<br/>",
        "<p class='a'>",
        "<x>",
    ),
    *(
        "-\n",
        "\u00ad\n",
        "¬\n  ",
        "-\n\n",
        "\n1. ",
        "\n2. ",
        "\n(3) ",
        "\n> 4) ",
        "\n1.2 ",
        "\n1.3 ",
        "\n2、",
        "\n７ ",
        "<!-- no -->",
    ),
]
some_words = st.lists(vocabulary, max_size=40).map(" ".join)
marked_words = st.lists(st.tuples(vocabulary, st.sampled_from(BETWEEN)).map("".join), max_size=25).map("".join)
items_of_words = st.lists(st.one_of(some_words, marked_words, any_text), max_size=6)


@st.composite
def documents_with_items(draw):
    """Items, and documents that hold some of them, whole or in part, with other words around and between."""
    items = draw(items_of_words)
    marked = st.tuples(st.sampled_from(items or [""]), st.sampled_from(BETWEEN)).map(
        lambda both: both[1].join(both[0].split())
    )
    parts = st.one_of(some_words, any_text, st.sampled_from(items or [""]), marked, marked_words)
    cut = st.tuples(parts, st.integers(0, 60)).map(lambda part: part[0][: part[1]])
    return items, draw(st.lists(st.lists(st.one_of(parts, cut), max_size=4).map(" ".join), max_size=4))


def batch_of(texts):
    """A batch as a corpus in memory has it."""
    return Batch(0, pa.array(texts, pa.large_string()), pa.nulls(len(texts), pa.large_string()))


def scanned(items, documents, suspects_at_once=1 << 12, **options):
    """For each document, the rows of the items it holds, with shares and runs."""
    chosen = DecontaminationOptions(**options)
    known = Items.of([read_items(batch_of(items), chosen.version)], None, chosen)
    found = [[] for _ in documents]
    for each in Scanner(known, chosen, suspects_at_once=suspects_at_once).scan(batch_of(documents)).contaminated:
        rows = known.firsts[each.items].tolist()
        found[each.row] = [(row, one.share, one.run) for row, one in zip(rows, each.overlaps, strict=True)]
    return found


@given(
    both=documents_with_items(),
    min_share=st.one_of(st.sampled_from([0.1, 0.5, 2 / 3, 0.8, 1.0]), st.floats(0.01, 1)),
    min_run=st.integers(5, 20),
    min_tokens=st.integers(5, 12),
    version=st.sampled_from([1, 2]),
)
@example(
    both=(["the quick brown fox jumps"], ["", "the quick brown fox jumps"]),
    min_share=1.0,
    min_run=5,
    min_tokens=5,
    version=1,
)
@example(both=([], ["the quick brown fox jumps"]), min_share=1.0, min_run=5, min_tokens=5, version=1)
@example(
    both=(["中 国 法 律 第 and the"], ["and 中 国 法 律 第 the"]), min_share=0.1, min_run=5, min_tokens=5, version=1
)
@example(both=(["ฉันชอบกินข้าว"], ["เขาชอบกินข้าวผัด"]), min_share=0.5, min_run=20, min_tokens=8, version=2)
def test_documents_hold_the_items_that_they_hold_by_definition(both, min_share, min_run, min_tokens, version):
    items, documents = both
    limits = {"min_share": min_share, "min_run": min_run, "min_tokens": min_tokens}
    expected = [naive.held_items(document, items, version=version, **limits) for document in documents]
    assert scanned(items, documents, recipe=nd.Recipe(version=version), **limits) == expected


@given(first=st.lists(st.integers(0, 3), max_size=25), second=st.lists(st.integers(0, 3), max_size=25))
def test_the_longest_run_is_that_of_the_definition(first, second):
    run = RunFinder(first).longest(second)
    assert run.length == naive.longest_run(first, second)
    assert run.length == 0 or naive.is_run(second[run.start : run.start + run.length], first)


@given(size=st.integers(1, 10_000), share=st.floats(1e-6, 1))
@example(size=5, share=0.6)
@example(size=10, share=0.7)
def test_the_fewest_shingles_are_those_whose_share_is_enough(size, share):
    [least] = least_shingles(np.array([size]), share).tolist()
    assert least / size >= share
    assert least <= 1 or (least - 1) / size < share


def test_more_suspects_than_there_is_room_for_are_all_judged():
    items = [f"item number {i} of many has these words in common with all the others" for i in range(30)]
    documents = [" ".join(items), "", *[" ".join(items[::-1])] * 15]
    found = scanned(items, documents, suspects_at_once=1, min_share=1.0)
    assert [len(each) for each in found] == [30, 0, *[30] * 15]
    assert found[0][7] == (7, 1.0, 14)


@given(
    where=st.lists(st.tuples(st.integers(0, 40), st.integers(0, 5)), min_size=1, max_size=40), reach=st.integers(1, 20)
)
def test_the_best_passage_has_the_most_distinct_shingles(where, reach):
    places, numbers = (np.array(column, np.int64) for column in zip(*sorted(where), strict=True))
    counts = [len({number for place, number in where if first <= place < first + reach}) for first in places.tolist()]
    found = best_passage(places, numbers, reach, np.zeros(6, np.int64))
    assert counts[found] == max(counts)
    assert max(counts[:found], default=0) < max(counts)


def test_shingles_strewn_over_a_document_do_not_add_up():
    item = "which of the following is the most likely reason for this"
    words = item.split()
    strewn = " and so on it goes for quite some time, ".join(" ".join(words[i : i + 3]) for i in range(len(words) - 2))
    assert scanned([item], [strewn]) == [[]]
    assert scanned([item], [f"{strewn} {item}"]) == [[(0, 1.0, 11)]]


def test_a_short_question_does_not_remove_a_book_that_holds_nothing_of_it():
    book = " ".join(f"word{i}" for i in range(500))
    assert scanned(["an unrelated question about something else entirely"], ["word7 word8 word9", book]) == [[], []]


def test_equal_items_are_one_and_short_ones_are_not_checked():
    known = Items.of(
        [
            read_items(
                batch_of(
                    ["Eight words make this an item, I think.", "too short", "eight words MAKE this an item: I think"]
                )
            )
        ],
        None,
        DecontaminationOptions(),
    )
    assert known.numbers.tolist() == [0, -1, 0]
    assert known.tokens.tolist() == [8, 2, 8]
    assert known.firsts.tolist() == [0]


def test_an_excerpt_is_the_passage_as_it_stands_in_the_document():
    text = "前置き。\n\t“Ｔo ＢＥ,\u00ad or — not to be?” 中华人民共和国。End."
    assert excerpt_of(text, 3, 9).text == "Ｔo ＢＥ,\u00ad or — not to be?”"
    assert excerpt_of(text, 9, 16) == ("中华人民共和国。", 8)
    assert excerpt_of("word " * 1000, 0, 1000) == (("word " * 1000)[:MAX_CHARACTERS], 4999)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_share": 0}, "`min_share=0`: give a number above 0, up to 1"),
        ({"min_share": 1.5}, "`min_share=1.5`"),
        ({"min_share": True}, "`min_share=True`"),
        ({"min_share": float("nan")}, "`min_share=nan`"),
        ({"min_run": 4}, "`min_run=4`: give an integer from 5, the tokens of a shingle of Han characters"),
        ({"min_run": 13.0}, "`min_run=13.0`"),
        ({"min_tokens": 0}, "`min_tokens=0`"),
        ({"threads": 0}, "`threads=0`"),
        (
            {"recipe": "unmarked"},
            "`recipe='unmarked'`: give 'default' or 'all-scripts'. Decontamination compares their words",
        ),
        ({"recipe": "textbook"}, "`recipe='textbook'`: give 'default' or 'all-scripts'"),
        ({"recipe": "cppjieba"}, "`recipe='cppjieba'`: give 'default' or 'all-scripts'"),
        ({"recipe": "al-scripts"}, "There is no recipe 'al-scripts' (did you mean all-scripts?)"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(OptionError, match=re.escape(message)):
        DecontaminationOptions(**options)
