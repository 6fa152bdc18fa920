"""Chosen bytes and positions: by the processor's own instruction, by loops, and by definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import chosen_bytes, wide_characters
from neardup.kernels.chosen_bytes import (
    CODES_BEHIND,
    GROUP,
    HAS_COMPRESS,
    PLACES_BEHIND,
    put_ascii_twin,
    put_chosen_twin,
    put_codes_twin,
    put_positions_twin,
    put_wide_twin,
)
from neardup.kernels.compilation import JIT, LEVEL, kernel
from neardup.kernels.intrinsics import fold_ascii_block_twin

FILLED = 0xAA


call_put_ascii = kernel(lambda data, i, chosen, out, o: chosen_bytes.put_ascii(data, i, chosen, out, o))
call_put_wide = kernel(lambda data, i, chosen, out, o: chosen_bytes.put_wide(data, i, chosen, out, o))
call_put_positions = kernel(lambda chosen, base, out, at: chosen_bytes.put_positions(chosen, base, out, at))
call_put_codes = kernel(lambda data, i, chosen, three, out, at: chosen_bytes.put_codes(data, i, chosen, three, out, at))
call_put_chosen = kernel(lambda values, i, chosen, out, at: chosen_bytes.put_chosen(values, i, chosen, out, at))

masks = st.one_of(
    st.integers(0, 2**64 - 1),
    st.sampled_from([0, 1, 2**63, 2**64 - 1]),
    st.sets(st.integers(0, 63)).map(lambda places: sum(1 << place for place in places)),
).map(np.uint64)
ascii_bytes = st.lists(st.sampled_from(b"aZ09 \t\n\r\x00\x1f\x7f_"), min_size=144, max_size=144)
wide_bytes = st.lists(st.sampled_from(b"aZ \n\xef\xbc\xbd\x81\x9e\x9f\xa1\xe4"), min_size=84, max_size=84)


def set_bits(mask: np.uint64) -> list[int]:
    return [j for j in range(64) if int(mask) >> j & 1]


CALLS_INTRINSICS = pytest.mark.skipif(
    bool(LEVEL), reason="only Numba compiles the tests' own kernels: NEARDUP_KERNELS=jit"
)


@CALLS_INTRINSICS
@given(content=ascii_bytes, i=st.integers(0, 16), mask=masks)
def test_chosen_ascii_is_folded_and_moved_together(content, i, mask):
    data, folded = np.array(content, np.uint8), np.empty(64, np.uint8)
    fold_ascii_block_twin(data, i, folded, 0)
    meant = [int(folded[j]) for j in set_bits(mask)]
    for put in (call_put_ascii, put_ascii_twin):
        out = np.full(140, FILLED, np.uint8)
        assert put(data, i, mask, out, 5) == 5 + len(meant)
        assert out[5 : 5 + len(meant)].tolist() == meant
        assert (out[:5] == FILLED).all()
        assert (out[5 + 64 + len(meant) :] == FILLED).all()


@CALLS_INTRINSICS
@given(content=wide_bytes, i=st.integers(0, 16), mask=masks)
def test_chosen_full_width_forms_are_folded_and_moved_together(content, i, mask):
    data, folded = np.array(content, np.uint8), np.empty(64, np.uint8)
    wide_characters.fold_wide_block_twin(data, i, folded, 0)
    meant = [int(folded[j]) for j in set_bits(mask)]
    data = np.append(data, np.zeros(66, np.uint8))  # the loop reads 66 bytes from the start of each run
    for put in (call_put_wide, put_wide_twin):
        out = np.full(140, FILLED, np.uint8)
        assert put(data, i, mask, out, 0) == len(meant)
        assert out[: len(meant)].tolist() == meant


@CALLS_INTRINSICS
@given(mask=masks, base=st.integers(0, 2**40), at=st.integers(0, 9))
def test_chosen_positions_are_written_in_order_and_no_further_than_said(mask, base, at):
    meant = [base + j for j in set_bits(mask)]
    for put in (call_put_positions, put_positions_twin):
        out = np.full(at + len(meant) + PLACES_BEHIND + 4, -7, np.int64)
        assert put(mask, base, out, np.uint64(at)) == at + len(meant)
        assert out[at : at + len(meant)].tolist() == meant
        assert (out[:at] == -7).all()
        assert (out[at + len(meant) + PLACES_BEHIND :] == -7).all()
    assert GROUP <= PLACES_BEHIND


def test_the_loops_run_where_there_is_no_such_instruction_and_without_the_compiler():
    for name in ("put_ascii", "put_chosen", "put_wide", "put_positions"):
        loops = getattr(chosen_bytes, f"{name}_twin")
        assert (getattr(chosen_bytes, name) is loops) == (not JIT or not HAS_COMPRESS)


@CALLS_INTRINSICS
@given(
    text=st.text(st.sampled_from("中文のカ、a \u3001\u9fff"), min_size=90),
    i=st.integers(0, 16),
    chosen=masks,
    three=masks,
)
def test_codes_of_chosen_characters_are_written_together(text, i, chosen, three):
    content = text.encode()
    data = np.frombuffer(content, np.uint8)
    starts = np.uint64(sum(1 << j for j in range(64) if content[i + j] >= 0xE0))
    characters = int(three & starts)
    meant = [ord(content[i + j : i + j + 3].decode()) - 0x3000 if characters >> j & 1 else 0 for j in set_bits(chosen)]
    for put in (call_put_codes, put_codes_twin):
        out = np.full(5 + 64 + CODES_BEHIND + 3, FILLED, np.uint16)
        assert put(data, i, chosen, np.uint64(characters), out, np.uint64(5)) == 5 + len(meant)
        assert out[5 : 5 + len(meant)].tolist() == meant
        assert (out[:5] == FILLED).all()
        assert (out[5 + len(meant) + CODES_BEHIND :] == FILLED).all()


@CALLS_INTRINSICS
@given(
    values=st.lists(st.integers(0, 2**32 - 1), min_size=24, max_size=24),
    i=st.integers(0, 8),
    mask=masks,
    at=st.integers(0, 9),
)
def test_chosen_integers_are_moved_together(values, i, mask, at):
    meant = [values[i + j] for j in set_bits(mask) if j < 16]
    for put in (call_put_chosen, put_chosen_twin):
        out = np.full(at + 16 + len(meant) + 3, FILLED, np.uint32)
        assert put(np.array(values, np.uint32), i, mask, out, np.uint64(at)) == at + len(meant)
        assert out[at : at + len(meant)].tolist() == meant
        assert (out[:at] == FILLED).all()
        assert (out[at + 16 + len(meant) :] == FILLED).all()
