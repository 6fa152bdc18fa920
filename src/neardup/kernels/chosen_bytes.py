"""Of 64 bytes, those that a mask chooses: folded and moved together, or where they are.

Where the processor has AVX-512 VBMI2 one instruction moves them (vpcompressb); elsewhere they go run by run and bit by bit. The
intrinsics' twins are those loops. Stores are unchecked, and go past what is chosen: see each for how far.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from neardup.kernels.compilation import JIT, has_feature, kernel
from neardup.kernels.intrinsics import (
    BLOCK,
    I64,
    fold_ascii_block,
    folded_block,
    load,
    pointer_to,
    popcount,
    splat,
    trailing_zeros,
)
from neardup.kernels.wide_characters import fold_wide_block, full_width_block

u64 = np.uint64
ONE = u64(1)
GROUP = 8
"""So many positions are written at a time."""
PLACES_BEHIND = 32
"""Places that an array of positions needs behind those that are meant."""


HAS_COMPRESS = JIT and has_feature("avx512vbmi2")


def _compressed(builder: Any, block: Any, chosen: Any) -> Any:
    """The bytes of `block` at the bits of `chosen`, moved to the front."""
    bits = ir.VectorType(ir.IntType(1), 64)
    signature = ir.FunctionType(BLOCK, [BLOCK, BLOCK, bits])
    compress = cgutils.get_or_insert_function(builder.module, signature, "llvm.x86.avx512.mask.compress.v64i8")
    return builder.call(compress, [block, splat(0), builder.bitcast(chosen, bits)])


def _put_block(context: Any, builder: Any, signature: Any, args: Any, block: Any) -> Any:
    target = pointer_to(context, builder, signature.args[3], args[3], args[4])
    packed = _compressed(builder, folded_block(builder, block), args[2])
    builder.store(packed, builder.bitcast(target, BLOCK.as_pointer())).align = 1
    return builder.add(args[4], builder.ctpop(args[2]))


@intrinsic
def _put_ascii(typing: Any, data: Any, index: Any, chosen: Any, out: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]), BLOCK)
        return _put_block(context, builder, signature, args, block)

    return types.int64(data, types.int64, types.uint64, out, types.int64), generate


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


@intrinsic
def _put_wide(typing: Any, data: Any, index: Any, chosen: Any, out: Any, at: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, block = full_width_block(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]))
        return _put_block(context, builder, signature, args, block)

    return types.int64(data, types.int64, types.uint64, out, types.int64), generate


@kernel
def put_wide_twin(data, i, chosen, out, o):
    """As `put_ascii`; and the first byte of a full-width form of ASCII becomes that ASCII. 66 bytes are read."""
    while chosen != 0:
        offset = trailing_zeros(chosen)
        fold_wide_block(data, i + np.int64(offset), out, o)
        o += np.int64(trailing_zeros(~(chosen >> offset)))
        chosen &= chosen + (chosen & (u64(0) - chosen))
    return o


@intrinsic
def _put_positions(typing: Any, chosen: Any, base: Any, out: Any, at: Any) -> Any:
    group = ir.VectorType(I64, GROUP)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        chosen, base, out, at = args
        data = context.make_array(signature.args[2])(context, builder, out).data
        places = ir.Constant(BLOCK, list(range(64)))
        packed = _compressed(builder, places, chosen)
        number = builder.ctpop(chosen)
        start = builder.insert_element(ir.Constant(group, ir.Undefined), base, ir.Constant(ir.IntType(32), 0))
        bases = builder.shuffle_vector(start, start, ir.Constant(ir.VectorType(ir.IntType(32), GROUP), [0] * GROUP))

        def put(first: int, last: int) -> None:
            for g in range(first, last):
                lanes = ir.Constant(ir.VectorType(ir.IntType(32), GROUP), list(range(GROUP * g, GROUP * g + GROUP)))
                values = builder.zext(builder.shuffle_vector(packed, packed, lanes), group)
                target = builder.gep(data, [builder.add(at, ir.Constant(I64, GROUP * g))])
                builder.store(builder.add(values, bases), builder.bitcast(target, group.as_pointer())).align = 8

        put(0, 2)
        with builder.if_then(builder.icmp_unsigned(">", number, ir.Constant(I64, 16)), likely=False):
            put(2, 4)
            with builder.if_then(builder.icmp_unsigned(">", number, ir.Constant(I64, 32)), likely=False):
                put(4, 8)
        return builder.add(at, number)

    return types.uint64(types.uint64, types.int64, out, types.uint64), generate


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


put_ascii = _put_ascii if HAS_COMPRESS else put_ascii_twin
put_wide = _put_wide if HAS_COMPRESS else put_wide_twin
put_positions = _put_positions if HAS_COMPRESS else put_positions_twin
