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
from numba.extending import intrinsic

from neardup.kernels.compilation import JIT

Array = np.ndarray[Any, np.dtype[Any]]

_I8, _I32, _I64, _I128 = (ir.IntType(bits) for bits in (8, 32, 64, 128))
_BLOCK = ir.VectorType(_I8, 64)
_M64 = (1 << 64) - 1


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Address of byte `index` of a uint8 array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, _I8.as_pointer()), [index])


def _load(builder: Any, pointer: Any, kind: Any) -> Any:
    value = builder.load(builder.bitcast(pointer, kind.as_pointer()))
    value.align = 1
    return value


def _splat(value: int) -> Any:
    return ir.Constant(_BLOCK, [value] * 64)


def _pair(context: Any, builder: Any, signature: Any, first: Any, second: Any) -> Any:
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
        product = builder.mul(builder.zext(args[0], _I128), builder.zext(args[1], _I128))
        return builder.trunc(builder.lshr(product, ir.Constant(_I128, 64)), _I64)

    return types.uint64(types.uint64, types.uint64), generate


def multiply_high_twin(a: int, b: int) -> np.uint64:
    """The upper 64 bits of the 128-bit product."""
    return np.uint64(int(a) * int(b) >> 64)


@intrinsic
def _load64(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _load(builder, _pointer(context, builder, signature.args[0], *args), _I64)

    return types.uint64(data, types.int64), generate


def load64_twin(data: Array, index: int) -> np.uint64:
    """Bytes index … index + 7 as an integer."""
    return np.uint64(int.from_bytes(data[index : index + 8].tobytes(), "little"))


@intrinsic
def _load32(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(_load(builder, _pointer(context, builder, signature.args[0], *args), _I32), _I64)

    return types.uint64(data, types.int64), generate


def load32_twin(data: Array, index: int) -> np.uint64:
    """Bytes index … index + 3 as an integer."""
    return np.uint64(int.from_bytes(data[index : index + 4].tobytes(), "little"))


@intrinsic
def _fold_ascii_block(typing: Any, data: Any, index: Any, out: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(builder, _pointer(context, builder, signature.args[0], args[0], args[1]), _BLOCK)
        upper = builder.icmp_unsigned("<=", builder.sub(block, _splat(ord("A"))), _splat(25))
        control = builder.icmp_unsigned("<=", builder.sub(block, _splat(9)), _splat(4))
        space = builder.or_(control, builder.icmp_unsigned("==", block, _splat(32)))
        folded = builder.select(upper, builder.or_(block, _splat(32)), builder.select(control, _splat(32), block))
        target = builder.bitcast(_pointer(context, builder, signature.args[2], args[2], args[3]), _BLOCK.as_pointer())
        builder.store(folded, target).align = 1
        other = builder.icmp_signed("<", block, _splat(0))
        return _pair(context, builder, signature, builder.bitcast(other, _I64), builder.bitcast(space, _I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64, out, types.int64), generate


def _mask(flags: Array) -> np.uint64:
    return np.uint64(int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little"))


def fold_ascii_block_twin(data: Array, index: int, out: Array, at: int) -> tuple[np.uint64, np.uint64]:
    """Copy 64 bytes from `data[index:]` to `out[at:]` with A-Z lowered and ASCII white space made a space.

    Returns two masks, bit j for byte j: the byte is not ASCII; it is ASCII white space.
    """
    block = data[index : index + 64]
    control = (block >= 9) & (block <= 13)
    folded = np.where((block >= 65) & (block <= 90), block | np.uint8(32), block)
    out[at : at + 64] = np.where(control, np.uint8(32), folded)
    return _mask(block >= 128), _mask(control | (block == 32))


@intrinsic
def _word_masks(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(builder, _pointer(context, builder, signature.args[0], *args), _BLOCK)
        letter = builder.icmp_unsigned("<=", builder.sub(block, _splat(ord("a"))), _splat(25))
        digit = builder.icmp_unsigned("<=", builder.sub(block, _splat(ord("0"))), _splat(9))
        other = builder.icmp_signed("<", block, _splat(0))
        word = builder.bitcast(builder.or_(letter, digit), _I64)
        return _pair(context, builder, signature, word, builder.bitcast(other, _I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


def word_masks_twin(data: Array, index: int) -> tuple[np.uint64, np.uint64]:
    """Two masks of the 64 bytes at `index`, bit j for byte j: it is one of a-z and 0-9; it is not ASCII."""
    block = data[index : index + 64]
    return _mask(((block >= 97) & (block <= 122)) | ((block >= 48) & (block <= 57))), _mask(block >= 128)


@intrinsic
def _ideograph_leads(typing: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(builder, _pointer(context, builder, signature.args[0], *args), _BLOCK)
        sure = builder.icmp_unsigned("<=", builder.sub(block, _splat(0xE5)), _splat(4))
        maybe = builder.bitcast(builder.icmp_unsigned("==", block, _splat(0xE4)), _I64)
        high = builder.bitcast(builder.icmp_unsigned(">=", block, _splat(0xB8)), _I64)
        late = builder.and_(maybe, builder.lshr(high, ir.Constant(_I64, 1)))
        return builder.or_(builder.bitcast(sure, _I64), late)

    return types.uint64(data, types.int64), generate


def ideograph_leads_twin(data: Array, index: int) -> np.uint64:
    """Mask of the 64 bytes at `index`, bit j for byte j: U+4E00 to U+9FFF begins there (bit 63 only for U+5000 and above)."""
    block = data[index : index + 64]
    late = (block == 0xE4) & np.append(block[1:] >= 0xB8, False)
    return _mask(((block >= 0xE5) & (block <= 0xE9)) | late)


@intrinsic
def _copy_block(typing: Any, data: Any, index: Any, out: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = _load(builder, _pointer(context, builder, signature.args[0], args[0], args[1]), _BLOCK)
        target = builder.bitcast(_pointer(context, builder, signature.args[2], args[2], args[3]), _BLOCK.as_pointer())
        builder.store(block, target).align = 1
        return context.get_dummy_value()

    return types.void(data, types.int64, out, types.int64), generate


def copy_block_twin(data: Array, index: int, out: Array, at: int) -> None:
    """Copy 64 bytes from `data[index:]` to `out[at:]`."""
    out[at : at + 64] = data[index : index + 64]


popcount = _popcount if JIT else popcount_twin
trailing_zeros = _trailing_zeros if JIT else trailing_zeros_twin
swap_bytes = _swap_bytes if JIT else swap_bytes_twin
multiply_high = _multiply_high if JIT else multiply_high_twin
load64 = _load64 if JIT else load64_twin
load32 = _load32 if JIT else load32_twin
fold_ascii_block = _fold_ascii_block if JIT else fold_ascii_block_twin
word_masks = _word_masks if JIT else word_masks_twin
ideograph_leads = _ideograph_leads if JIT else ideograph_leads_twin
copy_block = _copy_block if JIT else copy_block_twin
