"""XXH3 against the xxhash package, on every length that has a path of its own."""

import numpy as np
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from guards import not_empty
from neardup.kernels.xxh3 import (
    plain_product,
    product_by_halves,
    xxh3_64,
    xxh3_64_of_each_five,
    xxh3_64_of_each_three,
    xxh3_64_of_each_two,
    xxh3_128,
    xxh3_128_of_4_to_8,
    xxh3_128_of_each_eight,
)

DATA = np.random.default_rng(0).integers(0, 256, 2100, dtype=np.uint8)


def lengths(jit_lengths):
    """All of them, compiled; as Python, those around the borders of the paths."""
    from neardup.kernels.compilation import JIT, LEVEL

    return (
        jit_lengths
        if JIT or LEVEL
        else [0, 1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 128, 129, 144, 239, 240, 241, 512, 1024, 1025, 1400]
    )


def test_both_widths_agree_with_the_xxhash_package_on_0_to_2000_bytes():
    for n in not_empty(lengths(range(2001))):
        content = DATA[7 : 7 + n].tobytes()
        assert int(xxh3_64(DATA, 7, 7 + n)) == xxhash.xxh3_64_intdigest(content), n
        high, low = xxh3_128(DATA, 7, 7 + n)
        assert int(high) << 64 | int(low) == xxhash.xxh3_128_intdigest(content), n


def test_the_hash_of_eight_bytes_given_as_an_integer_is_that_of_the_bytes():
    value = 0x0123456789ABCDEF
    high, low = xxh3_128_of_4_to_8(np.uint64(value), np.uint64(8))
    assert int(high) << 64 | int(low) == xxhash.xxh3_128_intdigest(value.to_bytes(8, "little"))


def test_many_hashes_of_a_few_integers_at_once_are_those_of_their_bytes():
    n = 70
    values = DATA[: 8 * (n + 4)].view(np.uint64)
    content, found, low = values.tobytes(), np.empty(n, np.uint64), np.empty(n, np.uint64)
    for each, count in ((xxh3_64_of_each_three, 3), (xxh3_64_of_each_five, 5)):
        each(values, n, found)
        assert found.tolist() == [xxhash.xxh3_64_intdigest(content[8 * i : 8 * (i + count)]) for i in range(n)]
    xxh3_64_of_each_two(values, values[1:], n, found)
    assert found.tolist() == [xxhash.xxh3_64_intdigest(content[8 * i : 8 * (i + 2)]) for i in range(n)]
    xxh3_128_of_each_eight(values, n, found, low)
    wide = [int(a) << 64 | int(b) for a, b in zip(found, low, strict=True)]
    assert wide == [xxhash.xxh3_128_intdigest(content[8 * i : 8 * (i + 1)]) for i in range(n)]


@given(a=st.integers(0, 2**64 - 1), b=st.integers(0, 2**64 - 1))
def test_both_ways_of_multiplying_give_the_whole_product(a, b):
    for product in (product_by_halves, plain_product):
        low, high = product(np.uint64(a), np.uint64(b), np.uint64(0))
        assert int(high) << 64 | int(low) == a * b
