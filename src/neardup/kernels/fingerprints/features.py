"""The general way from tokens to a fingerprint, over joined buffers: spans, windows, distinct features, names, votes.

`neardup.kernels.fingerprints.simhash` does the same in one pass for recipes whose features need no names.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.text.normalization import CLASS_SHIFT, TWO_BITS, decode, fold_entry
from neardup.kernels.text.tokens import WORD, find_tokens, hash_of_span
from neardup.kernels.xxh3 import xxh3_64

u64 = np.uint64
ONE = u64(1)


@kernel
def find_words(data, offsets, starts, ends, kinds, documents, tables):
    """The spans of the tokens of the normalized documents `data[offsets[d]:offsets[d + 1]]`, one document after another.

    starts, ends: int64[], kinds: uint8[] (WORD or CJK); all with room for the tokens of all documents and for one document more.
    documents: int64[n + 1], where the tokens of each document begin.
    """
    t = 0
    documents[0] = 0
    for d in range(len(offsets) - 1):
        found = find_tokens(data, offsets[d], offsets[d + 1], starts[t:], ends[t:], kinds[t:], tables)
        for k in range(t, t + found):
            kinds[k] ^= np.uint8(WORD) + (data[starts[k]] >> np.uint8(7))
        t += found
        documents[d + 1] = t


@kernel
def split_joined(data, counts, starts, ends, documents, tables):
    """The spans of the tokens that are joined by zero bytes in `data` and hold a letter, mark or number.

    counts: int64[n], so many tokens each document has in `data`, one document after another; behind the last is a zero byte, too.
    starts, ends: int64[], with a place for each token. documents: int64[n + 1], where the tokens of each document begin.
    """
    i, t = 0, 0
    documents[0] = 0
    for d in range(len(counts)):
        for _ in range(counts[d]):
            begin, keep = i, False
            while data[i] != 0 and not keep:
                code, length = decode(data, i)
                keep = fold_entry(code, tables) >> CLASS_SHIFT & TWO_BITS != 0
                i += length
            while data[i] != 0:
                i += 1
            if keep:
                starts[t], ends[t] = begin, i
                t += 1
            i += 1
        documents[d + 1] = t


@kernel
def hash_spans(data, starts, ends, hashes):
    """The hash of each token `data[starts[t]:ends[t]]`, as `neardup.kernels.text.tokens.tokenize` has it; with 16 spare bytes
    behind.
    """
    for t in range(len(starts)):
        hashes[t] = hash_of_span(data, starts[t], ends[t])


@kernel
def find_windows(kinds, documents, word_size, cjk_size, firsts, sizes, offsets):
    """The windows of tokens of each document, as `neardup.kernels.fingerprints.shingles.shingle` has them: their first token
    and their size.

    firsts, sizes: int64[t]; offsets: int64[n + 1], where the windows of each document begin.
    """
    m = 0
    offsets[0] = 0
    for d in range(len(documents) - 1):
        begin, end, before = documents[d], documents[d + 1], m
        for i in range(begin, end):
            size = word_size if kinds[i] == WORD else cjk_size
            if i + size <= end:
                firsts[m], sizes[m] = i, size
                m += 1
        if m == before and end > begin:
            firsts[m], sizes[m] = begin, end - begin
            m += 1
        offsets[d + 1] = m


@kernel
def hash_windows(hashes, hash_bytes, firsts, sizes, out):
    """The hash of each window: its token's, or XXH3-64 of its tokens' hashes. `hash_bytes`: the memory of `hashes`, uint8[8 t]."""
    for m in range(len(firsts)):
        first, size = firsts[m], sizes[m]
        out[m] = hashes[first] if size == 1 else xxh3_64(hash_bytes, 8 * first, 8 * (first + size))


@kernel
def name_distinct_windows(found, offsets, keys, places, counts, firsts, feature_of, feature_offsets):
    """The distinct ones among the windows of each document, in the order in which they first occur.

    found: uint64[m], hashes. keys, places: scratch, uint64 and int64, a power of two that is at least twice the windows of any
    document; `places` is -1 throughout, before and after. counts, firsts: int64[m], of each feature how often it occurs, and the
    window that is its first. feature_of: int64[m], which feature each window is. feature_offsets: int64[n + 1].
    """
    f = 0
    feature_offsets[0] = 0
    for d in range(len(offsets) - 1):
        size = np.int64(4)
        while size < 2 * (
            offsets[d + 1] - offsets[d]
        ):  # no more of the table than this document needs: it stays in the cache
            size *= 2
        mask = u64(size - 1)
        for m in range(offsets[d], offsets[d + 1]):
            key = found[m]
            place = key & mask
            while places[np.int64(place)] >= 0 and keys[np.int64(place)] != key:
                place = (place + ONE) & mask
            if places[np.int64(place)] < 0:
                keys[np.int64(place)], places[np.int64(place)] = key, f
                counts[f], firsts[f] = 0, m
                f += 1
            feature = places[np.int64(place)]
            counts[feature] += 1
            feature_of[m] = feature
        for m in range(offsets[d], offsets[d + 1]):  # found again by the same way, so that nothing else need be cleared
            place = found[m] & mask
            while places[np.int64(place)] >= 0:
                places[np.int64(place)] = -1
                place = (place + ONE) & mask
        feature_offsets[d + 1] = f


@kernel
def name_lengths(starts, ends, firsts, sizes, between, offsets):
    """Where the name of each window begins in a joined buffer: int64[m + 1]; `between` bytes lie between two tokens of a name."""
    offsets[0] = 0
    for m in range(len(firsts)):
        length = between * (sizes[m] - 1)
        for t in range(firsts[m], firsts[m] + sizes[m]):
            length += ends[t] - starts[t]
        offsets[m + 1] = offsets[m] + length


@kernel
def write_names(data, starts, ends, firsts, sizes, between, out, offsets):
    """The names of windows: their tokens, with a space between two if `between` is 1. uint8[], by `name_lengths`."""
    for m in range(len(firsts)):
        o = offsets[m]
        for t in range(firsts[m], firsts[m] + sizes[m]):
            if between == 1 and t > firsts[m]:
                out[o] = np.uint8(0x20)
                o += 1
            for i in range(starts[t], ends[t]):
                out[o] = data[i]
                o += 1


@kernel
def vote(hashes, weights, offsets, tie, sums, out):
    """The fingerprint of each document: bit j is 1 where the weights of features with it outweigh those without.

    `tie`, 0 or 1, is the bit where both weigh the same.

    hashes: uint64[f, words]; weights: int64[f]; offsets: int64[n + 1]; sums: scratch, int64[64 words]; out: uint64[n, words].
    With float64[f] and float64[64 words], weights are added in the order of the features, each sum rounded.
    """
    words = hashes.shape[1]
    for d in range(len(offsets) - 1):
        sums[:] = 0
        for f in range(offsets[d], offsets[d + 1]):
            weight = weights[f]
            for w in range(words):
                bits = hashes[f, w]
                part = sums[64 * w : 64 * w + 64]
                for j in range(64):
                    part[j] += weight if bits >> u64(63 - j) & ONE else -weight
        for w in range(words):
            word = u64(0)
            for j in range(64):
                word = word << ONE | u64(sums[64 * w + j] + tie > 0)
            out[d, w] = word
