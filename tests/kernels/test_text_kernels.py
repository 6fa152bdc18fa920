"""Normalizing, tokenizing, shingling and fingerprinting kernels against the obvious definitions."""

import struct

import numpy as np
import pyarrow as pa
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

import naive
from columns import as_integers, large_strings
from guards import not_empty
from neardup.fingerprints.simhash import fingerprint_array
from neardup.kernels.fingerprints.shingles import heap_sort, shingle, sort_hashes, sort_spare
from neardup.kernels.fingerprints.votes import WEIGHTINGS as WEIGHTS
from neardup.kernels.text.tokens import CJK, WORD, token_arrays, tokenize
from neardup.matching.similarities.compare_texts import similarity
from neardup.matching.similarities.table import shingle_sets_of
from neardup.recipe.recipe import Recipe
from neardup.text import normalizers
from neardup.text.normalizers import fold_texts, normalize
from neardup.text.unicode_tables import fold_tables
from strategies import any_text, texts


@given(text=any_text)
@example("  two  spaces \n\n and 中  文 ")
@example("\ufdfa" * 40)
@example("A" * 200 + "é" + "B" * 200)
@example("中" * 100 + "，" + "一" * 43)
def test_normalize_is_nfkc_casefold_with_white_space_collapsed(text):
    assert normalize(text) == naive.normalize(text)


@given(text=any_text)
def test_a_python_of_another_unicode_version_normalizes_alike(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normalizers, "UNICODE_VERSION", "another")
        assert normalize(text) == naive.normalize(text)


def test_characters_of_later_unicode_versions_are_left_as_they_are():
    later = "a\u0301\U0001e6e3\u0301e\u0301 \U00031350\U0001e6e6"  # assigned in 15.0 and 17.0; one composes with nothing here
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(normalizers, "UNICODE_VERSION", "another")
        assert normalize(later) == "á\U0001e6e3\u0301é \U00031350\U0001e6e6"


@given(text=any_text)
def test_normalizing_twice_changes_nothing(text):
    assert normalize(normalize(text)) == normalize(text)


@given(items=st.lists(st.one_of(st.none(), any_text), max_size=6), first=st.integers(0, 3))
def test_slices_and_nulls_of_an_arrow_array_are_read_where_they_are(items, first):
    array = large_strings(items).slice(min(first, len(items)))
    folded = fold_texts(array)
    assert [folded[d] for d in range(len(folded))] == [naive.normalize(text or "") for text in array.to_pylist()]


def test_what_lies_under_a_null_is_not_looked_at():
    offsets = np.array([0, 3, 7, 10], np.int64)
    under = pa.py_buffer(b"one\xff\xff\xff\xfftwo")
    valid = pa.py_buffer(np.array([0b101], np.uint8))
    texts_with_null = pa.Array.from_buffers(pa.large_string(), 3, [valid, pa.py_buffer(offsets), under], null_count=1)
    folded = fold_texts(texts_with_null)
    assert [folded[d] for d in range(3)] == ["one", "", "two"]


@given(text=texts)
def test_tokens_are_runs_of_letters_marks_and_numbers_and_single_cjk_characters(text):
    folded = fold_texts(large_strings([text]))
    length = int(folded.offsets[1])
    tokens = token_arrays(length)
    n = tokenize(folded.data, 0, length, tokens, fold_tables())
    hashes, kinds = tokens.hashes, tokens.kinds
    expected = naive.tokens(text)
    assert hashes[:n].tolist() == [naive.token_hash(token) for token in expected]
    assert kinds[:n].tolist() == [CJK if naive.is_cjk(token[0]) else WORD for token in expected]


@given(items=st.lists(texts, max_size=4))
def test_shingle_sets_are_the_distinct_windows_of_three_words_or_five_cjk_characters(items):
    values, offsets = shingle_sets_of(large_strings(items))
    for d, text in enumerate(items):
        expected = {naive.feature_hash(window) for window in naive.windows(naive.tokens(text), 3, 5)}
        assert values[offsets[d] : offsets[d + 1]].tolist() == sorted(expected)


@given(a=texts, b=texts, common=texts)
@example("?", "!", "")
@example("...", "...", "")
def test_similarity_is_the_jaccard_of_the_shingle_sets(a, b, common):
    for left, right in ((a, b), (common + " " + a, common + " " + b)):
        assert similarity(left, right) == naive.similarity(left, right)


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("bits", [64, 128])
@given(text=texts, word_shingle=st.integers(1, 4), cjk_shingle=st.integers(1, 4))
def test_fingerprints_of_64_and_128_bits_are_charikars_sums(weights, bits, text, word_shingle, cjk_shingle):
    recipe = Recipe(word_shingle=word_shingle, cjk_shingle=cjk_shingle, weights=weights, bits=bits, max_distance=3)
    found = fingerprint_array(large_strings([text]), recipe)
    expected = naive.fingerprint(text, word_shingle=word_shingle, cjk_shingle=cjk_shingle, weights=weights, bits=bits)
    assert as_integers(found.values)[0] == expected
    assert found.tokens[0] == len(naive.tokens(text))


