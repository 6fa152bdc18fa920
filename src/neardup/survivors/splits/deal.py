"""DEAL: which side each unit goes to. A unit is what stays together: documents that matches connect, or that share a group.

The deal depends on the sizes of the units, on the strata of their documents and on their keys, never on the order of rows.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from neardup.arrays import Array

FREE = -1
"""The side of a unit that was not dealt."""
Vector = tuple[tuple[int, int], ...]
"""How many documents of each stratum a unit has: (stratum, documents), ascending."""


@dataclass(frozen=True, slots=True)
class Units:
    """What is dealt as one.

    Attributes:
        of_rows: int64[n], the unit of each document, counted from 0.
        strata: int64[n], the stratum of each document, counted from 0.
        keys: uint64[units], the order of units that are equal in size and strata; no two are equal.
    """

    of_rows: Array
    strata: Array
    keys: Array

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def sizes(self) -> Array:
        """int64[units]: the documents of each."""
        return np.bincount(self.of_rows, minlength=len(self))


def deal(units: Units, shares: Sequence[Fraction], dealt: Array | None = None) -> Array:
    """int64[units]: the side of each unit, counted from 0.

    Units of most documents come first. Let `lack` be what a side with the share w lacks: w of all documents, less what it has. A
    unit of n documents goes to the side with the greatest (2 * lack - n) / w; the first of equal ones. That is the method of
    Webster and Sainte-Laguë: units of every size are shared out by the shares, so that a small side gets its part of the large
    ones, too. With strata, 2 * n * lack - n * n is replaced by its sum over all documents and each stratum; the greatest sum keeps
    the sum of all lack * lack / w as small as one unit can. Units with as many documents of each stratum are dealt together: their
    keys say which goes where.

    Without strata and units that were dealt before, for k sides:

    - A unit goes to a side that lacks less than half of it only if all do. So a side never has more than its share by over
      (k - 1) / 2 of the last unit that it got: half a unit for two sides.
    - If no side has more than its share when only units of one document are left, each ends within (k - 1) / 2 documents of it.

    Both follow from what all sides lack together: as much as is left to deal.

    Args:
        units: what is dealt.
        shares: of each side; their sum is 1.
        dealt: int64[units], the side of units that were dealt before, which stay there; FREE for others.
    """
    side = np.full(len(units), FREE, np.int64) if dealt is None else dealt.copy()
    table = _Table(units, shares)
    of_rows = side[units.of_rows]
    for number in range(len(shares)):
        table.take(number, units.strata[of_rows == number])
    for vector, members in _classes(units, np.flatnonzero(side == FREE)):
        side[members] = np.repeat(np.arange(len(shares)), table.place(vector, len(members)))
    return side


class _Table:
    """What each side lacks, in all and of each stratum: in whole numbers, as multiples of 1 / `parts` of a document."""

    def __init__(self, units: Units, shares: Sequence[Fraction]) -> None:
        self._parts = math.lcm(*(share.denominator for share in shares))
        weights = [int(share * self._parts) for share in shares]
        self._scales = [math.lcm(*weights) // weight for weight in weights]  # 1 / w, times the same for all
        each = np.bincount(units.strata).tolist()
        self._lack = [weight * sum(each) for weight in weights]
        self._lack_of = [[weight * number for number in each] for weight in weights]

    def take(self, side: int, strata: Array) -> None:
        """Give a side documents of these strata (int64[n])."""
        self._lack[side] -= self._parts * len(strata)
        for stratum, number in enumerate(np.bincount(strata).tolist()):
            self._lack_of[side][stratum] -= self._parts * number

    def place(self, vector: Vector, units: int) -> list[int]:
        """Deal this many units of a kind, one after another; how many each side gets."""
        size = sum(number for _, number in vector)
        square = self._parts * (size * size + sum(number * number for _, number in vector))
        products = [
            size * lack + sum(number * of[stratum] for stratum, number in vector)
            for lack, of in zip(self._lack, self._lack_of, strict=True)
        ]
        scores = [(2 * product - square) * scale for product, scale in zip(products, self._scales, strict=True)]
        counts = turns(scores, [2 * square * scale for scale in self._scales], units)
        for side, count in enumerate(counts):
            self._lack[side] -= self._parts * size * count
            for stratum, number in vector:
                self._lack_of[side][stratum] -= self._parts * number * count
        return counts


def turns(scores: Sequence[int], steps: Sequence[int], number: int) -> list[int]:
    """How often each of some scores is the greatest, the first of equal ones, if the greatest loses its step each time.

    Most turns are counted at once: above a level that all scores together reach in fewer turns than there are, every turn is one of
    them. The few that are left are taken one by one.

    >>> turns([80, 10, 10], [10, 10, 10], 10), turns([5, 5], [10, 10], 3)
    ([8, 1, 1], [2, 1])
    """
    counts = [0] * len(scores)
    if number > len(scores):
        level = _level(scores, steps, number - len(scores))
        counts = [max(0, math.ceil((score - level) / step)) for score, step in zip(scores, steps, strict=True)]
    left = [score - count * step for score, count, step in zip(scores, counts, steps, strict=True)]
    for _ in range(number - sum(counts)):
        best = max(range(len(left)), key=left.__getitem__)
        counts[best] += 1
        left[best] -= steps[best]
    return counts


def _level(scores: Sequence[int], steps: Sequence[int], number: int) -> Fraction:
    """The level at which (score - level) / step, of the scores above it, adds up to a number."""
    ordered = sorted(zip(scores, steps, strict=True), reverse=True)
    total, slope, level = Fraction(-number), Fraction(0), Fraction(0)
    for place, (score, step) in enumerate(ordered, 1):
        total, slope = total + Fraction(score, step), slope + Fraction(1, step)
        level = total / slope
        if place < len(ordered) and level >= ordered[place][0]:
            break
    return level


def _classes(units: Units, free: Array) -> list[tuple[Vector, Array]]:
    """Units that are alike, by their vectors: the largest first, then by the smallest key; members by key."""
    of_unit, vectors = _kinds(units)
    order = free[np.lexsort((units.keys[free], of_unit[free]))]
    starts = np.searchsorted(of_unit[order], np.arange(len(vectors) + 1))
    members = [order[first:last] for first, last in itertools.pairwise(starts.tolist())]
    found = [each for each in zip(vectors, members, strict=True) if len(each[1])]
    found.sort(key=lambda each: (-sum(count for _, count in each[0]), int(units.keys[each[1][0]])))
    return found


def _kinds(units: Units) -> tuple[Array, list[Vector]]:
    """int64[units]: the number of the vector of each; and the vectors."""
    strata = int(units.strata.max(initial=0)) + 1
    pairs, counts = np.unique(units.of_rows * strata + units.strata, return_counts=True)
    starts, stratum = np.searchsorted(pairs, np.arange(len(units) + 1) * strata), pairs % strata
    width = int(counts.max(initial=0)) + 1
    kinds, of_unit = np.unique((stratum * width + counts)[starts[:-1]], return_inverse=True)
    vectors: list[Vector] = [((kind // width, kind % width),) for kind in kinds.tolist()]
    others: dict[Vector, int] = {}
    for unit in np.flatnonzero(np.diff(starts) > 1).tolist():
        part = slice(starts[unit], starts[unit + 1])
        vector = tuple(zip(stratum[part].tolist(), counts[part].tolist(), strict=True))
        of_unit[unit] = others.setdefault(vector, len(vectors) + len(others))
    return of_unit, [*vectors, *others]
