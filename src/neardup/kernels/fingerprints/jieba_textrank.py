"""How central the words of a text are among those that stand near them, as jieba's `textrank` reckons it, sum by sum.

Definitions: jieba 0.42.1, `TextRank.textrank` and `UndirectWeightedGraph.rank`. An edge is an ordered pair of words; it weighs as
often as the second stands fewer than SPAN tokens behind the first. Sums are made in the order in which edges first occur.
"""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel

u64 = np.uint64
SPAN, ROUNDS, DAMPING = 5, 10, 0.85
LEAST, GREATEST = 2.2250738585072014e-308, 1.7976931348623157e308
"""The extremes of positive float64, with which jieba begins to look for the greatest and the least rank."""


class GraphScratch(NamedTuple):
    """Memory for a text of m words that count, f different ones.

    Attributes:
        keys, places: int64[t], t a power of two of at least 8 m: a table of edges; `places` is -1, before and after.
        first, second, weight: int64[4 m], int64[4 m], float64[4 m], the edges in the order in which they first occur.
        begins, fill: int64[f + 1], where the neighbors of each word begin.
        neighbor, share: int64[8 m], float64[8 m], of each word the neighbors, and the weight of that edge.
        sums, rank: float64[f].
        order, spare: int64[f].
    """

    keys: Array
    places: Array
    first: Array
    second: Array
    weight: Array
    begins: Array
    fill: Array
    neighbor: Array
    share: Array
    sums: Array
    rank: Array
    order: Array
    spare: Array


@kernel
def find_edges(words, positions, begin, end, count, scratch):
    """List the edges between the words of a text, of which there are `count` different ones; returns how many there are."""
    edges = 0
    size = 8
    while size < 8 * (end - begin):
        size *= 2
    mask = size - 1
    for i in range(begin, end):
        j = i + 1
        while j < end and positions[j] - positions[i] < SPAN:
            key = words[i] * count + words[j]
            place = np.int64(u64(key) * u64(0x9E3779B97F4A7C15) >> u64(32)) & mask
            while scratch.places[place] >= 0 and scratch.keys[place] != key:
                place = (place + 1) & mask
            if scratch.places[place] < 0:
                scratch.keys[place], scratch.places[place] = key, edges
                scratch.first[edges], scratch.second[edges], scratch.weight[edges] = words[i], words[j], 0.0
                edges += 1
            scratch.weight[scratch.places[place]] += 1.0
            j += 1
    scratch.places[:size] = -1
    return edges


@kernel
def list_neighbors(edges, count, scratch, nodes):
    """List the neighbors of each word in the order of the edges; nodes: int64[f], the place of a word in this order, or -1."""
    begins, fill = scratch.begins, scratch.fill
    begins[: count + 1] = 0
    seen = 0
    for f in range(count):
        nodes[f] = -1
    for e in range(edges):
        for word in (scratch.first[e], scratch.second[e]):
            begins[word + 1] += 1
            if nodes[word] < 0:
                nodes[word] = seen
                seen += 1
    for f in range(count):
        begins[f + 1] += begins[f]
        fill[f] = begins[f]
        scratch.sums[f] = 0.0
    for e in range(edges):
        for word, other in ((scratch.first[e], scratch.second[e]), (scratch.second[e], scratch.first[e])):
            scratch.neighbor[fill[word]], scratch.share[fill[word]] = other, scratch.weight[e]
            fill[word] += 1
            scratch.sums[word] += scratch.weight[e]
    return seen


@kernel
def is_before(data, starts, ends, a, b):
    """Whether the bytes of word a come before those of word b: the order of code points, too."""
    i, j = starts[a], starts[b]
    while i < ends[a] and j < ends[b]:
        if data[i] != data[j]:
            return data[i] < data[j]
        i += 1
        j += 1
    return j < ends[b]


@kernel
def sort_words(data, starts, ends, count, order, spare):
    """Sort the words 0 to count - 1 by their bytes: a merge sort of runs of 1, 2, 4 …"""
    for f in range(count):
        order[f] = f
    width = 1
    while width < count:
        for left in range(0, count, 2 * width):
            middle, right = min(left + width, count), min(left + 2 * width, count)
            i, j = left, middle
            for k in range(left, right):
                if i < middle and (j >= right or not is_before(data, starts, ends, order[j], order[i])):
                    spare[k] = order[i]
                    i += 1
                else:
                    spare[k] = order[j]
                    j += 1
        for f in range(count):
            order[f] = spare[f]
        width *= 2


@kernel
def rank_words(count, seen, scratch, nodes):
    """The ranks of the words that have neighbors, made to lie between some small number and 1."""
    rank, begins = scratch.rank, scratch.begins
    for f in range(count):
        rank[f] = 1.0 / max(seen, 1)
    for _ in range(ROUNDS):
        for k in range(count):
            f = scratch.order[k]
            if nodes[f] < 0:
                continue
            given = 0.0
            for i in range(begins[f], begins[f + 1]):
                other = scratch.neighbor[i]
                given += scratch.share[i] / scratch.sums[other] * rank[other]
            rank[f] = (1.0 - DAMPING) + DAMPING * given
    least, most = GREATEST, LEAST
    for f in range(count):
        if nodes[f] >= 0:
            least = rank[f] if rank[f] < least else least
            most = rank[f] if rank[f] > most else most
    for f in range(count):
        rank[f] = (rank[f] - least / 10.0) / (most - least / 10.0)


@kernel
def rank_documents(data, words, positions, offsets, starts, ends, features, scratch, nodes, ranks):
    """The rank of each word of some texts, and its place in the order in which jieba lists words.

    Args:
        data: uint8[], the texts.
        words: int64[m], the feature of each token that counts.
        positions: int64[m], its place among all tokens.
        offsets: int64[n + 1]; text d has the tokens offsets[d] to offsets[d + 1] of these.
        starts, ends: int64[f]; feature f is data[starts[f]:ends[f]].
        features: int64[n + 1]; text d has the features features[d] to features[d + 1].
        scratch: room for the text with the most words.
        nodes: int64[f], the place of each word in its text, or -1 of a word without neighbors.
        ranks: float64[f].
    """
    for d in range(len(offsets) - 1):
        begin, end, base = offsets[d], offsets[d + 1], features[d]
        count = features[d + 1] - base
        for i in range(begin, end):
            words[i] -= base
        edges = find_edges(words, positions, begin, end, count, scratch)
        seen = list_neighbors(edges, count, scratch, nodes[base:])
        sort_words(data, starts[base:], ends[base:], count, scratch.order, scratch.spare)
        rank_words(count, seen, scratch, nodes[base:])
        for f in range(count):
            ranks[base + f] = scratch.rank[f]
