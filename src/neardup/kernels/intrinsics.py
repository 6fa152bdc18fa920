"""The few operations that Numba has no word for, as LLVM code that any processor's compiler understands.

Each has a Python twin, named `*_twin`: the definition that the tests compare with, and what runs under
NUMBA_DISABLE_JIT=1. Loads and stores are unaligned, unchecked (Numba's bounds checks do not see them), and
little-endian; the caller makes sure that the bytes are there.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from neardup.arrays import Array
from neardup.kernels.compilation import JIT

I8, I32, I64, I128 = (ir.IntType(bits) for bits in (8, 32, 64, 128))
BLOCK = ir.VectorType(I8, 64)


def pointer_to(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Address of byte `index` of a uint8 array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, I8.as_pointer()), [index])


def load(builder: Any, pointer: Any, kind: Any) -> Any:
    value = builder.load(builder.bitcast(pointer, kind.as_pointer()))
    value.align = 1
    return value


def splat(value: int) -> Any:
    return ir.Constant(BLOCK, [value] * 64)


def pair(context: Any, builder: Any, signature: Any, first: Any, second: Any) -> Any:
    return context.make_tuple(builder, signature.return_type, (first, second))


def _unary(operation: Callable[[Any, Any], Any]) -> Any:
    """An intrinsic from uint64 to uint64."""

    def declare(typing: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return operation(builder, args[0])

        return types.uint64(types.uint64), generate

    return intrinsic(declare)


_popcount = _unary(lambda builder, value: builder.ctpop(value))
_trailing_zeros = _unary(lambda builder, value: builder.cttz(value, ir.Constant(ir.IntType(1), 0)))
_swap_bytes = _unary(lambda builder, value: builder.bswap(value))


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


@intrinsic
def _multiply_high(typing: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.mul(builder.zext(args[0], I128), builder.zext(args[1], I128))
        return builder.trunc(builder.lshr(product, ir.Constant(I128, 64)), I64)

    return types.uint64(types.uint64, types.uint64), generate


def multiply_high_twin(a: int, b: int) -> np.uint64:
    """The upper 64 bits of the 128-bit product."""
    return np.uint64(int(a) * int(b) >> 64)


@intrinsic
def _load64(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return load(builder, pointer_to(context, builder, signature.args[0], *args), I64)

    return types.uint64(data, types.int64), generate


def load64_twin(data: Array, index: int) -> np.uint64:
    """Bytes index … index + 7 as an integer."""
    return np.uint64(int.from_bytes(data[index : index + 8].tobytes(), "little"))


@intrinsic
def _load32(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(load(builder, pointer_to(context, builder, signature.args[0], *args), I32), I64)

    return types.uint64(data, types.int64), generate


def load32_twin(data: Array, index: int) -> np.uint64:
    """Bytes index … index + 3 as an integer."""
    return np.uint64(int.from_bytes(data[index : index + 4].tobytes(), "little"))


def _spaces(builder: Any, block: Any) -> tuple[Any, Any]:
    """Which bytes are ASCII white space, and which of these are control characters."""
    control = builder.icmp_unsigned("<=", builder.sub(block, splat(9)), splat(4))
    return builder.or_(control, builder.icmp_unsigned("==", block, splat(32))), control


def folded_block(builder: Any, block: Any) -> Any:
    """`block` with A-Z lowered and ASCII white space made a space."""
    upper = builder.icmp_unsigned("<=", builder.sub(block, splat(ord("A"))), splat(25))
    _, control = _spaces(builder, block)
    return builder.select(upper, builder.or_(block, splat(32)), builder.select(control, splat(32), block))


def store_folded(context: Any, builder: Any, signature: Any, args: Any, block: Any) -> Any:
    """Write `block`, folded."""
    target = builder.bitcast(pointer_to(context, builder, signature.args[2], args[2], args[3]), BLOCK.as_pointer())
    builder.store(folded_block(builder, block), target).align = 1
    return context.get_dummy_value()


@intrinsic
def _fold_ascii_block(typing: Any, data: Any, index: Any, out: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]), BLOCK)
        return store_folded(context, builder, signature, args, block)

    return types.void(data, types.int64, out, types.int64), generate


def mask_of(flags: Array) -> np.uint64:
    return np.uint64(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))


def fold_ascii_block_twin(data: Array, index: int, out: Array, at: int) -> None:
    """Copy 64 bytes from `data[index:]` to `out[at:]` with A-Z lowered and ASCII white space made a space."""
    block = data[index : index + 64]
    folded = np.where((block >= 65) & (block <= 90), block | np.uint8(32), block)
    out[at : at + 64] = np.where((block >= 9) & (block <= 13), np.uint8(32), folded)


@intrinsic
def _space_masks(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], *args), BLOCK)
        space, _ = _spaces(builder, block)
        other = builder.icmp_signed("<", block, splat(0))
        return pair(context, builder, signature, builder.bitcast(other, I64), builder.bitcast(space, I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


def space_masks_twin(data: Array, index: int) -> tuple[np.uint64, np.uint64]:
    """Two masks of the 64 bytes at `index`, bit j for byte j: it is not ASCII; it is ASCII white space."""
    block = data[index : index + 64]
    return mask_of(block >= 128), mask_of(((block >= 9) & (block <= 13)) | (block == 32))


@intrinsic
def _word_masks(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], *args), BLOCK)
        letter = builder.icmp_unsigned("<=", builder.sub(block, splat(ord("a"))), splat(25))
        digit = builder.icmp_unsigned("<=", builder.sub(block, splat(ord("0"))), splat(9))
        other = builder.icmp_signed("<", block, splat(0))
        word = builder.bitcast(builder.or_(letter, digit), I64)
        return pair(context, builder, signature, word, builder.bitcast(other, I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


def word_masks_twin(data: Array, index: int) -> tuple[np.uint64, np.uint64]:
    """Two masks of the 64 bytes at `index`, bit j for byte j: it is one of a-z and 0-9; it is not ASCII."""
    block = data[index : index + 64]
    return mask_of(((block >= 97) & (block <= 122)) | ((block >= 48) & (block <= 57))), mask_of(block >= 128)


@intrinsic
def _equal_mask(typing: Any, data: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]), BLOCK)
        first = builder.insert_element(ir.Constant(BLOCK, ir.Undefined), args[2], ir.Constant(I32, 0))
        wanted = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(I32, 64), [0] * 64))
        return builder.bitcast(builder.icmp_unsigned("==", block, wanted), I64)

    return types.uint64(data, types.int64, types.uint8), generate


def equal_mask_twin(data: Array, index: int, value: int) -> np.uint64:
    """Mask of the 64 bytes at `index`, bit j where byte j is `value`."""
    return mask_of(data[index : index + 64] == value)


@intrinsic
def _following_mask(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], *args), BLOCK)
        return builder.bitcast(builder.icmp_signed("<", block, ir.Constant(BLOCK, [-64] * 64)), I64)

    return types.uint64(data, types.int64), generate


def following_mask_twin(data: Array, index: int) -> np.uint64:
    """Mask of the 64 bytes at `index`, bit j where byte j continues a character of UTF-8."""
    return mask_of((data[index : index + 64] & 0xC0) == 0x80)


@intrinsic
def _opaque(typing: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.asm(ir.FunctionType(I64, [I64]), "", "=r,0", [args[0]], False)

    return types.uint64(types.uint64), generate


def opaque_twin(value: np.uint64) -> np.uint64:
    """The value itself; the optimizer does not see that, and cannot turn arithmetic on it into branches."""
    return value


_LANES = ir.VectorType(I64, 8)
_START = (
    *(0xC2B2AE3D, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9),
    *(0x85EBCA77C2B2AE63, 0x85EBCA77, 0x27D4EB2F165667C5, 0x9E3779B1),
)


def _lanes(*values: int) -> Any:
    return ir.Constant(_LANES, list(values) if len(values) == 8 else list(values) * 8)


@intrinsic
def _accumulate(typing: Any, data: Any, start: Any, end: Any, secret: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = pointer_to(context, builder, signature.args[0], args[0], args[1])
        keys = pointer_to(context, builder, signature.args[3], args[3], ir.Constant(I64, 0))
        sums = cgutils.alloca_once_value(builder, _lanes(*_START))
        neighbors = ir.Constant(ir.VectorType(I32, 8), [1, 0, 3, 2, 5, 4, 7, 6])

        def at(pointer: Any, offset: Any) -> Any:
            return load(builder, builder.gep(pointer, [offset]), _LANES)

        def add_stripe(offset: Any, key: Any) -> None:
            stripe = at(first, offset)
            keyed = builder.xor(stripe, at(keys, key))
            product = builder.mul(builder.and_(keyed, _lanes(0xFFFFFFFF)), builder.lshr(keyed, _lanes(32)))
            total = builder.add(builder.load(sums), builder.shuffle_vector(stripe, stripe, neighbors))
            builder.store(builder.add(total, product), sums)

        length = builder.sub(args[2], args[1])
        stripes = builder.lshr(builder.sub(length, ir.Constant(I64, 1)), ir.Constant(I64, 6))
        with cgutils.for_range(builder, stripes) as loop:
            turn = builder.and_(loop.index, ir.Constant(I64, 15))
            add_stripe(builder.shl(loop.index, ir.Constant(I64, 6)), builder.shl(turn, ir.Constant(I64, 3)))
            with builder.if_then(builder.icmp_unsigned("==", turn, ir.Constant(I64, 15))):
                before = builder.load(sums)
                mixed = builder.xor(before, builder.lshr(before, _lanes(47)))
                mixed = builder.xor(mixed, at(keys, ir.Constant(I64, 128)))
                builder.store(builder.mul(mixed, _lanes(0x9E3779B1)), sums)
        # The last 64 bytes, whatever of them was seen before.
        add_stripe(builder.sub(length, ir.Constant(I64, 64)), ir.Constant(I64, 121))
        found = builder.load(sums)
        values = [builder.extract_element(found, ir.Constant(I32, lane)) for lane in range(8)]
        return context.make_tuple(builder, signature.return_type, values)

    return types.UniTuple(types.uint64, 8)(data, types.int64, types.int64, secret), generate


def accumulate_twin(data: Array, start: int, end: int, secret: Array) -> tuple[np.uint64, ...]:
    """The eight accumulators of XXH3 of `data[start:end]`, more than 240 bytes (xxHash 0.8, the section on long inputs)."""
    sums = np.array(_START, np.uint64)

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


popcount = _popcount if JIT else popcount_twin
trailing_zeros = _trailing_zeros if JIT else trailing_zeros_twin
swap_bytes = _swap_bytes if JIT else swap_bytes_twin
multiply_high = _multiply_high if JIT else multiply_high_twin
load64 = _load64 if JIT else load64_twin
load32 = _load32 if JIT else load32_twin
fold_ascii_block = _fold_ascii_block if JIT else fold_ascii_block_twin
word_masks = _word_masks if JIT else word_masks_twin
space_masks = _space_masks if JIT else space_masks_twin
equal_mask = _equal_mask if JIT else equal_mask_twin
following_mask = _following_mask if JIT else following_mask_twin
accumulate = _accumulate if JIT else accumulate_twin
opaque = _opaque if JIT else opaque_twin
