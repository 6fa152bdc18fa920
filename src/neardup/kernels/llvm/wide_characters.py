"""The intrinsics of `neardup.kernels.wide_characters`, which says what each does."""

import functools
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from neardup.kernels.llvm.intrinsics import BLOCK, I64, check_writable, load, pair, pointer_to, splat, store_folded

_TOKEN_KINDS = 0b1110_0111
"""Of the kinds of `_kinds_by_byte`, those of tokens; the others are of separators."""


def _kinds_by_byte() -> tuple[list[int], list[int], list[int]]:
    """For the first, second and third bytes of characters, by their lower six bits, the kinds that such a one may be of.

    A character is of the kinds that all of its bytes allow: bits 0 to 2 are Kana by the second byte, 3 and 4 the separators after
    E3 and E2, 5 and 6 Han after E4 and after E5 to E9, 7 the signs for a repeated character and for zero.
    """

    def table(*kinds: tuple[int, list[int]]) -> list[int]:
        return [sum(1 << kind for kind, values in kinds if byte in values) for byte in range(64)]

    def after(*ranges: tuple[int, int]) -> list[int]:
        return [byte & 63 for low, high in ranges for byte in range(low, high + 1)]

    first = table(
        *((kind, [0x23]) for kind in (0, 1, 2, 3, 7)), (4, [0x22]), (5, [0x24]), (6, [0x25, 0x26, 0x27, 0x28, 0x29])
    )
    second = table(
        (0, [1]), (1, [2]), (2, [3]), (3, [0]), (4, [0]), (5, after((0xB8, 0xBF))), (6, after((0x80, 0xBF))), (7, [0])
    )
    third = table(
        (0, after((0x81, 0xBF))),
        (1, after((0x80, 0x96), (0xA1, 0xBF))),
        (2, after((0x80, 0xBA), (0xBC, 0xBE))),
        (3, after((0x81, 0x83), (0x88, 0x9F))),
        (4, after((0x90, 0x90), (0x92, 0x96), (0x98, 0xA3))),
        *((kind, after((0x80, 0xBF))) for kind in (5, 6)),
        (7, after((0x85, 0x85), (0x87, 0x87))),
    )
    return first, second, third


@intrinsic
def wide_masks_by_tables(_: Any, data: Any, index: Any) -> Any:
    """`wide_masks` of valid UTF-8, for processors with AVX-512 VBMI: three look-ups in tables of 64 bytes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], *args)
        kind = ir.FunctionType(BLOCK, [BLOCK, BLOCK])
        look_up = cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.avx512.permvar.qi.512")
        found = []
        for offset, table in enumerate(_kinds_by_byte()):
            block = load(builder, builder.gep(pointer, [ir.Constant(I64, offset)]), BLOCK)
            kinds = builder.call(look_up, [ir.Constant(BLOCK, table), block])
            if offset == 0:
                kinds = builder.select(builder.icmp_unsigned(">=", block, splat(0xE0)), kinds, splat(0))
            found.append(kinds)
        kinds = functools.reduce(builder.and_, found)
        masks = [
            builder.bitcast(builder.icmp_unsigned("!=", builder.and_(kinds, splat(some)), splat(0)), I64)
            for some in (_TOKEN_KINDS, 0xFF ^ _TOKEN_KINDS)
        ]
        return pair(context, builder, signature, *masks)

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


@intrinsic
def wide_masks(_: Any, data: Any, index: Any) -> Any:
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
            both(within(second, 0x83, 0x83), either(within(third, 0x80, 0xBA), within(third, 0xBC, 0xBE))),
            both(cc, either(within(third, 0x85, 0x85), within(third, 0x87, 0x87))),
        )
        han = either(within(first, 0xE5, 0xE9), both(within(first, 0xE4, 0xE4), within(second, 0xB8, 0xBF)))
        ideographic = both(e3, either(within(third, 0x81, 0x83), within(third, 0x88, 0x9F)))
        general = both(e2, either(within(third, 0x90, 0x90), within(third, 0x92, 0x96), within(third, 0x98, 0xA3)))
        cjk, separator = either(han, both(e3, kana)), both(cc, either(ideographic, general))
        return pair(context, builder, signature, builder.bitcast(cjk, I64), builder.bitcast(separator, I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


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
def full_width_mask(_: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        found, _ = full_width_block(builder, pointer_to(context, builder, signature.args[0], *args))
        return builder.bitcast(found, I64)

    return types.uint64(data, types.int64), generate


@intrinsic
def fold_wide_block(_: Any, data: Any, index: Any, out: Any, at: Any) -> Any:
    check_writable(out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, block = full_width_block(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]))
        return store_folded(context, builder, signature, args, block)

    return types.void(data, types.int64, out, types.int64), generate


@intrinsic
def utf8_errors(_: Any, data: Any, index: Any) -> Any:
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
