"""Every intrinsic does what its Python twin says, and what it loads lies inside its array."""

import ctypes
import mmap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import intrinsics
from neardup.kernels.compilation import JIT, kernel
from neardup.kernels.normalization import SPARE, fold_documents
from neardup.text.unicode_tables import fold_tables

u64s = st.integers(0, 2**64 - 1).map(np.uint64)
blocks = st.binary(min_size=80, max_size=80).map(lambda content: np.frombuffer(content, np.uint8))
offsets = st.integers(0, 16)

pytestmark = pytest.mark.skipif(not JIT, reason="without the compiler the twins are the intrinsics")


@kernel
def call_popcount(a):
    return intrinsics.popcount(a)


@kernel
def call_trailing_zeros(a):
    return intrinsics.trailing_zeros(a)


@kernel
def call_swap_bytes(a):
    return intrinsics.swap_bytes(a)


@kernel
def call_multiply_high(a, b):
    return intrinsics.multiply_high(a, b)


@kernel
def call_load64(data, i):
    return intrinsics.load64(data, i)


@kernel
def call_load32(data, i):
    return intrinsics.load32(data, i)


@kernel
def call_fold_ascii_block(data, i, out, o):
    return intrinsics.fold_ascii_block(data, i, out, o)


@kernel
def call_word_masks(data, i):
    return intrinsics.word_masks(data, i)


@kernel
def call_ideograph_leads(data, i):
    return intrinsics.ideograph_leads(data, i)


@kernel
def call_copy_block(data, i, out, o):
    intrinsics.copy_block(data, i, out, o)


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
    out, twin_out = np.zeros(70, np.uint8), np.zeros(70, np.uint8)
    assert tuple(call_fold_ascii_block(data, i, out, 3)) == intrinsics.fold_ascii_block_twin(data, i, twin_out, 3)
    assert out.tolist() == twin_out.tolist()
    assert call_ideograph_leads(data, i) == intrinsics.ideograph_leads_twin(data, i)
    call_copy_block(data, i, out, 5)
    intrinsics.copy_block_twin(data, i, twin_out, 5)
    assert out.tolist() == twin_out.tolist()


@given(
    text=st.text(st.sampled_from("中一龥丟\u4dff\u4e00\u9fff\ua000aé。"), min_size=1, max_size=30), i=st.integers(0, 9)
)
def test_the_leads_of_ideographs_are_where_they_begin(text, i):
    data = np.frombuffer(text.encode() + bytes(80), np.uint8)
    starts = np.cumsum([0, *(len(character.encode()) for character in text)])
    expected = {int(start) for start, character in zip(starts, text, strict=False) if "\u4e00" <= character <= "\u9fff"}
    mask = int(call_ideograph_leads(data, i))
    assert {i + j for j in range(63) if mask >> j & 1} == {start for start in expected if i <= start < i + 63}


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