@given(text=texts, bits=st.integers(1, 512), weights=st.sampled_from(list(WEIGHTS)))
def test_fingerprints_of_any_width_are_charikars_sums(text, bits, weights):
    recipe = Recipe(weights=weights, bits=bits, max_distance=None)
    found = fingerprint_array(large_strings([text]), recipe)
    assert as_integers(found.values)[0] == naive.fingerprint(text, weights=weights, bits=bits)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 3000), different=st.sampled_from([1, 2, 40, 10**6]))
def test_hashes_of_which_many_are_equal_are_sorted(seed, n, different):
    chance = np.random.default_rng(seed)
    values = chance.integers(0, 2**64, different, np.uint64)[chance.integers(0, different, n)]
    expected = np.sort(values).tolist()
    sort_hashes(values, np.empty(sort_spare(n), np.uint64))
    assert values.tolist() == expected


def test_a_long_document_is_counted_past_every_border_of_the_adders():
    text = " ".join(f"w{i % 997}" for i in range(20_000))
    for weights in not_empty(WEIGHTS):
        found = fingerprint_array(large_strings([text]), Recipe(weights=weights))
        assert as_integers(found.values)[0] == naive.fingerprint(text, weights=weights), weights


@given(
    pieces=st.lists(st.sampled_from(["中" * 21, "一" * 22, "龥" * 40, "，", "a" * 63, "é", "\n\n", "1"]), max_size=8)
)
def test_runs_that_cross_the_blocks_of_64_bytes_are_read_as_any_others(pieces):
    text = "".join(pieces)
    assert normalize(text) == naive.normalize(text)
    found = fingerprint_array(large_strings([text]), Recipe())
    assert as_integers(found.values)[0] == naive.fingerprint(text)
    assert found.tokens[0] == len(naive.tokens(text))


@given(a=any_text, b=any_text)
@example("a  b", " A b ")
def test_digests_are_equal_when_the_normalized_texts_are(a, b):
    digests = fingerprint_array(large_strings([a, b]), Recipe()).digests.tolist()
    assert (digests[0] == digests[1]) == (naive.normalize(a) == naive.normalize(b))


@given(values=st.lists(st.integers(0, 2**64 - 1), max_size=300), narrow=st.booleans())
def test_sorting_hashes_sorts_whatever_their_distribution(values, narrow):
    array = np.array([value >> 40 if narrow else value for value in values], np.uint64)
    for sort in (heap_sort, lambda found: sort_hashes(found, np.empty(sort_spare(len(found)), np.uint64))):
        found = array.copy()
        sort(found)
        assert found.tolist() == sorted(array.tolist())


def test_sorting_many_hashes_sorts_them():
    array = np.random.default_rng(0).integers(0, 2**64, 300_000, dtype=np.uint64)
    found = array.copy()
    sort_hashes(found, np.empty(sort_spare(len(found)), np.uint64))
    assert (found == np.sort(array)).all()


def window_hashes(hashes, kinds, word_size, cjk_size):
    """The windows of tokens, by their definition."""
    sizes = [word_size if kind == WORD else cjk_size for kind in kinds]
    found = [hashes[i : i + size] for i, size in enumerate(sizes) if i + size <= len(hashes)]
    found = found or ([hashes] if hashes else [])
    return [w[0] if len(w) == 1 else xxhash.xxh3_64_intdigest(struct.pack(f"<{len(w)}Q", *w)) for w in found]


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2), (2, 3), (3, 5)])
@given(tokens=st.lists(st.tuples(st.integers(0, 2**64 - 1), st.sampled_from([WORD, WORD, CJK])), max_size=30))
@example(tokens=[(i, WORD) for i in range(9)])
@example(tokens=[(i, CJK) for i in range(9)])
@example(tokens=[(1, CJK), (2, WORD), (3, CJK), (4, CJK)])
def test_shingles_are_the_windows_that_start_at_each_token(tokens, sizes):
    hashes = np.array([value for value, _ in tokens], np.uint64)
    kinds = np.array([kind for _, kind in tokens], np.uint8)
    given = token_arrays(0)._replace(hashes=hashes, hash_bytes=hashes.view(np.uint8), kinds=kinds)
    found = np.empty(len(tokens) + 1, np.uint64)
    m = shingle(given, len(tokens), *sizes, found)
    assert found[:m].tolist() == window_hashes(hashes.tolist(), kinds.tolist(), *sizes)
