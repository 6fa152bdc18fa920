"""The few operations that Numba has no word for.

Each is defined twice: as LLVM code that any processor's compiler understands (`kernels.llvm`), and here as a Python twin, named
`*_twin`: the definition that the tests compare with, and what runs where kernels are interpreted. Loads and stores are
unaligned, unchecked (Numba's bounds checks do not see them), and little-endian; the caller makes sure that the bytes are there.
"""

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import JIT
from neardup.kernels.constants import COLUMN_BITS, COLUMNS, ROWS, XXH3_START


def popcount_twin(value: int) -> np.uint64:
    """Number of bits that are 1."""
    return np.uint64(int(value).bit_count())


def trailing_zeros_twin(value: int) -> np.uint64:
    """Number of 0 bits below the lowest 1; 64 for 0."""
    value = int(value)
    return np.uint64((value & -value).bit_length() - 1 if value else 64)


def swap_bytes_twin(value: int) -> np.uint64:
    """The eight bytes in reverse order."""
    return np.uint64(int.from_bytes(int(value).to_bytes(8, "little"), "big"))


def multiply_high_twin(a: int, b: int) -> np.uint64:
    """The upper 64 bits of the 128-bit product."""
    return np.uint64(int(a) * int(b) >> 64)


def load64_twin(data: Array, index: int) -> np.uint64:
    """Bytes index … index + 7 as an integer."""
    return np.uint64(int.from_bytes(data[index : index + 8].tobytes(), "little"))


def load32_twin(data: Array, index: int) -> np.uint64:
    """Bytes index … index + 3 as an integer."""
    return np.uint64(int.from_bytes(data[index : index + 4].tobytes(), "little"))


def mask_of(flags: Array) -> np.uint64:
    return np.uint64(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))


def fold_ascii_block_twin(data: Array, index: int, out: Array, at: int) -> None:
    """Copy 64 bytes from `data[index:]` to `out[at:]` with A-Z lowered and ASCII white space made a space."""
    block = data[index : index + 64]
    folded = np.where((block >= 65) & (block <= 90), block | np.uint8(32), block)
    out[at : at + 64] = np.where((block >= 9) & (block <= 13), np.uint8(32), folded)


def space_masks_twin(data: Array, index: int) -> tuple[np.uint64, np.uint64]:
    """Two masks of the 64 bytes at `index`, bit j for byte j: it is not ASCII; it is ASCII white space."""
    block = data[index : index + 64]
    return mask_of(block >= 128), mask_of(((block >= 9) & (block <= 13)) | (block == 32))


def word_masks_twin(data: Array, index: int) -> tuple[np.uint64, np.uint64]:
    """Two masks of the 64 bytes at `index`, bit j for byte j: it is one of a-z and 0-9; it is not ASCII."""
    block = data[index : index + 64]
    return mask_of(((block >= 97) & (block <= 122)) | ((block >= 48) & (block <= 57))), mask_of(block >= 128)


def equal_mask_twin(data: Array, index: int, value: int) -> np.uint64:
    """Mask of the 64 bytes at `index`, bit j where byte j is `value`."""
    return mask_of(data[index : index + 64] == value)


def following_mask_twin(data: Array, index: int) -> np.uint64:
    """Mask of the 64 bytes at `index`, bit j where byte j continues a character of UTF-8."""
    return mask_of((data[index : index + 64] & 0xC0) == 0x80)


def count_columns_twin(hashes: Array, blocks: int, planes: Array, at: int) -> None:
    """Add the first 128 `blocks` of `hashes` (uint64) to 64 counters, one for each bit, each in eight columns of four bits.

    What overflows is put in their place: eight hashes for each 128, each of weight 16. The sum of what stays in the columns goes to
    `planes[at:]` (uint64): the bits of the counters, the least significant first, COLUMN_BITS of them.
    """
    size = COLUMNS * ROWS
    bits = np.unpackbits(hashes[: size * blocks].view(np.uint8), bitorder="little").reshape(blocks, ROWS, COLUMNS, 64)
    counters = np.zeros((COLUMNS, 64), np.int64)
    for block in range(blocks):
        counters += bits[block].sum(axis=0, dtype=np.int64)
        over = np.packbits(counters >= ROWS, axis=1, bitorder="little").view(np.uint64)[:, 0]
        hashes[COLUMNS * block : COLUMNS * (block + 1)] = over
        counters %= ROWS
    total = counters.sum(axis=0)
    for bit in range(COLUMN_BITS):
        planes[at + bit] = mask_of(total >> bit & 1 == 1)


def opaque_twin(value: np.uint64) -> np.uint64:
    """The value itself; the optimizer does not see that, and cannot turn arithmetic on it into branches."""
    return value


def guessed_twin(value: int) -> int:
    """The value itself. What is computed with it stays behind the branch that it stands in.

    The processor predicts the branch and goes on with the value at once. Without this, a compiler makes a selection of the branch,
    and everything after it waits for what is compared.
    """
    return value


def accumulate_twin(data: Array, start: int, end: int, secret: Array) -> tuple[np.uint64, ...]:
    """The eight accumulators of XXH3 of `data[start:end]`, more than 240 bytes (xxHash 0.8, the section on long inputs)."""
    sums = np.array(XXH3_START, np.uint64)

    def add_stripe(offset: int, key: int) -> None:
        stripe = data[offset : offset + 64].view(np.uint64)
        keyed = stripe ^ secret[key : key + 64].view(np.uint64)
        product = (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> np.uint64(32))
        sums[:] += stripe.reshape(4, 2)[:, ::-1].ravel() + product

    for number in range((end - start - 1) // 64):
        add_stripe(start + 64 * number, number % 16 * 8)
        if number % 16 == 15:
            sums ^= sums >> np.uint64(47)
            sums ^= secret[128:192].view(np.uint64)
            sums *= np.uint64(0x9E3779B1)
    add_stripe(end - 64, 121)
    return tuple(sums)


if JIT:
    from neardup.kernels.llvm.intrinsics import (
        accumulate,
        count_columns,
        equal_mask,
        fold_ascii_block,
        following_mask,
        guessed,
        load32,
        load64,
        multiply_high,
        opaque,
        popcount,
        space_masks,
        swap_bytes,
        trailing_zeros,
        word_masks,
    )
else:
    accumulate = accumulate_twin
    count_columns = count_columns_twin
    equal_mask = equal_mask_twin
    fold_ascii_block = fold_ascii_block_twin
    following_mask = following_mask_twin
    guessed = guessed_twin
    load32 = load32_twin
    load64 = load64_twin
    multiply_high = multiply_high_twin
    opaque = opaque_twin
    popcount = popcount_twin
    space_masks = space_masks_twin
    swap_bytes = swap_bytes_twin
    trailing_zeros = trailing_zeros_twin
    word_masks = word_masks_twin
