"""Pairs of classes as one integer each, left << 32 | right with left < right; and as lists of who is near whom."""

from typing import NamedTuple

import numpy as np

from neardup.arrays import Array
from neardup.kernels.compilation import kernel

u64 = np.uint64
LOW = u64(0xFFFFFFFF)


class Graph(NamedTuple):
    """Who may match whom of documents 0 … n - 1: those of one class, and those of classes near one another.

    Attributes:
        fingerprints: uint64[n, words].
        class_of: int64[n], the class that each document is in.
        members, starts: int64[n], int64[classes + 1]; class u has the members[starts[u]:starts[u + 1]], ascending.
        near, near_starts: uint32[], int64[classes + 1]; the classes near u, but for itself, are
            near[near_starts[u]:near_starts[u + 1]], ascending.
    """

    fingerprints: Array
    class_of: Array
    members: Array
    starts: Array
    near: Array
    near_starts: Array


@kernel
def pack_pairs(names, left, right, out):
    """out[i] (uint64): the pair of names[left[i]] and names[right[i]] (int64[]; uint32[n] or int64[n]), the smaller one left."""
    for i in range(len(out)):
        a, b = u64(names[left[i]]), u64(names[right[i]])
        out[i] = min(a, b) << u64(32) | max(a, b)


@kernel
def drop_repeats(packed):
    """Move the different ones of ascending pairs to the front; returns their number."""
    kept = 0
    for i in range(len(packed)):
        if i == 0 or packed[i] != packed[kept - 1]:
            packed[kept] = packed[i]
            kept += 1
    return kept


@kernel
def link_classes(packed, starts, near):
    """Lists of both ends of ascending, different pairs: near[starts[u]:starts[u + 1]] are those in a pair with u, ascending.

    uint64[p] -> int64[classes + 1], uint32[2 p]. Pairs come by their left end, so what is below u is appended first.
    """
    starts[:] = 0
    for pair in packed:
        starts[(pair >> u64(32)) + u64(1)] += 1
        starts[(pair & LOW) + u64(1)] += 1
    for u in range(1, len(starts)):
        starts[u] += starts[u - 1]
    for pair in packed:
        left, right = pair >> u64(32), pair & LOW
        near[starts[left]] = right
        starts[left] += 1
        near[starts[right]] = left
        starts[right] += 1
    for u in range(len(starts) - 1, 0, -1):
        starts[u] = starts[u - 1]
    starts[0] = 0


@kernel
def place_of(group, first, last, sought):
    """Where `sought` is in the ascending group[first:last] (int64), or -1."""
    while first < last:
        middle = (first + last) // 2
        if group[middle] < sought:
            first = middle + 1
        else:
            last = middle
    return first if first < len(group) and group[first] == sought else -1


@kernel
def count_refined(old, group, firsts, near, near_starts, starts):
    """Classes near each refined class, summed: starts (int64[refined + 1]).

    Refined class r is the part of class old[r] that is in group[r]; those of class u are firsts[u] … firsts[u + 1] - 1, ascending
    by group. `near`, `near_starts` are of the old classes. int64[refined], int64[refined], int64[classes + 1].
    """
    starts[0] = 0
    for r in range(len(old)):
        count = 0
        for j in range(near_starts[old[r]], near_starts[old[r] + 1]):
            v = near[j]
            p = place_of(group, firsts[v], firsts[v + 1], group[r])
            count += 0 <= p < firsts[v + 1]
        starts[r + 1] = starts[r] + count


@kernel
def link_refined(old, group, firsts, near, near_starts, out):
    """The classes near each refined class, ascending, one class after another (uint32[]); see `count_refined`."""
    at = 0
    for r in range(len(old)):
        for j in range(near_starts[old[r]], near_starts[old[r] + 1]):
            v = near[j]
            p = place_of(group, firsts[v], firsts[v + 1], group[r])
            if 0 <= p < firsts[v + 1]:
                out[at] = p
                at += 1


@kernel
def after(members, start, end, p):
    """Index of the first of the ascending members[start:end] that is above p."""
    while start < end:
        middle = (start + end) // 2
        if members[middle] <= p:
            start = middle + 1
        else:
            end = middle
    return start


@kernel
def count_candidates(graph, out):
    """out[p]: the candidates q > p of each document. int64[n]."""
    members, starts = graph.members, graph.starts
    for p in range(len(out)):
        u = graph.class_of[p]
        out[p] = starts[u + 1] - after(members, starts[u], starts[u + 1], p)
        for j in range(graph.near_starts[u], graph.near_starts[u + 1]):
            v = graph.near[j]
            out[p] += starts[v + 1] - after(members, starts[v], starts[v + 1], p)


@kernel
def list_candidates(first, last, graph, left, right):
    """The candidates (p, q), p < q, of p from `first` to `last` - 1, p ascending. int64[], int64[]. Returns their number."""
    members, starts, near_starts = graph.members, graph.starts, graph.near_starts
    n = 0
    for p in range(first, last):
        u = graph.class_of[p]
        for j in range(near_starts[u] - 1, near_starts[u + 1]):
            v = u if j < near_starts[u] else np.int64(graph.near[j])
            for i in range(after(members, starts[v], starts[v + 1], p), starts[v + 1]):
                left[n], right[n] = p, members[i]
                n += 1
    return n
