"""The tokens of all windows that may occur again, kept so that runs of them can be compared: each as its bytes and END.

A *region* is a run of places that such windows cover without a gap. It has an anchor, where its tokens lie, for each ANCHORED of
them.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel

END = np.uint8(0xFF)
"""No byte of UTF-8."""
ANCHOR_BITS = 6
ANCHORED = 1 << ANCHOR_BITS


class Regions(NamedTuple):
    """All regions, by place.

    Attributes:
        places, counts: int64[n], where each begins, and its places.
        anchors: int64[n + 1], the first anchor of each in `places_of_anchors`.
        data: uint8[], the tokens.
        offsets: int64[anchors + 1], where the token of each anchor begins in `data`; the last value is the length of `data`.
    """

    places: Array
    counts: Array
    anchors: Array
    data: Array
    offsets: Array


@kernel
def gather_regions(data, starts, ends, pieces, places, n, size, out_places, out_counts, out, offsets):
    """The regions of n windows of `size` tokens, whose places ascend, and their tokens.

    data: uint8[]; starts, ends: int64[tokens]; pieces: int64[pieces + 1]; places: int64[n], as `windows.find_repeated_windows` has
    them -> int64[n], int64[n], uint8[bytes of all tokens + tokens], int64[tokens]. Returns the numbers of regions, bytes and
    anchors.
    """
    regions, length, anchors, piece, i = 0, 0, 0, 0, 0
    while i < n:
        begin = places[i]
        end = begin + size
        i += 1
        while i < n and places[i] <= end:
            end = places[i] + size
            i += 1
        out_places[regions], out_counts[regions] = begin, end - begin
        regions += 1
        while begin >= pieces[piece + 1] - pieces[0] + piece:
            piece += 1
        first = begin - piece + pieces[0]
        for t in range(first, first + end - begin):
            if (t - first) & (ANCHORED - 1) == 0:
                offsets[anchors] = length
                anchors += 1
            for b in range(starts[t], ends[t]):
                out[length + b - starts[t]] = data[b]
            length += ends[t] - starts[t]
            out[length] = END
            length += 1
    return regions, length, anchors


@kernel
def region_of(place, regions):
    """The number of the region that has a place, or -1."""
    low, high = 0, len(regions.places)
    while low < high:
        middle = (low + high) >> 1
        if regions.places[middle] <= place:
            low = middle + 1
        else:
            high = middle
    return low - 1 if low > 0 and place < regions.places[low - 1] + regions.counts[low - 1] else -1


@kernel
def seek(place, region, regions):
    """Where the token of a place begins in `regions.data`."""
    distance = place - regions.places[region]
    at = regions.offsets[regions.anchors[region] + (distance >> ANCHOR_BITS)]
    for _ in range(distance & (ANCHORED - 1)):
        while regions.data[at] != END:
            at += 1
        at += 1
    return at


@kernel
def common(a, b, most, regions):
    """How many tokens from the places a and b on are the same, at most `most`, and as far as both regions go."""
    first, second = region_of(a, regions), region_of(b, regions)
    if first < 0 or second < 0:
        return 0
    most = min(most, regions.places[first] + regions.counts[first] - a)
    most = min(most, regions.places[second] + regions.counts[second] - b)
    data, i, j, n = regions.data, seek(a, first, regions), seek(b, second, regions), 0
    while n < most:
        while data[i] == data[j] and data[i] != END:
            i += 1
            j += 1
        if data[i] != data[j]:
            break
        i += 1
        j += 1
        n += 1
    return n


@kernel
def find_different(firsts, base, size, regions, out):
    """The places of windows that are not the same as those at the places that are said to be their earliest ones.

    firsts: int64[m], the earliest place of the window at `base` + i, or -1 -> int64[m]. Returns their number.
    """
    found, i = 0, 0
    while i < len(firsts):
        if firsts[i] < 0:
            i += 1
            continue
        last = i
        while last + 1 < len(firsts) and firsts[last + 1] == firsts[last] + 1:
            last += 1
        while i <= last:
            wanted = last - i + size
            n = common(base + i, firsts[i], wanted, regions)
            if n == wanted:
                break
            for j in range(max(i, i + n - size + 1), min(last, i + n) + 1):
                out[found] = base + j
                found += 1
            i += n + 1
        i = last + 1
    return found


@kernel
def divide_cuts(firsts, base, size, regions, cuts, segments):
    """The cuts of some places, which are maximal runs of places that windows with an earlier place cover; and their segments.

    firsts: int64[m], as in `find_different` -> cuts: int64[m, 2], begin and end; segments: int64[m, 3], begin, earlier place and
    number of places. A segment begins where the cut does, or where the last one ended, and names the earliest place of the window
    that begins there, or of the last one before, at the same distance; it ends where the tokens differ from those that follow that
    place. Returns the numbers of cuts and of segments.
    """
    m, n, i = 0, 0, 0
    while i < len(firsts):
        if firsts[i] < 0:
            i += 1
            continue
        begin, end, j = i, i + size, i + 1
        while j < len(firsts) and j <= end:
            if firsts[j] >= 0:
                end = j + size
            j += 1
        cuts[m, 0], cuts[m, 1] = base + begin, base + end
        m += 1
        at, window = begin, begin
        while at < end:
            for j in range(window + 1, min(at, len(firsts) - 1) + 1):
                if firsts[j] >= 0:
                    window = j
            earlier = firsts[window] + at - window
            same = max(1, common(base + at, earlier, end - at, regions))
            segments[n, 0], segments[n, 1], segments[n, 2] = base + at, earlier, same
            n += 1
            at += same
        i = end
    return m, n
