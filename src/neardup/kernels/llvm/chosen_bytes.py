"""The intrinsics of `neardup.kernels.chosen_bytes`, which says what each does; for processors with AVX-512 VBMI2."""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from neardup.kernels.constants import FIRST_CODE, GROUP
from neardup.kernels.llvm.intrinsics import BLOCK, I64, check_writable, folded_block, load, pointer_to, splat
from neardup.kernels.llvm.wide_characters import full_width_block


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
def put_ascii(_: Any, data: Any, index: Any, chosen: Any, out: Any, at: Any) -> Any:
    check_writable(out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]), BLOCK)
        return _put_block(context, builder, signature, args, block)

    return types.int64(data, types.int64, types.uint64, out, types.int64), generate


@intrinsic
def put_wide(_: Any, data: Any, index: Any, chosen: Any, out: Any, at: Any) -> Any:
    check_writable(out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _, block = full_width_block(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]))
        return _put_block(context, builder, signature, args, block)

    return types.int64(data, types.int64, types.uint64, out, types.int64), generate


@intrinsic
def put_positions(_: Any, chosen: Any, base: Any, out: Any, at: Any) -> Any:
    check_writable(out)

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


_LANES = ir.VectorType(ir.IntType(16), 64)
_HALF = ir.VectorType(ir.IntType(16), 32)
_HALF_BITS = ir.VectorType(ir.IntType(1), 32)


def _codes(builder: Any, pointer: Any) -> Any:
    """Of each of 64 bytes, the code point of the character of three bytes that begins there, less FIRST_CODE."""

    def lanes(value: int) -> Any:
        return ir.Constant(_LANES, [value] * 64)

    def payload(offset: int, bits: int, shift: int) -> Any:
        block = load(builder, builder.gep(pointer, [ir.Constant(I64, offset)]), BLOCK)
        return builder.shl(builder.zext(builder.and_(block, splat((1 << bits) - 1)), _LANES), lanes(shift))

    code = builder.or_(builder.or_(payload(0, 4, 12), payload(1, 6, 6)), payload(2, 6, 0))
    return builder.sub(code, lanes(FIRST_CODE))


@intrinsic
def put_codes(_: Any, data: Any, index: Any, chosen: Any, three: Any, out: Any, at: Any) -> Any:
    check_writable(out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = pointer_to(context, builder, signature.args[0], args[0], args[1])
        target = context.make_array(signature.args[4])(context, builder, args[4]).data
        is_three = builder.bitcast(args[3], ir.VectorType(ir.IntType(1), 64))
        codes = builder.select(is_three, _codes(builder, pointer), ir.Constant(_LANES, [0] * 64))
        compress = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(_HALF, [_HALF, _HALF, _HALF_BITS]), "llvm.x86.avx512.mask.compress.v32i16"
        )
        place = args[5]
        for half in range(2):
            lanes = ir.Constant(ir.VectorType(ir.IntType(32), 32), list(range(32 * half, 32 * half + 32)))
            some = builder.trunc(builder.lshr(args[2], ir.Constant(I64, 32 * half)), ir.IntType(32))
            values = builder.shuffle_vector(codes, codes, lanes)
            packed = builder.call(compress, [values, ir.Constant(_HALF, [0] * 32), builder.bitcast(some, _HALF_BITS)])
            to = builder.bitcast(builder.gep(target, [place]), _HALF.as_pointer())
            builder.store(packed, to).align = 2
            place = builder.add(place, builder.zext(builder.ctpop(some), I64))
        return place

    return types.uint64(data, types.int64, types.uint64, types.uint64, out, types.uint64), generate


_NUMBERS = ir.VectorType(ir.IntType(32), 16)
_NUMBER_BITS = ir.VectorType(ir.IntType(1), 16)


@intrinsic
def put_chosen(_: Any, values: Any, index: Any, chosen: Any, out: Any, at: Any) -> Any:
    check_writable(out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source = context.make_array(signature.args[0])(context, builder, args[0]).data
        target = context.make_array(signature.args[3])(context, builder, args[3]).data
        values = builder.load(builder.bitcast(builder.gep(source, [args[1]]), _NUMBERS.as_pointer()))
        values.align = 4
        some = builder.trunc(args[2], ir.IntType(16))
        compress = cgutils.get_or_insert_function(
            builder.module,
            ir.FunctionType(_NUMBERS, [_NUMBERS, _NUMBERS, _NUMBER_BITS]),
            "llvm.x86.avx512.mask.compress.v16i32",
        )
        packed = builder.call(compress, [values, ir.Constant(_NUMBERS, [0] * 16), builder.bitcast(some, _NUMBER_BITS)])
        to = builder.bitcast(builder.gep(target, [args[4]]), _NUMBERS.as_pointer())
        builder.store(packed, to).align = 4
        return builder.add(args[4], builder.zext(builder.ctpop(some), I64))

    return types.uint64(values, types.int64, types.uint64, out, types.uint64), generate
