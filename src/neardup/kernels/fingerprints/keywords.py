"""Which tokens of a text count for the keywords of the package jieba; keywords by their weights, as jieba and as cppjieba sorts."""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.fingerprints.shingles import sift_down
from neardup.kernels.text.normalization import CLASS_SHIFT, TWO_BITS, decode, fold_entry

u64 = np.uint64
LONGEST_STOP_WORD = 5


@kernel
def has_letter(data, start, end, folds):
    """Whether `data[start:end]` has a letter, mark or number."""
    i = start
    while i < end:
        code, length = decode(data, i)
        if fold_entry(code, folds) >> CLASS_SHIFT & TWO_BITS != 0:
            return True
        i += length
    return False


@kernel
def is_one_character(data, start, end):
    """Whether `data[start:end]` is one character, or a carriage return and a line feed."""
    byte = data[start]
    length = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
    return start + length == end or byte == 0x0D


@kernel
def is_stop_word(data, start, end, stop_words):
    """Whether `data[start:end]` is one of stop_words (uint64[]: ASCII, little-endian) but for its case."""
    if end - start > LONGEST_STOP_WORD:
        return False
    word = u64(0)
    for i in range(start, end):
        byte = u64(data[i])
        if byte >= u64(0x41) and byte <= u64(0x5A):
            byte |= u64(0x20)
        word |= byte << u64(8 * (i - start))
    for stop_word in stop_words:
        if stop_word == word:
            return True
    return False


@kernel
def choose_keywords(data, starts, ends, documents, stop_words, folds, keep, lettered):
    """Which tokens are of two characters or more and no stop words: keep, bool[t]; lettered, int64[n]: tokens with a letter."""
    for d in range(len(documents) - 1):
        lettered[d] = 0
        for t in range(documents[d], documents[d + 1]):
            start, end = starts[t], ends[t]
            lettered[d] += has_letter(data, start, end, folds)
            keep[t] = not is_one_character(data, start, end) and not is_stop_word(data, start, end, stop_words)


@kernel
def order_by_weight(weights, offsets, order, spare):
    """The features offsets[d] to offsets[d + 1] of each text, the heaviest first; equal ones stay as they were. order: int64[f].

    weights: float64[f]; spare: int64[f], scratch. A merge sort of runs of 1, 2, 4 …
    """
    for f in range(len(order)):
        order[f] = f
    for d in range(len(offsets) - 1):
        begin, end = offsets[d], offsets[d + 1]
        width = 1
        while width < end - begin:
            for left in range(begin, end, 2 * width):
                middle, right = min(left + width, end), min(left + 2 * width, end)
                i, j, k = left, middle, left
                while i < middle and j < right:
                    a, b = order[i], order[j]
                    later = weights[b] > weights[a]
                    spare[k] = b if later else a
                    i += not later
                    j += later
                    k += 1
                while i < middle:
                    spare[k] = order[i]
                    i += 1
                    k += 1
                while j < right:
                    spare[k] = order[j]
                    j += 1
                    k += 1
            for f in range(begin, end):
                order[f] = spare[f]
            width *= 2


@kernel
def sink(heap, size, hole, value, weights):
    """Fill a hole in heap[:size], the lightest on top: move it to the end, always to the lighter child, then let `value` rise."""
    top = hole
    while 2 * hole + 2 < size:
        below = 2 * hole + 2
        if weights[heap[below]] > weights[heap[below - 1]]:
            below -= 1
        heap[hole] = heap[below]
        hole = below
    if 2 * hole + 2 == size:
        heap[hole] = heap[size - 1]
        hole = size - 1
    while hole > top and weights[heap[(hole - 1) // 2]] > weights[value]:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = value


@kernel
def partial_sort(weights, most, offsets, order):
    """Bring the most[d] heaviest features of each text to the front, the heaviest first, as std::partial_sort of GNU's library.

    It makes a heap of the first, the lightest on top, exchanges the top for any heavier feature behind, then sorts the heap. So
    which of equally heavy features are in front, and in what order, is a matter of the order before.

    weights: float64[f]; most: int64[n], no more than the text has; order: int64[f], the features, one text after another.
    """
    for d in range(len(offsets) - 1):
        heap, size = order[offsets[d] : offsets[d + 1]], most[d]
        for parent in range(size // 2 - 1, -1, -1):
            sink(heap, size, parent, heap[parent], weights)
        for i in range(size, len(heap) if size > 0 else 0):
            value = heap[i]
            if weights[value] > weights[heap[0]]:
                heap[i] = heap[0]
                sink(heap, size, 0, value, weights)
        for last in range(size - 1, 0, -1):
            value = heap[last]
            heap[last] = heap[0]
            sink(heap, last, 0, value, weights)


@kernel
def keep_heaviest(weights, most, offsets, heap, keep):
    """The most[d] heaviest features of each text; of equally heavy ones, those that come first.

    weights: int64[f]; most: int64[n]; offsets: int64[n + 1]; heap: scratch, int64, as long as the largest of `most`, or as the most
    features of a text if that is less. keep: bool[f].

    The weights that stay are a heap of negative numbers, so the lightest is on top: most features are compared with it, and with
    nothing else.
    """
    for d in range(len(offsets) - 1):
        begin, end, size = offsets[d], offsets[d + 1], most[d]
        if size >= end - begin:
            keep[begin:end] = True
            continue
        if size <= 0:
            keep[begin:end] = False
            continue
        for place in range(size):
            heap[place] = -weights[begin + place]
        stay = heap[:size]
        for parent in range(size // 2 - 1, -1, -1):
            sift_down(stay, parent, size)
        for f in range(begin + size, end):
            if weights[f] > -stay[0]:
                stay[0] = -weights[f]
                sift_down(stay, 0, size)
        least, room = -stay[0], 0
        for place in range(size):
            room += stay[place] == stay[0]
        for f in range(begin, end):
            among = weights[f] == least and room > 0
            room -= among
            keep[f] = weights[f] > least or among
