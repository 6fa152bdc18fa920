"""Every intrinsic does what its Python twin says, and what it loads lies inside its array."""

import ctypes
import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import intrinsics, wide_characters
from neardup.kernels.compilation import JIT, kernel
from neardup.kernels.text.normalization import ITSELF, SPARE, fold_documents, fold_entry
from neardup.kernels.text.tokens import CJK
from neardup.kernels.xxh3 import SECRET
from neardup.text.normalizers import normalize
from neardup.text.unicode_tables import fold_tables

u64s = st.integers(0, 2**64 - 1).map(np.uint64)
blocks = st.binary(min_size=80, max_size=80).map(lambda content: np.frombuffer(content, np.uint8))
offsets = st.integers(0, 16)

pytestmark = pytest.mark.skipif(not JIT, reason="without the compiler the twins are the intrinsics")


call_popcount = kernel(lambda a: intrinsics.popcount(a))
call_trailing_zeros = kernel(lambda a: intrinsics.trailing_zeros(a))
call_swap_bytes = kernel(lambda a: intrinsics.swap_bytes(a))
call_multiply_high = kernel(lambda a, b: intrinsics.multiply_high(a, b))
call_load64 = kernel(lambda data, i: intrinsics.load64(data, i))
call_load32 = kernel(lambda data, i: intrinsics.load32(data, i))
call_fold_ascii_block = kernel(lambda data, i, out, o: intrinsics.fold_ascii_block(data, i, out, o))
call_fold_wide_block = kernel(lambda data, i, out, o: wide_characters.fold_wide_block(data, i, out, o))
call_space_masks = kernel(lambda data, i: intrinsics.space_masks(data, i))
call_equal_mask = kernel(lambda data, i, value: intrinsics.equal_mask(data, i, value))
call_following_mask = kernel(lambda data, i: intrinsics.following_mask(data, i))
call_wide_masks = kernel(lambda data, i: wide_characters.wide_masks(data, i))
call_full_width_mask = kernel(lambda data, i: wide_characters.full_width_mask(data, i))
call_utf8_errors = kernel(lambda data, i: wide_characters.utf8_errors(data, i))
call_accumulate = kernel(lambda data, start, end, secret: intrinsics.accumulate(data, start, end, secret))
call_count_columns = kernel(lambda hashes, blocks, planes, at: intrinsics.count_columns(hashes, blocks, planes, at))
call_guessed = kernel(lambda value: intrinsics.guessed(value))
call_opaque = kernel(lambda value: intrinsics.opaque(value))
call_word_masks = kernel(lambda data, i: intrinsics.word_masks(data, i))


@given(a=u64s, b=u64s)
def test_integer_intrinsics_equal_their_twins(a, b):
    assert call_popcount(a) == intrinsics.popcount_twin(a)
    assert call_trailing_zeros(a) == intrinsics.trailing_zeros_twin(a)
    assert call_trailing_zeros(np.uint64(0)) == 64
    assert call_swap_bytes(a) == intrinsics.swap_bytes_twin(a)
    assert call_multiply_high(a, b) == intrinsics.multiply_high_twin(a, b)


@given(data=blocks, i=offsets)
def test_load_intrinsics_equal_their_twins(data, i):
    assert call_load64(data, i) == intrinsics.load64_twin(data, i)
    assert call_load32(data, i) == intrinsics.load32_twin(data, i)
    assert tuple(call_word_masks(data, i)) == intrinsics.word_masks_twin(data, i)
    assert tuple(call_space_masks(data, i)) == intrinsics.space_masks_twin(data, i)
    assert call_following_mask(data, i) == intrinsics.following_mask_twin(data, i)
    assert call_equal_mask(data, i, data[i]) == intrinsics.equal_mask_twin(data, i, data[i])
    out, twin_out = np.zeros(70, np.uint8), np.zeros(70, np.uint8)
    call_fold_ascii_block(data, i, out, 3)
    intrinsics.fold_ascii_block_twin(data, i, twin_out, 3)
    assert out.tolist() == twin_out.tolist()


edge_bytes = st.sampled_from(
    b"a \x7f\x80\x81\x82\x83\x88\x8f\x90\x91\x92\x96\x97\x98\x9e\x9f\xa0\xa1\xa3\xb7\xb8\xba\xbb\xbc\xbd\xbf\xc0\xc1\xc2\xdf"
    b"\xe0\xe1\xe2\xe3\xe4\xe5\xe9\xea\xed\xef\xf0\xf1\xf4\xf5\xff"
)
wide_blocks = st.lists(edge_bytes, min_size=84, max_size=84).map(lambda values: np.array(values, np.uint8))


@given(data=wide_blocks, i=st.integers(3, 18))
def test_intrinsics_for_wide_characters_equal_their_twins(data, i):
    assert call_full_width_mask(data, i) == wide_characters.full_width_mask_twin(data, i)
    assert call_utf8_errors(data, i) == wide_characters.utf8_errors_twin(data, i)
    out, twin_out = np.zeros(70, np.uint8), np.zeros(70, np.uint8)
    call_fold_wide_block(data, i, out, 3)
    wide_characters.fold_wide_block_twin(data, i, twin_out, 3)
    assert out.tolist() == twin_out.tolist()


