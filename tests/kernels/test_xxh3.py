"""XXH3 against the xxhash package, on every length that has a path of its own."""

import numpy as np
import xxhash

from neardup.kernels.xxh3 import xxh3_64, xxh3_128, xxh3_128_of_4_to_8

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
    for n in lengths(range(2001)):
        content = DATA[7 : 7 + n].tobytes()
        assert int(xxh3_64(DATA, 7, 7 + n)) == xxhash.xxh3_64_intdigest(content), n
        high, low = xxh3_128(DATA, 7, 7 + n)
        assert int(high) << 64 | int(low) == xxhash.xxh3_128_intdigest(content), n


def test_the_hash_of_eight_bytes_given_as_an_integer_is_that_of_the_bytes():
    value = 0x0123456789ABCDEF
    high, low = xxh3_128_of_4_to_8(np.uint64(value), np.uint64(8))
    assert int(high) << 64 | int(low) == xxhash.xxh3_128_intdigest(value.to_bytes(8, "little"))
