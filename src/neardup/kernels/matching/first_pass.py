"""What a first pass makes of a document, its fingerprint and its elements, from tokens that are found once."""

from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.simhash import fingerprint_tokens
from neardup.kernels.matching.elements import elements_of_tokens
from neardup.kernels.text.tokens import tokenize
from neardup.kernels.xxh3 import xxh3_128


@kernel
def fingerprints_and_elements(
    data, offsets, word_size, cjk_size, weighting, top_mask, memory, tables, fingerprints, digests, tokens,
    form, word_shingle, cjk_shingle, spare, out, weights, out_offsets,
):  # fmt: skip
    """As `fingerprint_documents` (simhash.py) by `word_size` and `cjk_size`, and `elements` by `word_shingle` and `cjk_shingle`."""
    out_offsets[0] = 0
    for d in range(len(offsets) - 1):
        start, end, begin = offsets[d], offsets[d + 1], out_offsets[d]
        digests[d, 0], digests[d, 1] = xxh3_128(data, start, end)
        n = tokenize(data, start, end, memory.token_spare, memory.hashes, memory.kinds, tables)
        tokens[d] = n
        fingerprint_tokens(n, word_size, cjk_size, weighting, memory, fingerprints[d])
        fingerprints[d, 0] &= top_mask
        out_offsets[d + 1] = begin + elements_of_tokens(
            memory.hashes, memory.hash_bytes, memory.kinds, n, form, word_shingle, cjk_shingle, weighting, spare,
            out[begin:], weights[begin:],
        )  # fmt: skip
