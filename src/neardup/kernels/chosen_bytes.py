"""Of 64 bytes, those that a mask chooses: folded and moved together, or where they are; and of sixteen integers.

Where the processor has AVX-512 VBMI2 one instruction moves them (vpcompressb); elsewhere they go run by run and bit by bit. The
intrinsics' twins are those loops. Stores are unchecked, and go past what is chosen: see each for how far.
"""

import numpy as np

from neardup.kernels.compilation import JIT, has_feature, kernel
from neardup.kernels.constants import FIRST_CODE, GROUP
from neardup.kernels.intrinsics import fold_ascii_block, load32, popcount, trailing_zeros
from neardup.kernels.wide_characters import fold_wide_block

u64 = np.uint64
ONE = u64(1)
PLACES_BEHIND = 32
"""Places that an array of positions needs behind those that are meant."""
CODES_BEHIND = 32
"""Places that an array of codes needs behind those that are meant."""

HAS_COMPRESS = JIT and has_feature("avx512vbmi2")


@kernel
def put_ascii_twin(data, i, chosen, out, o):
    """Write those of 64 bytes of ASCII that `chosen` has a bit for to `out[o:]`, folded; returns the next free position.

    `out` has 64 places from there on.
    """
    while chosen != 0:  # a run of bytes that stay together
        offset = trailing_zeros(chosen)
        fold_ascii_block(data, i + np.int64(offset), out, o)
        o += np.int64(trailing_zeros(~(chosen >> offset)))
        chosen &= chosen + (chosen & (u64(0) - chosen))
    return o


@kernel
def put_wide_twin(data, i, chosen, out, o):
    """As `put_ascii`; and the first byte of a full-width form of ASCII becomes that ASCII. 66 bytes are read."""
    while chosen != 0:
        offset = trailing_zeros(chosen)
        fold_wide_block(data, i + np.int64(offset), out, o)
        o += np.int64(trailing_zeros(~(chosen >> offset)))
        chosen &= chosen + (chosen & (u64(0) - chosen))
    return o


@kernel
def put_positions_twin(chosen, base, out, at):
    """Write base + j for each bit j of `chosen` to `out[at:]` (int64), and anything to the `PLACES_BEHIND` behind them.

    Returns the next place; `at` is unsigned, as what cannot be negative costs no check.
    """
    after = at + popcount(chosen)
    while at < after:
        for j in range(GROUP):
            out[at + u64(j)] = base + np.int64(trailing_zeros(chosen))
            chosen &= chosen - ONE
        at += u64(GROUP)
    return after


@kernel
def put_codes_twin(data, i, chosen, three, out, at):
    """Write the code point less FIRST_CODE of the character of three bytes at each bit of `chosen` that is in `three`, else 0.

    Goes to `out[at:]` (uint16), which has CODES_BEHIND places from the end of what is written on; 66 bytes are read. Returns the
    next place.
    """
    while chosen != 0:
        j = trailing_zeros(chosen)
        character = load32(data, i + np.int64(j))
        code = (
            (character & u64(0x0F)) << u64(12) | (character >> u64(2) & u64(0xFC0)) | (character >> u64(16) & u64(0x3F))
        )
        out[at] = np.uint16((code - u64(FIRST_CODE)) * (three >> j & ONE))
        at += ONE
        chosen &= chosen - ONE
    return at


@kernel
def put_chosen_twin(values, i, chosen, out, at):
    """Write those of the sixteen values from `values[i]` (uint32) on that `chosen` has a bit for to `out[at:]` (uint32).

    Bits of `chosen` above the lowest sixteen do not count. `out` has sixteen places from there on. Returns the next place.
    """
    for j in range(16):
        out[at] = values[i + j]
        at += chosen >> u64(j) & ONE
    return at


if HAS_COMPRESS:
    from neardup.kernels.llvm.chosen_bytes import put_ascii, put_chosen, put_codes, put_positions, put_wide
else:
    put_ascii = put_ascii_twin
    put_chosen = put_chosen_twin
    put_codes = put_codes_twin
    put_positions = put_positions_twin
    put_wide = put_wide_twin
