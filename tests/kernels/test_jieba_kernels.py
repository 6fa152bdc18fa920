"""The kernels that cut Chinese texts, beside the package jieba: its dictionary, users' words, texts that are hard for it."""

import gzip
import io
import json
import logging
from functools import cache
from itertools import islice

import jieba
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive
from neardup.kernels import compilation
from neardup.kernels.text.jieba_routes import LETTER
from neardup.kernels.text.jieba_words import EVERY, FORBID, GUESS, SEARCH
from neardup.kernels.text.word_trie import EMPTY
from neardup.text.normalizers import normalized
from neardup.text.segmenters.jieba import tokens_by
from neardup.text.segmenters.jieba_counts import WordCounts, counted
from neardup.text.segmenters.jieba_tables import build_tables
from places import DATA
from strategies import characters

LAWS = DATA / "zh_laws_national" / "docs.jsonl.gz"
HOW = [("cut", True), ("cut", False), ("cut_for_search", True), ("cut_for_search", False)]
HARD = "中国人民的一了在ABab019.%+-_&# \r\n\t，。\u3000\u00a0\x85\x1c\0γあア각é龥鿕鿖㐀𠀀😀\u0378們國說\U0010fffd"
"""Characters of every kind that jieba distinguishes, with the last that it knows and those beside."""
HOSTILE = [
    "",
    "\r",
    "\r\n",
    "\r\r\n\n",
    "中\r\n国",
    "1.5%的A.b.c%%",
    "1.5a%.5.",
    "的" * 300,
    "一二三四五六七八九十" * 30,
    "9.9.9%",
    "+" * 70,
    "AT&T和c++",
    "C++程序员c#",
    "𠀀中𠀀国𠀀",
    "鿕鿖鿕",
    "龘靐齉爩鱻麤",
    "他来到了网易杭研大厦",
    "\0中\0国\0",
    "中😀国",
    "ＡＢＣ１２３",
]


@cache
def counts():
    """jieba's dictionary; a part of it where kernels are interpreted, which takes minutes to place all words."""
    found = counted(())
    if compilation.JIT or compilation.LEVEL:
        return found
    part = dict(islice(found.counts.items(), 0, None, 200))
    return WordCounts(part, sum(part.values()))


@cache
def tables():
    """jieba's dictionary and model for kernels."""
    return build_tables(counts())


@cache
def package():
    """The package itself with its own dictionary."""
    return tokenizer(counts().counts)


def tokenizer(words):
    """The package with a dictionary of these words and their counts."""
    jieba.setLogLevel(logging.WARNING)
    found = jieba.Tokenizer()
    lines = "".join(f"{word} {count}\n" for word, count in words.items())
    found.FREQ, found.total = found.gen_pfdict(io.BytesIO(lines.encode()))
    found.initialized = True
    return found


def expected(tokenizer_, texts, how, hmm):
    """The tokens by the package."""
    return [list(getattr(tokenizer_, how)(text, HMM=hmm)) for text in texts]


def cut(texts, how, hmm, by=None, *, flags=EVERY, size=4096):
    """The tokens by kernels."""
    flags |= GUESS * hmm | SEARCH * (how == "cut_for_search")
    found = tokens_by(by or tables(), normalized(pa.array(texts, pa.large_string()), ()), flags, size)
    edges = found.documents
    return [[found.text(i) for i in range(edges[d], edges[d + 1])] for d in range(len(texts))]


@st.composite
def mixed_texts(draw, others=characters):
    """Words of the dictionary, characters that it has and has not, and whatever else stands in texts."""
    words = st.sampled_from(list(counts().counts)[::97])
    han = st.integers(0x4E00, 0x9FD5).map(chr)
    parts = st.one_of(words, words, words, han, st.sampled_from(HARD), others)
    return "".join(draw(st.lists(parts, max_size=40)))


