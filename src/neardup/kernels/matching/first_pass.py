"""What a first pass makes of a document, its fingerprint and its elements, from tokens that are found once."""

from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.simhash import fingerprint_tokens
from neardup.kernels.matching.elements import elements_of_tokens
from neardup.kernels.text.tokens import code_tokens, spread_tokens
from neardup.kernels.xxh3 import xxh3_128


@kernel
def fingerprints_and_elements(data, offsets, forms, memory, sorting, tables, prints, out):
    """As `fingerprint_documents` (simhash.py) and `elements` do, of the normalized documents `data[offsets[d]:offsets[d + 1]]`.

    uint8[], int64[n + 1]; forms: a `FeatureForm` and an `ElementForm`; memory: `Scratch` of fingerprints; sorting: as `sort_hashes`
    wants it -> prints: `FingerprintArrays`, out: `ElementArrays`.
    """
    out.offsets[0] = 0
    for d in range(len(offsets) - 1):
        start, end, begin = offsets[d], offsets[d + 1], out.offsets[d]
        prints.digests[d, 0], prints.digests[d, 1] = xxh3_128(data, start, end)
        n, named = code_tokens(data, start, end, memory.tokens, tables)
        prints.tokens[d] = n
        fingerprint_tokens(n, named, forms[0], memory, prints.values[d])
        spread_tokens(n, named, memory.tokens)
        m = elements_of_tokens(n, forms[1], memory.tokens, sorting, out.values[begin:], out.weights[begin:])
        out.offsets[d + 1] = begin + m
