"""Operations on 64 bytes of UTF-8 at once for what is not ASCII: the common East Asian characters, and whether it is UTF-8.

As in intrinsics.py, each has a Python twin; loads are unchecked, and the caller makes sure that the bytes are there.
"""

import functools
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from neardup.arrays import Array
from neardup.kernels.compilation import JIT
from neardup.kernels.intrinsics import (
    BLOCK,
    I64,
    fold_ascii_block_twin,
    load,
    mask_of,
    pair,
    pointer_to,
    splat,
    store_folded,
)


@intrinsic
def _wide_masks(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], *args)
        first, second, third = (load(builder, builder.gep(pointer, [ir.Constant(I64, j)]), BLOCK) for j in range(3))

        def within(block: Any, low: int, high: int) -> Any:
            return builder.icmp_unsigned("<=", builder.sub(block, splat(low)), splat(high - low))

        def both(*conditions: Any) -> Any:
            return functools.reduce(builder.and_, conditions)

        def either(*conditions: Any) -> Any:
            return functools.reduce(builder.or_, conditions)

        e2, e3, cc = within(first, 0xE2, 0xE2), within(first, 0xE3, 0xE3), within(second, 0x80, 0x80)
        kana = either(
            both(within(second, 0x81, 0x81), within(third, 0x81, 0xBF)),
            both(within(second, 0x82, 0x82), either(within(third, 0x80, 0x96), within(third, 0xA1, 0xBF))),
            both(within(second, 0x83, 0x83), within(third, 0x80, 0xBA)),
        )
        han = either(within(first, 0xE5, 0xE9), both(within(first, 0xE4, 0xE4), within(second, 0xB8, 0xBF)))
        ideographic = both(e3, either(within(third, 0x81, 0x83), within(third, 0x88, 0x9F)))
        general = both(e2, either(within(third, 0x90, 0x90), within(third, 0x92, 0x96), within(third, 0x98, 0xA3)))
        cjk, separator = either(han, both(e3, kana)), both(cc, either(ideographic, general))
        return pair(context, builder, signature, builder.bitcast(cjk, I64), builder.bitcast(separator, I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


def wide_masks_twin(data: Array, index: int) -> tuple[np.uint64, np.uint64]:
    """Two masks of the characters of three bytes that need no table, bit j where one starts at byte j; 66 bytes are read.

    U+4E00 to U+9FFF, U+3041 to U+3096 and U+30A1 to U+30FA, each a token; U+3001 to U+3003, U+3008 to U+301F, U+2010,
    U+2012 to U+2016 and U+2018 to U+2023, which separate. All of them fold to themselves.
    """
    first, second, third = (data[index + j : index + j + 64] for j in range(3))

    def within(block: Array, low: int, high: int) -> Array:
        return (block >= low) & (block <= high)

    kana = (second == 0x81) & within(third, 0x81, 0xBF) | (second == 0x83) & within(third, 0x80, 0xBA)
    kana |= (second == 0x82) & (within(third, 0x80, 0x96) | within(third, 0xA1, 0xBF))
    han = within(first, 0xE5, 0xE9) | (first == 0xE4) & within(second, 0xB8, 0xBF)
    separator = (first == 0xE3) & (within(third, 0x81, 0x83) | within(third, 0x88, 0x9F))
    separator |= (first == 0xE2) & ((third == 0x90) | within(third, 0x92, 0x96) | within(third, 0x98, 0xA3))
    return mask_of(han | (first == 0xE3) & kana), mask_of((second == 0x80) & separator)


def full_width_block(builder: Any, pointer: Any) -> tuple[Any, Any]:
    """Which bytes begin a full-width form of ASCII, and the block with these bytes replaced by that ASCII."""
    first, second, third = (load(builder, builder.gep(pointer, [ir.Constant(I64, j)]), BLOCK) for j in range(3))
    upper = builder.icmp_unsigned("==", second, splat(0xBC))
    lower = builder.and_(
        builder.icmp_unsigned("==", second, splat(0xBD)), builder.icmp_unsigned("<=", third, splat(0x9E))
    )
    some = builder.or_(builder.and_(upper, builder.icmp_unsigned(">=", third, splat(0x81))), lower)
    found = builder.and_(builder.icmp_unsigned("==", first, splat(0xEF)), some)
    shifted = builder.select(upper, splat(0x60), splat(0x20))
    return found, builder.select(found, builder.sub(third, shifted), first)


@intrinsic
def _full_width_mask(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found, _ = full_width_block(builder, pointer_to(context, builder, signature.args[0], *args))
        return builder.bitcast(found, I64)

    return types.uint64(data, types.int64), generate


def _full_width_twin(first: Array, second: Array, third: Array) -> Array:
    found: Array = (first == 0xEF) & (((second == 0xBC) & (third >= 0x81)) | ((second == 0xBD) & (third <= 0x9E)))
    return found


def full_width_mask_twin(data: Array, index: int) -> np.uint64:
    """Mask of the 64 bytes at `index`, bit j where one of U+FF01 to U+FF5E starts at byte j; 66 bytes are read."""
    return mask_of(_full_width_twin(*(data[index + j : index + j + 64] for j in range(3))))


@intrinsic
def _fold_wide_block(typing: Any, data: Any, index: Any, out: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, block = full_width_block(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]))
        return store_folded(context, builder, signature, args, block)

    return types.void(data, types.int64, out, types.int64), generate


def fold_wide_block_twin(data: Array, index: int, out: Array, at: int) -> None:
    """As `fold_ascii_block`; and the first byte of a full-width form of ASCII becomes that ASCII, small letters."""
    first, second, third = (data[index + j : index + j + 64] for j in range(3))
    wide = _full_width_twin(first, second, third)
    ascii_form = third - np.where(second == 0xBC, np.uint8(0x60), np.uint8(0x20))
    fold_ascii_block_twin(np.where(wide, ascii_form, first), 0, out, at)


@intrinsic
def _utf8_errors(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], *args)
        block, before, second, third = (
            load(builder, builder.gep(pointer, [ir.Constant(I64, -j)]), BLOCK) for j in range(4)
        )

        def compare(relation: str, value: Any, other: int) -> Any:
            return builder.icmp_unsigned(relation, value, splat(other))

        follows = builder.icmp_signed("<", block, ir.Constant(BLOCK, [-64] * 64))
        must = builder.or_(
            compare(">=", before, 0xC0), builder.or_(compare(">=", second, 0xE0), compare(">=", third, 0xF0))
        )
        errors = builder.or_(builder.xor(follows, must), compare(">=", block, 0xF5))
        errors = builder.or_(errors, builder.or_(compare("==", block, 0xC0), compare("==", block, 0xC1)))
        for lead, relation, limit in ((0xE0, "<", 0xA0), (0xED, ">=", 0xA0), (0xF0, "<", 0x90), (0xF4, ">=", 0x90)):
            errors = builder.or_(errors, builder.and_(compare("==", before, lead), compare(relation, block, limit)))
        return builder.bitcast(errors, I64)

    return types.uint64(data, types.int64), generate


def utf8_errors_twin(data: Array, index: int) -> np.uint64:
    """Mask of the 64 bytes at `index` that cannot stand in UTF-8 after the three before each (The Unicode Standard, table 3-7)."""
    block, before, second, third = (data[index - j : index - j + 64] for j in range(4))
    follows, must = (block & 0xC0) == 0x80, (before >= 0xC0) | (second >= 0xE0) | (third >= 0xF0)
    errors = (follows != must) | (block == 0xC0) | (block == 0xC1) | (block >= 0xF5)
    errors |= (before == 0xE0) & (block < 0xA0) | (before == 0xED) & (block >= 0xA0)
    return mask_of(errors | (before == 0xF0) & (block < 0x90) | (before == 0xF4) & (block >= 0x90))


wide_masks = _wide_masks if JIT else wide_masks_twin
full_width_mask = _full_width_mask if JIT else full_width_mask_twin
fold_wide_block = _fold_wide_block if JIT else fold_wide_block_twin
utf8_errors = _utf8_errors if JIT else utf8_errors_twin
