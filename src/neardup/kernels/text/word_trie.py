"""A dictionary of words as a double-array trie (Aoe 1989, "An efficient digital search algorithm by using a double-array …").

A slot is a node, in 64 bits: 32 of the base of its children, and 32 of the rank of its weight. The child by a character of number c
is the slot at base + c, if its label is c. Bases are all different, so a label alone says whose child a slot is (Yata et al. 2007,
"A compact static double-array keeping character codes"). A base of 0 is of no children; slot 0 is no node, and holds 0. Labels are
an array of their own: most pairs of characters begin no word, and then the slot need not be brought from memory.
"""

import numpy as np

from neardup.kernels.compilation import kernel
from neardup.kernels.intrinsics import load64, trailing_zeros

u64 = np.uint64
BASE_SHIFT, RANK_MASK = u64(32), u64((1 << 32) - 1)
MOST_SLOTS = 1 << 31
EMPTY = 0xFFFF
"""The label of a slot that is no node: no character has this number."""
AT_ONCE = 56
ALL_AT_ONCE = u64((1 << AT_ONCE) - 1)
"""Bases that are tried at once."""
PATIENCE = 8
"""Tries to place a node, after which those with as many children are tried from there on."""
NO_WORD, FORBIDDEN, FIRST_WORD = 0, 1, 2
"""Ranks of nodes that are no words, of those that must not be guessed, and the first of words."""


@kernel
def base_of(slot):
    return slot >> BASE_SHIFT


@kernel
def rank_of(slot):
    return slot & RANK_MASK


@kernel
def child(labels, slots, node, number):
    """The slot of a node's child by the number of a character, uint16, or 0.

    Without a branch, because whether there is one is hard to predict.
    """
    base = base_of(node)
    place = base + u64(number) if base != u64(0) else u64(0)
    return slots[place if labels[place] == number else u64(0)]


@kernel
def set_bit(bits, place):
    bits[place >> 3] |= np.uint8(1 << (place & 7))


@kernel
def conflicts(bits, base, label):
    """Bit j: whether the slot at base + j + label is taken, for the AT_ONCE bases from `base`, a multiple of 8, on."""
    return load64(bits, (base + label) >> 3) >> u64(label & 7)


@kernel
def place_children(parents, firsts, counts, labels, held, taken, bases):
    """Find a base for each node with children, so that no two share one, and no two children a slot.

    Args:
        parents: int64[p], the nodes with children, those with the most first: few children fill the holes that many leave.
        firsts, counts: int64[n], which nodes are the children of each, ascending by label.
        labels: int64[n], the label of each node.
        held, taken: uint8[s // 8 + 8], zeros: a bit for each slot that is a node, and for each base.
        bases: int64[n], zeros: the result.

    Returns whether s are enough.
    """
    size = 8 * (len(held) - 8)
    held[0] = taken[0] = 1  # slot 0 is no node, base 0 of none
    from_here, with_children = 0, 0  # where a node with so many children first has a chance
    for parent in parents:
        first, end = firsts[parent], firsts[parent] + counts[parent]
        if counts[parent] != with_children:
            from_here, with_children = 0, counts[parent]
        base, tries = from_here, 0
        while True:
            if base + AT_ONCE + labels[end - 1] > size:
                return False
            closed = conflicts(taken, base, 0)
            i = first
            while i < end and closed & ALL_AT_ONCE != ALL_AT_ONCE:
                closed |= conflicts(held, base, labels[i])
                i += 1
            if closed & ALL_AT_ONCE != ALL_AT_ONCE:
                break
            base += AT_ONCE
            tries += 1
        if tries > PATIENCE:
            from_here = base
        base += np.int64(trailing_zeros(~closed))
        bases[parent] = base
        set_bit(taken, base)
        for i in range(first, end):
            set_bit(held, base + labels[i])
    return True
