"""Duplicates that differ from their survivor in digits only: what counts as one, and every way to remove documents that says so."""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

import naive
import neardup as nd
from neardup.kernels.digests import OF_DIGITS
from neardup.text.normalizers import DIGIT, digests_without_figures, fold_texts, normalize, removal_table

ORDER = "Your order {} of March 4 has left our house today, and comes within {} days to the address that you gave us; thank you."
TEXTS = [
    ORDER.format("1001", "2"),
    ORDER.format("99", "14"),
    ORDER.format("1001", "two"),
    ORDER.format("1001", "2").upper(),
    ORDER.format("１００１", "٣"),
    ORDER.format("", "2"),
]
EXPECTED = [None, True, False, False, True, False]
"""By text, whether it differs from the first in digits only; the fourth is an exact duplicate."""
ROWS = [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)]
OPTIONS = {"min_similarity": 0.5, "method": "exact"}
FLAGS = ("--min-similarity", "0.5", "--method", "exact")
COUNT = sum(each is True for each in EXPECTED)


def lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


PIECES = st.sampled_from(["a", "1", "12", "٣", "²", "½", "x9", " ", ".", "零", "𝟗", "é"])
ANY = st.lists(PIECES, max_size=6).map("".join)


@given(st.lists(ANY | st.text(max_size=5), min_size=2, max_size=6))
@example(["a1b", "ab"])
@example(["1", "11"])
@example(["1 1", "11"])
def test_texts_differ_in_digits_only_if_runs_of_digits_are_all_that_differs(texts):
    folded = [normalize(text) for text in texts]
    found = digests_without_figures(fold_texts(pa.array(texts, pa.large_string())))
    marked = [naive.without_digits(text) for text in folded]
    assert [[a == b for b in found.tolist()] for a in found.tolist()] == [[a == b for b in marked] for a in marked]
    assert (found != 0).all()


LONG = st.lists(
    st.sampled_from(["abcdefg", "零一二", "été", "한국어", "1", "23", "٣", "９", "𝟗", "ߙ", "꘠", "!"]), max_size=30
).map("".join)


@given(st.lists(LONG, min_size=1, max_size=4))
def test_digests_are_those_of_texts_with_one_mark_for_each_run_of_digits(texts):
    found = digests_without_figures(fold_texts(pa.array(texts, pa.large_string())))
    marked = [re.sub(r"\d+", "0", normalize(text)).encode() for text in texts]
    assert found.tolist() == [max(1, xxhash.xxh3_128_intdigest(each) & (2**64 - 1)) for each in marked]


def test_the_first_bytes_of_digits_are_known():
    digits = [chr(code).encode() for code in np.flatnonzero(removal_table() == DIGIT).tolist()]
    assert {each[0] for each in digits if len(each) > 1} == set(np.flatnonzero(OF_DIGITS).tolist())
    texts = [f"{'abcdefgh'[:before]}{each.decode()}ijklmnopq" for before in range(8) for each in [b"0", *digits]]
    found = digests_without_figures(fold_texts(pa.array(texts, pa.large_string()))).reshape(8, -1)
    assert (found == found[:, :1]).all()


@pytest.mark.parametrize("recipe", ["default", "simhash64", "fnv1a"])
def test_results_in_memory_say_so(recipe):
    recipe = recipe if recipe in nd.RECIPES else nd.Recipe(bits=64)
    found = nd.deduplicate(TEXTS, recipe=recipe, **OPTIONS)
    rows = found.duplicates.to_pylist()
    expected = {row: each for row, each in enumerate(EXPECTED) if row and each is not None}
    assert {row["row"]: row["only_digits"] for row in rows} == expected
    assert (found.summary.only_digits, found.summary.digits_unknown) == (COUNT, 0)


def write(path, rows):
    Path(path).write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
