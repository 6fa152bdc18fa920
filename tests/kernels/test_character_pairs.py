"""Characters by code, and pairs of them counted without their hashes, against the obvious definitions."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from columns import as_integers, large_strings
from guards import not_empty
from neardup.fingerprints.minhash import signatures
from neardup.fingerprints.simhash import fingerprint_array
from neardup.kernels.constants import FIRST_CODE
from neardup.kernels.fingerprints.character_pairs import (
    CODE_BITS,
    MOST_TOKENS,
    PAIR_BITS,
    first_votes,
    more_votes,
    pair_memory,
    place_pairs,
    table_bits,
)
from neardup.kernels.fingerprints.votes import WEIGHTINGS, table_size
from neardup.kernels.text.tokens import CJK, CODES, WORD, code_tokens, hashes_of_codes, token_arrays
from neardup.matching.similarities.table import shingle_sets_of
from neardup.recipe.recipe import Recipe
from neardup.text.normalizers import fold_texts
from neardup.text.unicode_tables import fold_tables

COUNTED = {name: number for name, number in WEIGHTINGS.items() if name != "sqrt"}
# Characters with codes, others of the same scripts without one, words of one and of several bytes, and what separates.
PIECES = [
    "中",
    "文",
    "法",
    "律",
    "の",
    "カ",
    "々",
    "ー",
    "・",
    "㐀",
    "\U00020000",
    "\uf900",
    "a",
    "word",
    "é",
    "٣",
    "7",
    " ",
    "，",
    "。",
    "\n",
    "…",
]
east_asian = st.lists(st.sampled_from(PIECES), max_size=120).map("".join)
few_characters = st.text(st.sampled_from("一丁七万丈三上下不与"), max_size=400)


def test_the_hash_of_each_code_is_that_of_its_character():
    found = hashes_of_codes()
    for code in (1, 2, 0x41, 0x100, 0x1E00, 0x2FFF, 0x6FFE, CODES - 1):
        assert int(found[code]) == naive.token_hash(chr(FIRST_CODE + code))
    assert found[0] == 0
    assert len(set(found.tolist())) == CODES
    assert (CODES - 1).bit_length() <= CODE_BITS


@given(text=st.one_of(east_asian, few_characters))
@example("")
@example("中")
@example("\U00020000")
@example("a\uf900")
def test_tokens_have_codes_or_are_named(text):
    folded = fold_texts(large_strings([text]))
    length = int(folded.offsets[1])
    tokens = token_arrays(length)
    n, named = code_tokens(folded.data, 0, length, tokens, fold_tables())
    expected = naive.tokens(text)
    codes = [
        ord(token) - FIRST_CODE if naive.is_cjk(token[0]) and FIRST_CODE < ord(token) < 0xA000 else 0
        for token in expected
    ]
    assert tokens.codes[:n].tolist() == codes
    others = [token for token, code in zip(expected, codes, strict=True) if code == 0]
    assert tokens.named[:named].tolist() == list(map(naive.token_hash, others))
    assert tokens.named_kinds[:named].tolist() == [CJK if naive.is_cjk(token[0]) else WORD for token in others]


@pytest.mark.parametrize("at", range(55, 72))
@pytest.mark.parametrize("word", ["a", "ab", "中", "é", "\U00020000", "a中", "中a"])
def test_a_token_at_the_border_of_64_bytes_is_read_as_any_other(word, at):
    for before in ("." * at, "x" * (at - 1) + " ", "中" * (at // 3) + "." * (at % 3)):
        text = before + word + " end"
        found = fingerprint_array(large_strings([text]), Recipe())
        assert (as_integers(found.values)[0], int(found.tokens[0])) == (
            naive.fingerprint(text),
            len(naive.tokens(text)),
        )


@pytest.mark.parametrize("weights", WEIGHTINGS)
@given(text=st.one_of(east_asian, few_characters), bits=st.sampled_from([64, 128, 200]))
@example("中", 128)
@example("中a", 128)
@example("a中", 128)
@example("\U00020000中", 128)
@example("中\U00020000", 128)
def test_fingerprints_of_pairs_of_characters_are_charikars_sums(weights, text, bits):
    recipe = Recipe(weights=weights, bits=bits, max_distance=None)
    found = fingerprint_array(large_strings([text]), recipe)
    assert as_integers(found.values)[0] == naive.fingerprint(text, weights=weights, bits=bits)


@given(texts=st.lists(st.one_of(east_asian, few_characters), max_size=5))
def test_shingles_and_signatures_of_mixed_scripts_are_those_of_the_definition(texts):
    values, offsets = shingle_sets_of(large_strings(texts))
    found = signatures(texts, values=8, threads=1)
    for d, text in enumerate(texts):
        expected = {naive.feature_hash(window) for window in naive.windows(naive.tokens(text), 3, 5)}
        assert values[offsets[d] : offsets[d + 1]].tolist() == sorted(expected)
        assert found.values[d].tolist() == naive.signature(sorted(expected), values=8)
        assert found.sizes[d] == len(expected)


def votes_of(codes, weights):
    """How often each pair votes, as (first, second); and where windows begin that are no pairs."""
    n = len(codes) - 1
    given = np.array([*codes, *[0] * 40], np.uint16)
    memory, bits = pair_memory(max(n, 1)), table_bits(n + 1)
    slots = np.empty(table_size(n + 1), np.uint64)
    place_pairs(given, n, bits, memory)
    v, left, none = first_votes(n, bits, COUNTED[weights], memory)
    v = more_votes(memory, left, COUNTED[weights], slots, v)
    found = Counter(divmod(pair, 1 << CODE_BITS) for pair in memory.votes[:v].tolist())
    return found, memory.none[:none].tolist()


def expected_votes(codes, weights):
    windows = list(pairwise(codes))
    counts = Counter(window for window in windows if 0 not in window)
    found = Counter({window: naive.WEIGHTS[weights](count) for window, count in counts.items()})
    return found, [t for t, window in enumerate(windows) if 0 in window]


@pytest.mark.parametrize("weights", COUNTED)
@given(codes=st.lists(st.one_of(st.integers(0, 3), st.integers(0, CODES - 1)), min_size=1, max_size=200))
@example([1])
@example([0, 0])
@example([5] * 200)
def test_pairs_vote_as_often_as_their_weight_says(weights, codes):
    assert votes_of(codes, weights) == expected_votes(codes, weights)


@pytest.mark.parametrize("weights", COUNTED)
def test_pairs_of_one_place_are_counted_apart(weights):
    """Pairs that are mixed to one place of the table; found by mixing all that begin with some characters."""
    n = 400
    bits = table_bits(2 * n + 1)
    seconds = np.arange(1, CODES, dtype=np.uint16)
    crowded = []
    for first in range(1, 60):
        codes = np.empty(2 * len(seconds) + 40, np.uint16)
        codes[: 2 * len(seconds) : 2], codes[1 : 2 * len(seconds) : 2] = first, seconds
        whole = pair_memory(len(codes))
        place_pairs(codes, 2 * len(seconds) - 1, bits, whole)
        places = whole.places[: 2 * len(seconds) - 1 : 2]
        crowded += [(first, int(second)) for second in seconds[places == 7][:4]]
    codes = [code for pair in crowded * 2 for code in (*pair, 0)][: 2 * n]
    assert len(set(crowded)) > 20
    assert votes_of(codes, weights) == expected_votes(codes, weights)


def test_a_long_text_counts_each_pair_to_the_end():
    chance = np.random.default_rng(3)
    codes = np.where(chance.random(70_000) < 0.6, 1, chance.integers(0, 300, 70_000)).tolist()
    for weights in not_empty(COUNTED):
        assert votes_of(codes, weights) == expected_votes(codes, weights)


def test_places_and_counts_of_the_longest_text_fit_a_pair():
    assert table_bits(MOST_TOKENS) <= PAIR_BITS
