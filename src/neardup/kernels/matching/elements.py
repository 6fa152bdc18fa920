"""Elements: what similarities compare of a text; its shingles, as a set, with their counts or weights, or in order."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import shingle, sort_hashes
from neardup.kernels.fingerprints.votes import FRACTION_BITS, LOG, TF, UNIFORM
from neardup.kernels.text.tokens import tokenize
from neardup.kernels.xxh3 import xxh3_64_of_two

u64 = np.uint64
SET, OCCURRENCES, WEIGHTS, SEQUENCE = range(4)
"""What is made of the shingles of a text: the distinct ones; each occurrence its own element; the distinct ones, weighted; all."""
FORMS = {"set": SET, "occurrences": OCCURRENCES, "weights": WEIGHTS, "sequence": SEQUENCE}
"""By the names that `neardup.recipe.similarities` has for them."""


@kernel
def weight(weighting, count):
    """A feature's weight by its count, as `neardup.kernels.fingerprints.votes` has it; a whole number as float64, up to 2^32."""
    if weighting == UNIFORM:
        return 1.0
    if weighting == TF:
        return np.float64(count)
    if weighting == LOG:
        found = 0.0
        while count > 0:
            count >>= 1
            found += 1.0
        return found
    return np.floor(np.sqrt(np.float64(count)) * (1 << FRACTION_BITS) + 0.5)


@kernel
def distinct(found):
    """Move the distinct ones of the ascending `found` to its front. Returns their number."""
    if len(found) == 0:
        return 0
    last, kept = found[0], np.int64(0)
    for i in range(1, len(found)):  # sums instead of branches: where repeats are cannot be foreseen
        value = found[i]
        kept += value != last
        found[kept] = last = value
    return kept + 1


@kernel
def weighted(found, weighting, weights):
    """As `distinct`; and the weight of each, by its count."""
    kept, i = 0, 0
    while i < len(found):
        after = i + 1
        while after < len(found) and found[after] == found[i]:
            after += 1
        found[kept], weights[kept] = found[i], weight(weighting, after - i)
        kept += 1
        i = after
    return kept


@kernel
def number_occurrences(found, spare):
    """Make occurrence i (from 1) of a repeated value in the ascending `found` XXH3-64 of value and i; the first stays."""
    again, first = u64(0), u64(0)
    for i in range(1, len(found)):
        if found[i] == found[np.int64(first)]:
            again = u64(i) - first
            found[i] = xxh3_64_of_two(found[np.int64(first)], again)
        else:
            first = u64(i)
    if again > u64(0):
        sort_hashes(found, spare)


@kernel
def elements_of_tokens(hashes, hash_bytes, kinds, n, form, word_size, cjk_size, weighting, spare, out, weights):
    """The elements of n tokens, to the beginning of `out` and `weights`: see `elements`. Returns their number."""
    m = shingle(hashes, hash_bytes, kinds, n, word_size, cjk_size, out)
    if form == SEQUENCE:
        return m
    found = out[:m]
    sort_hashes(found, spare)
    if form == SET:
        return distinct(found)
    if form == WEIGHTS:
        return weighted(found, weighting, weights)
    number_occurrences(found, spare)
    return m


@kernel
def elements(
    data, offsets, form, word_size, cjk_size, weighting, hashes, hash_bytes, kinds, token_spare, spare, out, weights,
    out_offsets, tables,
):  # fmt: skip
    """The elements of the documents `data[offsets[d]:offsets[d + 1]]`, one document after another.

    Args:
        data, offsets: uint8[], int64[n + 1], normalized.
        form: SET, OCCURRENCES and WEIGHTS are ascending and distinct in each document, SEQUENCE is as in the text.
        word_size, cjk_size: tokens of a shingle that starts at a word, at a Han or Kana character.
        weighting: how a count becomes a weight, one of `neardup.recipe.WEIGHTS`; used by WEIGHTS only.
        hashes, hash_bytes, kinds, token_spare, spare: scratch as for `tokenize`, `shingle` and `sort_hashes`.
        out: uint64[], filled; has room for the most tokens of all documents together.
        weights: float64[], filled; as long, or empty if `form` is not WEIGHTS.
        out_offsets: int64[n + 1], filled.
    """
    out_offsets[0] = 0
    for d in range(len(offsets) - 1):
        n = tokenize(data, offsets[d], offsets[d + 1], token_spare, hashes, kinds, tables)
        start = out_offsets[d]
        m = elements_of_tokens(
            hashes, hash_bytes, kinds, n, form, word_size, cjk_size, weighting, spare, out[start:], weights[start:]
        )
        out_offsets[d + 1] = start + m
