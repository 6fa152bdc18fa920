"""Elements: what similarities compare of a text; its shingles, as a set, with their counts or weights, or in order."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import shingle, sort_hashes
from neardup.kernels.fingerprints.votes import FRACTION_BITS, LOG, TF, UNIFORM
from neardup.kernels.text.tokens import TokenArrays, tokenize
from neardup.kernels.xxh3 import xxh3_64_of_two

u64 = np.uint64
SET, OCCURRENCES, WEIGHTS, SEQUENCE = range(4)
"""What is made of the shingles of a text: the distinct ones; each occurrence its own element; the distinct ones, weighted; all."""
FORMS = {"set": SET, "occurrences": OCCURRENCES, "weights": WEIGHTS, "sequence": SEQUENCE}
"""By the names that `neardup.recipe.tables.similarities` has for them."""


class ElementForm(NamedTuple):
    """What is made of a text.

    Attributes:
        form: SET, OCCURRENCES and WEIGHTS are ascending and distinct in each document, SEQUENCE is as in the text.
        word_size, cjk_size: tokens of a shingle that starts at a word, at a Han or Kana character.
        weighting: how a count becomes a weight, one of `neardup.recipe.tables.parts.WEIGHTS`; used by WEIGHTS only.
    """

    form: int
    word_size: int
    cjk_size: int
    weighting: int


class TokenMemory(NamedTuple):
    """Working memory for one text: its tokens, and what `sort_hashes` needs for their shingles."""

    tokens: TokenArrays
    sorting: Array


class ElementArrays(NamedTuple):
    """Elements of documents, one after another, to be filled.

    Attributes:
        values: uint64[], with room for the most tokens of all documents together.
        weights: float64[], as long, or empty if the form is not WEIGHTS.
        offsets: int64[n + 1].
    """

    values: Array
    weights: Array
    offsets: Array


@kernel
def weight(weighting, count):
    """A feature's weight by its count, as `neardup.kernels.fingerprints.votes` has it; a whole number as float64, up to 2^32."""
    if weighting == UNIFORM:
        return 1.0
    if weighting == TF:
        return np.float64(count)
    if weighting == LOG:
        bits = 0.0
        while count > 0:
            count >>= 1
            bits += 1.0
        return bits
    return np.floor(np.sqrt(np.float64(count)) * (1 << FRACTION_BITS) + 0.5)


@kernel
def distinct(hashes):
    """Move the distinct ones of the ascending `hashes` to its front. Returns their number."""
    if len(hashes) == 0:
        return 0
    last, kept = hashes[0], np.int64(0)
    for i in range(1, len(hashes)):  # sums instead of branches: where repeats are cannot be foreseen
        value = hashes[i]
        kept += value != last
        hashes[kept] = last = value
    return kept + 1


@kernel
def weighted(hashes, weighting, weights):
    """As `distinct`; and the weight of each, by its count."""
    kept, i = 0, 0
    while i < len(hashes):
        after = i + 1
        while after < len(hashes) and hashes[after] == hashes[i]:
            after += 1
        hashes[kept], weights[kept] = hashes[i], weight(weighting, after - i)
        kept += 1
        i = after
    return kept


@kernel
def number_occurrences(hashes, spare):
    """Make occurrence i (from 1) of a repeated value in the ascending `hashes` XXH3-64 of value and i; the first stays."""
    again, first = u64(0), u64(0)
    for i in range(1, len(hashes)):
        if hashes[i] == hashes[np.int64(first)]:
            again = u64(i) - first
            hashes[i] = xxh3_64_of_two(hashes[np.int64(first)], again)
        else:
            first = u64(i)
    if again > u64(0):
        sort_hashes(hashes, spare)


@kernel
def elements_of_tokens(n, form, tokens, sorting, values, weights):
    """The elements of n tokens, to the beginning of `values` and `weights`.

    `form`: an `ElementForm`; `tokens`: `TokenArrays`, with all hashes and kinds. Returns their number.
    """
    m = shingle(tokens, n, form.word_size, form.cjk_size, values)
    if form.form == SEQUENCE:
        return m
    hashes = values[:m]
    sort_hashes(hashes, sorting)
    if form.form == SET:
        return distinct(hashes)
    if form.form == WEIGHTS:
        return weighted(hashes, form.weighting, weights)
    number_occurrences(hashes, sorting)
    return m


@kernel
def elements(data, offsets, form, memory, tables, out):
    """The elements of the normalized documents `data[offsets[d]:offsets[d + 1]]`, one document after another.

    uint8[], int64[n + 1], `ElementForm`, `TokenMemory` for the longest -> `ElementArrays`.
    """
    out.offsets[0] = 0
    for d in range(len(offsets) - 1):
        n = tokenize(data, offsets[d], offsets[d + 1], memory.tokens, tables)
        start = out.offsets[d]
        m = elements_of_tokens(n, form, memory.tokens, memory.sorting, out.values[start:], out.weights[start:])
        out.offsets[d + 1] = start + m