KNOWN = {chr(code) for code in range(0x4E00, 0x9FD6)}
LETTERS = "中国人民AB1+."
small_words = st.text(LETTERS, min_size=1, max_size=3)
small_dictionaries = st.dictionaries(small_words, st.integers(0, 4), min_size=1, max_size=30).filter(
    lambda words: any(words.values())
)
users_words = st.lists(st.tuples(small_words, st.sampled_from([None, 0, 0, 1, 5])), max_size=9)


@pytest.mark.parametrize(("how", "hmm"), HOW)
def test_hostile_texts_are_cut_as_by_the_package(how, hmm):
    of_package = expected(package(), HOSTILE, how, hmm)
    assert cut(HOSTILE, how, hmm) == of_package
    assert cut(HOSTILE, how, hmm, flags=0) == [list(filter(naive.characters, tokens)) for tokens in of_package]


@pytest.mark.parametrize(("how", "hmm"), HOW)
@given(st.lists(mixed_texts(others=st.characters(codec="utf-8")), max_size=5), st.integers(1, 64))
def test_mixed_texts_are_cut_as_by_the_package_in_pieces_of_any_size(how, hmm, texts, size):
    assert cut(texts, how, hmm, size=size) == expected(package(), texts, how, hmm)


@pytest.mark.parametrize(("how", "hmm"), HOW)
@given(st.lists(mixed_texts(), max_size=5))
def test_tokens_without_a_letter_mark_or_number_are_left_out(how, hmm, texts):
    of_package = expected(package(), texts, how, hmm)
    assert cut(texts, how, hmm, flags=0) == [list(filter(naive.characters, tokens)) for tokens in of_package]


@given(small_dictionaries, users_words, st.lists(st.text(LETTERS, max_size=30), max_size=5), st.sampled_from(HOW))
def test_any_dictionary_and_any_users_words_cut_as_in_the_package(words, of_user, texts, how):
    jieba.finalseg.Force_Split_Words.clear()
    theirs, ours = tokenizer(words), WordCounts(dict(words), sum(words.values()))
    try:
        for word, count in of_user:
            theirs.add_word(word, count)
            ours.add(word, count)
            assert (ours.total, ours.counts[word]) == (theirs.total, theirs.FREQ[word])
        assert cut(texts, *how, build_tables(ours), flags=EVERY | FORBID) == expected(theirs, texts, *how)
    finally:
        jieba.finalseg.Force_Split_Words.clear()


@pytest.mark.parametrize("word", ["网易杭研", "T型台子", "的", "中\r\n国", "γ射线", "unknown1", "1.5%", "他来到了"])
def test_a_users_word_without_a_count_gets_that_of_the_package(word):
    assert counts().suggested(word) == package().suggest_freq(word)


@pytest.mark.skipif(not LAWS.is_file(), reason=f"the evaluation corpora are not in {DATA}; set NEARDUP_DATA")
def test_words_of_laws_are_those_of_the_package():
    with gzip.open(LAWS, "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"][:2000] for line in islice(lines, 0, None, 100)]
    for how, hmm in HOW:
        assert cut(texts, how, hmm) == expected(package(), texts, how, hmm)


def test_no_two_nodes_share_a_slot_and_every_word_is_found():
    labels = tables().labels
    assert np.all(labels > LETTER)
    assert np.all((labels == EMPTY) <= (tables().slots == 0))
    words = [word for word in list(counts().counts)[::500] if len(word) > 1 and set(word) <= KNOWN]
    assert all(walk(word) == counts().counts[word] for word in words)
    assert walk("中华人民共和国国") is None


def walk(word):
    """The count of a word in the tables, by their description in `neardup.kernels.text.word_trie`."""
    first, *others = (int(tables().numbers[ord(each)]) for each in word)
    node = int(tables().roots[first])
    for number in others:
        base = node >> 32
        if not base or tables().labels[base + number] != number:
            return None
        node = int(tables().slots[base + number])
    weight = tables().weights[node & (1 << 32) - 1]
    return None if weight == -np.inf else round(np.exp(weight) * counts().total)
