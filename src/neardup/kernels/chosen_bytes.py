"""Of 64 bytes, those that a mask chooses: folded and moved together, or where they are.

Where the processor has AVX-512 VBMI2 one instruction moves them (vpcompressb); elsewhere they go run by run and bit by bit. The
intrinsics' twins are those loops. Stores are unchecked, and go past what is chosen: see each for how far.
"""

import numpy as np

from neardup.kernels.compilation import JIT, has_feature, kernel
from neardup.kernels.constants import GROUP
from neardup.kernels.intrinsics import fold_ascii_block, popcount, trailing_zeros
from neardup.kernels.wide_characters import fold_wide_block

u64 = np.uint64
ONE = u64(1)
PLACES_BEHIND = 32
"""Places that an array of positions needs behind those that are meant."""

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


if HAS_COMPRESS:
    from neardup.kernels.llvm.chosen_bytes import put_ascii, put_positions, put_wide
else:
    put_ascii = put_ascii_twin
    put_positions = put_positions_twin
    put_wide = put_wide_twin
