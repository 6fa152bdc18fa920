"""Digests of texts."""

from neardup.kernels.compilation import kernel
from neardup.kernels.xxh3 import xxh3_128


@kernel
def digest_documents(data, offsets, digests):
    """XXH3-128 of the documents `data[offsets[d]:offsets[d + 1]]`: uint64[n, 2], high word first."""
    for d in range(len(offsets) - 1):
        digests[d, 0], digests[d, 1] = xxh3_128(data, offsets[d], offsets[d + 1])
