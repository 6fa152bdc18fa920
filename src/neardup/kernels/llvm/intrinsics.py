"""The intrinsics of `neardup.kernels.intrinsics`, which says what each does."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils, errors
from numba.extending import intrinsic

from neardup.kernels.constants import COLUMNS, ROWS, XXH3_START

I8, I32, I64, I128 = (ir.IntType(bits) for bits in (8, 32, 64, 128))
BLOCK = ir.VectorType(I8, 64)


def pointer_to(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    """Address of byte `index` of a uint8 array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.gep(builder.bitcast(data, I8.as_pointer()), [index])


def check_writable(array_type: Any) -> None:
    """Refuse an array that is only read where an intrinsic writes: what Numba does by itself for `out[i] = …`."""
    if not array_type.mutable:
        raise errors.TypingError(f"cannot write to {array_type}")


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

    def declare(_: Any, value: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return operation(builder, args[0])

        return types.uint64(types.uint64), generate

    return intrinsic(declare)


popcount = _unary(lambda builder, value: builder.ctpop(value))
trailing_zeros = _unary(lambda builder, value: builder.cttz(value, ir.Constant(ir.IntType(1), 0)))
swap_bytes = _unary(lambda builder, value: builder.bswap(value))


@intrinsic
def multiply_high(_: Any, a: Any, b: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        product = builder.mul(builder.zext(args[0], I128), builder.zext(args[1], I128))
        return builder.trunc(builder.lshr(product, ir.Constant(I128, 64)), I64)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def load64(_: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return load(builder, pointer_to(context, builder, signature.args[0], *args), I64)

    return types.uint64(data, types.int64), generate


@intrinsic
def load32(_: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.zext(load(builder, pointer_to(context, builder, signature.args[0], *args), I32), I64)

    return types.uint64(data, types.int64), generate


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
def fold_ascii_block(_: Any, data: Any, index: Any, out: Any, at: Any) -> Any:
    check_writable(out)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]), BLOCK)
        return store_folded(context, builder, signature, args, block)

    return types.void(data, types.int64, out, types.int64), generate


@intrinsic
def space_masks(_: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], *args), BLOCK)
        space, _ = _spaces(builder, block)
        other = builder.icmp_signed("<", block, splat(0))
        return pair(context, builder, signature, builder.bitcast(other, I64), builder.bitcast(space, I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


@intrinsic
def word_masks(_: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], *args), BLOCK)
        letter = builder.icmp_unsigned("<=", builder.sub(block, splat(ord("a"))), splat(25))
        digit = builder.icmp_unsigned("<=", builder.sub(block, splat(ord("0"))), splat(9))
        other = builder.icmp_signed("<", block, splat(0))
        word = builder.bitcast(builder.or_(letter, digit), I64)
        return pair(context, builder, signature, word, builder.bitcast(other, I64))

    return types.UniTuple(types.uint64, 2)(data, types.int64), generate


@intrinsic
def equal_mask(_: Any, data: Any, index: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], args[0], args[1]), BLOCK)
        first = builder.insert_element(ir.Constant(BLOCK, ir.Undefined), args[2], ir.Constant(I32, 0))
        wanted = builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(I32, 64), [0] * 64))
        return builder.bitcast(builder.icmp_unsigned("==", block, wanted), I64)

    return types.uint64(data, types.int64, types.uint8), generate


@intrinsic
def following_mask(_: Any, data: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        block = load(builder, pointer_to(context, builder, signature.args[0], *args), BLOCK)
        return builder.bitcast(builder.icmp_signed("<", block, ir.Constant(BLOCK, [-64] * 64)), I64)

    return types.uint64(data, types.int64), generate


@intrinsic
def opaque(_: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.asm(ir.FunctionType(I64, [I64]), "", "=r,0", [args[0]], False)

    return types.uint64(types.uint64), generate


@intrinsic
def guessed(_: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.asm(ir.FunctionType(I64, [I64]), "", "=r,0", [args[0]], True)

    return types.int64(types.int64), generate


_LANES = ir.VectorType(I64, 8)


def _lanes(*values: int) -> Any:
    return ir.Constant(_LANES, list(values) if len(values) == 8 else list(values) * 8)


@intrinsic
def accumulate(_: Any, data: Any, start: Any, end: Any, secret: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        first = pointer_to(context, builder, signature.args[0], args[0], args[1])
        keys = pointer_to(context, builder, signature.args[3], args[3], ir.Constant(I64, 0))
        sums = cgutils.alloca_once_value(builder, _lanes(*XXH3_START))
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


_COLUMNS = ir.VectorType(I64, COLUMNS)


def _add3(builder: Any, a: Any, b: Any, c: Any) -> tuple[Any, Any]:
    """Carry-save adder: the carries and the sums."""
    u = builder.xor(a, b)
    return builder.or_(builder.and_(a, b), builder.and_(u, c)), builder.xor(u, c)


def _add_tree(builder: Any, values: list[Any], sums: list[Any]) -> Any:
    """Add 2^k vectors of one weight to the first k of `sums`, in place; returns the carries out of the last."""
    for level in range(len(sums)):
        carries = []
        for first, second in zip(values[::2], values[1::2], strict=True):
            carry, sums[level] = _add3(builder, first, second, sums[level])
            carries.append(carry)
        values = carries
    return values[0]


def _add_halves(builder: Any, bits: list[Any], half: int) -> list[Any]:
    """Of numbers in lanes, by their bits, the sums of each lane and the one `half` lanes further on."""
    lanes = ir.Constant(ir.VectorType(I32, COLUMNS), [(lane + half) % COLUMNS for lane in range(COLUMNS)])
    carry, found = ir.Constant(_COLUMNS, [0] * COLUMNS), []
    for bit in bits:
        carry, total = _add3(builder, bit, builder.shuffle_vector(bit, bit, lanes), carry)
        found.append(total)
    return [*found, carry]


@intrinsic
def count_columns(_: Any, hashes: Any, blocks: Any, planes: Any, at: Any) -> Any:
    check_writable(hashes)
    check_writable(planes)

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        out = context.make_array(signature.args[2])(context, builder, args[2]).data

        def place(number: Any) -> Any:
            return builder.bitcast(builder.gep(data, [number]), _COLUMNS.as_pointer())

        counters = [cgutils.alloca_once_value(builder, ir.Constant(_COLUMNS, [0] * COLUMNS)) for _ in range(4)]
        with cgutils.for_range(builder, args[1]) as loop:
            first = builder.mul(loop.index, ir.Constant(I64, COLUMNS * ROWS))
            values = []
            for row in range(ROWS):
                value = builder.load(place(builder.add(first, ir.Constant(I64, COLUMNS * row))))
                value.align = 8
                values.append(value)
            sums = [builder.load(counter) for counter in counters]
            over = _add_tree(builder, values, sums)
            for counter, total in zip(counters, sums, strict=True):
                builder.store(total, counter)
            builder.store(over, place(builder.mul(loop.index, ir.Constant(I64, COLUMNS)))).align = 8
        bits = [builder.load(counter) for counter in counters]
        for half in (4, 2, 1):
            bits = _add_halves(builder, bits, half)
        for number, bit in enumerate(bits):
            value = builder.extract_element(bit, ir.Constant(I32, 0))
            builder.store(value, builder.gep(out, [builder.add(args[3], ir.Constant(I64, number))]))
        return context.get_dummy_value()

    return types.void(hashes, types.int64, planes, types.int64), generate
