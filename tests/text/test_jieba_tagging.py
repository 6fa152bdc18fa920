"""Texts cut by `posseg` of the package jieba and by kernels: the same tokens, and the same ones have the tags asked for."""

import gzip
import json
import logging
import warnings
from itertools import islice

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.fingerprints.weights.jieba_keywords import TAGS
from neardup.text.normalizers import normalized
from neardup.text.segmenters.jieba_tagging import tagged_tokens
from places import DATA
from strategies import characters

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import jieba.posseg

LAWS = DATA / "zh_laws_national" / "docs.jsonl.gz"
HOSTILE = [
    "",
    "\r\r\n\n",
    "中\r\n国",
    "1.5%的A.b.c%%12ab34..x",
    "+#&_.-a_b",
    "的" * 300,
    "龘靐齉爩鱻麤鿕",
    "他来到了网易杭研大厦",
    "小明硕士毕业于中国科学院计算所，后在日本京都大学深造",
    "\0中\0国𠀀人😀",
    "覃祃淯苾鹙玈瓘翀",
]
words = st.sampled_from(
    "法律 国家 应当 来到 网易 杭研 大厦 小明 硕士 学院 拖拉机 的 了 A股 1.5 3% C++ - +# ， 。 \r\n".split(" ")
)
texts = st.lists(st.one_of(words, words, st.integers(0x4E00, 0x9FD5).map(chr), characters), max_size=40).map("".join)


@pytest.fixture(scope="module", autouse=True)
def _package():
    jieba.setLogLevel(logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        jieba.posseg.dt.initialize()


def check(given_texts, size=4096):
    tokens, wanted = tagged_tokens(normalized(pa.array(given_texts, pa.large_string()), ()), TAGS, size)
    for d, text in enumerate(given_texts):
        places = range(tokens.documents[d], tokens.documents[d + 1])
        expected = [(each.word, len(each.word) > 1 and each.flag in TAGS) for each in jieba.posseg.dt.cut(text)]
        found = [(tokens.text(t), bool(wanted[t])) for t in places]
        assert [(token, known and len(token) > 1) for token, known in found] == expected


def test_hostile_texts_are_tagged_as_by_the_package():
    check(HOSTILE)


@given(st.lists(texts, max_size=4), st.integers(1, 64))
def test_texts_are_tagged_as_by_the_package_in_pieces_of_any_size(given_texts, size):
    check(given_texts, size)


@given(st.text(st.integers(0x4E00, 0x9FD5).map(chr), max_size=30))
def test_rare_characters_are_tagged_as_by_the_package(text):
    check([text])


@pytest.mark.skipif(not LAWS.is_file(), reason=f"the evaluation corpora are not in {DATA}; set NEARDUP_DATA")
def test_laws_are_tagged_as_by_the_package():
    with gzip.open(LAWS, "rt", encoding="utf-8") as lines:
        check([json.loads(line)["text"][:1000] for line in islice(lines, 0, None, 150)])
