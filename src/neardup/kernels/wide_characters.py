"""Operations on 64 bytes of UTF-8 at once for what is not ASCII: the common East Asian characters, and whether it is UTF-8.

As in intrinsics.py, these are the Python twins; loads are unchecked, and the caller makes sure that the bytes are there.
"""

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import JIT, has_feature
from neardup.kernels.intrinsics import fold_ascii_block_twin, mask_of


def wide_masks_twin(data: Array, index: int) -> tuple[np.uint64, np.uint64]:
    """Two masks of the characters of three bytes in valid UTF-8 that need no table, bit j where one starts at byte j.

    66 bytes are read.

    U+4E00 to U+9FFF, U+3041 to U+3096, U+30A1 to U+30FA, U+30FC to U+30FE, U+3005 and U+3007, each a token; U+3001 to U+3003,
    U+3008 to U+301F, U+2010, U+2012 to U+2016 and U+2018 to U+2023, which separate. All of them fold to themselves.
    """
    first, second, third = (data[index + j : index + j + 64] for j in range(3))

    def within(block: Array, low: int, high: int) -> Array:
        return (block >= low) & (block <= high)

    kana = (second == 0x81) & within(third, 0x81, 0xBF) | (second == 0x80) & ((third == 0x85) | (third == 0x87))
    kana |= (second == 0x82) & (within(third, 0x80, 0x96) | within(third, 0xA1, 0xBF))
    kana |= (second == 0x83) & (within(third, 0x80, 0xBA) | within(third, 0xBC, 0xBE))
    han = within(first, 0xE5, 0xE9) | (first == 0xE4) & within(second, 0xB8, 0xBF)
    separator = (first == 0xE3) & (within(third, 0x81, 0x83) | within(third, 0x88, 0x9F))
    separator |= (first == 0xE2) & ((third == 0x90) | within(third, 0x92, 0x96) | within(third, 0x98, 0xA3))
    return mask_of(han | (first == 0xE3) & kana), mask_of((second == 0x80) & separator)


def _full_width_twin(first: Array, second: Array, third: Array) -> Array:
    found: Array = (first == 0xEF) & (((second == 0xBC) & (third >= 0x81)) | ((second == 0xBD) & (third <= 0x9E)))
    return found


def full_width_mask_twin(data: Array, index: int) -> np.uint64:
    """Mask of the 64 bytes at `index`, bit j where one of U+FF01 to U+FF5E starts at byte j; 66 bytes are read."""
    return mask_of(_full_width_twin(*(data[index + j : index + j + 64] for j in range(3))))


def fold_wide_block_twin(data: Array, index: int, out: Array, at: int) -> None:
    """As `fold_ascii_block`; and the first byte of a full-width form of ASCII becomes that ASCII, small letters."""
    first, second, third = (data[index + j : index + j + 64] for j in range(3))
    wide = _full_width_twin(first, second, third)
    ascii_form = third - np.where(second == 0xBC, np.uint8(0x60), np.uint8(0x20))
    fold_ascii_block_twin(np.where(wide, ascii_form, first), 0, out, at)


def utf8_errors_twin(data: Array, index: int) -> np.uint64:
    """Mask of the 64 bytes at `index` that cannot stand in UTF-8 after the three before each (The Unicode Standard, table 3-7)."""
    block, before, second, third = (data[index - j : index - j + 64] for j in range(4))
    follows, must = (block & 0xC0) == 0x80, (before >= 0xC0) | (second >= 0xE0) | (third >= 0xF0)
    errors = (follows != must) | (block == 0xC0) | (block == 0xC1) | (block >= 0xF5)
    errors |= (before == 0xE0) & (block < 0xA0) | (before == 0xED) & (block >= 0xA0)
    return mask_of(errors | (before == 0xF0) & (block < 0x90) | (before == 0xF4) & (block >= 0x90))


if JIT:
    from neardup.kernels.llvm.wide_characters import fold_wide_block, full_width_mask, utf8_errors, wide_masks

    if has_feature("avx512vbmi2"):
        from neardup.kernels.llvm.wide_characters import wide_masks_by_tables as wide_masks
else:
    fold_wide_block = fold_wide_block_twin
    full_width_mask = full_width_mask_twin
    utf8_errors = utf8_errors_twin
    wide_masks = wide_masks_twin
