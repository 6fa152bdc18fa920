"""XXH3, 64 and 128 bits, unseeded, of bytes and of pairs of integers.

The definition is Yann Collet's XXH3 (xxHash 0.8), section by section: 0, 1-3, 4-8, 9-16, 17-128, 129-240 and more than
240 bytes. All arithmetic is modulo 2^64.
"""

import numpy as np

from neardup.kernels.compilation import JIT, has_feature, kernel
from neardup.kernels.intrinsics import accumulate, load32, load64, multiply_high, opaque, swap_bytes

u64 = np.uint64

SECRET = np.frombuffer(
    bytes.fromhex(
        "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248e"
        "e03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a"
        "51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8f"
        "f8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
    ),
    np.uint8,
)


def _secret(offset: int) -> np.uint64:
    return u64(int.from_bytes(SECRET[offset : offset + 8].tobytes(), "little"))


P32_2 = u64(0x85EBCA77)
P64_1, P64_2, P64_3 = u64(0x9E3779B185EBCA87), u64(0xC2B2AE3D27D4EB4F), u64(0x165667B19E3779F9)
P64_4 = u64(0x85EBCA77C2B2AE63)
PMX1, PMX2 = u64(0x165667919E3779F9), u64(0x9FB21C651E98DF25)
LOW32 = u64(0xFFFFFFFF)
HAS_WIDE_VECTORS = JIT and has_feature("avx512vbmi2")
# Secret words of the short inputs, xored as the definition does where it uses them only so.
S0_32_XOR = u64(int(_secret(0)) & 0xFFFFFFFF) ^ u64(int(_secret(0)) >> 32)
S8_32_XOR = u64(int(_secret(8)) & 0xFFFFFFFF) ^ u64(int(_secret(8)) >> 32)
S8_16, S24_32, S40_48, S56_64, S64_72, S80_88 = (_secret(i) ^ _secret(i + 8) for i in (8, 24, 40, 56, 64, 80))
S0, S8, S16, S24, S32, S40, S48, S56 = (_secret(i) for i in range(0, 64, 8))
S16_24, S32_40, S48_56 = (_secret(i) ^ _secret(i + 8) for i in (16, 32, 48))


@kernel
def fold(a, b):
    """The two halves of the 128-bit product, xored."""
    return (a * b) ^ multiply_high(a, b)


@kernel
def product_by_halves(a, b, zero):
    """The two halves of the 128-bit product, the low one first, by products of 32 bits, which vectors have.

    `zero`: 0, as `opaque` gives it: else the compiler sees what is meant, and takes a multiplication of 64 bits for each value.
    """
    a_low, a_high, b_low, b_high = a & LOW32, a >> u64(32), b & LOW32, b >> u64(32)
    lowest, crossed = a_low * b_low, a_low * b_high
    middle = (lowest >> u64(32)) + (crossed & LOW32) + a_high * b_low
    return middle << u64(32) | (lowest & LOW32), a_high * b_high + zero + (crossed >> u64(32)) + (middle >> u64(32))


@kernel
def plain_product(a, b, _):
    """The two halves of the 128-bit product, the low one first."""
    return a * b, multiply_high(a, b)


lane_product = product_by_halves if HAS_WIDE_VECTORS else plain_product
"""What loops over many values multiply with: where vectors are wide, that is faster than a multiplication for each value."""


@kernel
def avalanche(h):
    h ^= h >> u64(37)
    h *= PMX1
    return h ^ (h >> u64(32))


@kernel
def avalanche_xxh64(h):
    h ^= h >> u64(33)
    h *= P64_2
    h ^= h >> u64(29)
    h *= P64_3
    return h ^ (h >> u64(32))


@kernel
def swap32(x):
    return swap_bytes(x) >> u64(32)


@kernel
def mix16(data, i, secret):
    return fold(load64(data, i) ^ load64(SECRET, secret), load64(data, i + 8) ^ load64(SECRET, secret + 8))


@kernel
def mix32(low, high, data, i, j, secret):
    """One step of the 128-bit hash of 17 to 240 bytes: 16 bytes at `i` and 16 at `j`."""
    low = (low + mix16(data, i, secret)) ^ (load64(data, j) + load64(data, j + 8))
    high = (high + mix16(data, j, secret + 16)) ^ (load64(data, i) + load64(data, i + 8))
    return low, high


@kernel
def fold_keyed(a, b, secret):
    return fold(a ^ load64(SECRET, secret), b ^ load64(SECRET, secret + 8))