edge_characters = st.sampled_from(
    "a\u007f\u0080\u07ff\u0800\u2000\u200f\u2010\u2011\u2012\u2016\u2017\u2018\u2023\u2024\u2fff\u3000\u3001\u3003\u3004\u3005\u3006\u3007\u3008\u301f"
    "\u3020\u3040\u3041\u3096\u3097\u30a0\u30a1\u30fa\u30fb\u30fc\u30fe\u30ff\u3100\u4dff\u4e00\u5000\u9fff\ua000\ud7ff\ue000\uf900\uff01\uffff\U00010000"
)


@given(text=st.text(edge_characters, min_size=84), i=st.integers(0, 18))
def test_masks_of_characters_of_three_bytes_equal_their_twin(text, i):
    data = np.frombuffer(text.encode(), np.uint8)
    assert tuple(call_wide_masks(data, i)) == wide_characters.wide_masks_twin(data, i)


@given(blocks_=st.integers(1, 20), seed=st.integers(0, 2**32 - 1), density=st.sampled_from([0, 0.03, 0.5, 1]))
def test_columns_are_counted_as_their_twin_counts_them(blocks_, seed, density):
    chance = np.random.default_rng(seed)
    bits = (chance.random((128 * blocks_, 64)) < density).astype(np.uint8)
    hashes = np.packbits(bits, axis=1, bitorder="little").view(np.uint64)[:, 0].copy()
    twin_hashes, planes, twin_planes = hashes.copy(), np.zeros(9, np.uint64), np.zeros(9, np.uint64)
    call_count_columns(hashes, blocks_, planes, 1)
    intrinsics.count_columns_twin(twin_hashes, blocks_, twin_planes, 1)
    assert planes.tolist() == twin_planes.tolist()
    assert hashes[: 8 * blocks_].tolist() == twin_hashes[: 8 * blocks_].tolist()
    left = sum((int(plane) >> np.arange(64).astype(object) & 1) << j for j, plane in enumerate(planes[1:8].tolist()))
    over = np.unpackbits(hashes[: 8 * blocks_].view(np.uint8), bitorder="little").reshape(-1, 64).sum(axis=0)
    assert (left + 16 * over.astype(object)).tolist() == bits.sum(axis=0).tolist()


@given(seed=st.integers(0, 2**32 - 1), start=st.integers(0, 9), length=st.integers(241, 2500))
def test_accumulate_equals_its_twin(seed, start, length):
    data = np.random.default_rng(seed).integers(0, 256, start + length, dtype=np.uint8)
    twin = intrinsics.accumulate_twin(data, start, start + length, SECRET)
    assert tuple(call_accumulate(data, start, start + length, SECRET)) == twin


@given(value=u64s)
def test_opaque_changes_nothing(value):
    assert call_opaque(value) == intrinsics.opaque_twin(value) == value


@given(value=st.integers(-(2**63), 2**63 - 1))
def test_guessed_changes_nothing(value):
    assert call_guessed(value) == intrinsics.guessed_twin(value) == value


def test_what_needs_no_table_folds_to_itself_and_is_the_token_that_the_table_says():
    tables = fold_tables()
    for code in range(0x800, 0x10000):
        if 0xD800 <= code < 0xE000:
            continue
        data = np.frombuffer(chr(code).encode() + bytes(80), np.uint8)
        cjk, separator = (int(mask) & 1 for mask in call_wide_masks(data, 0))
        entry = int(fold_entry(code, tables))
        if cjk or separator:
            assert (entry >> 21 & 3, entry >> 23 & 3, entry >> 25) == (ITSELF, CJK if cjk else 0, 0), hex(code)
        if int(call_full_width_mask(data, 0)) & 1:
            assert normalize(chr(code)) == chr(code - 0xFEE0).lower()


def guarded(content: bytes) -> np.ndarray:
    """The bytes, right before a page that cannot be read."""
    page = mmap.PAGESIZE
    size = (len(content) + page - 1) // page * page
    memory = mmap.mmap(-1, size + page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert ctypes.CDLL(None, use_errno=True).mprotect(ctypes.c_void_p(address + size), page, 0) == 0
    array = np.frombuffer(memory, np.uint8)[size - len(content) : size]
    array[:] = np.frombuffer(content, np.uint8)
    return array


@pytest.mark.parametrize(
    "ending", ["a", "word " * 13, "中", "é", "Московский", "   ", "\U00020000", "x" * 63, "x" * 64, "x" * 65, "中" * 30]
)
def test_no_load_runs_over_the_end_of_the_texts(ending):
    text = ("some text before it, 中文 and so on " * 7 + ending).encode()
    for start in range(0, len(text), 13):
        while start < len(text) and text[start] & 0xC0 == 0x80:
            start += 1
        content = text[start:]
        data = guarded(content)
        out, ends = np.zeros(2 * len(content) + SPARE, np.uint8), np.zeros(2, np.int64)
        done = fold_documents(data, np.array([0, len(content)]), 0, out, ends, np.zeros(1, np.bool_), fold_tables())
        assert done == 1
        assert ends[1] > 0 or not content.strip()
