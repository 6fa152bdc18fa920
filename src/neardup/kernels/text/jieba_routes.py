"""The likeliest words of texts, as jieba finds them: characters to numbers, the words that begin at each, the best way through.

Every character that is no Chinese one and no letter, digit or sign of `SIGNS` is a separator, and a token of its own. The parts
between are independent, so a whole text is one array with the separators in it: a dictionary has no word with one.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel
from neardup.kernels.text.normalization import CLASS_SHIFT, TWO_BITS, decode, fold_entry
from neardup.kernels.text.word_trie import base_of, child, rank_of

u64 = np.uint64
ONE, TWO = u64(1), u64(2)
SEPARATOR, LETTER = 0, 1
"""The numbers of a separator, and of one that is a letter, mark or number."""
ALPHANUMERIC = 3
"""The first of the numbers of 0 to 9, A to Z and a to z, in this order."""
SIGNS = "+#&._%-"
FIRST_SIGN = ALPHANUMERIC + 62
POINT, PERCENT = FIRST_SIGN + SIGNS.index("."), FIRST_SIGN + SIGNS.index("%")
UNKNOWN_HAN = FIRST_SIGN + len(SIGNS)
"""The number of a Chinese character that neither the dictionary nor the model has; above are the others, the usual first."""
BEHIND = 3
"""Characters behind the last that kernels look at."""
RETURN, NEWLINE = 0x0D, 0x0A


class WordTables(NamedTuple):
    """A dictionary and a model.

    Attributes:
        numbers: uint16[65536], of each code point.
        roots: uint64[c], the node of each number, as in `neardup.kernels.text.word_trie`.
        labels, slots: uint16[s], uint64[s], the nodes below.
        weights: float64[r], the logarithm of a word's share, by its rank; -inf for what is no word.
        shown: float64[c, 4], the logarithm of the probability of a character in each state: B, M, E, S.
        model: float64[14], that of a character that is no word; that of each state to be first; and that of B after E and S, of
            M after B and M, of E after B and M, of S after E and S; and the first rank of words that are forbidden.
    """

    numbers: Array
    roots: Array
    labels: Array
    slots: Array
    weights: Array
    shown: Array
    model: Array


class CutScratch(NamedTuple):
    """Memory for the characters of a text or of a part of it that ends with a separator, and BEHIND more.

    Attributes:
        numbers: uint16[], of each character.
        places: int64[], where each begins.
        pairs, triples: uint64[], the node of the two and of the three characters from each on, or 0.
        best: float64[], the logarithm of the best way's probability from each to the next separator.
        lengths: int32[], characters of the word that begins at each; 0 for separators.
        states: uint8[], of the model.
    """

    numbers: Array
    places: Array
    pairs: Array
    triples: Array
    best: Array
    lengths: Array
    states: Array


@kernel
def is_alphanumeric(number):
    return number >= ALPHANUMERIC and number < FIRST_SIGN


@kernel
def is_digit(number):
    return number >= ALPHANUMERIC and number < ALPHANUMERIC + 10


@kernel
def end_of_number(k, after, numbers):
    """Where the letters and digits end that begin at `k`, with a point and digits behind them, and a percent sign."""
    while k < after and is_alphanumeric(numbers[k]):
        k += ONE
    if k + ONE < after and numbers[k] == POINT and is_digit(numbers[k + ONE]):
        k += ONE
        while k < after and is_digit(numbers[k]):
            k += ONE
    if k < after and numbers[k] == PERCENT:
        k += ONE
    return k


@kernel
def number_characters(data, i, end, tables, folds, scratch):
    """The numbers of the characters of `data[i:end]`, valid UTF-8, as far as there is room. Returns how many.

    A line feed after a carriage return is one character with it. `places` has one more: where the last ends.
    """
    numbers, places, table = scratch.numbers, scratch.places, tables.numbers
    most, n = u64(len(numbers) - BEHIND), u64(0)
    while i < end and n < most:
        byte = data[i]
        places[n] = i
        if byte >= 0xE0 and byte < 0xF0:
            code = (
                (u64(byte) & u64(0x0F)) << u64(12)
                | (u64(data[i + 1]) & u64(0x3F)) << u64(6)
                | u64(data[i + 2]) & u64(0x3F)
            )
            numbers[n] = table[code]
            i += 3
        elif byte < 0x80:
            numbers[n] = table[u64(byte)]
            i += 2 if byte == RETURN and i + 1 < end and data[i + 1] == NEWLINE else 1
        else:
            code, length = decode(data, i)
            word = fold_entry(code, folds) >> CLASS_SHIFT & TWO_BITS != 0
            numbers[n] = np.uint16(LETTER if word else SEPARATOR)
            i += length
        n += ONE
    places[n] = i
    for k in range(BEHIND):
        numbers[n + u64(k)] = np.uint16(SEPARATOR)
    return np.int64(n)


@kernel
def find_words(n, tables, scratch):
    """The nodes of the two and three characters from each of the first n on; one after another, for no result waits for another."""
    numbers, roots, labels, slots = scratch.numbers, tables.roots, tables.labels, tables.slots
    pairs, triples = scratch.pairs, scratch.triples
    for k in range(u64(n)):
        pair = child(labels, slots, roots[numbers[k]], numbers[k + ONE])
        pairs[k] = pair
        triples[k] = child(labels, slots, pair, numbers[k + TWO])


@kernel
def find_route(n, tables, scratch):
    """How long the word is that begins at each of the first n characters, if what follows is cut into the likeliest words.

    Sums go from the end to the beginning; of equally likely words, the longest is chosen.
    """
    numbers, pairs, triples, lengths = scratch.numbers, scratch.pairs, scratch.triples, scratch.lengths
    roots, slots, weights, unknown = tables.roots, tables.slots, tables.weights, tables.model[0]
    sums = scratch.best
    after_1, after_2, after_3 = 0.0, 0.0, 0.0
    for k in range(n, n + BEHIND):
        lengths[k] = 0
    sums[n] = 0.0
    k = u64(n)
    while k != u64(0):
        k -= ONE
        number, triple = numbers[k], triples[k]
        two, three = weights[rank_of(pairs[k])] + after_2, weights[rank_of(triple)] + after_3
        length = u64(3) if three >= two else u64(2)
        longer = three if three > two else two
        if base_of(triple) != u64(0):
            node, at = triple, k + u64(3)
            while base_of(node) != u64(0):
                node = child(tables.labels, slots, node, numbers[at])
                at += ONE
                weight = weights[rank_of(node)] + sums[at]
                if weight >= longer:
                    longer, length = weight, at - k
        # What the next character waits for is one addition and one maximum: all else is ready before.
        alone = weights[rank_of(roots[number])]
        alone = unknown if alone == -np.inf and longer == -np.inf else alone
        one = alone + after_1
        length = length if longer >= one else ONE
        best = longer if longer > one else one
        separates = number <= LETTER
        best = 0.0 if separates else best
        lengths[k] = np.int32(u64(0) if separates else length)
        sums[k] = best
        after_3, after_2, after_1 = after_2, after_1, best
