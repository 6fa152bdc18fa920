"""The slow, obvious definition of every hash of features, as integers.

Plain Python; XXH3 and the digests are those of the libraries that are known for them.
"""

import hashlib

import xxhash

M32, M64 = 2**32 - 1, 2**64 - 1


def rotated(x, k):
    x &= M32
    return (x << k | x >> 32 - k) & M32


def thirds(part):
    """Twelve bytes as three integers; fewer are followed by zeros."""
    part = part.ljust(12, b"\0")
    return [int.from_bytes(part[i : i + 4], "little") for i in (0, 4, 8)]


def fnv1_64(feature):
    h = 0xCBF29CE484222325
    for byte in feature:
        h = h * 0x100000001B3 & M64 ^ byte
    return h


def fnv1a(feature, h, prime, mask):
    for byte in feature:
        h = (h ^ byte) * prime & mask
    return h


def fnv1a_64(feature):
    return fnv1a(feature, 0xCBF29CE484222325, 0x100000001B3, M64)


def fnv1a_32(feature):
    return fnv1a(feature, 0x811C9DC5, 0x01000193, M32)


def go_fnv1a(feature):
    """As Go prints an int64 by `%064b`; each character but "0" is a 1."""
    h = fnv1a_64(feature)
    printed = f"{h - 2**64 if h >= 2**63 else h:064b}"
    return int("".join("0" if character == "0" else "1" for character in printed), 2)


def lookup3(feature, pc=0, pb=0):
    """The last one to twelve bytes are mixed by other steps than those before; nothing is mixed where there are no bytes."""
    s = [0xDEADBEEF + len(feature) + pc] * 3
    s[2] += pb
    turns = [feature[i : i + 12] for i in range(0, len(feature), 12)]
    for number, part in enumerate(turns):
        s = [(x + y) & M32 for x, y in zip(s, thirds(part), strict=True)]
        if number < len(turns) - 1:
            for step, k in enumerate((4, 6, 8, 16, 19, 4)):
                a, b, c = step % 3, (step + 1) % 3, (step + 2) % 3
                s[a] = (s[a] - s[c] ^ rotated(s[c], k)) & M32
                s[c] = (s[c] + s[b]) & M32
        else:
            for step, k in enumerate((14, 11, 25, 16, 4, 14, 24)):
                to, other = (step + 2) % 3, (step + 1) % 3
                s[to] = ((s[to] ^ s[other]) - rotated(s[other], k)) & M32
    return (s[2] & M32) << 32 | s[1] & M32


def phash2(feature):
    """Erlang's hash of a binary: lookup2; a rest, even an empty one, is mixed with the length below its last three bytes."""
    a, b, c = 0x9E3779B9, 0x9E3779B9, 13 * 0x9E3779B9 & M32
    if not feature:
        return c
    whole = len(feature) // 12 * 12
    parts = [thirds(feature[i : i + 12]) for i in range(0, whole, 12)]
    rest = feature[whole:]
    parts.append(thirds(rest[:8].ljust(8, b"\0") + (len(feature) & M32).to_bytes(4, "little")))
    parts[-1][2] += int.from_bytes(rest[8:], "little") << 8
    for x, y, z in parts:
        a, b, c = a + x & M32, b + y & M32, c + z & M32
        for i, j, k in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
            a = (a - b - c ^ c >> i) & M32
            b = (b - c - a ^ a << j) & M32
            c = (c - a - b ^ b >> k) & M32
    return c


def crc32c(feature):
    """Without the final xor: bit by bit, reflected."""
    h = M32
    for byte in feature:
        h ^= byte
        for _ in range(8):
            h = h >> 1 ^ (0x82F63B78 if h & 1 else 0)
    return h


def digest_of(name):
    return lambda feature: int(hashlib.new(name, feature).hexdigest(), 16)


HASHES = {
    "xxh3_64": (64, xxhash.xxh3_64_intdigest),
    "xxh3_128": (128, xxhash.xxh3_128_intdigest),
    "md5": (128, digest_of("md5")),
    "sha1": (160, digest_of("sha1")),
    "sha512": (512, digest_of("sha512")),
    "blake2b": (512, digest_of("blake2b")),
    "fnv1_64": (64, fnv1_64),
    "fnv1a_32": (32, fnv1a_32),
    "fnv1a_64": (64, fnv1a_64),
    "go-fnv1a": (64, go_fnv1a),
    "lookup3": (64, lookup3),
    "phash2": (32, phash2),
    "crc32c": (32, crc32c),
}
"""Native width and definition."""


def at_width(value, native, bits):
    """The lowest bits of a hash; above its own, XXH3-128 of it and of 1, 2, 3 …"""
    words = 8 * -(-native // 64)
    shift, k = native, 1
    key = value.to_bytes(words, "little")
    while shift < bits:
        value |= xxhash.xxh3_128_intdigest(key + k.to_bytes(8, "little")) << shift
        shift, k = shift + 128, k + 1
    return value % 2**bits


def hash_feature(feature, name, bits):
    native, define = HASHES[name]
    return at_width(define(feature), native, bits)