@kernel
def merge(acc, secret, h):
    h += fold_keyed(acc[0], acc[1], secret) + fold_keyed(acc[2], acc[3], secret + 16)
    h += fold_keyed(acc[4], acc[5], secret + 32) + fold_keyed(acc[6], acc[7], secret + 48)
    return avalanche(h)


@kernel
def _xxh3_64_over_16(data, start, end):
    n = end - start
    length = u64(n)
    if n <= 128:
        h = length * P64_1
        for i in range((n - 1) // 32, -1, -1):
            h += mix16(data, start + 16 * i, 32 * i)
            h += mix16(data, end - 16 * (i + 1), 32 * i + 16)
        return avalanche(h)
    if n <= 240:
        h = length * P64_1
        for i in range(8):
            h += mix16(data, start + 16 * i, 16 * i)
        h = avalanche(h)
        for i in range(8, n // 16):
            h += mix16(data, start + 16 * i, 16 * (i - 8) + 3)
        h += mix16(data, end - 16, 136 - 17)
        return avalanche(h)
    return merge(accumulate(data, start, end, SECRET), 11, length * P64_1)


@kernel
def xxh3_64_of_9_to_16(first, last, length):
    """XXH3-64 of `length` bytes, given as the first eight and the last eight, little-endian."""
    low, high = first ^ S24_32, last ^ S40_48
    return avalanche(length + swap_bytes(low) + high + fold(low, high))


@kernel
def xxh3_64(data, start, end):
    """XXH3-64 of `data[start:end]` (uint8)."""
    n = end - start
    length = u64(n)
    if n > 16:
        return _xxh3_64_over_16(data, start, end)
    if n > 8:
        return xxh3_64_of_9_to_16(load64(data, start), load64(data, end - 8), length)
    if n >= 4:
        h = (load32(data, end - 4) + (load32(data, start) << u64(32))) ^ S8_16
        h ^= (h << u64(49) | h >> u64(15)) ^ (h << u64(24) | h >> u64(40))
        h *= PMX2
        h ^= (h >> u64(35)) + length
        h *= PMX2
        return h ^ (h >> u64(28))
    if n > 0:
        first, middle, last = u64(data[start]), u64(data[start + (n >> 1)]), u64(data[end - 1])
        return avalanche_xxh64((first << u64(16) | middle << u64(24) | last | length << u64(8)) ^ S0_32_XOR)
    return avalanche_xxh64(S56_64)


@kernel
def xxh3_64_of_two(a, b):
    """XXH3-64 of sixteen bytes: of two integers, little-endian."""
    return xxh3_64_of_9_to_16(a, b, u64(16))


@kernel
def xxh3_64_of_each_two(first, second, n, out):
    """out[i] (uint64[n]): `xxh3_64_of_two` of first[i] and second[i]."""
    zero = opaque(u64(0))
    for i in range(n):
        low, high = first[i] ^ S24_32, second[i] ^ S40_48
        product_low, product_high = lane_product(low, high, zero)
        out[i] = avalanche(u64(16) + swap_bytes(low) + high + (product_low ^ product_high))


@kernel
def lane_fold(a, b, zero):
    """`fold`, for loops over many values; `zero`: see `product_by_halves`."""
    low, high = lane_product(a, b, zero)
    return low ^ high


@kernel
def xxh3_64_of_three(hashes, i):
    """XXH3-64 of hashes[i:i + 3] (uint64), little-endian."""
    a, b, c = hashes[i], hashes[i + 1], hashes[i + 2]
    return avalanche(u64(24) * P64_1 + fold(a ^ S0, b ^ S8) + fold(b ^ S16, c ^ S24))


@kernel
def xxh3_64_of_each_three(hashes, n, out):
    """out[i] (uint64[n]): `xxh3_64_of_three` of hashes and i."""
    zero = opaque(u64(0))
    for i in range(n):
        a, b, c = hashes[i], hashes[i + 1], hashes[i + 2]
        out[i] = avalanche(u64(24) * P64_1 + lane_fold(a ^ S0, b ^ S8, zero) + lane_fold(b ^ S16, c ^ S24, zero))


@kernel
def xxh3_64_of_each_five(hashes, n, out):
    """out[i] (uint64[n]): XXH3-64 of hashes[i:i + 5] (uint64), little-endian. Two loops, since one is too long to be vectors."""
    zero = opaque(u64(0))
    for i in range(n):
        outer = lane_fold(hashes[i] ^ S0, hashes[i + 1] ^ S8, zero)
        out[i] = outer + lane_fold(hashes[i + 3] ^ S16, hashes[i + 4] ^ S24, zero)
    for i in range(n):
        b, c, d = hashes[i + 1], hashes[i + 2], hashes[i + 3]
        inner = lane_fold(c ^ S32, d ^ S40, zero) + lane_fold(b ^ S48, c ^ S56, zero)
        out[i] = avalanche(u64(40) * P64_1 + out[i] + inner)


@kernel
def _xxh3_128_over_16(data, start, end):
    n = end - start
    length = u64(n)
    if n > 240:
        acc = accumulate(data, start, end, SECRET)
        return merge(acc, 192 - 64 - 11, ~(length * P64_2)), merge(acc, 11, length * P64_1)
    low, high = length * P64_1, u64(0)
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            low, high = mix32(low, high, data, start + 16 * i, end - 16 * (i + 1), 32 * i)
    else:
        for i in range(4):
            low, high = mix32(low, high, data, start + 32 * i, start + 32 * i + 16, 32 * i)
        low, high = avalanche(low), avalanche(high)
        for i in range(4, n // 32):
            low, high = mix32(low, high, data, start + 32 * i, start + 32 * i + 16, 3 + 32 * (i - 4))
        low, high = mix32(low, high, data, end - 16, end - 32, 136 - 17 - 16)
    mixed = low * P64_1 + high * P64_4 + length * P64_2
    return u64(0) - avalanche(mixed), avalanche(low + high)


@kernel
def xxh3_128(data, start, end):
    """XXH3-128 of `data[start:end]` (uint8): the high and the low 64 bits."""
    n = end - start
    length = u64(n)
    if n > 16:
        return _xxh3_128_over_16(data, start, end)
    if n > 8:
        low, high = load64(data, start), load64(data, end - 8)
        a = low ^ high ^ S32_40
        m_low, m_high = a * P64_1, multiply_high(a, P64_1)
        m_low += (length - u64(1)) << u64(54)
        high ^= S48_56
        m_high += high + (high & LOW32) * (P32_2 - u64(1))
        m_low ^= swap_bytes(m_high)
        h_low, h_high = m_low * P64_2, multiply_high(m_low, P64_2) + m_high * P64_2
        return avalanche(h_high), avalanche(h_low)
    if n >= 4:
        return xxh3_128_of_4_to_8(load32(data, start) + (load32(data, end - 4) << u64(32)), length)
    if n > 0:
        first, middle, last = u64(data[start]), u64(data[start + (n >> 1)]), u64(data[end - 1])
        combined = first << u64(16) | middle << u64(24) | last | length << u64(8)
        swapped = swap32(combined)
        rotated = (swapped << u64(13) | swapped >> u64(19)) & LOW32
        return avalanche_xxh64(rotated ^ S8_32_XOR), avalanche_xxh64(combined ^ S0_32_XOR)
    return avalanche_xxh64(S80_88), avalanche_xxh64(S64_72)


@kernel
def xxh3_128_of_each_eight(values, n, high, low):
    """high[i], low[i] (uint64[n]): XXH3-128 of the eight bytes of values[i], little-endian."""
    zero = opaque(u64(0))
    for i in range(n):
        product = lane_product(values[i] ^ S16_24, P64_1 + u64(32), zero)
        high[i], low[i] = xxh3_128_of_product(product[0], product[1])


@kernel
def xxh3_128_of_4_to_8(value, length):
    """XXH3-128 of 4 to 8 bytes, given as one integer; of 8 bytes, `value` is the eight of them, little-endian."""
    low, high = plain_product(value ^ S16_24, P64_1 + (length << u64(2)), u64(0))
    return xxh3_128_of_product(low, high)


@kernel
def xxh3_128_of_product(low, high):
    """What XXH3-128 of 4 to 8 bytes makes of the product that it begins with."""
    high += low << u64(1)
    low ^= high >> u64(3)
    low ^= low >> u64(35)
    low *= PMX2
    low ^= low >> u64(28)
    return avalanche(high), low


@kernel
def digest_rows(data, width, out):
    """out[r] (uint64[rows, 2]): XXH3-128 of the r-th `width` bytes of `data` (uint8)."""
    for r in range(len(out)):
        out[r, 0], out[r, 1] = xxh3_128(data, r * width, (r + 1) * width)


@kernel
def xxh3_64_features(data, offsets, out):
    """out[f, 0] (uint64[n, 1]): XXH3-64 of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1])."""
    for f in range(len(out)):
        out[f, 0] = xxh3_64(data, offsets[f], offsets[f + 1])


@kernel
def xxh3_128_features(data, offsets, out):
    """out[f] (uint64[n, 2]): XXH3-128 of data[offsets[f]:offsets[f + 1]] (uint8, int64[n + 1]), the high half first."""
    for f in range(len(out)):
        out[f, 0], out[f, 1] = xxh3_128(data, offsets[f], offsets[f + 1])
